/* The table of results: its columns, and what stands in them. */
#include <math.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "plan/call.h"
#include "results/infos.h"
#include "results/params.h"
#include "results/remarks.h"
#include "results/rows.h"

/* The fixed columns, in nsight-python's order; those of parameters come after Metric, those of info
 * collectors after Unit. `ours` may be left out for a parameter or info collector of that name. */
#define COLUMNS(X)                                   \
    X(ANNOTATION, "Annotation", KS_TEXT, false)      \
    X(METRIC, "Metric", KS_TEXT, false)              \
    X(AVG, "AvgValue", KS_F64, false)                \
    X(STDDEV, "StdDev", KS_F64, false)               \
    X(MIN, "MinValue", KS_F64, false)                \
    X(MAX, "MaxValue", KS_F64, false)                \
    X(NUM_RUNS, "NumRuns", KS_I64, false)            \
    X(KERNEL, "Kernel", KS_TEXT, false)              \
    X(GPU, "GPU", KS_TEXT, false)                    \
    X(HOST, "Host", KS_TEXT, false)                  \
    X(COMPUTE_CLOCK, "ComputeClock", KS_I64, false)  \
    X(MEMORY_CLOCK, "MemoryClock", KS_I64, false)    \
    X(UNIT, "Unit", KS_TEXT, false)                  \
    X(CI_LOWER, "CI95_Lower", KS_F64, false)         \
    X(CI_UPPER, "CI95_Upper", KS_F64, false)         \
    X(RELATIVE, "RelativeStdDevPct", KS_F64, false)  \
    X(STABLE, "StableMeasurement", KS_BOOL, false)   \
    X(NORMALIZED, "Normalized", KS_BOOL, false)      \
    X(BASELINE, "NormalizationValue", KS_F64, false) \
    X(GEOMEAN, "Geomean", KS_F64, false)             \
    X(MEDIAN, "Median", KS_F64, true)                \
    X(MAD, "MAD", KS_F64, true)                      \
    X(NUM_FAILED, "NumFailed", KS_I64, true)         \
    X(FAILURE, "Failure", KS_TEXT, true)             \
    X(VISITS, "Visits", KS_I64, true)                \
    X(NUM_KERNELS, "NumKernels", KS_I64, true)       \
    X(OUTLIERS, "Outliers", KS_I64, true)            \
    X(WARNINGS, "Warnings", KS_TEXT, true)           \
    X(STOP_REASON, "StopReason", KS_TEXT, true)      \
    X(PASSES, "Passes", KS_I64, true)                \
    X(REPLAY, "Replay", KS_TEXT, true)               \
    X(CACHE_CONTROL, "CacheControl", KS_TEXT, true)  \
    X(CLOCK_CONTROL, "ClockControl", KS_TEXT, true)  \
    X(CLOCK_MHZ, "ClockMHz", KS_F64, true)           \
    X(THERMAL_WAIT, "ThermalWait", KS_F64, true)     \
    X(DEVICE, "Device", KS_TEXT, true)               \
    X(SOURCE, "Source", KS_TEXT, true)

enum column {
#define COLUMN_ENUM(id, name, type, ours) id,
    COLUMNS(COLUMN_ENUM)
#undef COLUMN_ENUM
    COLUMN_COUNT
};

static const struct {
    const char *name;
    ks_type type;
    bool ours;
} fixed[COLUMN_COUNT] = {
#define COLUMN_ROW(id, name, type, ours) {name, type, ours},
    COLUMNS(COLUMN_ROW)
#undef COLUMN_ROW
};

static const size_t LEFT_OUT = SIZE_MAX;

typedef struct builder {
    ks_results *r;
    ks_table *table;
    size_t at[COLUMN_COUNT]; /* index of each fixed column, or LEFT_OUT */
    size_t first_param;
    size_t row; /* being filled */
    bool *warm; /* by row: it is of the second of two metrics of one name */
    bool whole; /* every sample is a whole number: extremes are too */
    ks_rows rows;
    ks_info_columns infos;
    ks_text_id *ids;   /* of our pool's texts in the table's; 0: not there yet */
    ks_text_id *paths; /* of annotations, in the table's pool */
    ks_text_id host, device, derived;
    ks_error *err;
} builder;

/* ---- columns ----------------------------------------------------------------------------------
 */

static ks_type column_type(const builder *b, enum column column)
{
    if (column == NORMALIZED && b->r->plan->normalize != NULL) {
        return KS_TEXT; /* the baseline's name; else False */
    }
    bool extreme = column == MIN || column == MAX;
    return extreme && b->whole ? KS_I64 : fixed[column].type;
}

