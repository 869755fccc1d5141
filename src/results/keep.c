/* What is kept of a batch when it is handed over. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "results/results.h"

/* Our index of an annotation of the run. */
static ks_status keep_annotation(ks_results *r, const char *path, uint32_t *out, ks_error *err)
{
    ks_text_id id = 0;
    KS_TRY(ks_pool_add(&r->paths, path, &id, err));
    *out = id - 1;
    return KS_OK;
}

void ks_results_clock_range(ks_region *region, double low, double high)
{
    bool first = region->clock_low == 0.0;
    region->clock_low = first || (low > 0.0 && low < region->clock_low) ? low : region->clock_low;
    region->clock_high = high > region->clock_high ? high : region->clock_high;
}

static ks_status keep_why(ks_results *r, size_t value, const char *why, ks_error *err)
{
    ks_why reason = {.value = value};
    KS_TRY(ks_pool_add(&r->pool, why, &reason.text, err));
    KS_TRY(KS_GROW(r->kept.whys, r->kept.why_capacity, r->kept.why_count + 1, err));
    r->kept.whys[r->kept.why_count++] = reason;
    return KS_OK;
}

ks_status ks_results_keep_value(ks_results *results, bool valid, double value, const char *why,
                                ks_error *err)
{
    KS_TRY(KS_GROW(results->kept.values, results->kept.value_capacity,
                   results->kept.value_count + 1, err));
    if (!valid) {
        KS_TRY(keep_why(results, results->kept.value_count, why, err));
    }
    results->kept.values[results->kept.value_count++] = valid ? value : NAN;
    return KS_OK;
}

static ks_status keep_values(ks_results *r, const ks_samples *samples, uint32_t annotation,
                             ks_error *err)
{
    size_t count = (size_t)samples->metric_count * samples->runs;
    KS_TRY(KS_GROW(r->kept.values, r->kept.value_capacity, r->kept.value_count + count, err));
    for (uint32_t m = 0; m < samples->metric_count; m++) {
        double *values = r->kept.values + r->kept.value_count;
        uint32_t missing = ks_samples_series(samples, annotation, m, values);
        for (uint32_t run = 0; missing > 0 && run < samples->runs; run++) {
            const char *why = NULL;
            double value = NAN;
            if (!ks_samples_value(samples, annotation, run, m, &value, &why)) {
                KS_TRY(keep_why(r, r->kept.value_count + run, why, err));
            }
        }
        r->kept.value_count += samples->runs;
    }
    return KS_OK;
}

/* Visits and launches per run, over the runs that entered the annotation and succeeded. */
static void note_presence(ks_region *region, const ks_samples *samples, uint32_t annotation)
{
    for (uint32_t run = 0; run < samples->runs; run++) {
        const ks_presence *p = ks_samples_presence(samples, annotation, run);
        region->failed += samples->failures[run] != 0 || p->failure != 0;
        if (p->visits == 0 || samples->failures[run] != 0) {
            continue;
        }
        if (region->entered++ == 0) {
            region->visits = p->visits;
            region->launches = p->launches;
            region->inside = p->inside;
        }
        region->visits_differ |= p->visits != region->visits;
        region->launches_differ |= p->launches != region->launches;
    }
}

static bool was_entered(const ks_samples *samples, uint32_t annotation)
{
    for (uint32_t run = 0; run < samples->runs; run++) {
        if (ks_samples_presence(samples, annotation, run)->visits > 0) {
            return true;
        }
    }
    return false;
}

/* Metrics whose percentages the plan's callback added up, a bit each. */
static uint64_t find_added_shares(const ks_samples *samples, uint32_t annotation)
{
    uint64_t bits = 0;
    for (uint32_t run = 0; samples->combine_fn != NULL && run < samples->runs; run++) {
        for (uint32_t m = 0; m < samples->metric_count && m < 64; m++) {
            bits |= (uint64_t)ks_samples_cell(samples, annotation, run, m)->shares_added << m;
        }
    }
    return bits;
}

/* What collectors had to say about an annotation's values. */
static ks_status keep_remarks(ks_results *r, ks_region *region, const ks_samples *samples,
                              uint32_t annotation, ks_error *err)
{
    ks_kept *k = &r->kept;
    region->first_remark = k->remark_count;
    for (size_t i = 0; i < samples->remark_count; i++) {
        ks_remark remark = samples->remarks[i];
        if (remark.annotation == annotation) {
            const char *text = ks_pool_text(&samples->texts, remark.text);
            KS_TRY(ks_pool_add(&r->pool, text, &remark.text, err));
            KS_TRY(KS_GROW(k->remarks, k->remark_capacity, k->remark_count + 1, err));
            k->remarks[k->remark_count++] = remark;
        }
    }
    region->remark_count = k->remark_count - region->first_remark;
    return KS_OK;
}

