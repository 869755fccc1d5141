/* From what was kept to the rows of the table: order, statistics, baseline, geometric means. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "results/results.h"

/* What making rows needs, beyond the results. */
typedef struct maker {
    ks_results *r;
    ks_region **by_place;               /* [annotation][config]; NULL: not entered there */
    const ks_config_record **by_config; /* NULL: not handed over */
    double *scratch;                    /* [2 * longest run] */
    ks_quantiles quantiles;
    ks_error *err;
} maker;

static ks_region *region_at(const maker *m, size_t annotation, size_t config)
{
    return m->by_place[annotation * m->r->planned + config];
}

static bool all_failed(const ks_config_record *record)
{
    return record != NULL && record->failed_runs == record->runs;
}

static bool not_entered(const ks_results *r, ks_text_id why)
{
    const char *text = ks_pool_text(&r->pool, why);
    return text != NULL && strcmp(text, KS_NOT_ENTERED) == 0;
}

/* Statistics over the runs that have a value; count those that failed. */
static void summarize(maker *m, ks_row *row)
{
    ks_results *r = m->r;
    double *valid = m->scratch;
    size_t n = 0;
    for (uint32_t run = 0; run < row->runs && row->first_value != KS_NO_VALUES; run++) {
        size_t at = row->first_value + run;
        if (!isnan(r->values[at])) {
            valid[n++] = r->values[at];
            continue;
        }
        ks_text_id why = ks_results_why(r, at);
        if (!not_entered(r, why)) {
            row->failure = row->failed++ == 0 ? why : row->failure;
        }
    }
    ks_summarize(valid, n, m->scratch + row->runs, &m->quantiles, &row->summary);
}

static ks_status add_row(maker *m, ks_row row)
{
    ks_results *r = m->r;
    KS_TRY(KS_GROW(r->rows, r->row_capacity, r->row_count + 1, m->err));
    summarize(m, &row);
    if (row.region == NULL) {
        row.failed = row.record->failed_runs;
        row.failure = row.record->failure;
    }
    row.baseline = NAN;
    row.geomean = NAN;
    r->rows[r->row_count++] = row;
    return KS_OK;
}

/* Rows of the measured metrics of an annotation in a config, if there are to be any. */
static ks_status add_measured(maker *m, uint32_t annotation, uint32_t config)
{
    ks_results *r = m->r;
    ks_region *region = annotation != KS_NO_ANNOTATION ? region_at(m, annotation, config) : NULL;
    const ks_config_record *record = m->by_config[config];
    if (region == NULL && !all_failed(record)) {
        return KS_OK;
    }
    if (region != NULL) {
        region->first_row = r->row_count;
    }
    for (uint32_t metric = 0; metric < r->metric_count; metric++) {
        ks_row row = {.region = region,
                      .record = record,
                      .annotation = annotation,
                      .metric = metric,
                      .runs = record->runs,
                      .first_value = KS_NO_VALUES};
        if (region != NULL) {
            row.first_value = region->first_value + (size_t)metric * region->runs;
        }
        KS_TRY(add_row(m, row));
    }
    return KS_OK;
}

/* The runs of a derived metric in a region; NULL if the callback never gave it there. */
static const ks_derived_runs *runs_of(const ks_results *r, const ks_region *region, size_t derived)
{
    for (size_t i = 0; i < region->derived_count; i++) {
        const ks_derived_runs *runs = &r->derived_runs[region->first_derived + i];
        if (runs->derived == derived) {
            return runs;
        }
    }
    return NULL;
}

/* Which derived metrics an annotation has anywhere: its rows exist in all its configs then. */
static void find_derived_of(const maker *m, uint32_t annotation, bool *has)
{
    const ks_results *r = m->r;
    memset(has, 0, r->derived_count * sizeof *has);
    for (size_t config = 0; config < r->planned; config++) {
        const ks_region *region = region_at(m, annotation, config);
        for (size_t i = 0; region != NULL && i < region->derived_count; i++) {
            has[r->derived_runs[region->first_derived + i].derived] = true;
        }
    }
}

static ks_status add_derived(maker *m, uint32_t annotation, uint32_t config, const bool *has)
{
    ks_results *r = m->r;
    ks_region *region = region_at(m, annotation, config);
    if (region == NULL) {
        return KS_OK;
    }
    region->first_derived_row = r->row_count;
    for (size_t derived = 0; derived < r->derived_count; derived++) {
        const ks_derived_runs *runs = runs_of(r, region, derived);
        if (!has[derived]) {
            continue;
        }
        ks_row row = {.region = region,
                      .record = m->by_config[config],
                      .annotation = annotation,
                      .metric = (uint32_t)derived,
                      .derived = true,
                      .runs = region->runs,
                      .first_value = runs != NULL ? runs->first_value : KS_NO_VALUES};
        KS_TRY(add_row(m, row));
    }
    return KS_OK;
}

static ks_status add_all(maker *m)
{
    ks_results *r = m->r;
    for (uint32_t a = 0; a < r->annotation_count; a++) {
        for (uint32_t config = 0; config < r->planned; config++) {
            KS_TRY(add_measured(m, a, config));
        }
    }
    if (r->annotation_count == 0) {
        /* every config failed before it came to an annotation: a row each, so that it is said */
        for (uint32_t config = 0; config < r->planned; config++) {
            KS_TRY(add_measured(m, KS_NO_ANNOTATION, config));
        }
    }
    bool *has = ks_calloc(r->derived_count, sizeof *has);
    if (has == NULL) {
        return ks_enomem(m->err);
    }
    ks_status status = KS_OK;
    for (uint32_t a = 0; a < r->annotation_count && status == KS_OK; a++) {
        find_derived_of(m, a, has);
        for (uint32_t config = 0; config < r->planned && status == KS_OK; config++) {
            status = add_derived(m, a, config, has);
        }
    }
    ks_free(has);
    return status;
}

