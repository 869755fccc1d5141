#include "results/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* ---- which rows there are ---------------------------------------------------------------------
 */

static ks_status find_derived(ks_rows *rows, ks_error *err)
{
    const ks_results *r = rows->r;
    rows->has_derived = ks_calloc(r->paths.count * r->derived_count, sizeof *rows->has_derived);
    rows->order = ks_calloc(r->derived_count, sizeof *rows->order);
    if (rows->has_derived == NULL || rows->order == NULL) {
        return ks_enomem(err);
    }
    size_t ordered = 0;
    for (uint32_t derive = 0; derive < r->plan->derive_count; derive++) {
        for (uint32_t d = 0; d < r->derived_count; d++) {
            if (r->derived[d].derive == derive) {
                rows->order[ordered++] = d;
            }
        }
    }
    for (size_t i = 0; i < r->kept.region_count; i++) {
        const ks_region *region = &r->kept.regions[i];
        for (size_t k = 0; k < region->derived_count; k++) {
            uint32_t derived = r->kept.derived_runs[region->first_derived + k].derived;
            rows->has_derived[region->annotation * r->derived_count + derived] = true;
        }
    }
    return KS_OK;
}

static int by_annotation_and_config(const void *a, const void *b)
{
    const ks_region *x = *(const ks_region *const *)a;
    const ks_region *y = *(const ks_region *const *)b;
    if (x->annotation != y->annotation) {
        return x->annotation < y->annotation ? -1 : 1;
    }
    return (x->config > y->config) - (x->config < y->config);
}

ks_status ks_sort_regions(const ks_results *results, const ks_region ***out, ks_error *err)
{
    size_t count = results->kept.region_count;
    const ks_region **sorted = ks_calloc(count, sizeof *sorted);
    if (sorted == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &results->kept.regions[i];
    }
    qsort(sorted, count, sizeof *sorted, by_annotation_and_config);
    *out = sorted;
    return KS_OK;
}

static ks_status find_places(ks_rows *rows, ks_error *err)
{
    const ks_results *r = rows->r;
    size_t count = r->paths.count;
    KS_TRY(ks_sort_regions(r, &rows->regions, err));
    rows->first = ks_calloc(count + 1, sizeof *rows->first);
    if (rows->first == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < r->kept.region_count; i++) {
        rows->first[r->kept.regions[i].annotation + 1]++;
    }
    for (size_t a = 0; a < count; a++) {
        rows->first[a + 1] += rows->first[a];
    }
    return KS_OK;
}

static ks_status find_configs(ks_rows *rows, ks_error *err)
{
    const ks_results *r = rows->r;
    uint32_t longest = 1;
    rows->by_config = ks_calloc(r->planned, sizeof *rows->by_config);
    rows->lost = ks_calloc(r->planned, sizeof *rows->lost);
    if (rows->by_config == NULL || rows->lost == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < r->kept.record_count; i++) {
        rows->by_config[r->kept.records[i].config] = &r->kept.records[i];
        longest = r->kept.records[i].runs > longest ? r->kept.records[i].runs : longest;
    }
    for (uint32_t config = 0; config < r->planned; config++) {
        const ks_config_record *record = rows->by_config[config];
        if (record != NULL && record->unplaced == record->runs) {
            rows->lost[rows->lost_count++] = config;
        }
    }
    rows->scratch = ks_calloc(2 * (size_t)longest, sizeof *rows->scratch);
    return rows->scratch != NULL ? KS_OK : ks_enomem(err);
}

ks_status ks_rows_init(ks_rows *rows, const ks_results *results, ks_error *err)
{
    memset(rows, 0, sizeof *rows);
    rows->r = results;
    ks_text_id baseline = ks_pool_find(&results->paths, results->plan->normalize);
    rows->baseline = baseline != 0 ? baseline - 1 : KS_NO_ANNOTATION;
    ks_status status = find_places(rows, err);
    if (status == KS_OK) {
        status = find_configs(rows, err);
    }
    if (status == KS_OK) {
        status = find_derived(rows, err);
    }
    if (status != KS_OK) {
        ks_rows_fini(rows);
    }
    return status;
}

