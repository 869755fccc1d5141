/*
 * Batches of a config put together. Everything is written anew beside the old, in the order of the
 * configs and their runs, and takes its place at the end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "results/results.h"

typedef struct joiner {
    ks_results *r; /* with the old; its texts stay */
    ks_kept to;    /* the new */
    const ks_config_record **records;
    const ks_region **regions;
    const ks_region **at; /* of a group's batches: its region in each, or NULL */
    ks_text_id not_entered;
    ks_text_id no_such_value;
    ks_error *err;
} joiner;

/* The batches of one config, and the region of one annotation in each of them. */
typedef struct group {
    const ks_config_record *const *records;
    const ks_region *const *at; /* NULL: it was not entered in that batch */
    size_t count;
    const ks_region *first; /* that there is */
} group;

static int compare_records(const void *a, const void *b)
{
    const ks_config_record *x = *(const ks_config_record *const *)a;
    const ks_config_record *y = *(const ks_config_record *const *)b;
    if (x->config != y->config) {
        return x->config < y->config ? -1 : 1;
    }
    return (x->first_run > y->first_run) - (x->first_run < y->first_run);
}

static int compare_regions(const void *a, const void *b)
{
    const ks_region *x = *(const ks_region *const *)a;
    const ks_region *y = *(const ks_region *const *)b;
    if (x->config != y->config) {
        return x->config < y->config ? -1 : 1;
    }
    if (x->annotation != y->annotation) {
        return x->annotation < y->annotation ? -1 : 1;
    }
    return (x->first_run > y->first_run) - (x->first_run < y->first_run);
}

/* By config and run, and in the order in which they were made. */
static int compare_launches(const void *a, const void *b)
{
    const ks_launch_record *x = *(const ks_launch_record *const *)a;
    const ks_launch_record *y = *(const ks_launch_record *const *)b;
    if (x->config != y->config) {
        return x->config < y->config ? -1 : 1;
    }
    if (x->launch.run != y->launch.run) {
        return x->launch.run < y->launch.run ? -1 : 1;
    }
    return (x > y) - (x < y);
}

/* ---- values -----------------------------------------------------------------------------------
 */

static ks_status put(joiner *j, double value, ks_text_id why)
{
    ks_kept *to = &j->to;
    KS_TRY(KS_GROW(to->values, to->value_capacity, to->value_count + 1, j->err));
    if (why != 0) {
        KS_TRY(KS_GROW(to->whys, to->why_capacity, to->why_count + 1, j->err));
        to->whys[to->why_count++] = (ks_why){to->value_count, why};
    }
    to->values[to->value_count++] = value;
    return KS_OK;
}

/* Why a run of a batch has no value where the annotation was not entered in it. */
static ks_text_id why_none(const joiner *j, const ks_config_record *record, uint32_t run)
{
    for (uint32_t i = 0; i < record->failed_runs; i++) {
        const ks_run_failure *failure = &j->r->kept.failures[record->first_failure + i];
        if (failure->run == record->first_run + run) {
            return failure->why;
        }
    }
    return j->not_entered;
}

/* The runs of a batch in which the annotation was not entered. */
static ks_status put_none(joiner *j, const ks_config_record *record)
{
    for (uint32_t run = 0; run < record->runs; run++) {
        KS_TRY(put(j, NAN, why_none(j, record, run)));
    }
    return KS_OK;
}

/* The runs of a batch whose values are kept, from `first` of the old ones on. */
static ks_status put_kept(joiner *j, uint32_t runs, size_t first)
{
    for (uint32_t run = 0; run < runs; run++) {
        double value = j->r->kept.values[first + run];
        KS_TRY(put(j, value, isnan(value) ? ks_results_why(j->r, first + run) : 0));
    }
    return KS_OK;
}

/* The runs of a batch in which a callback gave nothing of a name: why it did not. */
static ks_status put_silence(joiner *j, const ks_region *region, uint32_t derive)
{
    const ks_silence *silence = j->r->kept.silences + region->first_silence;
    size_t at = 0;
    while (at < region->silence_count && silence[at].derive != derive) {
        at += region->runs;
    }
    for (uint32_t run = 0; run < region->runs; run++) {
        bool told = at < region->silence_count;
        KS_TRY(put(j, NAN, told ? silence[at + run].why : j->no_such_value));
    }
    return KS_OK;
}

/* Whether a value is missing for a reason that hides the small ones: the larger ones alone would
 * make the mean too large. @return that reason, or 0 */