/* Whether a parameter or info collector has taken the name of a column of ours. */
static bool is_taken(const builder *b, const char *name)
{
    size_t at = ks_table_find(b->table, name);
    return at < ks_table_columns(b->table);
}

static ks_status leave_out(builder *b, enum column column)
{
    ks_buf text;
    ks_buf_init(&text, 4096);
    ks_buf_addf(&text, "the column %s is left out: the plan has a parameter or info of that name",
                fixed[column].name);
    ks_status status = ks_buf_status(&text, b->err);
    if (status == KS_OK) {
        status = ks_table_add_fact(b->table, "warnings[]", ks_text(ks_buf_text(&text)), b->err);
    }
    ks_buf_fini(&text);
    b->at[column] = LEFT_OUT;
    return status;
}

/* Where each metric has two rows, what tells them apart is one more parameter. */
static ks_role role_of(const builder *b, enum column column)
{
    return column == CACHE_CONTROL && b->r->plan->cache == KS_CACHE_BOTH ? KS_ROLE_PARAMETER
                                                                         : KS_ROLE_PLAIN;
}

static ks_status add_columns(builder *b)
{
    for (enum column c = 0; c < COLUMN_COUNT; c++) {
        bool unused = (c == BASELINE && b->r->plan->normalize == NULL) ||
                      (c == STOP_REASON && !b->r->plan->auto_runs) ||
                      (c == THERMAL_WAIT && b->r->plan->thermal.mode == KS_THERMAL_OFF);
        if (unused) {
            b->at[c] = LEFT_OUT;
        } else if (fixed[c].ours && is_taken(b, fixed[c].name)) {
            KS_TRY(leave_out(b, c));
        } else {
            KS_TRY(ks_table_add_column(b->table, fixed[c].name, column_type(b, c), role_of(b, c),
                                       &b->at[c], b->err));
        }
        if (c == METRIC) {
            b->first_param = ks_table_columns(b->table);
            KS_TRY(ks_params_add_columns(b->r, b->table, b->err));
        }
        if (c == UNIT) {
            KS_TRY(ks_info_columns_init(&b->infos, b->r, b->table, b->err));
        }
    }
    return KS_OK;
}

/* ---- cells ------------------------------------------------------------------------------------
 */

static ks_status set_text(builder *b, size_t row, enum column column, const char *text)
{
    if (b->at[column] == LEFT_OUT || text == NULL) {
        return KS_OK;
    }
    return ks_table_set_text(b->table, row, b->at[column], text, b->err);
}

/* A text of ours that comes in many rows: hashed once. */
static ks_status set_pooled(builder *b, size_t row, enum column column, ks_text_id ours)
{
    if (ours == 0 || b->at[column] == LEFT_OUT) {
        return KS_OK;
    }
    if (b->ids[ours] == 0) {
        KS_TRY(
            ks_pool_add(&b->table->pool, ks_pool_text(&b->r->pool, ours), &b->ids[ours], b->err));
    }
    ks_table_set_id(b->table, row, b->at[column], b->ids[ours]);
    return KS_OK;
}

static void set_id(builder *b, size_t row, enum column column, ks_text_id text)
{
    if (b->at[column] != LEFT_OUT) {
        ks_table_set_id(b->table, row, b->at[column], text);
    }
}

static void set_f64(builder *b, size_t row, enum column column, double value)
{
    if (b->at[column] != LEFT_OUT) {
        ks_table_set_f64(b->table, row, b->at[column], value);
    }
}

static void set_i64(builder *b, size_t row, enum column column, int64_t value)
{
    if (b->at[column] != LEFT_OUT) {
        ks_table_set_i64(b->table, row, b->at[column], value);
    }
}

static void set_extreme(builder *b, size_t row, enum column column, double value)
{
    if (!b->whole) {
        set_f64(b, row, column, value);
    } else if (!isnan(value)) {
        set_i64(b, row, column, (int64_t)value);
    }
}

static void set_statistics(builder *b, size_t row, const ks_row *from)
{
    const ks_summary *s = &from->summary;
    set_i64(b, row, NUM_RUNS, (int64_t)s->n);
    set_i64(b, row, NUM_FAILED, from->failed);
    set_i64(b, row, OUTLIERS, s->outliers);
    if (from->no_baseline) {
        return; /* numbers on another scale would be wrong in a column of ratios */
    }
    set_f64(b, row, AVG, s->mean);
    set_f64(b, row, STDDEV, s->stddev);
    set_extreme(b, row, MIN, s->min);
    set_extreme(b, row, MAX, s->max);
    set_f64(b, row, CI_LOWER, s->ci_low);
    set_f64(b, row, CI_UPPER, s->ci_high);
    set_f64(b, row, RELATIVE, s->relative_pct);
    set_f64(b, row, MEDIAN, s->median);
    set_f64(b, row, MAD, s->mad);
    bool stitched = !from->derived && b->r->metrics[from->metric].passes > 1;
    if (!isnan(s->relative_pct) && !stitched) {
        ks_table_set_bool(b->table, row, b->at[STABLE], s->relative_pct < KS_STABLE_PCT);
    }
}

