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

/* Median; reorders the values. */
static double median_of(double *values, size_t n)
{
    size_t half = n / 2;
    if (n <= 32) {
        insertion_sort(values, n);
    } else {
        select_kth(values, n, half);
    }
    if (n % 2 == 1) {
        return values[half];
    }
    double below = values[half - 1];
    if (n > 32) {
        below = values[0];
        for (size_t i = 1; i < half; i++) {
            below = fmax(below, values[i]);
        }
    }
    return below + (values[half] - below) / 2.0;
}

static uint32_t count_outliers(const double *deviations, size_t n, double mad)
{
    /* 0.6745 and 1.2533 scale the two measures to the deviation of a normal distribution */
    double scale = mad / 0.6745;
    if (mad == 0.0) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += deviations[i];
        }
        scale = 1.253314 * sum / (double)n;
    }
    uint32_t outliers = 0;
    for (size_t i = 0; i < n && scale > 0.0; i++) {
        outliers += deviations[i] / scale > KS_OUTLIER_Z;
    }
    return outliers;
}

static double quantile_for(ks_quantiles *quantiles, size_t n)
{
    const double p = 1.0 - (1.0 - KS_CONFIDENCE) / 2.0;
    if (n < sizeof quantiles->by_n / sizeof quantiles->by_n[0]) {
        if (quantiles->by_n[n] == 0.0) {
            quantiles->by_n[n] = ks_student_quantile(p, (double)n - 1.0);
        }
        return quantiles->by_n[n];
    }
    if (quantiles->last_n != n) {
        quantiles->last_n = n;
        quantiles->last = ks_student_quantile(p, (double)n - 1.0);
    }
    return quantiles->last;
}

static bool is_whole(double value)
{
    return fabs(value) < 9007199254740992.0 && value == trunc(value);
}

/* Mean, extremes and deviation. Two passes, so that a large common part does not cancel. */
static void moments(const double *values, size_t n, ks_summary *out)
{
    double sum = 0.0;
    out->min = values[0];
    out->max = values[0];
    out->whole = true;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        out->min = values[i] < out->min ? values[i] : out->min;
        out->max = values[i] > out->max ? values[i] : out->max;
        out->whole = out->whole && is_whole(values[i]);
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
    memcpy(scratch, values, n * sizeof *values);
    out->median = median_of(scratch, n);
    if (n < 2) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        scratch[i] = fabs(values[i] - out->median);
    }
    out->mad = median_of(scratch, n);
    out->outliers = n >= 3 ? count_outliers(scratch, n, out->mad) : 0;
    double half = quantile_for(quantiles, n) * out->stddev / sqrt((double)n);
    out->ci_low = out->mean - half;
    out->ci_high = out->mean + half;
    if (out->mean != 0.0) {
        out->relative_pct = 100.0 * out->stddev / fabs(out->mean);
    }
}

double ks_geomean(const double *values, size_t n)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i])) {
            continue;
        }
        if (values[i] < 0.0) {
            return NAN;
        }
        sum += log(values[i]);
        count++;
    }
    return count != 0 ? exp(sum / (double)count) : NAN;
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
