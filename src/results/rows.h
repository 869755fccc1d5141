/* The rows of the table, one after another: which there are, and what is known of each. */
#ifndef KS_RESULTS_ROWS_H
#define KS_RESULTS_ROWS_H

#include "results/results.h"
#include "stats/shape.h"

/** No run of the row has a place in the results' values. */
#define KS_NO_VALUES SIZE_MAX

/** One row. The first part says which it is; ks_rows_compute() fills in the second. */
typedef struct ks_row {
    const ks_region *region;        /**< NULL: the config failed before it came to the annotation */
    const ks_config_record *record; /**< of its config */
    uint32_t annotation;            /**< index, or KS_NO_ANNOTATION */
    uint32_t metric;                /**< index of a metric, or of a derived one */
    bool derived;
    uint32_t runs;
    size_t first_value; /**< of its runs; or KS_NO_VALUES */

    ks_summary summary;
    ks_shape shape; /**< of a measured metric's values; zeros elsewhere */
    uint32_t failed;
    ks_text_id failure; /**< of the first failed run */
    bool normalized;    /**< the summary is a ratio to the baseline */
    bool no_baseline;   /**< it should be, but there is none ... */
    bool baseline_zero; /**< ... because its mean is 0 */
    double baseline;    /**< mean of the baseline; NaN */
} ks_row;

/** What walking over the rows needs. */
typedef struct ks_rows {
    const ks_results *r;
    const ks_region **regions;          /**< by annotation, then config */
    size_t *first;                      /**< by annotation: its first region; then their number */
    const ks_config_record **by_config; /**< NULL: not handed over */
    uint32_t *lost; /**< configs in which every run failed outside any annotation, in order */
    size_t lost_count;
    bool *has_derived; /**< [annotation][derived]: it has it in some config */
    uint32_t *order;   /**< derived metrics by callback, then by appearance */
    uint32_t baseline; /**< index of the annotation, or KS_NO_ANNOTATION */
    double *scratch;   /**< twice the longest run */
    ks_quantiles quantiles;
} ks_rows;

/** The regions by annotation, then config; free the array with ks_free(). */
ks_status ks_sort_regions(const ks_results *results, const ks_region ***out, ks_error *err);

ks_status ks_rows_init(ks_rows *rows, const ks_results *results, ks_error *err);
void ks_rows_fini(ks_rows *rows);

/**
 * Call `each` for every row, in the order of the table: measured ones by annotation, config and
 * metric, then derived ones in the same way. Stops at the first failure.
 */
ks_status ks_rows_each(const ks_rows *rows, ks_status (*each)(void *self, const ks_row *row),
                       void *self);

/** Statistics, failures and baseline of a row. */
void ks_rows_compute(ks_rows *rows, ks_row *row);

#endif
