/* The tables of samples and launches. */
#include <math.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "base/error.h"
#include "results/rows.h"

static ks_status check_given(const ks_results *results, ks_error *err)
{
    KS_ENTER(err);
    return results != NULL ? KS_OK
                           : ks_fail(err, KS_EINVAL, "results", 0, "there are no results (NULL)");
}

ks_status ks_results_add_params(const ks_results *r, ks_table *table, ks_error *err)
{
    for (size_t p = 0; p < ks_table_columns(r->configs); p++) {
        KS_TRY(ks_table_add_column(table, ks_table_name(r->configs, p),
                                   ks_table_type(r->configs, p), KS_ROLE_PARAMETER, NULL, err));
    }
    return KS_OK;
}

ks_status ks_results_set_params(const ks_results *r, ks_table *table, size_t row,
                                size_t first_param, size_t config, ks_error *err)
{
    for (size_t p = 0; p < ks_table_columns(r->configs); p++) {
        ks_value v = ks_table_get(r->configs, config, p);
        switch (v.type) {
        case KS_BOOL:
            ks_table_set_bool(table, row, first_param + p, v.as.boolean);
            break;
        case KS_I64:
            ks_table_set_i64(table, row, first_param + p, v.as.i64);
            break;
        case KS_F64:
            ks_table_set_f64(table, row, first_param + p, v.as.f64);
            break;
        default:
            KS_TRY(ks_table_set_text(table, row, first_param + p, v.text, err));
            break;
        }
    }
    return KS_OK;
}

/* ---- samples ----------------------------------------------------------------------------------
 */

/* The runs of a metric in a region, as rows [.., ..+runs) of the table. */
typedef struct series {
    const ks_region *region;
    ks_text_id metric;
    ks_text_id unit;
    size_t first_value;
    ks_text_id cache; /* of metrics that come twice */
} series;

typedef struct sampler {
    const ks_results *r;
    ks_table *table;
    size_t annotation, metric, unit, first_param, config, run, value, reason, cache;
    ks_error *err;
} sampler;

static ks_status add_sample_columns(sampler *s)
{
    KS_TRY(ks_table_add_column(s->table, "Annotation", KS_TEXT, KS_ROLE_PLAIN, &s->annotation,
                               s->err));
    KS_TRY(ks_table_add_column(s->table, "Metric", KS_TEXT, KS_ROLE_PLAIN, &s->metric, s->err));
    KS_TRY(ks_table_add_column(s->table, "Unit", KS_TEXT, KS_ROLE_PLAIN, &s->unit, s->err));
    s->first_param = ks_table_columns(s->table);
    KS_TRY(ks_results_add_params(s->r, s->table, s->err));
    KS_TRY(ks_table_add_column(s->table, "Config", KS_I64, KS_ROLE_PLAIN, &s->config, s->err));
    KS_TRY(ks_table_add_column(s->table, "Run", KS_I64, KS_ROLE_PLAIN, &s->run, s->err));
    KS_TRY(ks_table_add_column(s->table, "Value", KS_F64, KS_ROLE_PLAIN, &s->value, s->err));
    KS_TRY(ks_table_add_column(s->table, "Reason", KS_TEXT, KS_ROLE_PLAIN, &s->reason, s->err));
    return s->r->metric_caches == NULL ? KS_OK
                                       : ks_table_add_column(s->table, "CacheControl", KS_TEXT,
                                                             KS_ROLE_PARAMETER, &s->cache, s->err);
}

static ks_status add_series(sampler *s, const series *from)
{
    const ks_results *r = s->r;
    const ks_region *region = from->region;
    const char *annotation = ks_results_path(r, region->annotation);
    size_t first = ks_table_rows(s->table);
    KS_TRY(ks_table_add_rows(s->table, region->runs, s->err));
    for (uint32_t run = 0; run < region->runs; run++) {
        size_t row = first + run;
        size_t at = from->first_value + run;
        KS_TRY(ks_table_set_text(s->table, row, s->annotation, annotation, s->err));
        KS_TRY(ks_table_set_text(s->table, row, s->metric, ks_pool_text(&r->pool, from->metric),
                                 s->err));
        KS_TRY(
            ks_table_set_text(s->table, row, s->unit, ks_pool_text(&r->pool, from->unit), s->err));
        KS_TRY(ks_results_set_params(r, s->table, row, s->first_param, region->config, s->err));
        if (from->cache != 0) {
            KS_TRY(ks_table_set_text(s->table, row, s->cache, ks_pool_text(&r->pool, from->cache),
                                     s->err));
        }
        ks_table_set_i64(s->table, row, s->config, region->config);
        ks_table_set_i64(s->table, row, s->run, run);
        ks_table_set_f64(s->table, row, s->value, r->kept.values[at]);
        if (isnan(r->kept.values[at])) {
            KS_TRY(ks_table_set_text(s->table, row, s->reason,
                                     ks_pool_text(&r->pool, ks_results_why(r, at)), s->err));
        }
    }
    return KS_OK;
}

static ks_status add_region(sampler *s, const ks_region *region)
{
    const ks_results *r = s->r;
    for (uint32_t m = 0; m < r->metric_count; m++) {
        series measured = {region, r->metric_names[m], r->metric_units[m],
                           region->first_value + (size_t)m * region->runs,
                           r->metric_caches != NULL ? r->metric_caches[m] : 0};
        KS_TRY(add_series(s, &measured));
    }
    for (size_t i = 0; i < region->derived_count; i++) {
        const ks_derived_runs *runs = &r->kept.derived_runs[region->first_derived + i];
        const ks_derived *derived = &r->derived[runs->derived];
        series given = {region, derived->name, derived->unit, runs->first_value, 0};
        KS_TRY(add_series(s, &given));
    }
    return KS_OK;
}

