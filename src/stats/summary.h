/* What is said about the runs of one row: arrays in, numbers out. NaN stands for a missing one. */
#ifndef KS_STATS_SUMMARY_H
#define KS_STATS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Confidence level of every interval. */
#define KS_CONFIDENCE 0.95

/** A row is stable below this relative deviation, in percent. */
#define KS_STABLE_PCT 2.0

typedef struct ks_summary {
    size_t n;
    double mean;
    double stddev; /**< sample deviation, divisor n - 1; missing for n < 2 */
    double min, max;
    double median;
    double mad;             /**< median of the absolute deviations from the median, not scaled */
    double ci_low, ci_high; /**< mean -/+ t(0.975, n-1) stddev / sqrt(n); missing for n < 2 */
    double relative_pct;    /**< 100 stddev / |mean|; missing for n < 2 or mean 0 */
    uint32_t outliers;      /**< by ks_outlier_z(); flagged, never removed; 0 for n < 3 */
} ks_summary;

/** What depends on the number of samples alone. */
typedef struct ks_quantile {
    double half_width; /**< of the interval of a mean, in standard deviations: t / sqrt(n) */
    double outlier_z;  /**< ks_outlier_z() */
} ks_quantile;

/** Those that were needed, kept between calls; start with zeros. */
typedef struct ks_quantiles {
    ks_quantile by_n[64];
    size_t last_n;
    ks_quantile last;
} ks_quantiles;

/**
 * The modified z-score (Iglewicz and Hoaglin 1993) above which a sample is an outlier, if n >= 3.
 *
 * Their constant 3.5 flags something in 12 % of rows of 10 normal samples, and in 29 % of rows
 * of 3. This one grows where the median deviation is known badly, so that about 1 % of rows of
 * normal samples have an outlier, whatever n is. From simulations: docs/statistics.md.
 */
double ks_outlier_z(size_t n);

/** Half the width of the 95 % interval of a mean of n >= 2 values, in standard deviations:
 * t(0.975, n-1) / sqrt(n). */
double ks_half_width(size_t n);

/** Whether a number is whole, and small enough to be exactly so. */
bool ks_is_whole(double value);

/**
 * @param[in]     values   n finite numbers
 * @param[in,out] scratch  room for n numbers
 */
void ks_summarize(const double *values, size_t n, double *scratch, ks_quantiles *quantiles,
                  ks_summary *out);

/** A geometric mean exp(mean(ln x)) while its values come in; start with zeros. */
typedef struct ks_geomean {
    double sum_of_logs;
    size_t n;
    bool negative;
} ks_geomean;

/** Add a value; NaN is left out. */
void ks_geomean_add(ks_geomean *mean, double value);

/** 0 with a zero among the values, NaN with a negative one or with none at all. */
double ks_geomean_value(const ks_geomean *mean);

/**
 * Interval of the ratio of two independent means a / b, by propagation of errors:
 * variance (a/b)^2 ((sa/a)^2/na + (sb/b)^2/nb), Welch-Satterthwaite degrees of freedom.
 * NaN where a deviation is missing or b is 0.
 */
void ks_ratio_interval(const ks_summary *a, const ks_summary *b, double *low, double *high);

#endif