/* A launch's time is told in steps of 32 ns at its begin and its end. From here on that is 0.5 % of
 * it at most, where 2 % of the clock matter. */
#define KS_CLOCK_LAUNCH_NS 12800.0

/* The clock over all, and how it differs between runs. */
static void note_clock(ks_region *region, const ks_samples *samples, uint32_t annotation)
{
    for (uint32_t run = 0; run < samples->runs; run++) {
        const ks_presence *p = ks_samples_presence(samples, annotation, run);
        region->cycles += p->cycles;
        region->clock_ns += p->ns;
        if (p->ns > 0.0 && p->ns >= KS_CLOCK_LAUNCH_NS * p->timed) {
            double mhz = p->cycles / p->ns * 1e3;
            ks_results_clock_range(region, mhz, mhz);
        }
    }
}

static ks_status keep_region(ks_results *r, const ks_batch *batch, uint32_t annotation,
                             ks_error *err)
{
    const ks_samples *samples = batch->samples;
    ks_region region = {.config = batch->config,
                        .first_run = batch->first_run,
                        .runs = samples->runs,
                        .first_value = r->kept.value_count,
                        .first_derived = r->kept.derived_run_count,
                        .first_silence = r->kept.silence_count};
    KS_TRY(keep_annotation(r, batch->paths[annotation], &region.annotation, err));
    KS_TRY(keep_values(r, samples, annotation, err));
    note_presence(&region, samples, annotation);
    note_clock(&region, samples, annotation);
    KS_TRY(ks_results_name_kernels(r, &region, batch, annotation, err));
    KS_TRY(keep_remarks(r, &region, samples, annotation, err));
    region.shares_added = find_added_shares(samples, annotation);
    KS_TRY(ks_results_derive(r, batch, &region, annotation, err));
    KS_TRY(KS_GROW(r->kept.regions, r->kept.region_capacity, r->kept.region_count + 1, err));
    r->kept.regions[r->kept.region_count++] = region;
    return KS_OK;
}

/* Info values refer to annotations of the run by id: turn those into ours. */
static ks_status keep_infos(ks_results *r, const ks_batch *batch, ks_error *err)
{
    if (r->once.count == 0) {
        for (size_t i = 0; i < batch->once->count; i++) {
            const ks_info_value *v = &batch->once->list[i];
            KS_TRY(ks_info_values_add(&r->once, v->info, v->run, v->annotation, &v->value, err));
        }
    }
    for (size_t i = 0; i < batch->infos->count; i++) {
        const ks_info_value *v = &batch->infos->list[i];
        if (v->run >= batch->first_run + batch->samples->runs) {
            continue; /* of a run that was not finished */
        }
        uint32_t annotation = KS_NO_ANNOTATION;
        if (r->plan->infos[v->info].scope == KS_SCOPE_ANNOTATION) {
            if (v->annotation == KS_NO_ANNOTATION) {
                continue; /* the annotation was refused */
            }
            KS_TRY(keep_annotation(r, batch->paths[v->annotation], &annotation, err));
        }
        KS_TRY(ks_info_values_add(&r->kept.infos, v->info, v->run, annotation, &v->value, err));
    }
    return KS_OK;
}

/* Whether an annotation said that its work failed in this run. */
static bool has_its_place(const ks_samples *samples, uint32_t run)
{
    for (uint32_t i = 0; i < samples->entered_count; i++) {
        if (ks_samples_presence(samples, samples->entered[i], run)->failure != 0) {
            return true;
        }
    }
    return false;
}

static ks_status keep_failure(ks_results *r, const ks_batch *batch, uint32_t run, ks_error *err)
{
    const ks_samples *samples = batch->samples;
    ks_run_failure failure = {.run = batch->first_run + run};
    KS_TRY(ks_pool_add(&r->pool, ks_pool_text(&samples->texts, samples->failures[run]),
                       &failure.why, err));
    KS_TRY(KS_GROW(r->kept.failures, r->kept.failure_capacity, r->kept.failure_count + 1, err));
    r->kept.failures[r->kept.failure_count++] = failure;
    return KS_OK;
}

static ks_status keep_record(ks_results *r, const ks_batch *batch, ks_error *err)
{
    ks_config_record record = {.config = batch->config,
                               .first_run = batch->first_run,
                               .runs = batch->samples->runs,
                               .stop = batch->stop,
                               .first_failure = r->kept.failure_count,
                               .first_info = r->kept.infos.count,
                               .replay = batch->samples->replay,
                               .waited_s = batch->waited_s};
    for (uint32_t run = 0; run < batch->samples->runs; run++) {
        if (batch->samples->failures[run] != 0) {
            record.failed_runs++;
            record.unplaced += !has_its_place(batch->samples, run);
            KS_TRY(keep_failure(r, batch, run, err));
        }
    }
    KS_TRY(keep_infos(r, batch, err));
    record.info_count = r->kept.infos.count - record.first_info;
    KS_TRY(KS_GROW(r->kept.records, r->kept.record_capacity, r->kept.record_count + 1, err));
    r->kept.records[r->kept.record_count++] = record;
    return KS_OK;
}