static ks_status fill_samples(sampler *s)
{
    const ks_region **sorted = NULL;
    KS_TRY(ks_sort_regions(s->r, &sorted, s->err));
    ks_status status = add_sample_columns(s);
    for (size_t i = 0; i < s->r->kept.region_count && status == KS_OK; i++) {
        status = add_region(s, sorted[i]);
    }
    ks_free(sorted);
    return status;
}

ks_status ks_results_samples(const ks_results *results, ks_table **out, ks_error *err)
{
    KS_TRY(check_given(results, err));
    sampler s = {.r = results, .err = err};
    KS_TRY(ks_table_new(&s.table, err));
    ks_status status = fill_samples(&s);
    if (status != KS_OK) {
        ks_table_free(s.table);
        return status;
    }
    *out = s.table;
    return KS_OK;
}

/* ---- launches ---------------------------------------------------------------------------------
 */

enum launch_column {
    CONFIG,
    RUN,
    ORDER,
    ANNOTATION,
    KERNEL,
    THREAD,
    STREAM,
    GRID,
    BLOCK = GRID + 3,
    MANGLED = BLOCK + 3,
    TIME,
    REGISTERS,
    SHARED,
    LOCAL,
    OCCUPANCY
};

static ks_status add_launch_columns(ks_table *table, ks_error *err)
{
    static const char *const names[] = {
        "Config", "Run",       "Order",       "Annotation", "Kernel",      "Thread", "Stream",
        "GridX",  "GridY",     "GridZ",       "BlockX",     "BlockY",      "BlockZ", "Mangled",
        "Time",   "Registers", "SharedBytes", "LocalBytes", "OccupancyPct"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool text = i == ANNOTATION || i == KERNEL || i == MANGLED;
        ks_type type = text ? KS_TEXT : i == TIME || i == OCCUPANCY ? KS_F64 : KS_I64;
        KS_TRY(ks_table_add_column(table, names[i], type, KS_ROLE_PLAIN, NULL, err));
    }
    return KS_OK;
}

/* A cell of what is not known stays missing. */
static void set_known(ks_table *table, size_t row, enum launch_column column, int64_t value)
{
    if (value >= 0) {
        ks_table_set_i64(table, row, column, value);
    }
}

static void set_facts(ks_table *table, size_t row, const ks_launch *l)
{
    ks_table_set_f64(table, row, TIME, l->ns > 0.0 ? l->ns : NAN);
    if (l->facts.known) {
        set_known(table, row, REGISTERS, l->facts.registers);
        set_known(table, row, SHARED, l->facts.shared_bytes);
        set_known(table, row, LOCAL, l->facts.local_bytes);
        ks_table_set_f64(table, row, OCCUPANCY,
                         l->facts.occupancy >= 0.0 ? l->facts.occupancy : NAN);
    }
}

static ks_status fill_launches(const ks_results *r, ks_table *table, ks_error *err)
{
    KS_TRY(add_launch_columns(table, err));
    KS_TRY(ks_table_add_rows(table, r->kept.launch_count, err));
    int64_t order = 0;
    for (size_t row = 0; row < r->kept.launch_count; row++) {
        const ks_launch_record *from = &r->kept.launches[row];
        const ks_launch *l = &from->launch;
        bool same_run = row > 0 && from[-1].config == from->config && from[-1].launch.run == l->run;
        order = same_run ? order + 1 : 0;
        ks_table_set_i64(table, row, CONFIG, from->config);
        ks_table_set_i64(table, row, RUN, l->run);
        ks_table_set_i64(table, row, ORDER, order);
        if (from->annotation != KS_NO_ANNOTATION) {
            const char *path = ks_results_path(r, from->annotation);
            KS_TRY(ks_table_set_text(table, row, ANNOTATION, path, err));
        }
        const char *kernel = ks_pool_text(&r->pool, l->kernel);
        KS_TRY(ks_table_set_text(table, row, KERNEL, ks_demangle(kernel), err));
        KS_TRY(ks_table_set_text(table, row, MANGLED, kernel, err));
        ks_table_set_i64(table, row, THREAD, l->thread);
        ks_table_set_i64(table, row, STREAM, (int64_t)l->stream);
        for (size_t i = 0; i < 3; i++) {
            ks_table_set_i64(table, row, GRID + i, l->grid[i]);
            ks_table_set_i64(table, row, BLOCK + i, l->block[i]);
        }
        set_facts(table, row, l);
    }
    return KS_OK;
}

ks_status ks_results_launches(const ks_results *results, ks_table **out, ks_error *err)
{
    ks_table *table = NULL;
    KS_TRY(check_given(results, err));
    KS_TRY(ks_table_new(&table, err));
    ks_status status = fill_launches(results, table, err);
    if (status != KS_OK) {
        ks_table_free(table);
        return status;
    }
    *out = table;
    return KS_OK;
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

ks_status ks_results_kernels(const ks_results *results, ks_table **out, ks_error *err)
{
    KS_TRY(check_given(results, err));
    return ks_results_kernel_table(results, false, out, err);
}
