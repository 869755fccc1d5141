/* Columns of info collectors (docs/results.md: the merging is nsight-python's). */
#ifndef KS_RESULTS_INFOS_H
#define KS_RESULTS_INFOS_H

#include "results/rows.h"

/** What filling their cells needs. */
typedef struct ks_info_columns {
    const ks_results *r;
    ks_table *table;
    size_t first;                 /**< column */
    struct ks_info_shape *shapes; /**< by collector */
    double *numbers;              /**< room for all values of a config, twice */
    ks_quantiles quantiles;
} ks_info_columns;

/** Find out what each collector gave, and add its column, or its four. */
ks_status ks_info_columns_init(ks_info_columns *columns, const ks_results *results, ks_table *table,
                               ks_error *err);
void ks_info_columns_fini(ks_info_columns *columns);

/** Fill the cells of a row. */
ks_status ks_info_columns_fill(ks_info_columns *columns, size_t at, const ks_row *row,
                               ks_error *err);

#endif
