/* A plot as commands for gnuplot. */
#ifndef KS_OUTPUT_PLOT_SCRIPT_H
#define KS_OUTPUT_PLOT_SCRIPT_H

#include "base/buf.h"
#include "output/plot_model.h"

typedef enum ks_plot_format {
    KS_PLOT_PNG,
    KS_PLOT_SVG,
    KS_PLOT_PDF,
    KS_PLOT_TEXT
} ks_plot_format;

/**
 * Add a text as a string of gnuplot that stands for nothing but itself: in single quotes nothing is
 * run, replaced or formatted. Control characters are shown as escapes.
 */
void ks_plot_quote(const char *text, ks_buf *to);

/** Choose the terminal, and the size of what it draws: pixels, or characters of a text. */
void ks_plot_terminal(ks_plot_format format, double width, double height, ks_buf *to);

/** The whole script. */
ks_status ks_plot_script(const ks_plot *plot, ks_plot_format format, const ks_plot_options *options,
                         ks_buf *to, ks_error *err);

/** What a reader must know to read it right, in a line; nothing where there is nothing to say. */
void ks_plot_caption(const ks_plot *plot, ks_plot_format format, const ks_plot_options *options,
                     ks_buf *to);

#endif