static ks_status set_remark(builder *b, size_t row, enum column column, const ks_row *from,
                            void (*say)(const ks_results *r, const ks_row *row, ks_buf *to))
{
    ks_buf text;
    ks_buf_init(&text, 1u << 20);
    say(b->r, from, &text);
    ks_status status = ks_buf_status(&text, b->err);
    if (status == KS_OK && text.length > 0) {
        status = set_text(b, row, column, ks_buf_text(&text));
    }
    ks_buf_fini(&text);
    return status;
}

static const char *stop_reason(ks_stop stop)
{
    switch (stop) {
    case KS_STOP_PRECISION:
        return "precision";
    case KS_STOP_MAX_RUNS:
        return "max runs";
    case KS_STOP_BUDGET:
        return "time budget";
    case KS_STOP_NO_VALUES:
        return "no values";
    case KS_STOP_RUNS:
    case KS_STOP_NOT_YET:
        break;
    }
    return NULL;
}

static ks_status set_region(builder *b, size_t row, const ks_row *from)
{
    const ks_region *region = from->region;
    if (region == NULL) {
        return KS_OK;
    }
    KS_TRY(set_pooled(b, row, KERNEL, region->kernels));
    if (region->entered > 0 && !region->visits_differ) {
        set_i64(b, row, VISITS, region->visits);
    }
    if (region->entered > 0 && b->r->sees_launches && !region->launches_differ) {
        set_i64(b, row, NUM_KERNELS, region->launches);
    }
    if (region->clock_ns > 0.0) {
        set_f64(b, row, CLOCK_MHZ, region->cycles / region->clock_ns * 1e3);
    }
    return KS_OK;
}

/* NULL: it is of the CPU. */
static ks_status set_card(builder *b, size_t row, const ks_card *card)
{
    if (card == NULL) {
        return KS_OK;
    }
    KS_TRY(set_text(b, row, DEVICE, card->name));
    KS_TRY(set_text(b, row, GPU, card->name));
    if (card->compute_khz > 0) {
        set_i64(b, row, COMPUTE_CLOCK, card->compute_khz);
    }
    if (card->memory_khz > 0) {
        set_i64(b, row, MEMORY_CLOCK, card->memory_khz);
    }
    return KS_OK;
}

static ks_status set_metric(builder *b, size_t row, const ks_row *from)
{
    const ks_results *r = b->r;
    ks_text_id name = from->derived ? r->derived[from->metric].name : r->metric_names[from->metric];
    ks_text_id unit = from->derived ? r->derived[from->metric].unit : r->metric_units[from->metric];
    KS_TRY(set_pooled(b, row, METRIC, name));
    if (r->plan->normalize == NULL) {
        KS_TRY(set_pooled(b, row, UNIT, unit));
        ks_table_set_bool(b->table, row, b->at[NORMALIZED], false);
    } else {
        KS_TRY(set_text(b, row, NORMALIZED, r->plan->normalize));
        set_f64(b, row, BASELINE, from->normalized ? from->baseline : NAN);
    }
    if (from->derived) {
        set_id(b, row, SOURCE, b->derived);
        return KS_OK;
    }
    const ks_metric *metric = &r->metrics[from->metric];
    set_i64(b, row, PASSES, metric->passes);
    bool counted = metric->cache != NULL && from->record->replay != NULL;
    KS_TRY(set_text(b, row, REPLAY, counted ? from->record->replay : metric->replay));
    KS_TRY(set_text(b, row, CACHE_CONTROL, metric->cache));
    KS_TRY(set_text(b, row, CLOCK_CONTROL, metric->clock));
    KS_TRY(set_card(b, row, metric->card));
    return set_pooled(b, row, SOURCE, r->metric_sources[from->metric]);
}

static ks_status fill_row(builder *b, size_t row, const ks_row *from)
{
    if (from->annotation != KS_NO_ANNOTATION) {
        set_id(b, row, ANNOTATION, b->paths[from->annotation]);
    }
    KS_TRY(ks_params_fill(b->r, from->record->config, b->table, row, b->first_param, b->err));
    set_id(b, row, HOST, b->host);
    set_id(b, row, DEVICE, b->device);
    KS_TRY(set_metric(b, row, from));
    KS_TRY(set_region(b, row, from));
    KS_TRY(set_text(b, row, STOP_REASON, stop_reason(from->record->stop)));
    set_f64(b, row, THERMAL_WAIT, from->record->waited_s);
    set_statistics(b, row, from);
    KS_TRY(set_remark(b, row, FAILURE, from, ks_say_failure));
    KS_TRY(set_remark(b, row, WARNINGS, from, ks_say_warnings));
    return ks_info_columns_fill(&b->infos, row, from, b->err);
}

