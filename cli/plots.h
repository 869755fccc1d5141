/* The plots of `kernsight run`. */
#ifndef CLI_PLOTS_H
#define CLI_PLOTS_H

#include "outputs.h"

/* What to plot, made of the options. */
typedef struct plots {
    text_list metrics;
    ks_plot_options options;
} plots;

/* The metrics are those of --plot-metric, else those that -m names in full, else the time. */
ks_status make_plots(const run_options *o, plots *out, ks_error *err);
void free_plots(plots *p);

/* Whether all of them can be made, before any work is spent. */
ks_status check_plots(const run_options *o, const plots *p, const ks_plan *plan, ks_error *err);

#endif
