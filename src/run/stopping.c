#include "run/stopping.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "stats/summary.h"

void ks_stopping_fini(ks_stopping *stopping)
{
    ks_free(stopping->means);
    *stopping = (ks_stopping){0};
}

static uint32_t look_of(const ks_stopping *s, const ks_plan *plan)
{
    return s->look > 0 ? s->look : plan->until.min_runs;
}

uint32_t ks_stopping_batch(const ks_stopping *stopping, const ks_plan *plan)
{
    if (plan->order == KS_ORDER_INTERLEAVED) {
        return 1;
    }
    if (!plan->auto_runs) {
        return plan->runs - stopping->runs; /* a collector may have room for fewer at once */
    }
    uint32_t batch = look_of(stopping, plan) - stopping->runs;
    if (plan->until.budget_s > 0.0) {
        /* the first run alone tells how long one takes */
        double per_run = stopping->runs > 0 ? stopping->spent_s / stopping->runs : INFINITY;
        double fit = (plan->until.budget_s - stopping->spent_s) / per_run;
        batch = fit < 1.0 ? 1 : fit < batch ? (uint32_t)fit : batch;
    }
    return batch;
}

/* An annotation's place in the list; a config enters few. */
static ks_status find_means(ks_stopping *s, uint32_t annotation, ks_moments **out, ks_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->means[i].annotation == annotation) {
            *out = &s->means[i];
            return KS_OK;
        }
    }
    KS_TRY(KS_GROW(s->means, s->capacity, s->count + 1, err));
    *out = &s->means[s->count++];
    **out = (ks_moments){.annotation = annotation};
    return KS_OK;
}

/* Welford (1962): no large sums of squares that cancel. */
static void add_value(ks_moments *m, double value)
{
    double from_mean = value - m->mean;
    m->n++;
    m->mean += from_mean / m->n;
    m->squares += from_mean * (value - m->mean);
}

static ks_status add_values(ks_stopping *s, const ks_samples *batch, ks_error *err)
{
    uint32_t deciding = ks_deciding_metric(batch->metrics, batch->metric_count);
    for (uint32_t i = 0; i < batch->entered_count; i++) {
        uint32_t annotation = batch->entered[i];
        ks_moments *means = NULL;
        KS_TRY(find_means(s, annotation, &means, err));
        for (uint32_t run = 0; run < batch->runs; run++) {
            const char *why = NULL;
            double value = NAN;
            if (ks_samples_value(batch, annotation, run, deciding, &value, &why)) {
                add_value(means, value);
            }
        }
    }
    return KS_OK;
}

ks_status ks_stopping_add(ks_stopping *stopping, const ks_plan *plan, const ks_samples *batch,
                          double spent_s, ks_error *err)
{
    if (plan->auto_runs) {
        KS_TRY(add_values(stopping, batch, err));
    }
    for (uint32_t run = 0; run < batch->runs; run++) {
        stopping->failed = stopping->failed || batch->failures[run] != 0;
    }
    stopping->runs += batch->runs;
    stopping->spent_s += spent_s;
    return KS_OK;
}

static bool has_values(const ks_stopping *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->means[i].n >= 2) {
            return true;
        }
    }
    return false;
}

/* Whether every annotation's mean is known to the precision that was asked for. One with less than
 * two values has nothing to wait for: it fails, or is entered rarely. */
static bool precise(const ks_stopping *s, double precision)
{
    for (size_t i = 0; i < s->count; i++) {
        const ks_moments *m = &s->means[i];
        if (m->n >= 2) {
            double half = ks_half_width(m->n) * sqrt(m->squares / (m->n - 1));
            if (!(half <= precision * fabs(m->mean))) {
                return false;
            }
        }
    }
    return true;
}

/* Choose the next look: after half as many runs again where the precision has to be confirmed, else
 * after a quarter, so that few looks are taken and few runs too many are made. */
static void look_again(ks_stopping *s, const ks_plan *plan, bool confirming)
{
    uint64_t more = confirming ? (s->runs + 1) / 2 : (s->runs + 3) / 4;
    uint64_t look = s->runs + more;
    s->look = look < plan->until.max_runs ? (uint32_t)look : plan->until.max_runs;
    s->confirming = confirming;
}

ks_stop ks_stopping_judge(ks_stopping *stopping, const ks_plan *plan)
{
    ks_stopping *s = stopping;
    if (!plan->auto_runs) {
        return s->runs >= plan->runs ? KS_STOP_RUNS : KS_STOP_NOT_YET;
    }
    if (s->runs >= plan->until.min_runs && !has_values(s)) {
        return KS_STOP_NO_VALUES;
    }
    if (s->runs >= look_of(s, plan)) {
        bool enough = precise(s, plan->until.precision);
        bool last = s->runs >= plan->until.max_runs;
        if (enough && (s->confirming || last)) {
            return KS_STOP_PRECISION;
        }
        if (last) {
            return KS_STOP_MAX_RUNS;
        }
        look_again(s, plan, enough);
    }
    bool spent = plan->until.budget_s > 0.0 && s->spent_s >= plan->until.budget_s;
    return spent ? KS_STOP_BUDGET : KS_STOP_NOT_YET;
}
