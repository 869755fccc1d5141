/* Parameters as columns of a table. */
#include "results/params.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "plan/call.h"

/* The type of a parameter's column: that of all its values, KS_F64 for numbers of both kinds where
 * nothing is lost, else KS_TEXT. */
static ks_type param_type(const ks_results *r, size_t param)
{
    ks_type type = KS_MISSING;
    bool exact = true;
    for (size_t config = 0; config < r->planned; config++) {
        const ks_value *v = ks_plan_value(r->plan, config, param);
        if (v->type == KS_MISSING) {
            continue;
        }
        if (v->type == KS_OPAQUE || v->type == KS_TEXT ||
            (v->type == KS_F64 && !isfinite(v->as.f64))) {
            return KS_TEXT;
        }
        exact = exact && (v->type != KS_I64 || llabs(v->as.i64) <= INT64_C(1) << 53);
        bool same = type == KS_MISSING || type == v->type;
        bool numbers = v->type != KS_BOOL && type != KS_BOOL;
        if (!same && !numbers) {
            return KS_TEXT; /* True is not 1 */
        }
        type = same ? v->type : KS_F64;
    }
    if (type == KS_MISSING) {
        return KS_TEXT;
    }
    return type == KS_F64 && !exact ? KS_TEXT : type;
}

ks_status ks_params_add_columns(const ks_results *r, ks_table *table, ks_error *err)
{
    for (size_t p = 0; p < r->plan->param_count; p++) {
        KS_TRY(ks_table_add_column(table, r->plan->params[p].name, param_type(r, p),
                                   KS_ROLE_PARAMETER, NULL, err));
    }
    return KS_OK;
}

static ks_status set_param(ks_table *table, size_t row, size_t column, const ks_value *value,
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
        ks_table_set_f64(table, row, column,
                         value->type == KS_I64 ? (double)value->as.i64 : value->as.f64);
        return KS_OK;
    default:
        break;
    }
    ks_buf text;
    ks_buf_init(&text, (size_t)1 << 30);
    ks_value_text(value, &text);
    ks_status status = ks_buf_status(&text, err);
    if (status == KS_OK) {
        status = ks_table_set_text(table, row, column, ks_buf_text(&text), err);
    }
    ks_buf_fini(&text);
    return status;
}

ks_status ks_params_fill(const ks_results *r, uint32_t config, ks_table *table, size_t row,
                         size_t first_column, ks_error *err)
{
    for (size_t p = 0; p < r->plan->param_count; p++) {
        KS_TRY(set_param(table, row, first_column + p, ks_plan_value(r->plan, config, p), err));
    }
    return KS_OK;
}

ks_status ks_results_build_configs(ks_results *results, ks_error *err)
{
    KS_TRY(ks_table_new(&results->configs, err));
    KS_TRY(ks_params_add_columns(results, results->configs, err));
    KS_TRY(ks_table_add_rows(results->configs, results->planned, err));
    for (uint32_t config = 0; config < results->planned; config++) {
        KS_TRY(ks_params_fill(results, config, results->configs, config, 0, err));
    }
    return KS_OK;
}
