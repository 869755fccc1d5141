/* What the rows of a plot differ in: the annotation and the parameters, and the part of each. */
#ifndef KS_OUTPUT_PLOT_DIMS_H
#define KS_OUTPUT_PLOT_DIMS_H

#include "base/buf.h"
#include "base/pool.h"
#include "kernsight/plot.h"

/** What a dimension is used for. */
typedef enum ks_plot_use {
    KS_USE_SAME, /**< one value throughout: in the title */
    KS_USE_X,
    KS_USE_SERIES, /**< in the label of the series */
    KS_USE_PANEL,
    KS_USE_FOLLOWS, /**< known from x: nowhere */
} ks_plot_use;

typedef struct ks_plot_dim {
    size_t column;
    const char *name; /**< NULL: the annotation */
    bool numeric;
    ks_pool texts;   /**< its different values as text; ids from 1 in order of appearance */
    ks_text_id *ids; /**< by row */
    double *numbers; /**< by id - 1, of a numeric one; NaN where it is missing */
    size_t capacity;
    ks_plot_use use;
} ks_plot_dim;

/** The first one is the annotation. */
typedef struct ks_plot_dims {
    const ks_table *table;
    const size_t *rows; /**< of the table, borrowed */
    size_t row_count;
    size_t known_count; /**< rows behind so many first ones are of each annotation in turn */
    ks_plot_dim *all;
    size_t count;
    size_t x;     /**< index */
    size_t panel; /**< index; `count` for none */
} ks_plot_dims;

/**
 * Read the values, and find a use for each dimension.
 *
 * @param[in,out] dims     its table, rows and their numbers are given; the rest is zeros
 * @param[in]     metrics  how many are plotted
 */
ks_status ks_plot_dims_find(ks_plot_dims *dims, size_t metrics, const ks_plot_options *options,
                            ks_error *err);
void ks_plot_dims_fini(ks_plot_dims *dims);

/** Add a value as people see it: "annotation", or "name=value". */
void ks_plot_dim_label(const ks_plot_dim *dim, ks_text_id id, ks_buf *to);

#endif
