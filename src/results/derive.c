/* Derived metrics: the plan's callbacks, and what they may ask and give. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "plan/call.h"
#include "results/results.h"

/* The values of one derived metric in a region while they come in. */
typedef struct series {
    uint32_t derived;
    double *values;   /* by run */
    ks_text_id *whys; /* by run; 0: the callback gave no value */
} series;

struct ks_derivation {
    ks_results *results;
    const ks_batch *batch;
    uint32_t annotation; /* of the run */
    uint32_t run;
    uint32_t derive; /* number of the callback */
    series *series;
    size_t count;
    size_t capacity;
};

const char *ks_derivation_annotation(const ks_derivation *derivation)
{
    return derivation->batch->paths[derivation->annotation];
}

ks_status ks_derivation_metric(const ks_derivation *derivation, const char *name, double *out,
                               ks_error *err)
{
    const ks_samples *samples = derivation->batch->samples;
    for (uint32_t m = 0; m < samples->metric_count; m++) {
        if (strcmp(samples->metrics[m].name, name) != 0) {
            continue;
        }
        const char *why = NULL;
        if (ks_samples_value(samples, derivation->annotation, derivation->run, m, out, &why)) {
            return KS_OK;
        }
        return ks_fail(err, KS_UNAVAILABLE, "derive", 0, "metric %s is missing: %s", name, why);
    }
    return ks_fail(err, KS_ENOTFOUND, "derive", 0,
                   "metric %s is not measured by this plan; add it with ks_plan_metric", name);
}

static ks_status check_name(const ks_derivation *d, const char *name, ks_error *err)
{
    size_t length = strlen(name);
    if (length == 0 || ks_has_control(name, length) || ks_utf8_check(name, length) < length) {
        return ks_fail(err, KS_EINVAL, "derive", 0,
                       "derived value '%s': a name must be UTF-8 text without control characters, "
                       "not empty",
                       name);
    }
    for (uint32_t m = 0; m < d->batch->samples->metric_count; m++) {
        if (strcmp(d->batch->samples->metrics[m].name, name) == 0) {
            return ks_fail(err, KS_EINVAL, "derive", 0,
                           "derived value '%s' has the name of a measured metric; choose another",
                           name);
        }
    }
    return KS_OK;
}

/* Index of what a callback gives under a name, new or known. */
static ks_status find_derived(ks_results *r, uint32_t derive, const char *name, uint32_t *out,
                              ks_error *err)
{
    ks_derived wanted = {.derive = derive};
    KS_TRY(ks_pool_add(&r->pool, name, &wanted.name, err));
    for (size_t i = 0; i < r->derived_count; i++) {
        if (r->derived[i].name == wanted.name && r->derived[i].derive == derive) {
            *out = (uint32_t)i;
            return KS_OK;
        }
    }
    KS_TRY(KS_GROW(r->derived, r->derived_capacity, r->derived_count + 1, err));
    *out = (uint32_t)r->derived_count;
    r->derived[r->derived_count++] = wanted;
    return KS_OK;
}

ks_status ks_results_own_derived(ks_results *results, uint32_t derive, uint32_t *out, ks_error *err)
{
    return find_derived(results, derive, results->plan->derives[derive].name, out, err);
}

/* Another callback may not give a value of the same name. */
static ks_status check_owner(const ks_derivation *d, const char *name, ks_error *err)
{
    const ks_results *r = d->results;
    ks_text_id id = ks_pool_find(&r->pool, name);
    for (size_t i = 0; i < r->derived_count; i++) {
        const ks_derived *known = &r->derived[i];
        if (known->name == id && known->derive != d->derive && known->unit_known) {
            return ks_fail(err, KS_EINVAL, "derive", 0,
                           "two derived metrics give a value named '%s'; rename one", name);
        }
    }
    return KS_OK;
}

static ks_status note_unit(ks_results *r, uint32_t derived, const char *unit, ks_error *err)
{
    ks_text_id id = 0;
    KS_TRY(ks_pool_add(&r->pool, unit, &id, err));
    ks_derived *known = &r->derived[derived];
    known->unit_changed |= known->unit_known && known->unit != id;
    known->unit = known->unit_known ? known->unit : id;
    known->unit_known = true;
    return KS_OK;
}

