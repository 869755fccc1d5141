/* The rank test of Mann and Whitney (1947): do two sets of samples come from one distribution? */
#ifndef KS_STATS_RANK_H
#define KS_STATS_RANK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ks_rank_test {
    double u;   /**< pairs in which the second sample is larger; ties count half */
    double p;   /**< two-sided */
    bool exact; /**< by counting; else by the normal distribution */
} ks_rank_test;

/**
 * @param[in] a, b  sorted, finite; at least one each
 *
 * Exact without ties and up to 50 samples: the number of arrangements for each U are the
 * coefficients of a Gaussian binomial. Else z = (|U - mn/2| - 1/2) / s with
 * s^2 = mn/12 ((N+1) - sum(t^3 - t) / (N(N-1))) over groups of t ties, N = m + n.
 */
ks_rank_test ks_rank_compare(const double *a, size_t m, const double *b, size_t n);

#endif
