/**
 * @file compare.h
 * Comparing two sets of samples of one metric: slower, faster, the same, or not known yet.
 */
#ifndef KERNSIGHT_COMPARE_H
#define KERNSIGHT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ks_verdict {
    KS_UNDECIDED = 0, /**< there are too few samples to tell */
    KS_SAME,          /**< any difference is smaller than the one that matters */
    KS_FASTER,        /**< the second set is better */
    KS_SLOWER,        /**< the second set is worse */
} ks_verdict;

typedef struct ks_compare_options {
    size_t struct_size;
    double level;          /**< of the test, and 1 - that of the interval: 0 < level < 1 */
    double threshold;      /**< smaller differences do not matter: 0.01 is 1 %; 0: all matter */
    bool higher_is_better; /**< of throughputs; false: of times and counts */
} ks_compare_options;

// clang-format off
#define KS_COMPARE_OPTIONS_INIT {sizeof(ks_compare_options), 0.05, 0.01, false}
// clang-format on

typedef struct ks_comparison {
    ks_verdict verdict;
    double p;         /**< of equal distributions, two-sided (Mann and Whitney 1947) */
    bool exact;       /**< p is exact; else normal, corrected for ties and continuity */
    double ratio;     /**< median of the second over that of the first; NaN: that is 0 */
    double ratio_low; /**< interval of the ratio (Price and Bonett 2002); NaN: not known, as with */
    double ratio_high;    /**< ... values of 0 or below, or fewer than 2 of them */
    uint64_t runs_needed; /**< of each set, for a chance of 80 % to decide, if the medians and
                               spreads stay as they are; 0: it is decided, or this is not known */
} ks_comparison;

/**
 * Compare samples of a metric that were measured in two ways: `first` is what there was before.
 *
 * Slower or faster: the test's p is below the level, and the interval of the ratio of medians does
 * not hold 1 (without an interval: the medians differ). The same: that interval lies within the
 * threshold around 1. docs/statistics.md has the formulas and how often they are wrong.
 *
 * @param[in]  first, second  finite numbers, in any order; at least one of each
 * @param[in]  options        NULL: those of KS_COMPARE_OPTIONS_INIT
 * @param[out] out            untouched on failure
 * @return KS_OK; KS_EINVAL (no samples, one that is not finite, options); KS_ENOMEM
 *
 * Threads: safe; needs no run.
 */
KS_API ks_status ks_compare_samples(const double *first, size_t first_count, const double *second,
                                    size_t second_count, const ks_compare_options *options,
                                    ks_comparison *out, ks_error *err);

/** "undecided", "same", "faster" or "slower"; static. */
KS_API const char *ks_verdict_name(ks_verdict verdict);

#ifdef __cplusplus
}
#endif

#endif