/* The series of a derived metric in this region. */
static ks_status find_series(ks_derivation *d, uint32_t derived, series **out, ks_error *err)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->series[i].derived == derived) {
            *out = &d->series[i];
            return KS_OK;
        }
    }
    uint32_t runs = d->batch->samples->runs;
    KS_TRY(KS_GROW(d->series, d->capacity, d->count + 1, err));
    series *s = &d->series[d->count];
    s->derived = derived;
    s->values = ks_calloc(runs, sizeof *s->values);
    s->whys = ks_calloc(runs, sizeof *s->whys);
    if (s->values == NULL || s->whys == NULL) {
        ks_free(s->values);
        ks_free(s->whys);
        return ks_enomem(err);
    }
    for (uint32_t run = 0; run < runs; run++) {
        s->values[run] = NAN;
    }
    d->count++;
    *out = s;
    return KS_OK;
}

ks_status ks_derivation_set(ks_derivation *derivation, const char *name, double value,
                            const char *unit, ks_error *err)
{
    ks_derivation *d = derivation;
    uint32_t derived = 0;
    series *s = NULL;
    name = name != NULL ? name : d->results->plan->derives[d->derive].name;
    KS_TRY(check_name(d, name, err));
    if (unit != NULL && ks_utf8_check(unit, strlen(unit)) < strlen(unit)) {
        return ks_fail(err, KS_EINVAL, "derive", 0, "derived value '%s': its unit is not UTF-8",
                       name);
    }
    unit = unit != NULL && unit[0] == '\0' ? NULL : unit;
    KS_TRY(check_owner(d, name, err));
    KS_TRY(find_derived(d->results, d->derive, name, &derived, err));
    KS_TRY(note_unit(d->results, derived, unit, err));
    KS_TRY(find_series(d, derived, &s, err));
    s->values[d->run] = value;
    s->whys[d->run] = 0;
    return ks_pool_add(&d->results->pool, ks_not_finite(value), &s->whys[d->run], err);
}

/* Call one callback for all runs of the region. */
static ks_status evaluate(ks_derivation *d, ks_text_id *failures, ks_error *err)
{
    const ks_samples *samples = d->batch->samples;
    const ks_derive *derive = &d->results->plan->derives[d->derive];
    ks_fault fault = KS_FAULT_INIT;
    ks_call call = {.plan = d->results->plan, .config = d->batch->config, .fault = &fault};
    for (uint32_t run = 0; run < samples->runs; run++) {
        const ks_presence *presence = ks_samples_presence(samples, d->annotation, run);
        failures[run] = 0;
        if (samples->failures[run] != 0 || presence->failure != 0 || presence->visits == 0) {
            continue;
        }
        ks_error failed = KS_ERROR_INIT;
        d->run = run;
        call.run = d->batch->first_run + run;
        ks_status status = derive->fn(d, &call, derive->user, &failed);
        if (status == KS_OK) {
            ks_error_clear(&failed);
        }
        ks_status asked = ks_fault_take(&fault, &failed);
        status = status != KS_OK ? status : asked;
        if (ks_is_enomem(&failed)) {
            return ks_enomem(err);
        }
        if (status != KS_OK) {
            const char *why = failed.message[0] != '\0' ? failed.message : ks_status_text(status);
            KS_TRY(ks_pool_add(&d->results->pool, why, &failures[run], err));
        }
    }
    return KS_OK;
}

/* Why run `run` of the region has no value, if the callback gave none. */
static const char *reason(const ks_derivation *d, uint32_t run, ks_text_id failure)
{
    const ks_samples *samples = d->batch->samples;
    const ks_presence *presence = ks_samples_presence(samples, d->annotation, run);
    if (samples->failures[run] != 0) {
        return ks_pool_text(&samples->texts, samples->failures[run]);
    }
    if (presence->failure != 0) {
        return ks_pool_text(&samples->texts, presence->failure);
    }
    if (presence->visits == 0) {
        return KS_NOT_ENTERED;
    }
    return failure != 0 ? ks_pool_text(&d->results->pool, failure) : KS_NO_SUCH_VALUE;
}

