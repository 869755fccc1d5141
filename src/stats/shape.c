/* Every row is looked at, and hardly any has something: cheap bounds come before the tests. */
#include "stats/shape.h"

#include <math.h>
#include <string.h>

#include "stats/rank.h"
#include "stats/sort.h"

/* Differences of less than this share of the median are nobody's concern. */
static const double MATTERS = 0.01;

/* How far `value` is above `median`, in percent; 0 where that does not matter. */
static double above_pct(double value, double median)
{
    double share = median != 0.0 ? (value - median) / fabs(median) : 0.0;
    return fabs(share) >= MATTERS ? 100.0 * share : 0.0;
}

/* The first sample against the others: an outlier, and twice as far out as any of them, since
 * skewed samples have outliers anywhere. */
static double find_first(const double *values, size_t n, const ks_summary *s, double *scratch)
{
    if (values[0] != s->min && values[0] != s->max) {
        return 0.0;
    }
    size_t others = n - 1;
    memcpy(scratch, values + 1, others * sizeof *values);
    double median = ks_median_of(scratch, others);
    double farthest = 0.0;
    for (size_t i = 0; i < others; i++) {
        scratch[i] = fabs(values[i + 1] - median);
        farthest = fmax(farthest, scratch[i]);
    }
    double distance = fabs(values[0] - median);
    if (distance <= 2.0 * farthest) {
        return 0.0;
    }
    double scale = ks_median_of(scratch, others) / 0.6745;
    return distance > ks_outlier_z(n) * scale ? above_pct(values[0], median) : 0.0;
}

/* Pairs of a value of the first half and a larger one of the second. */
static size_t count_rises(const double *values, size_t half, const double *second)
{
    size_t rises = 0;
    for (size_t i = 0; i < half; i++) {
        for (size_t j = 0; j < half; j++) {
            rises += values[i] < second[j];
        }
    }
    return rises;
}

/* Whether the rank test of two halves could come below 1 %: its U is far from the middle. */
static bool may_drift(const double *values, size_t half, const double *second)
{
    if (half > KS_SORT_SMALL) {
        return true; /* counting would take longer than the test */
    }
    double h = (double)half;
    double deviation = sqrt(h * h * (2.0 * h + 1.0) / 12.0);
    double from_middle = fabs((double)count_rises(values, half, second) - h * h / 2.0);
    return from_middle > 2.2 * deviation;
}

/* The two halves in time, by the rank test. */
static double find_drift(const double *values, size_t n, double *scratch)
{
    size_t half = n / 2;
    const double *later = values + n - half;
    double *second = scratch + half;
    if (!may_drift(values, half, later)) {
        return 0.0;
    }
    ks_sort(values, half, scratch);
    ks_sort(later, half, second);
    double before = ks_sorted_median(scratch, half);
    double above = above_pct(ks_sorted_median(second, half), before);
    bool drifts = above != 0.0 && ks_rank_compare(scratch, half, second, half).p < 0.01;
    return drifts ? above : 0.0;
}

static double sum_of(const double *values, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum;
}

/* The deviation within two groups of sorted values: what is left of their squares once the distance
 * of the groups' means is taken off. */
static double deviation_within(const double *sorted, size_t n, size_t at, double stddev)
{
    double low = sum_of(sorted, at) / (double)at;
    double high = sum_of(sorted + at, n - at) / (double)(n - at);
    double between = (double)at * (double)(n - at) / (double)n * (high - low) * (high - low);
    double squares = stddev * stddev * ((double)n - 1.0) - between;
    return sqrt(fmax(squares, 0.0) / ((double)n - 2.0));
}

/* Two groups of at least a fifth of the samples each, with a gap between them that is large against
 * the deviation within them. The limit falls with n: from simulations. */
static void find_groups(const double *values, size_t n, const ks_summary *s, double *scratch,
                        ks_shape *out)
{
    ks_sort(values, n, scratch);
    size_t fewest = (n + 4) / 5;
    size_t at = fewest;
    for (size_t i = fewest; i <= n - fewest; i++) {
        bool wider = scratch[i] - scratch[i - 1] > scratch[at] - scratch[at - 1];
        at = wider ? i : at;
    }
    double gap = scratch[at] - scratch[at - 1];
    double limit = fmax(1.5, 65.0 / (double)n);
    if (gap <= limit * deviation_within(scratch, n, at, s->stddev)) {
        return;
    }
    out->low = ks_sorted_median(scratch, at);
    out->high = ks_sorted_median(scratch + at, n - at);
    if (above_pct(out->high, out->low) > 0.0) {
        out->high_share = (double)(n - at) / (double)n;
    }
}

/* One of each `every` values, in their order: which one is drawn, since in a regular turn samples
 * that alternate would seem equal. The same ones each time. @return how many */
static size_t draw(const double *values, size_t n, size_t every, double *to)
{
    uint64_t state = 88172645463325252u;
    size_t count = n / every;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13; /* Marsaglia (2003) */
        state ^= state >> 7;
        state ^= state << 17;
        to[i] = values[i * every + state % every];
    }
    return count;
}

void ks_find_shape(const double *values, size_t n, const ks_summary *summary, double *scratch,
                   ks_shape *out)
{
    *out = (ks_shape){0};
    if (n < KS_SHAPE_MIN || summary->max - summary->min < 0.5 * MATTERS * fabs(summary->median)) {
        return;
    }
    out->first_pct = find_first(values, n, summary, scratch);
    /* an odd first sample is no drift */
    size_t skip = out->first_pct != 0.0 ? 1 : 0;
    size_t every = (n + KS_SHAPE_MOST - 1) / KS_SHAPE_MOST;
    if (every == 1) {
        out->drift_pct = find_drift(values + skip, n - skip, scratch);
        find_groups(values, n, summary, scratch, out);
        return;
    }
    ks_summary of_drawn;
    ks_quantiles quantiles = {0};
    size_t count = draw(values + skip, n - skip, every, scratch);
    ks_summarize(scratch, count, scratch + count, &quantiles, &of_drawn);
    out->drift_pct = find_drift(scratch, count, scratch + count);
    find_groups(scratch, count, &of_drawn, scratch + count, out);
}
