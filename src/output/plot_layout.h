/* Where the parts of a picture are: pixels from its top left corner, or characters of a text. */
#ifndef KS_OUTPUT_PLOT_LAYOUT_H
#define KS_OUTPUT_PLOT_LAYOUT_H

#include "output/plot_script.h"

typedef struct ks_plot_layout {
    double width, height; /**< of the whole */
    double letter, line;  /**< about the width of a letter, and the height of a line */
    size_t columns;       /**< of panels */
    double panel_width, panel_height;
    double left, top;           /**< of the first panel, inside its axes */
    double across, down;        /**< from one panel to the next */
    double title, key, caption; /**< y of these lines */
    size_t key_rows;
    size_t key_entries; /**< series in the key; 0: there is none */
    size_t key_more;    /**< and so many that are not */
    bool tilted;        /**< categories do not fit side by side */
} ks_plot_layout;

/** Longest texts, in characters; longer ones are shortened. */
enum {
    KS_PLOT_SERIES_MAX = 44,
    KS_PLOT_CATEGORY_MAX = 20
};

ks_plot_layout ks_plot_layout_for(const ks_plot *plot, ks_plot_format format,
                                  const ks_plot_options *options);

/** Pixels along x from the left end of the axis. */
double ks_plot_x_at(const ks_plot *plot, const ks_plot_layout *layout, double x);

#endif