/* Keep the series that the callback gave, at the end of the results' values. */
static ks_status keep_series(ks_derivation *d, ks_region *region, size_t from,
                             const ks_text_id *failures, ks_error *err)
{
    ks_results *r = d->results;
    for (size_t i = from; i < d->count; i++) {
        const series *s = &d->series[i];
        ks_derived_runs runs = {.derived = s->derived, .first_value = r->kept.value_count};
        for (uint32_t run = 0; run < d->batch->samples->runs; run++) {
            bool valid = isfinite(s->values[run]) && failures[run] == 0;
            const char *why = s->whys[run] != 0 ? ks_pool_text(&r->pool, s->whys[run])
                                                : reason(d, run, failures[run]);
            KS_TRY(ks_results_keep_value(r, valid, s->values[run], why, err));
        }
        KS_TRY(KS_GROW(r->kept.derived_runs, r->kept.derived_run_capacity,
                       r->kept.derived_run_count + 1, err));
        r->kept.derived_runs[r->kept.derived_run_count++] = runs;
        region->derived_count++;
    }
    return KS_OK;
}

bool ks_results_derive_named(const ks_results *results, uint32_t derive)
{
    for (size_t i = 0; i < results->derived_count; i++) {
        if (results->derived[i].derive == derive) {
            return true;
        }
    }
    return false;
}

static bool any(const ks_text_id *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] != 0) {
            return true;
        }
    }
    return false;
}

/* Why it gave nothing in each run of a batch: other batches of the config may have a name for it.
 */
static ks_status keep_silence(ks_derivation *d, ks_region *region, const ks_text_id *failures,
                              ks_error *err)
{
    ks_results *r = d->results;
    ks_kept *k = &r->kept;
    for (uint32_t run = 0; run < d->batch->samples->runs; run++) {
        ks_silence silence = {.derive = d->derive, .failed = failures[run] != 0};
        KS_TRY(ks_pool_add(&r->pool, reason(d, run, failures[run]), &silence.why, err));
        KS_TRY(KS_GROW(k->silences, k->silence_capacity, k->silence_count + 1, err));
        k->silences[k->silence_count++] = silence;
        region->silence_count++;
    }
    return KS_OK;
}

static ks_status derive_one(ks_derivation *d, ks_region *region, ks_text_id *failures,
                            ks_error *err)
{
    ks_results *r = d->results;
    size_t from = d->count;
    KS_TRY(evaluate(d, failures, err));
    bool whole = d->batch->first_run == 0 && d->batch->stop != KS_STOP_NOT_YET;
    if (d->count == from && !whole) {
        return keep_silence(d, region, failures, err);
    }
    bool failed = any(failures, d->batch->samples->runs);
    if (d->count == from && (failed || !ks_results_derive_named(r, d->derive))) {
        /* nothing was given: a row under the callback's own name says why */
        uint32_t derived = 0;
        series *s = NULL;
        KS_TRY(ks_results_own_derived(r, d->derive, &derived, err));
        KS_TRY(find_series(d, derived, &s, err));
    }
    return keep_series(d, region, from, failures, err);
}

ks_status ks_results_derive(ks_results *results, const ks_batch *batch, ks_region *region,
                            uint32_t annotation, ks_error *err)
{
    if (results->plan->derive_count == 0) {
        return KS_OK;
    }
    ks_derivation d = {.results = results, .batch = batch, .annotation = annotation};
    ks_text_id *failures = ks_calloc(batch->samples->runs, sizeof *failures);
    ks_status status = failures != NULL ? KS_OK : ks_enomem(err);
    for (size_t i = 0; i < results->plan->derive_count && status == KS_OK; i++) {
        d.derive = (uint32_t)i;
        status = derive_one(&d, region, failures, err);
    }
    for (size_t i = 0; i < d.count; i++) {
        ks_free(d.series[i].values);
        ks_free(d.series[i].whys);
    }
    ks_free(d.series);
    ks_free(failures);
    return status;
}
