/*
 * What a mean does not show: samples that drift, fall into two groups, or begin with an odd one.
 *
 * Each is told where at most about one row of a hundred of steady samples would have it by chance,
 * and where it is at least 1 % of the median: docs/statistics.md.
 */
#ifndef KS_STATS_SHAPE_H
#define KS_STATS_SHAPE_H

#include "stats/summary.h"

typedef struct ks_shape {
    double first_pct;  /**< the first sample above the others' median, in % of it; 0: it fits in */
    double drift_pct;  /**< the second half's median above the first's, in %; 0: no drift */
    double low, high;  /**< medians of two groups */
    double high_share; /**< of the samples that are in the upper one; 0: there are no groups */
} ks_shape;

/** Fewest samples that are looked at. */
#define KS_SHAPE_MIN 10
/** Most that are sorted for drift and groups: of more so many are drawn, in their order. */
#define KS_SHAPE_MOST 10000

/**
 * @param[in]     values   n finite numbers in the order in which they were measured
 * @param[in]     summary  of them
 * @param[in,out] scratch  room for n numbers
 */
void ks_find_shape(const double *values, size_t n, const ks_summary *summary, double *scratch,
                   ks_shape *out);

#endif
