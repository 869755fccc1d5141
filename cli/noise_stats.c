/* What the times of a kernel against itself say. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which a share of n values lies; sorts them. */
static double quantile(double *values, size_t n, double share)
{
    qsort(values, n, sizeof *values, by_size);
    double at = share * (double)(n - 1);
    size_t below = (size_t)at;
    size_t above = below + 1 < n ? below + 1 : below;
    return values[below] + (at - (double)below) * (values[above] - values[below]);
}

static double median_of(const double *values, size_t n, double *scratch)
{
    memcpy(scratch, values, n * sizeof *values);
    return quantile(scratch, n, 0.5);
}

static void judge_spread(const double *a, size_t n, double *scratch, noise_report *out)
{
    double mean = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        double from_mean = a[i] - mean;
        mean += from_mean / (double)(i + 1);
        squares += from_mean * (a[i] - mean);
    }
    double median = median_of(a, n, scratch);
    out->kernel_ns = median;
    out->spread_pct = 100.0 * sqrt(squares / ((double)n - 1.0)) / mean;
    out->slow_pct = 100.0 * (quantile(scratch, n, 0.99) / median - 1.0);
    size_t quarter = n / 4;
    double first = median_of(a, quarter, scratch);
    double last = median_of(a + n - quarter, quarter, scratch);
    out->drift_pct = 100.0 * (last / first - 1.0);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = fabs(a[i] - median);
    }
    out->mad_pct = 100.0 * quantile(scratch, n, 0.5) / median;
}

static ks_status is_alarm(const double *first, const double *second, size_t n, size_t *alarms,
                          double *half, ks_error *err)
{
    ks_compare_options any = KS_COMPARE_OPTIONS_INIT;
    any.threshold = 0.0;
    ks_comparison c;
    ks_status status = ks_compare_samples(first, n, second, n, &any, &c, err);
    if (status == KS_OK) {
        *alarms += c.verdict == KS_FASTER || c.verdict == KS_SLOWER;
        *half = log(c.ratio_high / c.ratio_low) / 2.0;
    }
    return status;
}

/* Sets of `runs` runs: both sides of the same time, and one side before and after. */
static ks_status judge_group(const double *a, const double *b, size_t pairs, double *scratch,
                             noise_group *g, ks_error *err)
{
    /* an interval's half-width is what is shown as often as not; this much more, with 80 % */
    const double likely = (1.959964 + 0.841621) / 1.959964;
    double ignored = 0.0;
    ks_status status = KS_OK;
    g->difference_pct = NAN;
    for (size_t at = 0; at + 2 * g->runs <= pairs && status == KS_OK; at += g->runs) {
        status = is_alarm(a + at, b + at, g->runs, &g->alarms, &scratch[g->comparisons], err);
        if (status == KS_OK) {
            status = is_alarm(a + at, a + at + g->runs, g->runs, &g->alarms_later, &ignored, err);
        }
        g->comparisons++;
    }
    if (g->comparisons > 0 && status == KS_OK) {
        double half = quantile(scratch, g->comparisons, 0.5);
        g->difference_pct = 100.0 * (exp(likely * half) - 1.0);
    }
    return status;
}

ks_status judge_noise(const double *a, const double *b, size_t pairs, noise_report *out,
                      ks_error *err)
{
    static const size_t runs[NOISE_GROUPS] = {10, 30, 100};
    *out = (noise_report){.pairs = pairs};
    double *scratch = malloc(pairs * sizeof *scratch);
    if (scratch == NULL) {
        return ks_fail(err, KS_ENOMEM, "cli", 0, "out of memory");
    }
    judge_spread(a, pairs, scratch, out);
    ks_status status = KS_OK;
    for (size_t i = 0; i < NOISE_GROUPS && status == KS_OK; i++) {
        out->groups[i].runs = runs[i];
        status = judge_group(a, b, pairs, scratch, &out->groups[i], err);
    }
    free(scratch);
    return status;
}

/* More alarms than a level of 5 % gives by chance: beyond two deviations of their number. */
static bool too_many(size_t alarms, size_t comparisons)
{
    double n = (double)comparisons;
    return (double)alarms > 0.05 * n + 2.0 * sqrt(0.05 * 0.95 * n);
}

bool is_noisy(const noise_report *report)
{
    const noise_group *g = &report->groups[0];
    return too_many(g->alarms, g->comparisons) || too_many(g->alarms_later, g->comparisons) ||
           !(g->difference_pct <= 1.0);
}
