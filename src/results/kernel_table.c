/* The table of kernels: which ran in an annotation, how long, how often, with which resources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "base/error.h"
#include "results/results.h"

/* A kernel in an annotation and config, or in an annotation. */
typedef struct line {
    ks_kernel_record of;
    double region_ns; /* of all kernels of the annotation; NaN: not known of all */
} line;

typedef struct lines {
    line *list;
    size_t count;
} lines;

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Annotation and config, then traced ones before others, then the annotation's own record. */
static int by_place(const void *a, const void *b)
{
    const ks_kernel_record *x = &((const line *)a)->of;
    const ks_kernel_record *y = &((const line *)b)->of;
    int differs = order(x->annotation, y->annotation);
    differs = differs != 0 ? differs : order(x->config, y->config);
    differs = differs != 0 ? differs : order(y->traced, x->traced);
    return differs != 0 ? differs : order(x->kernel, y->kernel);
}

/* The longest first. */
static int by_time(const void *a, const void *b)
{
    const ks_kernel_record *x = &((const line *)a)->of;
    const ks_kernel_record *y = &((const line *)b)->of;
    int differs = order(x->annotation, y->annotation);
    differs = differs != 0 ? differs : order(x->config, y->config);
    differs = differs != 0 ? differs : (y->sum.ns > x->sum.ns) - (y->sum.ns < x->sum.ns);
    differs = differs != 0 ? differs : order(y->sum.launches, x->sum.launches);
    return differs != 0 ? differs : order(x->kernel, y->kernel);
}

static void sort(lines *l, int (*compare)(const void *, const void *))
{
    if (l->count > 0) {
        qsort(l->list, l->count, sizeof *l->list, compare);
    }
}

/* Records of the same kernel, which lie together, become one. */
static void join_same(lines *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (kept > 0 && by_place(&l->list[kept - 1], &l->list[i]) == 0) {
            ks_kernel_sum_add(&l->list[kept - 1].of.sum, &l->list[i].of.sum);
            l->list[kept - 1].of.runs += l->list[i].of.runs;
        } else {
            l->list[kept++] = l->list[i];
        }
    }
    l->count = kept;
}

static bool same_group(const line *a, const line *b)
{
    return a->of.annotation == b->of.annotation && a->of.config == b->of.config;
}

static size_t group_end(const lines *l, size_t first)
{
    size_t end = first;
    while (end < l->count && same_group(&l->list[first], &l->list[end])) {
        end++;
    }
    return end;
}

/* What tracing does not know of a kernel, such as its occupancy, the other records may. */
static void complete_facts(line *traced, const line *others, const line *end)
{
    for (; others < end; others++) {
        if (!others->of.traced && others->of.kernel == traced->of.kernel) {
            ks_kernel_facts_fill(&traced->of.sum.facts, &others->of.sum.facts);
        }
    }
}

/* Traced kernels are told where there are any: tracing sees those of graphs, and each one's time.
 */
static void choose_source(lines *l)
{
    size_t kept = 0;
    for (size_t first = 0, end = 0; first < l->count; first = end) {
        end = group_end(l, first);
        bool traced = l->list[first].of.traced;
        for (size_t i = first; i < end; i++) {
            if (l->list[i].of.traced == traced) {
                line chosen = l->list[i];
                if (traced) {
                    complete_facts(&chosen, &l->list[i], &l->list[end]);
                }
                l->list[kept++] = chosen;
            }
        }
    }
    l->count = kept;
}

static void join_configs(lines *l)
{
    for (size_t i = 0; i < l->count; i++) {
        l->list[i].of.config = 0;
    }
    sort(l, by_place);
    join_same(l);
}

/* Give each kernel its annotation's runs and time: that of all its kernels, measured alike. */
static void spread_group(line *list, size_t count)
{
    uint32_t runs = 0;
    double ns = 0.0;
    for (size_t i = 0; i < count; i++) {
        const ks_kernel_record *r = &list[i].of;
        bool comparable = r->sum.timed == r->sum.launches && r->traced == list[0].of.traced;
        runs += r->kernel == 0 ? r->runs : 0;
        ns = comparable ? ns + r->sum.ns : NAN;
    }
    for (size_t i = 0; i < count; i++) {
        list[i].of.runs = runs;
        list[i].region_ns = ns;
    }
}

/* ... and leave the annotation's own records out. */
static void spread(lines *l)
{
    size_t kept = 0;
    for (size_t first = 0, end = 0; first < l->count; first = end) {
        end = group_end(l, first);
        spread_group(&l->list[first], end - first);
    }
    for (size_t i = 0; i < l->count; i++) {
        if (l->list[i].of.kernel != 0) {
            l->list[kept++] = l->list[i];
        }
    }
    l->count = kept;
}

static ks_status take_lines(const ks_results *r, bool all_configs, lines *out, ks_error *err)
{
    out->count = r->kept.kernel_count;
    out->list = ks_calloc(out->count + 1, sizeof *out->list);
    if (out->list == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < out->count; i++) {
        out->list[i].of = r->kept.kernels[i];
    }
    sort(out, by_place);
    join_same(out);
    choose_source(out);
    if (all_configs) {
        join_configs(out);
    }
    spread(out);
    sort(out, by_time);
    return KS_OK;
}

/* ---- the table --------------------------------------------------------------------------------
 */

enum column { /* behind the annotation, and the parameters and the config if there are any */
    KERNEL,
    LAUNCHES,
    RUNS,
    TIME_AVG,
    TIME_MIN,
    TIME_MAX,
    TIME_PER_RUN,
    SHARE,
    REGISTERS,
    SHARED,
    LOCAL,
    OCCUPANCY,
    SOURCE,
    MANGLED,
    COLUMNS
};

