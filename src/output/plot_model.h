/* A plot before it is drawn: panels, series, points, axes. */
#ifndef KS_OUTPUT_PLOT_MODEL_H
#define KS_OUTPUT_PLOT_MODEL_H

#include "kernsight/plot.h"
#include "output/scale.h"

typedef struct ks_plot_point {
    size_t panel;
    size_t series;
    double x;         /**< NaN: not known */
    double y;         /**< NaN: missing */
    double low, high; /**< of the interval; NaN: there is none */
    size_t order;     /**< in the table */
} ks_plot_point;

typedef struct ks_plot_axis {
    char *label;
    bool log;
    double low, high; /**< what it shows */
} ks_plot_axis;

typedef struct ks_plot_metric {
    const char *name; /**< borrowed from the table */
    ks_scale scale;
    ks_plot_axis axis;
} ks_plot_metric;

typedef struct ks_texts {
    char **texts;
    size_t count;
    size_t capacity;
} ks_texts;

typedef struct ks_plot {
    bool bars;
    size_t side_by_side; /**< bars that a category has room for: 1 if each has one series alone */
    bool ratio;          /**< to a baseline: 1 means as much as it */
    bool intervals;      /**< there are error bars */
    size_t missing;      /**< values that are not there */
    size_t expected;     /**< those and the others */
    int64_t finished;    /**< configs, of ... */
    int64_t planned;     /**< ... so many; 0: all are finished */
    char *title;         /**< "": none */
    ks_plot_axis x;      /**< positions 0, 1, ... where there are categories */
    ks_texts categories; /**< empty: x is a number */
    double *ticks;       /**< the different x, ascending */
    size_t tick_count;
    ks_plot_metric *metrics;
    size_t metric_count;
    ks_texts series; /**< labels; one "" where there is nothing to tell apart */
    ks_texts panels; /**< titles; one "" where no parameter has panels */
    /** By panel, then series, then x; panel = metric * panels.count + panel of the parameter. */
    ks_plot_point *points;
    size_t point_count;
} ks_plot;

/** @param[in] table  of results, borrowed for as long as the plot lives */
ks_status ks_plot_init(ks_plot *plot, const ks_table *table, const ks_plot_options *options,
                       ks_error *err);
void ks_plot_fini(ks_plot *plot);

/**
 * Whether each of `count` metrics is among those to plot.
 *
 * @param[out] chosen  a flag for each
 * @param[in]  open    names that are not among them may still come
 * @return KS_EINVAL: several and none is named; KS_ENOTFOUND: no such metric
 */
ks_status ks_plot_choose(const char *const *names, size_t count, const ks_plot_options *options,
                         bool open, bool *chosen, ks_error *err);

ks_status ks_texts_add(ks_texts *list, const char *text, ks_error *err);
void ks_texts_fini(ks_texts *list);

#endif
