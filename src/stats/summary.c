#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "stats/sort.h"
#include "stats/student.h"

static void median_and_mad(const double *values, size_t n, double *scratch, ks_summary *out)
{
    if (n <= KS_SORT_SMALL) {
        ks_sort(values, n, scratch);
        out->median = ks_sorted_median(scratch, n);
        out->mad = ks_sorted_mad(scratch, n, out->median);
        return;
    }
    memcpy(scratch, values, n * sizeof *values);
    out->median = ks_median_of(scratch, n);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = fabs(values[i] - out->median);
    }
    out->mad = ks_median_of(scratch, n);
}

static uint32_t count_outliers(const double *values, size_t n, double median, double mad, double z)
{
    /* 0.6745 and 1.2533 scale the two measures to the deviation of a normal distribution */
    double scale = mad / 0.6745;
    if (mad == 0.0) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += fabs(values[i] - median);
        }
        scale = 1.253314 * sum / (double)n;
    }
    uint32_t outliers = 0;
    double limit = scale > 0.0 ? z * scale : INFINITY;
    for (size_t i = 0; i < n; i++) {
        outliers += fabs(values[i] - median) > limit;
    }
    return outliers;
}

double ks_outlier_z(size_t n)
{
    /* 99 % quantiles of the largest score of n normal samples; from 12 on a formula fits them */
    static const double few[] = {[3] = 111.7, [4] = 15.87, [5] = 18.49, [6] = 10.09, [7] = 10.73,
                                 [8] = 7.91,  [9] = 8.26,  [10] = 6.91, [11] = 7.08};
    if (n < sizeof few / sizeof few[0]) {
        return n < 3 ? INFINITY : few[n];
    }
    double count = (double)n;
    return ks_normal_quantile(1.0 - 0.005 / count) * (1.0 + 10.5 / count);
}

double ks_half_width(size_t n)
{
    return ks_student_quantile(1.0 - (1.0 - KS_CONFIDENCE) / 2.0, (double)n - 1.0) /
           sqrt((double)n);
}

static const ks_quantile *quantile_of(ks_quantiles *quantiles, size_t n)
{
    bool small = n < sizeof quantiles->by_n / sizeof quantiles->by_n[0];
    ks_quantile *kept = small ? &quantiles->by_n[n] : &quantiles->last;
    if (small ? kept->half_width == 0.0 : quantiles->last_n != n) {
        kept->half_width = ks_half_width(n);
        kept->outlier_z = ks_outlier_z(n);
        quantiles->last_n = small ? quantiles->last_n : n;
    }
    return kept;
}

bool ks_is_whole(double value)
{
    return fabs(value) < 9007199254740992.0 && value == trunc(value);
}

/* Numbers whose squares could leave the range of a double, above it or below, are scaled by a power
 * of two, which is exact; others by 1. */
static double scale_for(double min, double max)
{
    double largest = fmax(fabs(min), fabs(max));
    int exponent = 0;
    if (largest == 0.0 || (largest < 1e150 && largest > 1e-130)) {
        return 1.0;
    }
    frexp(largest, &exponent);
    return ldexp(1.0, exponent > -1000 ? -exponent : 1000);
}

/* Mean, extremes and deviation. Two passes, so that a large common part does not cancel. */
static void moments(const double *values, size_t n, ks_summary *out)
{
    double sum = 0.0;
    out->min = values[0];
    out->max = values[0];
    for (size_t i = 0; i < n; i++) {
        out->min = values[i] < out->min ? values[i] : out->min;
        out->max = values[i] > out->max ? values[i] : out->max;
    }
    double scale = scale_for(out->min, out->max);
    for (size_t i = 0; i < n; i++) {
        sum += scale * values[i];
    }
    double mean = sum / (double)n;
    double rest = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = scale * values[i] - mean;
        rest += d;
        squares += d * d;
    }
    out->mean = (mean + rest / (double)n) / scale;
    if (n >= 2) {
        squares -= rest * rest / (double)n;
        out->stddev = sqrt(fmax(squares, 0.0) / ((double)n - 1.0)) / scale;
    }
}

void ks_summarize(const double *values, size_t n, double *scratch, ks_quantiles *quantiles,
                  ks_summary *out)
{
    *out = (ks_summary){.n = n,
                        .mean = NAN,
                        .stddev = NAN,
                        .min = NAN,
                        .max = NAN,
                        .median = NAN,
                        .mad = NAN,
                        .ci_low = NAN,
                        .ci_high = NAN,
                        .relative_pct = NAN};
    if (n == 0) {
        return;
    }
    moments(values, n, out);
    median_and_mad(values, n, scratch, out);
    if (n < 2) {
        out->mad = NAN;
        return;
    }
    const ks_quantile *q = quantile_of(quantiles, n);
    out->outliers = n >= 3 ? count_outliers(values, n, out->median, out->mad, q->outlier_z) : 0;
    double half = q->half_width * out->stddev;
    out->ci_low = out->mean - half;
    out->ci_high = out->mean + half;
    if (out->mean != 0.0) {
        out->relative_pct = 100.0 * (out->stddev / fabs(out->mean));
    }
}

void ks_geomean_add(ks_geomean *mean, double value)
{
    if (isnan(value)) {
        return;
    }
    mean->negative = mean->negative || value < 0.0;
    mean->sum_of_logs += value > 0.0 ? log(value) : -INFINITY;
    mean->n++;
}

double ks_geomean_value(const ks_geomean *mean)
{
    return mean->n > 0 && !mean->negative ? exp(mean->sum_of_logs / (double)mean->n) : NAN;
}

void ks_ratio_interval(const ks_summary *a, const ks_summary *b, double *low, double *high)
{
    *low = NAN;
    *high = NAN;
    if (a->n < 2 || b->n < 2 || b->mean == 0.0) {
        return;
    }
    double ratio = a->mean / b->mean;
    double deviation_a = a->stddev / b->mean; /* first, since squares could leave the range */
    double deviation_b = ratio * (b->stddev / b->mean);
    double part_a = deviation_a * deviation_a / (double)a->n;
    double part_b = deviation_b * deviation_b / (double)b->n;
    double variance = part_a + part_b;
    double half = 0.0;
    if (variance > 0.0) {
        double dof =
            variance * variance /
            (part_a * part_a / ((double)a->n - 1.0) + part_b * part_b / ((double)b->n - 1.0));
        half = ks_student_quantile(1.0 - (1.0 - KS_CONFIDENCE) / 2.0, dof) * sqrt(variance);
    }
    *low = ratio - half;
    *high = ratio + half;
}
