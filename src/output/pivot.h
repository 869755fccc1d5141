/* Results with a line per annotation and config, and a place per metric. */
#ifndef KS_OUTPUT_PIVOT_H
#define KS_OUTPUT_PIVOT_H

#include "table/table.h"

/** No row of the table. */
#define KS_NO_ROW SIZE_MAX

typedef struct ks_pivot {
    const ks_table *table;
    size_t annotation; /**< columns of the table */
    size_t metric;
    const char **metrics; /**< in order of appearance; borrowed from the table */
    size_t metric_count;
    size_t metric_capacity;
    size_t *first; /**< by line: a row of the table that has its annotation and parameters */
    size_t line_count;
    size_t line_capacity;
    size_t *rows; /**< [line][metric]: row of the table, or KS_NO_ROW */
} ks_pivot;

ks_status ks_pivot_init(ks_pivot *pivot, const ks_table *table, ks_error *err);
void ks_pivot_fini(ks_pivot *pivot);

#endif