static ks_text_id find_hidden(const joiner *j, const group *g, uint32_t metric)
{
    ks_text_id hidden = ks_pool_find(&j->r->pool, j->r->metrics[metric].hidden);
    for (size_t i = 0; hidden != 0 && i < g->count; i++) {
        const ks_region *region = g->at[i];
        uint32_t runs = region != NULL ? region->runs : 0;
        for (uint32_t run = 0; run < runs; run++) {
            size_t value = region->first_value + (size_t)metric * runs + run;
            if (isnan(j->r->kept.values[value]) && ks_results_why(j->r, value) == hidden) {
                return hidden;
            }
        }
    }
    return 0;
}

static ks_status put_metric(joiner *j, const group *g, uint32_t runs, uint32_t metric)
{
    ks_text_id hidden = find_hidden(j, g, metric);
    for (uint32_t run = 0; hidden != 0 && run < runs; run++) {
        KS_TRY(put(j, NAN, hidden));
    }
    for (size_t i = 0; hidden == 0 && i < g->count; i++) {
        const ks_region *region = g->at[i];
        KS_TRY(region == NULL ? put_none(j, g->records[i])
                              : put_kept(j, region->runs,
                                         region->first_value + (size_t)metric * region->runs));
    }
    return KS_OK;
}

/* Where the values of a derived metric lie in a region; SIZE_MAX: it has none. */
static size_t derived_in(const joiner *j, const ks_region *region, uint32_t derived)
{
    for (size_t i = 0; region != NULL && i < region->derived_count; i++) {
        const ks_derived_runs *runs = &j->r->kept.derived_runs[region->first_derived + i];
        if (runs->derived == derived) {
            return runs->first_value;
        }
    }
    return SIZE_MAX;
}

static ks_status put_derived(joiner *j, const group *g, ks_region *joined, uint32_t derived)
{
    ks_kept *to = &j->to;
    const ks_derived_runs runs = {derived, to->value_count};
    for (size_t i = 0; i < g->count; i++) {
        const ks_region *region = g->at[i];
        size_t first = derived_in(j, region, derived);
        if (region == NULL) {
            KS_TRY(put_none(j, g->records[i]));
        } else if (first != SIZE_MAX) {
            KS_TRY(put_kept(j, region->runs, first));
        } else {
            KS_TRY(put_silence(j, region, j->r->derived[derived].derive));
        }
    }
    KS_TRY(KS_GROW(to->derived_runs, to->derived_run_capacity, to->derived_run_count + 1, j->err));
    to->derived_runs[to->derived_run_count++] = runs;
    joined->derived_count++;
    return KS_OK;
}

