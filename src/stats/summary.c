#include "stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/student.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void insertion_sort(double *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
}

static double middle_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Bring the k-th smallest to its place, smaller ones before it and larger ones behind it. */
static void select_kth(double *values, size_t n, size_t k)
{
    size_t low = 0;
    size_t high = n;
    for (int round = 0; high - low > 16; round++) {
        if (round == 64) {
            /* pivots keep failing: take the sure way */
            qsort(values + low, high - low, sizeof *values, compare_doubles);
            return;
        }
        double pivot =
            middle_of_three(values[low], values[low + (high - low) / 2], values[high - 1]);
        size_t i = low;
        size_t j = high - 1;
        for (;;) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (k <= j) {
            high = j + 1;
        } else {
            low = j + 1;
        }
    }
    insertion_sort(values + low, high - low);
}

enum {
    SMALL = 32
};

/* Sort up to SMALL values by their ranks: no branch depends on them, so none is guessed wrong. */
static void rank_sort(const double *values, size_t n, double *sorted)
{
    for (size_t i = 0; i < n; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < i; j++) {
            rank += values[j] <= values[i]; /* of equal ones the earlier comes first */
        }
        for (size_t j = i + 1; j < n; j++) {
            rank += values[j] < values[i];
        }
        sorted[rank] = values[i];
    }
}

static double between(double below, double above)
{
    return below + (above - below) / 2.0;
}

/* Median of sorted values. */
static double sorted_median(const double *sorted, size_t n)
{
    return n % 2 == 1 ? sorted[n / 2] : between(sorted[n / 2 - 1], sorted[n / 2]);
}

/* Median of the deviations of sorted values from their median: they grow to both sides of it, so
 * the smaller half is found by going outwards. */
static double sorted_mad(const double *sorted, size_t n, double median)
{
    size_t right = n / 2;
    size_t left = right; /* one above the next on the left */
    double previous = 0.0;
    double last = 0.0;
    for (size_t taken = 0; taken <= n / 2; taken++) {
        double to_left = left > 0 ? median - sorted[left - 1] : INFINITY;
        double to_right = right < n ? sorted[right] - median : INFINITY;
        previous = last;
        last = to_left < to_right ? to_left : to_right;
        left -= to_left < to_right;
        right += !(to_left < to_right);
    }
    return n % 2 == 1 ? last : between(previous, last);
}

/* Median of many values; reorders them. */
static double median_of(double *values, size_t n)
{
    size_t half = n / 2;
    select_kth(values, n, half);
    if (n % 2 == 1) {
        return values[half];
    }
    double below = values[0];
    for (size_t i = 1; i < half; i++) {
        below = fmax(below, values[i]);
    }
    return between(below, values[half]);
}

static void median_and_mad(const double *values, size_t n, double *scratch, ks_summary *out)
{
    if (n <= SMALL) {
        rank_sort(values, n, scratch);
        out->median = sorted_median(scratch, n);
        out->mad = sorted_mad(scratch, n, out->median);
        return;
    }
    memcpy(scratch, values, n * sizeof *values);
    out->median = median_of(scratch, n);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = fabs(values[i] - out->median);
    }
    out->mad = median_of(scratch, n);
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

/* Mean, extremes and deviation. Two passes, so that a large common part does not cancel. */
static void moments(const double *values, size_t n, ks_summary *out)
{
    double sum = 0.0;
    out->min = values[0];
    out->max = values[0];
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        out->min = values[i] < out->min ? values[i] : out->min;
        out->max = values[i] > out->max ? values[i] : out->max;
    }
    double mean = sum / (double)n;
    double rest = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = values[i] - mean;
        rest += d;
        squares += d * d;
    }
    out->mean = mean + rest / (double)n;
    if (n >= 2) {
        squares -= rest * rest / (double)n;
        out->stddev = sqrt(fmax(squares, 0.0) / ((double)n - 1.0));
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
        out->relative_pct = 100.0 * out->stddev / fabs(out->mean);
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
    double part_a = a->stddev * a->stddev / (double)a->n / (b->mean * b->mean);
    double part_b = ratio * ratio * b->stddev * b->stddev / (double)b->n / (b->mean * b->mean);
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
