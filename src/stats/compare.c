#include "kernsight/compare.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "stats/rank.h"
#include "stats/sort.h"
#include "stats/student.h"

/* A sorted set of samples, and what is known of its median. */
typedef struct set {
    double *values;
    size_t n;
    double median;
    double log_variance; /* of the logarithm of the median; NaN: not known */
} set;

/* P(X < c) for X heads in n throws of a coin. */
static double fewer_heads(size_t n, size_t c)
{
    double sum = 0.0;
    double log_chance =
        -(double)n * log(2.0); /* of i heads; as a logarithm 2^n does not overflow */
    for (size_t i = 0; i < c; i++) {
        sum += exp(log_chance);
        log_chance += log((double)(n - i) / (double)(i + 1));
    }
    return sum;
}

/* Price and Bonett (2002): the distance between two order statistics that lie around the median
 * with a known probability, over the distance in deviations that has it in a normal distribution.
 */
static double log_variance(const set *s)
{
    double n = (double)s->n;
    double place = round((n + 1.0) / 2.0 - sqrt(n));
    size_t c = place < 1.0 ? 1 : (size_t)place;
    double low = s->values[c - 1];
    double high = s->values[s->n - c];
    if (s->n < 2 || !(low > 0.0)) {
        return NAN;
    }
    double z = ks_normal_quantile(1.0 - fewer_heads(s->n, c));
    double deviation = log(high / low) / (2.0 * z);
    return deviation * deviation;
}

static ks_status make_set(const double *values, size_t n, const char *which, set *out,
                          ks_error *err)
{
    if (n == 0 || values == NULL) {
        return ks_fail(err, KS_EINVAL, "compare", 0, "the %s set has no samples", which);
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            return ks_fail(err, KS_EINVAL, "compare", 0,
                           "sample %zu of the %s set is not a finite number; leave out what is "
                           "missing",
                           i + 1, which);
        }
    }
    out->values = ks_alloc(n * sizeof *out->values);
    if (out->values == NULL) {
        return ks_enomem(err);
    }
    ks_sort(values, n, out->values);
    out->n = n;
    out->median = ks_sorted_median(out->values, n);
    out->log_variance = log_variance(out);
    return KS_OK;
}

/* Fewest samples of each set with which the exact test can come below the level: 2 / C(2n, n). */
static uint64_t fewest(double level)
{
    double p = 1.0;
    uint64_t n = 1;
    for (; p >= level && n < 500; n++) {
        double k = (double)n + 1.0;
        p *= k / (2.0 * (2.0 * k - 1.0));
    }
    return n;
}

/* Runs for which the interval's half-width is below the nearer of two goals: the distance of the
 * ratio from 1, or from the threshold. The factor makes that likely and not just as likely as not:
 * z(0.975) + z(0.8) over z(0.975), squared, at the level 0.05. */
static uint64_t runs_needed(const set *a, const set *b, const ks_comparison *c,
                            const ks_compare_options *o)
{
    double z = ks_normal_quantile(1.0 - o->level / 2.0);
    double chance = z + ks_normal_quantile(0.8);
    double distance = fabs(log(c->ratio));
    double inside = log1p(o->threshold) - distance;
    double goal = distance > inside ? distance : inside;
    double spread = a->log_variance * (double)a->n + b->log_variance * (double)b->n;
    double needed = ceil(chance * chance * spread / (goal * goal));
    if (!(needed < 1e15)) {
        return 0;
    }
    uint64_t least = fewest(o->level);
    return needed > (double)least ? (uint64_t)needed : least;
}

/* Without an interval the order of the medians decides, which is the ratio's but for the sign. */
static ks_verdict judge(const set *a, const set *b, const ks_comparison *c,
                        const ks_compare_options *o)
{
    bool known = !isnan(c->ratio_low);
    if (known && c->ratio_low >= 1.0 / (1.0 + o->threshold) &&
        c->ratio_high <= 1.0 + o->threshold) {
        return KS_SAME;
    }
    bool above = !known ? b->median > a->median : c->ratio_low > 1.0;
    bool below = !known ? b->median < a->median : c->ratio_high < 1.0;
    if (c->p >= o->level || !(above || below)) {
        return KS_UNDECIDED;
    }
    return above != o->higher_is_better ? KS_SLOWER : KS_FASTER;
}

static void compare(const set *a, const set *b, const ks_compare_options *o, ks_comparison *out)
{
    ks_rank_test test = ks_rank_compare(a->values, a->n, b->values, b->n);
    ks_comparison c = {.p = test.p, .exact = test.exact, .ratio_low = NAN, .ratio_high = NAN};
    c.ratio = a->median != 0.0 ? b->median / a->median : NAN;
    double half =
        ks_normal_quantile(1.0 - o->level / 2.0) * sqrt(a->log_variance + b->log_variance);
    if (!isnan(half)) {
        c.ratio_low = c.ratio * exp(-half);
        c.ratio_high = c.ratio * exp(half);
    }
    c.verdict = judge(a, b, &c, o);
    if (c.verdict == KS_UNDECIDED && !isnan(half)) {
        c.runs_needed = runs_needed(a, b, &c, o);
    }
    *out = c;
}

ks_status ks_compare_samples(const double *first, size_t first_count, const double *second,
                             size_t second_count, const ks_compare_options *options,
                             ks_comparison *out, ks_error *err)
{
    static const ks_compare_options defaults = KS_COMPARE_OPTIONS_INIT;
    const ks_compare_options *o = options != NULL ? options : &defaults;
    if (o->struct_size < sizeof defaults) {
        return ks_fail(err, KS_EINVAL, "compare", 0,
                       "the options are not initialised; start from KS_COMPARE_OPTIONS_INIT");
    }
    if (!(o->level > 0.0 && o->level < 1.0) || !(o->threshold >= 0.0 && isfinite(o->threshold))) {
        return ks_fail(err, KS_EINVAL, "compare", 0,
                       "the level must be above 0 and below 1, the threshold 0 or above");
    }
    set a = {0};
    set b = {0};
    ks_status status = make_set(first, first_count, "first", &a, err);
    if (status == KS_OK) {
        status = make_set(second, second_count, "second", &b, err);
    }
    if (status == KS_OK) {
        compare(&a, &b, o, out);
    }
    ks_free(a.values);
    ks_free(b.values);
    return status;
}

const char *ks_verdict_name(ks_verdict verdict)
{
    switch (verdict) {
    case KS_SAME:
        return "same";
    case KS_FASTER:
        return "faster";
    case KS_SLOWER:
        return "slower";
    case KS_UNDECIDED:
        break;
    }
    return "undecided";
}