static bool all_whole(const ks_results *r)
{
    bool any = false;
    for (size_t i = 0; i < r->kept.value_count; i++) {
        if (!isnan(r->kept.values[i]) && !ks_is_whole(r->kept.values[i])) {
            return false;
        }
        any = any || !isnan(r->kept.values[i]);
    }
    return any && r->plan->normalize == NULL;
}

static ks_status count_row(void *self, const ks_row *shape)
{
    (void)shape;
    (*(size_t *)self)++;
    return KS_OK;
}

static ks_status add_row(void *self, const ks_row *shape)
{
    builder *b = self;
    ks_row row = *shape;
    ks_rows_compute(&b->rows, &row);
    b->warm[b->row] = !row.derived && b->r->metrics[row.metric].warm;
    return fill_row(b, b->row++, &row);
}

/* Of a metric among the means, with swept caches or the second of its name. */
static size_t place_of(ks_text_id metric, bool warm)
{
    return 2 * (size_t)metric + warm;
}

/* Geometric means over the configs of the same annotation and metric. Rows of an annotation lie
 * together, and so do its derived ones: a new pair of both starts a new block. */
static ks_status add_geomeans(builder *b)
{
    const ks_table *t = b->table;
    size_t rows = ks_table_rows(t);
    /* by the metric's name, twice: with swept caches, and without */
    ks_geomean *means = ks_calloc(2 * (t->pool.count + 1), sizeof *means);
    if (means == NULL) {
        return ks_enomem(b->err);
    }
    const ks_text_id *annotations = t->columns[b->at[ANNOTATION]].cells;
    const ks_text_id *metrics = t->columns[b->at[METRIC]].cells;
    for (size_t first = 0, end = 0; first < rows; first = end) {
        for (end = first; end < rows && annotations[end] == annotations[first]; end++) {
            means[place_of(metrics[end], false)] = means[place_of(metrics[end], true)] =
                (ks_geomean){0};
        }
        for (size_t row = first; row < end; row++) {
            ks_geomean_add(&means[place_of(metrics[row], b->warm[row])],
                           ks_table_number(t, row, b->at[AVG]));
        }
        for (size_t row = first; row < end; row++) {
            set_f64(b, row, GEOMEAN,
                    ks_geomean_value(&means[place_of(metrics[row], b->warm[row])]));
        }
    }
    ks_free(means);
    return KS_OK;
}

static ks_status fill_table(builder *b)
{
    size_t rows = 0;
    const char *host = ks_table_fact(b->table, "host").text;
    KS_TRY(ks_pool_add(&b->table->pool, host, &b->host, b->err));
    KS_TRY(ks_pool_add(&b->table->pool, "cpu", &b->device, b->err));
    KS_TRY(ks_pool_add(&b->table->pool, "derived", &b->derived, b->err));
    for (uint32_t a = 0; a < b->r->paths.count; a++) {
        KS_TRY(ks_pool_add(&b->table->pool, ks_results_path(b->r, a), &b->paths[a], b->err));
    }
    KS_TRY(add_columns(b));
    KS_TRY(ks_rows_each(&b->rows, count_row, &rows));
    KS_TRY(ks_table_add_rows(b->table, rows, b->err));
    b->warm = ks_calloc(rows, sizeof *b->warm);
    if (b->warm == NULL) {
        return ks_enomem(b->err);
    }
    KS_TRY(ks_rows_each(&b->rows, add_row, b));
    return add_geomeans(b);
}

ks_status ks_results_build(ks_results *results, ks_error *err)
{
    builder b = {.r = results,
                 .table = results->table,
                 .whole = all_whole(results),
                 .ids = ks_calloc(results->pool.count + 1, sizeof *b.ids),
                 .paths = ks_calloc(results->paths.count + 1, sizeof *b.paths),
                 .err = err};
    bool ready = b.ids != NULL && b.paths != NULL;
    ks_status status = ready ? ks_rows_init(&b.rows, results, err) : ks_enomem(err);
    if (status == KS_OK) {
        status = fill_table(&b);
    }
    ks_free(b.warm);
    ks_info_columns_fini(&b.infos);
    ks_rows_fini(&b.rows);
    ks_free(b.ids);
    ks_free(b.paths);
    return status;
}