/* The row of the same metric and config under the baseline; NULL if there is none. */
static const ks_row *baseline_of(const maker *m, size_t baseline, const ks_row *row)
{
    const ks_results *r = m->r;
    const ks_region *region = region_at(m, baseline, row->record->config);
    if (region == NULL) {
        return NULL;
    }
    size_t at = row->derived ? region->first_derived_row : region->first_row + row->metric;
    for (; row->derived && at < r->row_count && r->rows[at].region == region; at++) {
        if (r->rows[at].metric == row->metric) {
            return &r->rows[at];
        }
    }
    return row->derived ? NULL : &r->rows[at];
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
    s->whole = false;
    ks_ratio_interval(&before, baseline, &s->ci_low, &s->ci_high);
}

static ks_status normalize(maker *m)
{
    ks_results *r = m->r;
    ks_text_id id = ks_pool_find(&r->pool, r->plan->normalize);
    size_t baseline = 0;
    while (baseline < r->annotation_count && r->annotations[baseline] != id) {
        baseline++;
    }
    /* the baseline's own statistics are needed until all others were divided by them */
    ks_summary *before = ks_calloc(r->row_count, sizeof *before);
    if (before == NULL) {
        return ks_enomem(m->err);
    }
    for (size_t i = 0; i < r->row_count; i++) {
        before[i] = r->rows[i].summary;
    }
    for (size_t i = 0; i < r->row_count; i++) {
        ks_row *row = &r->rows[i];
        const ks_row *base = baseline < r->annotation_count ? baseline_of(m, baseline, row) : NULL;
        const ks_summary *by = base != NULL ? &before[base - r->rows] : NULL;
        if (by == NULL || by->n == 0 || by->mean == 0.0) {
            row->no_baseline = true;
            continue;
        }
        row->normalized = true;
        row->baseline = by->mean;
        divide(row, by);
        if (base == row && row->summary.n >= 1) {
            /* a baseline is 1 by definition, not by measurement */
            row->summary.mean = 1.0;
            row->summary.ci_low = row->summary.n >= 2 ? 1.0 : NAN;
            row->summary.ci_high = row->summary.ci_low;
        }
    }
    ks_free(before);
    return KS_OK;
}

/* Geometric mean over the configs of the same annotation and metric. */
static ks_status add_geomeans(maker *m)
{
    ks_results *r = m->r;
    double *means = ks_calloc(r->row_count, sizeof *means);
    ks_status status = means != NULL ? KS_OK : ks_enomem(m->err);
    /* rows of an annotation lie together: those of its metrics, and later those derived */
    for (size_t first = 0; first < r->row_count && status == KS_OK;) {
        size_t end = first;
        while (end < r->row_count && r->rows[end].annotation == r->rows[first].annotation &&
               r->rows[end].derived == r->rows[first].derived) {
            end++;
        }
        size_t metrics = r->rows[first].derived ? r->derived_count : r->metric_count;
        for (uint32_t metric = 0; metric < metrics; metric++) {
            size_t n = 0;
            for (size_t i = first; i < end; i++) {
                if (r->rows[i].metric == metric) {
                    means[n++] = r->rows[i].no_baseline ? NAN : r->rows[i].summary.mean;
                }
            }
            double geomean = ks_geomean(means, n);
            for (size_t i = first; i < end; i++) {
                if (r->rows[i].metric == metric) {
                    r->rows[i].geomean = geomean;
                }
            }
        }
        first = end;
    }
    ks_free(means);
    return status;
}

static ks_status prepare(maker *m)
{
    ks_results *r = m->r;
    uint32_t longest = 1;
    m->by_place = ks_calloc(r->annotation_count * r->planned, sizeof *m->by_place);
    m->by_config = ks_calloc(r->planned, sizeof *m->by_config);
    if (m->by_place == NULL || m->by_config == NULL) {
        return ks_enomem(m->err);
    }
    for (size_t i = 0; i < r->region_count; i++) {
        ks_region *region = &r->regions[i];
        m->by_place[region->annotation * r->planned + region->config] = region;
    }
    for (size_t i = 0; i < r->record_count; i++) {
        m->by_config[r->records[i].config] = &r->records[i];
        longest = r->records[i].runs > longest ? r->records[i].runs : longest;
    }
    m->scratch = ks_calloc(2 * (size_t)longest, sizeof *m->scratch);
    return m->scratch != NULL ? KS_OK : ks_enomem(m->err);
}

ks_status ks_results_make_rows(ks_results *results, ks_error *err)
{
    maker m = {.r = results, .err = err};
    ks_status status = prepare(&m);
    if (status == KS_OK) {
        status = add_all(&m);
    }
    if (status == KS_OK && results->plan->normalize != NULL) {
        status = normalize(&m);
    }
    if (status == KS_OK) {
        status = add_geomeans(&m);
    }
    ks_free(m.by_place);
    ks_free(m.by_config);
    ks_free(m.scratch);
    return status;
}