void ks_rows_fini(ks_rows *rows)
{
    ks_free(rows->regions);
    ks_free(rows->first);
    ks_free(rows->by_config);
    ks_free(rows->lost);
    ks_free(rows->has_derived);
    ks_free(rows->order);
    ks_free(rows->scratch);
    memset(rows, 0, sizeof *rows);
}

static const ks_region *region_at(const ks_rows *rows, uint32_t annotation, uint32_t config)
{
    if (annotation == KS_NO_ANNOTATION) {
        return NULL;
    }
    size_t low = rows->first[annotation];
    size_t end = rows->first[annotation + 1];
    for (size_t high = end; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (rows->regions[middle]->config < config) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && rows->regions[low]->config == config ? rows->regions[low] : NULL;
}

/* Where the runs of a metric in a region lie; KS_NO_VALUES for a derived one that was never given.
 */
static size_t place_of(const ks_results *r, const ks_region *region, bool derived, uint32_t metric)
{
    if (!derived) {
        return region->first_value + (size_t)metric * region->runs;
    }
    for (size_t i = 0; i < region->derived_count; i++) {
        const ks_derived_runs *runs = &r->kept.derived_runs[region->first_derived + i];
        if (runs->derived == metric) {
            return runs->first_value;
        }
    }
    return KS_NO_VALUES;
}

static ks_row shape(const ks_rows *rows, const ks_region *region, uint32_t annotation,
                    uint32_t config, bool derived, uint32_t metric)
{
    ks_row row = {.region = region,
                  .record = rows->by_config[config],
                  .annotation = annotation,
                  .metric = metric,
                  .derived = derived,
                  .runs = rows->by_config[config]->runs,
                  .first_value = KS_NO_VALUES};
    if (region != NULL) {
        row.first_value = place_of(rows->r, region, derived, metric);
    }
    return row;
}

/* A walk over the configs that have rows of an annotation: those that entered it, and those that
 * failed before they could. */
typedef struct walk {
    const ks_region *const *region;
    const ks_region *const *last_region;
    const uint32_t *lost;
    const uint32_t *last_lost;
} walk;

static walk walk_over(const ks_rows *rows, uint32_t annotation, bool lost_too)
{
    bool any = annotation != KS_NO_ANNOTATION;
    const ks_region *const *regions = rows->regions;
    return (walk){.region = regions + (any ? rows->first[annotation] : 0),
                  .last_region = regions + (any ? rows->first[annotation + 1] : 0),
                  .lost = rows->lost,
                  .last_lost = rows->lost + (lost_too ? rows->lost_count : 0)};
}

/* The next config in order; `*region` is NULL if it failed before it came to the annotation. */
static bool next_place(walk *w, uint32_t *config, const ks_region **region)
{
    uint32_t entered = w->region < w->last_region ? (*w->region)->config : UINT32_MAX;
    uint32_t lost = w->lost < w->last_lost ? *w->lost : UINT32_MAX;
    *config = entered < lost ? entered : lost;
    *region = entered <= lost && entered != UINT32_MAX ? *w->region : NULL;
    w->region += *region != NULL;
    w->lost += lost == *config && lost != UINT32_MAX;
    return *config != UINT32_MAX;
}

static ks_status each_measured(const ks_rows *rows, uint32_t annotation,
                               ks_status (*each)(void *self, const ks_row *row), void *self)
{
    walk w = walk_over(rows, annotation, true);
    uint32_t config = 0;
    for (const ks_region *region = NULL; next_place(&w, &config, &region);) {
        for (uint32_t metric = 0; metric < rows->r->metric_count; metric++) {
            const ks_row row = shape(rows, region, annotation, config, false, metric);
            KS_TRY(each(self, &row));
        }
    }
    return KS_OK;
}

/* A derived metric that an annotation has anywhere has a row in each of its configs. */
static ks_status each_derived(const ks_rows *rows, uint32_t annotation,
                              ks_status (*each)(void *self, const ks_row *row), void *self)
{
    const ks_results *r = rows->r;
    const bool *has = rows->has_derived + annotation * r->derived_count;
    walk w = walk_over(rows, annotation, false);
    uint32_t config = 0;
    for (const ks_region *region = NULL; next_place(&w, &config, &region);) {
        for (size_t i = 0; i < r->derived_count; i++) {
            uint32_t derived = rows->order[i];
            if (has[derived]) {
                const ks_row row = shape(rows, region, annotation, config, true, derived);
                KS_TRY(each(self, &row));
            }
        }
    }
    return KS_OK;
}

ks_status ks_rows_each(const ks_rows *rows, ks_status (*each)(void *self, const ks_row *row),
                       void *self)
{
    uint32_t count = (uint32_t)rows->r->paths.count;
    for (uint32_t annotation = 0; annotation < count; annotation++) {
        KS_TRY(each_measured(rows, annotation, each, self));
    }
    if (count == 0) {
        /* every config failed before it came to an annotation: rows without one say so */
        KS_TRY(each_measured(rows, KS_NO_ANNOTATION, each, self));
    }
    for (uint32_t annotation = 0; annotation < count; annotation++) {
        KS_TRY(each_derived(rows, annotation, each, self));
    }
    return KS_OK;
}

/* ---- what is known of one ---------------------------------------------------------------------
 */

static bool not_entered(const ks_results *r, ks_text_id why)
{
    const char *text = ks_pool_text(&r->pool, why);
    return text != NULL && strcmp(text, KS_NOT_ENTERED) == 0;
}

/* Statistics over the runs that have a value; count those that failed. */
static void summarize(ks_rows *rows, ks_row *row)
{
    const ks_results *r = rows->r;
    uint32_t runs = row->first_value != KS_NO_VALUES ? row->runs : 0;
    const double *values = r->kept.values + (runs > 0 ? row->first_value : 0);
    double *valid = rows->scratch;
    size_t n = 0;
    for (uint32_t run = 0; run < runs; run++) {
        if (!isnan(values[run])) {
            valid[n++] = values[run];
            continue;
        }
        ks_text_id why = ks_results_why(r, row->first_value + run);
        if (!not_entered(r, why)) {
            row->failure = row->failed++ == 0 ? why : row->failure;
        }
    }
    ks_summarize(valid, n, rows->scratch + row->runs, &rows->quantiles, &row->summary);
}

/* Of the values that summarize() left in the scratch. */
static void find_shape(const ks_rows *rows, ks_row *row)
{
    row->shape = (ks_shape){0};
    if (!row->derived) {
        ks_find_shape(rows->scratch, row->summary.n, &row->summary, rows->scratch + row->runs,
                      &row->shape);
    }
}

/* All of a row's statistics on the scale of the ratio to the baseline. */
static void divide(ks_row *row, const ks_summary *baseline)
{
    ks_summary *s = &row->summary;
    const ks_summary before = *s;
    double by = baseline->mean;
    s->mean = before.mean / by;
    s->stddev = before.stddev / fabs(by);
    s->min = (by > 0.0 ? before.min : before.max) / by;
    s->max = (by > 0.0 ? before.max : before.min) / by;
    s->median = before.median / by;
    s->mad = before.mad / fabs(by);
    ks_ratio_interval(&before, baseline, &s->ci_low, &s->ci_high);
}

static void normalize(ks_rows *rows, ks_row *row)
{
    const ks_region *region = region_at(rows, rows->baseline, row->record->config);
    ks_row base = {.runs = row->runs, .first_value = KS_NO_VALUES};
    if (region != NULL) {
        base.first_value = place_of(rows->r, region, row->derived, row->metric);
        summarize(rows, &base);
    }
    if (base.summary.n == 0 || base.summary.mean == 0.0) {
        row->no_baseline = true;
        row->baseline_zero = base.summary.n > 0;
        return;
    }
    row->normalized = true;
    row->baseline = base.summary.mean;
    divide(row, &base.summary);
    if (row->annotation == rows->baseline) {
        /* a baseline is 1 by definition, not by measurement */
        row->summary.mean = 1.0;
        row->summary.ci_low = row->summary.n >= 2 ? 1.0 : NAN;
        row->summary.ci_high = row->summary.ci_low;
    }
}

void ks_rows_compute(ks_rows *rows, ks_row *row)
{
    row->failed = 0;
    row->failure = 0;
    row->baseline = NAN;
    summarize(rows, row);
    find_shape(rows, row);
    if (row->region == NULL) {
        row->failed = row->record->failed_runs;
        row->failure = row->failed > 0 ? rows->r->kept.failures[row->record->first_failure].why : 0;
    }
    if (rows->r->plan->normalize != NULL) {
        normalize(rows, row);
    }
}
