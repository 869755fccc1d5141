#include "results/results.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

static ks_status keep_metric_names(ks_results *r, ks_error *err)
{
    r->metric_names = ks_calloc(r->metric_count, sizeof *r->metric_names);
    r->metric_units = ks_calloc(r->metric_count, sizeof *r->metric_units);
    r->metric_sources = ks_calloc(r->metric_count, sizeof *r->metric_sources);
    if (r->metric_names == NULL || r->metric_units == NULL || r->metric_sources == NULL) {
        return ks_enomem(err);
    }
    if (r->plan->cache == KS_CACHE_BOTH) {
        r->metric_caches = ks_calloc(r->metric_count, sizeof *r->metric_caches);
        if (r->metric_caches == NULL) {
            return ks_enomem(err);
        }
    }
    for (uint32_t m = 0; m < r->metric_count; m++) {
        if (r->metric_caches != NULL) {
            KS_TRY(ks_pool_add(&r->pool, r->metrics[m].cache, &r->metric_caches[m], err));
        }
        KS_TRY(ks_pool_add(&r->pool, r->metrics[m].name, &r->metric_names[m], err));
        KS_TRY(ks_pool_add(&r->pool, r->metrics[m].unit, &r->metric_units[m], err));
        KS_TRY(ks_pool_add(&r->pool, r->metrics[m].source, &r->metric_sources[m], err));
    }
    return KS_OK;
}

ks_status ks_results_new(const ks_plan *plan, size_t planned, const ks_metric *metrics,
                         uint32_t metric_count, ks_results **out, ks_error *err)
{
    ks_results *r = ks_calloc(1, sizeof *r);
    if (r == NULL) {
        return ks_enomem(err);
    }
    r->plan = plan;
    r->planned = planned;
    r->metrics = metrics;
    r->metric_count = metric_count;
    ks_status status = keep_metric_names(r, err);
    if (status == KS_OK) {
        status = ks_table_new(&r->table, err);
    }
    if (status == KS_OK) {
        status = ks_results_build_configs(r, err);
    }
    if (status != KS_OK) {
        ks_results_free(r);
        return status;
    }
    *out = r;
    return KS_OK;
}

void ks_kept_free(ks_kept *kept)
{
    ks_free(kept->regions);
    ks_free(kept->values);
    ks_free(kept->whys);
    ks_free(kept->derived_runs);
    ks_free(kept->silences);
    ks_free(kept->remarks);
    ks_free(kept->records);
    ks_free(kept->failures);
    ks_info_values_fini(&kept->infos);
    ks_free(kept->launches);
    ks_free(kept->kernels);
}

void ks_results_free(ks_results *results)
{
    if (results == NULL) {
        return;
    }
    ks_free(results->metric_names);
    ks_free(results->metric_units);
    ks_free(results->metric_sources);
    ks_free(results->metric_caches);
    ks_free(results->derived);
    ks_info_values_fini(&results->once);
    ks_kept_free(&results->kept);
    ks_pool_fini(&results->pool);
    ks_pool_fini(&results->paths);
    ks_table_free(results->configs);
    ks_table_free(results->table);
    ks_free(results);
}

static ks_status add_end_facts(ks_results *r, const ks_run_notes *notes, ks_error *err)
{
    char now[KS_UTC_MAX];
    ks_utc_now(now);
    KS_TRY(ks_table_add_fact(r->table, "end", ks_text(now), err));
    KS_TRY(ks_table_add_fact(r->table, "complete", ks_bool(notes->complete), err));
    KS_TRY(ks_table_add_fact(r->table, "finished", ks_i64((int64_t)r->finished), err));
    KS_TRY(ks_table_add_fact(r->table, "succeeded", ks_i64((int64_t)r->succeeded), err));
    if (!isnan(notes->waited_s)) {
        KS_TRY(ks_table_add_fact(r->table, "thermal_waited_s", ks_f64(notes->waited_s), err));
    }
    for (size_t i = 0; i < notes->warning_count; i++) {
        KS_TRY(ks_table_add_fact(r->table, "warnings[]", ks_text(notes->warnings[i]), err));
    }
    return KS_OK;
}

ks_status ks_results_finish(void *results, const ks_run_notes *notes, ks_error *err)
{
    ks_results *r = results;
    ks_status status = add_end_facts(r, notes, err);
    if (status == KS_OK) {
        status = ks_results_join(r, err);
    }
    if (status == KS_OK) {
        status = ks_results_build(r, err);
    }
    if (status == KS_OK) {
        r->complete = notes->complete;
    } else {
        ks_table_clear(r->table); /* half of the rows would look like all of them */
    }
    r->plan = NULL; /* it is not ours to keep */
    r->metrics = NULL;
    return status;
}

const ks_table *ks_results_table(const ks_results *results)
{
    return results != NULL ? results->table : NULL;
}

bool ks_results_complete(const ks_results *results)
{
    return results != NULL && results->complete;
}

size_t ks_results_planned(const ks_results *results)
{
    return results != NULL ? results->planned : 0;
}

size_t ks_results_finished(const ks_results *results)
{
    return results != NULL ? results->finished : 0;
}

size_t ks_results_succeeded(const ks_results *results)
{
    return results != NULL ? results->succeeded : 0;
}
