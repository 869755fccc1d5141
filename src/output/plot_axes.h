/* The axes of a plot: what they show, in which unit, linear or logarithmic. */
#ifndef KS_OUTPUT_PLOT_AXES_H
#define KS_OUTPUT_PLOT_AXES_H

#include "output/plot_model.h"

/** Find the different x and the axis along them. @param name  of the parameter; NULL: none */
ks_status ks_plot_x_axis(ks_plot *plot, const char *name, ks_error *err);

typedef struct ks_plot_y_spec {
    const char *unit;     /**< of the table; NULL: none */
    const char *baseline; /**< that values were divided by; NULL: none */
    bool inverse;         /**< it was divided by the values instead */
    bool ascii;
} ks_plot_y_spec;

/** Scale the points of a metric, and find the axis that all its panels share. */
ks_status ks_plot_y_axis(ks_plot *plot, size_t metric, const ks_plot_y_spec *spec, ks_error *err);

#endif
