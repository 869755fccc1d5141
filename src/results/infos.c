/* Columns of info collectors (docs/results.md: the merging is nsight-python's). */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "plan/call.h"
#include "results/results.h"

static const char *const suffixes[] = {"_Avg", "_Std", "_Min", "_Max"};

enum {
    STATISTICS = 4
};

static bool is_number(const ks_value *value)
{
    return value->type == KS_I64 || value->type == KS_F64 || value->type == KS_BOOL;
}

static double number(const ks_value *value)
{
    return value->type == KS_F64   ? value->as.f64
           : value->type == KS_I64 ? (double)value->as.i64
                                   : (double)value->as.boolean;
}

/* What an info collector gave over the whole run. */
typedef struct shape {
    bool numeric; /* every value that is not missing is a number, and there is one */
    ks_type type; /* KS_I64 or KS_BOOL if all are; else KS_F64, or KS_TEXT */
} shape;

static shape shape_of(const ks_info_values *values, uint32_t info)
{
    bool any = false;
    shape s = {.numeric = true, .type = KS_MISSING};
    for (size_t i = 0; i < values->count; i++) {
        const ks_value *v = &values->list[i].value;
        if (values->list[i].info != info || v->type == KS_MISSING) {
            continue;
        }
        any = true;
        s.numeric = s.numeric && is_number(v);
        s.type = s.type == KS_MISSING || s.type == v->type ? v->type : KS_F64;
    }
    if (!any || !s.numeric) {
        s.type = KS_TEXT;
    }
    s.numeric = s.numeric && any;
    return s;
}

static const ks_info_values *values_of(const ks_results *r, uint32_t info)
{
    return r->plan->infos[info].scope == KS_SCOPE_ONCE ? &r->once : &r->infos;
}

static ks_status add_statistics(const ks_results *r, ks_table *table, uint32_t info, ks_type type,
                                ks_error *err)
{
    ks_status status = KS_OK;
    for (int i = 0; i < STATISTICS && status == KS_OK; i++) {
        ks_buf name;
        ks_buf_init(&name, 1u << 20);
        ks_buf_addf(&name, "%s%s", r->plan->infos[info].name, suffixes[i]);
        status = ks_buf_status(&name, err);
        if (status == KS_OK) {
            /* extremes keep the type of the values, means do not */
            status = ks_table_add_column(table, ks_buf_text(&name), i < 2 ? KS_F64 : type,
                                         KS_ROLE_INFO, NULL, err);
        }
        ks_buf_fini(&name);
    }
    return status;
}

ks_status ks_results_add_info_columns(ks_results *results, ks_table *table, ks_error *err)
{
    for (uint32_t info = 0; info < results->plan->info_count; info++) {
        shape s = shape_of(values_of(results, info), info);
        bool once = results->plan->infos[info].scope == KS_SCOPE_ONCE;
        if (s.numeric && !once) {
            KS_TRY(add_statistics(results, table, info, s.type, err));
        } else {
            KS_TRY(ks_table_add_column(table, results->plan->infos[info].name, s.type, KS_ROLE_INFO,
                                       NULL, err));
        }
    }
    return KS_OK;
}

static ks_status set_value(ks_table *table, size_t row, size_t column, const ks_value *value,
                           ks_error *err)
{
    if (value->type == KS_MISSING) {
        return KS_OK;
    }
    switch (ks_table_type(table, column)) {
    case KS_BOOL:
        ks_table_set_bool(table, row, column, value->as.boolean);
        return KS_OK;
    case KS_I64:
        ks_table_set_i64(table, row, column, value->as.i64);
        return KS_OK;
    case KS_F64:
        ks_table_set_f64(table, row, column, number(value));
        return KS_OK;
    default:
        break;
    }
    ks_buf text;
    ks_buf_init(&text, 1u << 24);
    ks_value_text(value, &text);
    ks_status status = ks_buf_status(&text, err);
    if (status == KS_OK) {
        status = ks_table_set_text(table, row, column, ks_buf_text(&text), err);
    }
    ks_buf_fini(&text);
    return status;
}

