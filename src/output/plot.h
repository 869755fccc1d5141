/* Plots of a table of results, drawn by gnuplot. */
#ifndef KS_OUTPUT_PLOT_H
#define KS_OUTPUT_PLOT_H

#include "output/plot_script.h"

/** What a file is to hold, by the end of its name. @return KS_EINVAL for another one */
ks_status ks_plot_format_of(const char *path, ks_plot_format *out, ks_error *err);

/** Whether gnuplot is there and can draw this. @return KS_UNAVAILABLE, with what to install */
ks_status ks_plot_check_gnuplot(ks_plot_format format, ks_error *err);

/** What gnuplot says of itself, such as "gnuplot 5.4 patchlevel 4". @return as
 * ks_spawn_filter() */
ks_status ks_plot_gnuplot_version(ks_buf *out, ks_error *err);

/** Draw, and write what gnuplot gives. */
ks_status ks_plot_table(const ks_table *table, ks_plot_format format,
                        const ks_plot_options *options, FILE *to, ks_error *err);

#endif