static ks_status keep_launches(ks_results *r, const ks_batch *batch, ks_error *err)
{
    const ks_ledger *ledger = batch->ledger;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        ks_launch_record record = {
            .config = batch->config, .annotation = KS_NO_ANNOTATION, .launch = ledger->launches[i]};
        record.launch.run += batch->first_run;
        if (record.launch.annotation != KS_NO_ANNOTATION) {
            KS_TRY(keep_annotation(r, batch->paths[record.launch.annotation], &record.annotation,
                                   err));
        }
        KS_TRY(ks_pool_add(&r->pool, ks_pool_text(&ledger->kernels, record.launch.kernel),
                           &record.launch.kernel, err));
        KS_TRY(KS_GROW(r->kept.launches, r->kept.launch_capacity, r->kept.launch_count + 1, err));
        r->kept.launches[r->kept.launch_count++] = record;
    }
    return KS_OK;
}

static ks_status fail_baseline(const ks_results *r, uint32_t config, ks_error *err)
{
    ks_buf names;
    ks_buf_init(&names, 1u << 20);
    for (size_t i = 0; i < r->kept.region_count; i++) {
        const ks_region *region = &r->kept.regions[i];
        if (region->config == config && region->first_run == 0) {
            ks_buf_addf(&names, "%s%.60s", names.length > 0 ? ", " : "",
                        ks_results_path(r, region->annotation));
        }
    }
    ks_status status = ks_buf_status(&names, err);
    if (status == KS_OK) {
        status = ks_fail(err, KS_ENOTFOUND, "results", 0,
                         "the baseline annotation '%.100s' was not entered in the first config; "
                         "entered were: %s",
                         r->plan->normalize, ks_buf_text(&names));
    }
    ks_buf_fini(&names);
    return status;
}

/* The baseline is looked for in the first config that has all its runs, and in which none failed.
 */
static ks_status check_baseline(ks_results *r, const ks_batch *batch, ks_error *err)
{
    if (r->plan->normalize == NULL || r->baseline_seen || batch->stop == KS_STOP_NOT_YET ||
        !batch->succeeded) {
        return KS_OK;
    }
    for (size_t i = 0; i < r->kept.region_count && !r->baseline_seen; i++) {
        const ks_region *region = &r->kept.regions[i];
        r->baseline_seen = region->config == batch->config &&
                           strcmp(ks_results_path(r, region->annotation), r->plan->normalize) == 0;
    }
    return r->baseline_seen ? KS_OK : fail_baseline(r, batch->config, err);
}

static ks_status keep_batch(ks_results *r, const ks_batch *batch, ks_error *err)
{
    for (uint32_t i = 0; i < batch->samples->entered_count; i++) {
        uint32_t a = batch->samples->entered[i];
        if (was_entered(batch->samples, a)) {
            KS_TRY(keep_region(r, batch, a, err));
            uint32_t index = r->kept.regions[r->kept.region_count - 1].annotation;
            KS_TRY(ks_results_keep_kernels(r, batch, a, index, err));
        }
    }
    KS_TRY(keep_launches(r, batch, err));
    return keep_record(r, batch, err);
}

ks_status ks_results_batch_done(void *results, const ks_batch *batch, ks_error *err)
{
    ks_results *r = results;
    /* all of a batch or nothing: what was finished before must stay readable */
    const ks_results before = *r;
    ks_status status = keep_batch(r, batch, err);
    if (status == KS_OK) {
        status = check_baseline(r, batch, err);
    }
    if (status != KS_OK) {
        r->kept.region_count = before.kept.region_count;
        r->kept.value_count = before.kept.value_count;
        r->kept.why_count = before.kept.why_count;
        r->kept.derived_run_count = before.kept.derived_run_count;
        r->kept.silence_count = before.kept.silence_count;
        r->kept.remark_count = before.kept.remark_count;
        r->kept.record_count = before.kept.record_count;
        r->kept.failure_count = before.kept.failure_count;
        r->kept.launch_count = before.kept.launch_count;
        r->kept.kernel_count = before.kept.kernel_count;
        ks_info_values_truncate(&r->kept.infos, before.kept.infos.count);
        return status;
    }
    bool ended = batch->stop != KS_STOP_NOT_YET;
    r->finished += ended;
    r->succeeded += ended && batch->succeeded;
    return KS_OK;
}

ks_text_id ks_results_why(const ks_results *results, size_t value)
{
    size_t low = 0;
    size_t high = results->kept.why_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (results->kept.whys[middle].value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < results->kept.why_count && results->kept.whys[low].value == value;
    return found ? results->kept.whys[low].text : 0;
}