static bool has_derived(const joiner *j, const group *g, uint32_t derived)
{
    for (size_t i = 0; i < g->count; i++) {
        if (derived_in(j, g->at[i], derived) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

/* Whether a callback said in some run that it failed. */
static bool has_failed(const joiner *j, const group *g, uint32_t derive)
{
    for (size_t i = 0; i < g->count; i++) {
        const ks_region *region = g->at[i];
        size_t count = region != NULL ? region->silence_count : 0;
        for (size_t k = 0; k < count; k++) {
            const ks_silence *silence = &j->r->kept.silences[region->first_silence + k];
            if (silence->derive == derive && silence->failed) {
                return true;
            }
        }
    }
    return false;
}

/* What one callback gave: its names; if it gave none in the whole config, why, under its own. */
static ks_status put_callback(joiner *j, const group *g, ks_region *joined, uint32_t derive)
{
    uint32_t known = (uint32_t)j->r->derived_count;
    bool any = false;
    for (uint32_t d = 0; d < known; d++) {
        if (j->r->derived[d].derive == derive && has_derived(j, g, d)) {
            KS_TRY(put_derived(j, g, joined, d));
            any = true;
        }
    }
    if (any || (!has_failed(j, g, derive) && ks_results_derive_named(j->r, derive))) {
        return KS_OK;
    }
    uint32_t own = 0;
    KS_TRY(ks_results_own_derived(j->r, derive, &own, j->err));
    return put_derived(j, g, joined, own);
}

/* ---- regions and records ----------------------------------------------------------------------
 */

/* Counts of a region's batch, as keep.c made them, added to those of the batches before it. */
static void add_counts(ks_region *joined, const ks_region *batch)
{
    if (batch->entered > 0 && joined->entered == 0) {
        joined->visits = batch->visits;
        joined->launches = batch->launches;
        joined->inside = batch->inside;
    }
    bool both = batch->entered > 0 && joined->entered > 0;
    joined->visits_differ |= batch->visits_differ || (both && batch->visits != joined->visits);
    joined->launches_differ |=
        batch->launches_differ || (both && batch->launches != joined->launches);
    joined->entered += batch->entered;
    joined->failed += batch->failed;
    joined->cycles += batch->cycles;
    joined->clock_ns += batch->clock_ns;
    ks_results_clock_range(joined, batch->clock_low, batch->clock_high);
    joined->kernels = joined->kernels != 0 ? joined->kernels : batch->kernels;
    joined->differing = joined->differing != 0 ? joined->differing : batch->differing;
    joined->shares_added |= batch->shares_added;
}

/* Add what a batch had to say: of one kind, what is worst. */
static ks_status add_remark(joiner *j, ks_region *joined, const ks_remark *remark)
{
    ks_kept *to = &j->to;
    for (size_t i = 0; i < joined->remark_count; i++) {
        ks_remark *known = &to->remarks[joined->first_remark + i];
        if (known->metric == remark->metric && known->kind == remark->kind) {
            *known = known->severity < remark->severity ? *remark : *known;
            return KS_OK;
        }
    }
    KS_TRY(KS_GROW(to->remarks, to->remark_capacity, to->remark_count + 1, j->err));
    to->remarks[to->remark_count++] = *remark;
    joined->remark_count++;
    return KS_OK;
}

static ks_status add_remarks(joiner *j, const group *g, ks_region *joined)
{
    joined->first_remark = j->to.remark_count;
    for (size_t i = 0; i < g->count; i++) {
        const ks_region *batch = g->at[i];
        for (size_t k = 0; batch != NULL && k < batch->remark_count; k++) {
            KS_TRY(add_remark(j, joined, &j->r->kept.remarks[batch->first_remark + k]));
        }
    }
    return KS_OK;
}

static ks_status join_region(joiner *j, const group *g, uint32_t runs)
{
    ks_kept *to = &j->to;
    ks_region joined = {.config = g->first->config,
                        .annotation = g->first->annotation,
                        .runs = runs,
                        .first_value = to->value_count};
    for (size_t i = 0; i < g->count; i++) {
        if (g->at[i] != NULL) {
            add_counts(&joined, g->at[i]);
        } else {
            joined.failed += g->records[i]->failed_runs;
        }
    }
    KS_TRY(add_remarks(j, g, &joined));
    for (uint32_t m = 0; m < j->r->metric_count; m++) {
        KS_TRY(put_metric(j, g, runs, m));
    }
    joined.first_derived = to->derived_run_count;
    for (uint32_t c = 0; c < j->r->plan->derive_count; c++) {
        KS_TRY(put_callback(j, g, &joined, c));
    }
    KS_TRY(KS_GROW(to->regions, to->region_capacity, to->region_count + 1, j->err));
    to->regions[to->region_count++] = joined;
    return KS_OK;
}

static ks_status join_record(joiner *j, const group *g, uint32_t *runs)
{
    ks_kept *to = &j->to;
    ks_config_record joined = {.config = g->records[0]->config,
                               .first_failure = to->failure_count,
                               .first_info = to->infos.count};
    for (size_t i = 0; i < g->count; i++) {
        const ks_config_record *batch = g->records[i];
        joined.runs += batch->runs;
        joined.stop = batch->stop;
        joined.failed_runs += batch->failed_runs;
        joined.unplaced += batch->unplaced;
        joined.waited_s += batch->waited_s;
        joined.replay = batch->replay != NULL ? batch->replay : joined.replay;
        joined.info_count += batch->info_count;
        size_t failures = to->failure_count + batch->failed_runs;
        KS_TRY(KS_GROW(to->failures, to->failure_capacity, failures, j->err));
        KS_TRY(KS_GROW(to->infos.list, to->infos.capacity, to->infos.count + batch->info_count,
                       j->err));
        for (size_t k = 0; k < batch->failed_runs; k++) {
            to->failures[to->failure_count++] = j->r->kept.failures[batch->first_failure + k];
        }
        for (size_t k = 0; k < batch->info_count; k++) {
            to->infos.list[to->infos.count++] = j->r->kept.infos.list[batch->first_info + k];
        }
    }
    KS_TRY(KS_GROW(to->records, to->record_capacity, to->record_count + 1, j->err));
    to->records[to->record_count++] = joined;
    *runs = joined.runs;
    return KS_OK;
}

/* Find the region in each batch of a group: both are in the order of their runs. @param region  the
 * annotation's first; moves behind its last */
static void find_regions(joiner *j, group *g, size_t *region)
{
    const ks_region *first = j->regions[*region];
    g->first = first;
    for (size_t i = 0; i < g->count; i++) {
        const ks_region *next = *region < j->r->kept.region_count ? j->regions[*region] : NULL;
        bool here = next != NULL && next->config == first->config &&
                    next->annotation == first->annotation &&
                    next->first_run == g->records[i]->first_run;
        j->at[i] = here ? next : NULL;
        *region += here;
    }
    g->at = j->at;
}

/* All batches of the config of the record at `*record`; both cursors move behind it. */
static ks_status join_config(joiner *j, size_t *record, size_t *region)
{
    const ks_kept *kept = &j->r->kept;
    uint32_t config = j->records[*record]->config;
    group g = {.records = j->records + *record};
    uint32_t runs = 0;
    while (*record < kept->record_count && j->records[*record]->config == config) {
        g.count++;
        (*record)++;
    }
    KS_TRY(join_record(j, &g, &runs));
    while (*region < kept->region_count && j->regions[*region]->config == config) {
        find_regions(j, &g, region);
        KS_TRY(join_region(j, &g, runs));
    }
    return KS_OK;
}

static ks_status sort_launches(joiner *j)
{
    const ks_results *r = j->r;
    const ks_launch_record **sorted = ks_calloc(r->kept.launch_count, sizeof *sorted);
    if (sorted == NULL) {
        return ks_enomem(j->err);
    }
    for (size_t i = 0; i < r->kept.launch_count; i++) {
        sorted[i] = &r->kept.launches[i];
    }
    qsort(sorted, r->kept.launch_count, sizeof *sorted, compare_launches);
    ks_kept *to = &j->to;
    ks_status status = KS_GROW(to->launches, to->launch_capacity, r->kept.launch_count, j->err);
    for (size_t i = 0; status == KS_OK && i < r->kept.launch_count; i++) {
        to->launches[to->launch_count++] = *sorted[i];
    }
    ks_free(sorted);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static ks_status sort(joiner *j)
{
    const ks_results *r = j->r;
    j->records = ks_calloc(r->kept.record_count, sizeof *j->records);
    j->regions = ks_calloc(r->kept.region_count, sizeof *j->regions);
    j->at = ks_calloc(r->kept.record_count, sizeof *j->at);
    if (j->records == NULL || j->regions == NULL || j->at == NULL) {
        return ks_enomem(j->err);
    }
    for (size_t i = 0; i < r->kept.record_count; i++) {
        j->records[i] = &r->kept.records[i];
    }
    for (size_t i = 0; i < r->kept.region_count; i++) {
        j->regions[i] = &r->kept.regions[i];
    }
    qsort(j->records, r->kept.record_count, sizeof *j->records, compare_records);
    qsort(j->regions, r->kept.region_count, sizeof *j->regions, compare_regions);
    KS_TRY(ks_pool_add(&j->r->pool, KS_NOT_ENTERED, &j->not_entered, j->err));
    return ks_pool_add(&j->r->pool, KS_NO_SUCH_VALUE, &j->no_such_value, j->err);
}

static ks_status join(joiner *j)
{
    KS_TRY(sort(j));
    size_t region = 0;
    for (size_t record = 0; record < j->r->kept.record_count;) {
        KS_TRY(join_config(j, &record, &region));
    }
    return sort_launches(j);
}

/* Whether some config came in several batches, or was to. */
static bool has_batches(const ks_results *r)
{
    for (size_t i = 0; i < r->kept.record_count; i++) {
        const ks_config_record *record = &r->kept.records[i];
        if (record->first_run > 0 || record->stop == KS_STOP_NOT_YET) {
            return true;
        }
    }
    return false;
}

ks_status ks_results_join(ks_results *results, ks_error *err)
{
    if (!has_batches(results)) {
        return KS_OK;
    }
    joiner j = {.r = results, .err = err};
    ks_kept unused = {0};
    ks_status status = join(&j);
    if (status == KS_OK) {
        unused = results->kept;
        results->kept = j.to;
    } else {
        unused = j.to;
    }
    ks_free(unused.infos.list); /* its texts are in the list that is in use */
    unused.infos = (ks_info_values){0};
    ks_kept_free(&unused);
    ks_free(j.records);
    ks_free(j.regions);
    ks_free(j.at);
    return status;
}