static void set_extreme(ks_table *table, size_t row, size_t column, double value)
{
    switch (ks_table_type(table, column)) {
    case KS_BOOL:
        ks_table_set_bool(table, row, column, value != 0.0);
        break;
    case KS_I64:
        ks_table_set_i64(table, row, column, (int64_t)value);
        break;
    default:
        ks_table_set_f64(table, row, column, value);
        break;
    }
}

/* Fill the cells of one info collector in one row. */
typedef struct filler {
    ks_results *r;
    ks_table *table;
    double *numbers; /* room for all values of a config, twice */
    shape *shapes;   /* by collector */
    ks_quantiles quantiles;
    ks_error *err;
} filler;

/* Values that belong to a row: those of its config, and of its annotation in that scope. A value of
 * the scope config counts once per run, as it does for nsight-python. */
static size_t gather(const filler *f, const ks_row *row, uint32_t info, const ks_value **first)
{
    const ks_results *r = f->r;
    ks_info_scope scope = r->plan->infos[info].scope;
    size_t n = 0;
    *first = NULL;
    for (size_t i = 0; i < row->record->info_count; i++) {
        const ks_info_value *v = &r->infos.list[row->record->first_info + i];
        if (v->info != info || (scope == KS_SCOPE_ANNOTATION && v->annotation != row->annotation)) {
            continue;
        }
        *first = *first != NULL ? *first : &v->value;
        uint32_t times = scope == KS_SCOPE_CONFIG ? row->runs : 1;
        for (uint32_t k = 0; k < times && is_number(&v->value); k++) {
            f->numbers[n++] = number(&v->value);
        }
    }
    return n;
}

static ks_status fill_cell(filler *f, const ks_row *row, size_t at, uint32_t info, size_t *column)
{
    const ks_results *r = f->r;
    const ks_value *first = NULL;
    if (r->plan->infos[info].scope == KS_SCOPE_ONCE) {
        for (size_t i = 0; i < r->once.count && first == NULL; i++) {
            first = r->once.list[i].info == info ? &r->once.list[i].value : NULL;
        }
        size_t only = (*column)++;
        return first != NULL ? set_value(f->table, at, only, first, f->err) : KS_OK;
    }
    size_t n = gather(f, row, info, &first);
    if (!f->shapes[info].numeric) {
        size_t only = (*column)++;
        return first != NULL ? set_value(f->table, at, only, first, f->err) : KS_OK;
    }
    ks_summary s;
    ks_summarize(f->numbers, n, f->numbers + n, &f->quantiles, &s);
    ks_table_set_f64(f->table, at, *column, s.mean);
    ks_table_set_f64(f->table, at, *column + 1, s.stddev);
    if (n > 0) {
        set_extreme(f->table, at, *column + 2, s.min);
        set_extreme(f->table, at, *column + 3, s.max);
    }
    *column += STATISTICS;
    return KS_OK;
}

ks_status ks_results_fill_info_columns(ks_results *results, ks_table *table, ks_error *err)
{
    filler f = {.r = results, .table = table, .err = err};
    size_t most = 1;
    for (size_t i = 0; i < results->record_count; i++) {
        size_t values = results->records[i].info_count * results->records[i].runs;
        most = values > most ? values : most;
    }
    f.numbers = ks_calloc(2 * most, sizeof *f.numbers);
    f.shapes = ks_calloc(results->plan->info_count, sizeof *f.shapes);
    ks_status status = f.numbers != NULL && f.shapes != NULL ? KS_OK : ks_enomem(err);
    for (uint32_t info = 0; info < results->plan->info_count && status == KS_OK; info++) {
        f.shapes[info] = shape_of(values_of(results, info), info);
    }
    size_t start = 0;
    while (start < ks_table_columns(table) && ks_table_role(table, start) != KS_ROLE_INFO) {
        start++;
    }
    for (size_t at = 0; at < results->row_count && status == KS_OK; at++) {
        size_t column = start;
        for (uint32_t info = 0; info < results->plan->info_count && status == KS_OK; info++) {
            status = fill_cell(&f, &results->rows[at], at, info, &column);
        }
    }
    ks_free(f.numbers);
    ks_free(f.shapes);
    return status;
}
