/* Writing commands for gnuplot: what plot_script.c and plot_panel.c share. */
#ifndef KS_OUTPUT_PLOT_WRITER_H
#define KS_OUTPUT_PLOT_WRITER_H

#include "output/plot_layout.h"

typedef struct ks_plot_writer {
    const ks_plot *plot;
    ks_plot_format format;
    const ks_plot_options *options;
    ks_plot_layout layout;
    ks_texts series; /* as they are shown */
    ks_texts categories;
    ks_buf *to;
    ks_error *err;
} ks_plot_writer;

void ks_plot_add(ks_plot_writer *w, const char *text);
void ks_plot_add_number(ks_plot_writer *w, double number);

/** Add a line with numbers for its percent signs. */
void ks_plot_command(ks_plot_writer *w, const char *text, const double *numbers);
#define KS_PLOT_COMMAND(w, text, ...) ks_plot_command((w), (text), (const double[]){__VA_ARGS__})

/** Add a quoted text of at most `width` characters. */
ks_status ks_plot_quote_short(ks_plot_writer *w, const char *text, double width);

/** plot_panel.c: one panel, its points and all. */
ks_status ks_plot_panel(ks_plot_writer *w, size_t panel);

#endif
