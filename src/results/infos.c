#include "results/infos.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "plan/call.h"

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
struct ks_info_shape {
    bool numeric; /* every value that is not missing is a number, and there is one */
    ks_type type; /* KS_I64 or KS_BOOL if all are; else KS_F64, or KS_TEXT */
};

static struct ks_info_shape shape_of(const ks_info_values *values, uint32_t info)
{
    bool any = false;
    struct ks_info_shape s = {.numeric = true, .type = KS_MISSING};
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
    return r->plan->infos[info].scope == KS_SCOPE_ONCE ? &r->once : &r->kept.infos;
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

static ks_status add_columns(ks_info_columns *c, ks_error *err)
{
    const ks_plan *plan = c->r->plan;
    for (uint32_t info = 0; info < plan->info_count; info++) {
        c->shapes[info] = shape_of(values_of(c->r, info), info);
        bool once = plan->infos[info].scope == KS_SCOPE_ONCE;
        if (c->shapes[info].numeric && !once) {
            KS_TRY(add_statistics(c->r, c->table, info, c->shapes[info].type, err));
        } else {
            KS_TRY(ks_table_add_column(c->table, plan->infos[info].name, c->shapes[info].type,
                                       KS_ROLE_INFO, NULL, err));
        }
    }
    return KS_OK;
}

ks_status ks_info_columns_init(ks_info_columns *columns, const ks_results *results, ks_table *table,
                               ks_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < results->kept.record_count; i++) {
        /* one collector at a time: a value of the scope config counts once per run */
        const ks_config_record *record = &results->kept.records[i];
        size_t values = record->info_count > record->runs ? record->info_count : record->runs;
        most = values > most ? values : most;
    }
    *columns =
        (ks_info_columns){.r = results,
                          .table = table,
                          .first = ks_table_columns(table),
                          .shapes = ks_calloc(results->plan->info_count, sizeof *columns->shapes),
                          .numbers = ks_calloc(2 * most, sizeof *columns->numbers)};
    ks_status status = columns->shapes != NULL && columns->numbers != NULL ? KS_OK : ks_enomem(err);
    if (status == KS_OK) {
        status = add_columns(columns, err);
    }
    if (status != KS_OK) {
        ks_info_columns_fini(columns);
    }
    return status;
}

void ks_info_columns_fini(ks_info_columns *columns)
{
    ks_free(columns->shapes);
    ks_free(columns->numbers);
    memset(columns, 0, sizeof *columns);
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

/* The numbers of an info collector that belong to a row; extremes as they were given. */
typedef struct gathered {
    size_t n;
    const ks_value *first; /* of any type */
    const ks_value *min;
    const ks_value *max;
} gathered;

/* Whole numbers are compared as such: as doubles, large ones would be equal. */
static bool is_less(const ks_value *a, const ks_value *b)
{
    return a->type == KS_I64 && b->type == KS_I64 ? a->as.i64 < b->as.i64 : number(a) < number(b);
}

static void take_number(const ks_info_columns *c, gathered *to, const ks_value *value,
                        uint32_t times)
{
    to->min = to->min == NULL || is_less(value, to->min) ? value : to->min;
    to->max = to->max == NULL || is_less(to->max, value) ? value : to->max;
    for (uint32_t k = 0; k < times; k++) {
        c->numbers[to->n++] = number(value);
    }
}

/* Values that belong to a row: those of its config, and of its annotation in that scope. A value of
 * the scope config counts once per run, as it does for nsight-python. */
static gathered gather(const ks_info_columns *c, const ks_row *row, uint32_t info)
{
    const ks_results *r = c->r;
    ks_info_scope scope = r->plan->infos[info].scope;
    gathered all = {0};
    for (size_t i = 0; i < row->record->info_count; i++) {
        const ks_info_value *v = &r->kept.infos.list[row->record->first_info + i];
        if (v->info != info || (scope == KS_SCOPE_ANNOTATION && v->annotation != row->annotation)) {
            continue;
        }
        all.first = all.first != NULL ? all.first : &v->value;
        if (is_number(&v->value)) {
            take_number(c, &all, &v->value, scope == KS_SCOPE_CONFIG ? row->runs : 1);
        }
    }
    return all;
}

/* The value of a collector that is called once; NULL if there is none. */
static const ks_value *find_once(const ks_results *r, uint32_t info)
{
    for (size_t i = 0; i < r->once.count; i++) {
        if (r->once.list[i].info == info) {
            return &r->once.list[i].value;
        }
    }
    return NULL;
}

static ks_status fill_cell(ks_info_columns *c, const ks_row *row, size_t at, uint32_t info,
                           size_t *column, ks_error *err)
{
    bool once = c->r->plan->infos[info].scope == KS_SCOPE_ONCE;
    gathered all = {0};
    if (!once) {
        all = gather(c, row, info);
    }
    if (once || !c->shapes[info].numeric) {
        const ks_value *first = once ? find_once(c->r, info) : all.first;
        size_t only = (*column)++;
        return first != NULL ? set_value(c->table, at, only, first, err) : KS_OK;
    }
    ks_summary s;
    ks_summarize(c->numbers, all.n, c->numbers + all.n, &c->quantiles, &s);
    ks_table_set_f64(c->table, at, *column, s.mean);
    ks_table_set_f64(c->table, at, *column + 1, s.stddev);
    if (all.n > 0) {
        KS_TRY(set_value(c->table, at, *column + 2, all.min, err));
        KS_TRY(set_value(c->table, at, *column + 3, all.max, err));
    }
    *column += STATISTICS;
    return KS_OK;
}

ks_status ks_info_columns_fill(ks_info_columns *columns, size_t at, const ks_row *row,
                               ks_error *err)
{
    size_t column = columns->first;
    for (uint32_t info = 0; info < columns->r->plan->info_count; info++) {
        KS_TRY(fill_cell(columns, row, at, info, &column, err));
    }
    return KS_OK;
}