static ks_status add_columns(const ks_results *r, ks_table *table, bool all_configs, size_t *first,
                             ks_error *err)
{
    static const struct {
        const char *name;
        ks_type type;
    } columns[COLUMNS] = {
        [KERNEL] = {"Kernel", KS_TEXT},
        [LAUNCHES] = {"Launches", KS_I64},
        [RUNS] = {"Runs", KS_I64},
        [TIME_AVG] = {"TimeAvg", KS_F64},
        [TIME_MIN] = {"TimeMin", KS_F64},
        [TIME_MAX] = {"TimeMax", KS_F64},
        [TIME_PER_RUN] = {"TimePerRun", KS_F64},
        [SHARE] = {"SharePct", KS_F64},
        [REGISTERS] = {"Registers", KS_I64},
        [SHARED] = {"SharedBytes", KS_I64},
        [LOCAL] = {"LocalBytes", KS_I64},
        [OCCUPANCY] = {"OccupancyPct", KS_F64},
        [SOURCE] = {"TimeSource", KS_TEXT},
        [MANGLED] = {"Mangled", KS_TEXT},
    };
    KS_TRY(ks_table_add_column(table, "Annotation", KS_TEXT, KS_ROLE_PLAIN, NULL, err));
    if (!all_configs) {
        KS_TRY(ks_results_add_params(r, table, err));
        KS_TRY(ks_table_add_column(table, "Config", KS_I64, KS_ROLE_PLAIN, NULL, err));
    }
    *first = ks_table_columns(table);
    for (size_t i = 0; i < COLUMNS; i++) {
        KS_TRY(
            ks_table_add_column(table, columns[i].name, columns[i].type, KS_ROLE_PLAIN, NULL, err));
    }
    return KS_OK;
}

static void set_known(ks_table *table, size_t row, size_t column, int64_t value)
{
    if (value >= 0) {
        ks_table_set_i64(table, row, column, value);
    }
}

static void set_facts(ks_table *table, size_t row, size_t first, const ks_kernel_facts *facts)
{
    if (!facts->known) {
        return;
    }
    set_known(table, row, first + REGISTERS, facts->registers);
    set_known(table, row, first + SHARED, facts->shared_bytes);
    set_known(table, row, first + LOCAL, facts->local_bytes);
    ks_table_set_f64(table, row, first + OCCUPANCY,
                     facts->occupancy >= 0.0 ? facts->occupancy : NAN);
}

static ks_status set_times(ks_table *table, size_t row, size_t first, const line *l, ks_error *err)
{
    const ks_kernel_sum *sum = &l->of.sum;
    if (sum->timed < sum->launches) {
        return KS_OK; /* a mean of some would look like that of all */
    }
    ks_table_set_f64(table, row, first + TIME_AVG, sum->ns / (double)sum->launches);
    ks_table_set_f64(table, row, first + TIME_MIN, sum->least_ns);
    ks_table_set_f64(table, row, first + TIME_MAX, sum->most_ns);
    ks_table_set_f64(table, row, first + TIME_PER_RUN, sum->ns / l->of.runs);
    ks_table_set_f64(table, row, first + SHARE, 100.0 * sum->ns / l->region_ns);
    return ks_table_set_text(table, row, first + SOURCE,
                             l->of.traced ? "kernel__time_duration.sum" : "gpu__time_duration.sum",
                             err);
}

static ks_status fill_line(const ks_results *r, ks_table *table, size_t row, size_t first,
                           const line *l, ks_error *err)
{
    const char *mangled = ks_pool_text(&r->pool, l->of.kernel);
    KS_TRY(ks_table_set_text(table, row, 0, ks_results_path(r, l->of.annotation), err));
    if (first > 1) {
        KS_TRY(ks_results_set_params(r, table, row, 1, l->of.config, err));
        ks_table_set_i64(table, row, first - 1, l->of.config);
    }
    KS_TRY(ks_table_set_text(table, row, first + KERNEL, ks_demangle(mangled), err));
    KS_TRY(ks_table_set_text(table, row, first + MANGLED, mangled, err));
    ks_table_set_i64(table, row, first + LAUNCHES, (int64_t)l->of.sum.launches);
    ks_table_set_i64(table, row, first + RUNS, l->of.runs);
    set_facts(table, row, first, &l->of.sum.facts);
    return set_times(table, row, first, l, err);
}

static ks_status fill(const ks_results *r, ks_table *table, const lines *l, bool all_configs,
                      ks_error *err)
{
    size_t first = 0;
    KS_TRY(add_columns(r, table, all_configs, &first, err));
    KS_TRY(ks_table_add_rows(table, l->count, err));
    for (size_t row = 0; row < l->count; row++) {
        KS_TRY(fill_line(r, table, row, first, &l->list[row], err));
    }
    return KS_OK;
}

ks_status ks_results_kernel_table(const ks_results *results, bool all_configs, ks_table **out,
                                  ks_error *err)
{
    lines l = {NULL, 0};
    ks_table *table = NULL;
    KS_TRY(ks_table_new(&table, err));
    ks_status status = take_lines(results, all_configs, &l, err);
    status = status == KS_OK ? fill(results, table, &l, all_configs, err) : status;
    ks_free(l.list);
    if (status != KS_OK) {
        ks_table_free(table);
        return status;
    }
    *out = table;
    return KS_OK;
}
