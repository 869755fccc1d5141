/* Parameters: axes and configs, and what value a config has. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "plan/plan.h"

/* A copy of a value whose texts belong to the plan; refuses texts that are not UTF-8. */
static ks_status keep_value(ks_plan *plan, const char *param, const ks_value *value, ks_value *out,
                            ks_error *err)
{
    ks_value copy = *value;
    if (copy.type < KS_MISSING || copy.type > KS_OPAQUE) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "parameter '%s': a value has no valid type (%d)",
                       param, (int)copy.type);
    }
    if (copy.type == KS_TEXT || copy.type == KS_OPAQUE) {
        ks_status status = ks_plan_keep(plan, "a value", value->text, &copy.text, err);
        if (status != KS_OK) {
            ks_error_prefix(err, "parameter '%s'", param);
            return status;
        }
    } else {
        copy.text = NULL;
    }
    *out = copy;
    return KS_OK;
}

size_t ks_plan_find_param(const ks_plan *plan, const char *name)
{
    size_t i = 0;
    while (i < plan->param_count && strcmp(plan->params[i].name, name) != 0) {
        i++;
    }
    return i;
}

static ks_status add_param(ks_plan *plan, const char *name, ks_error *err)
{
    const char *kept = NULL;
    KS_TRY(ks_plan_keep(plan, "a parameter's name", name, &kept, err));
    if (name[0] == '\0') {
        return ks_fail(err, KS_EINVAL, "plan", 0, "a parameter's name is empty");
    }
    if (ks_has_control(name, strlen(name))) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "parameter '%s': the name has a control character", name);
    }
    if (ks_column_reserved(name)) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "parameter '%s': that is the name of a reserved column; choose another",
                       name);
    }
    if (ks_plan_find_param(plan, name) < plan->param_count) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "parameter '%s' is given twice", name);
    }
    KS_TRY(KS_GROW(plan->params, plan->param_capacity, plan->param_count + 1, err));
    plan->params[plan->param_count++] = (ks_param){.name = kept};
    return KS_OK;
}

static ks_status refuse_mix(ks_error *err)
{
    return ks_fail(err, KS_EINVAL, "plan", 0,
                   "a plan has either axes or configs given one by one (ks_plan_param and "
                   "ks_plan_config), not both");
}

ks_status ks_plan_axis(ks_plan *plan, const char *name, const ks_value *values, size_t n,
                       ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (plan->param_count > 0 && !plan->axes) {
        return refuse_mix(err);
    }
    if (n == 0 || values == NULL) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "parameter '%s' has no values",
                       name != NULL ? name : "");
    }
    KS_TRY(add_param(plan, name, err));
    ks_param *param = &plan->params[plan->param_count - 1];
    ks_status status = KS_GROW(param->values, param->capacity, n, err);
    for (size_t i = 0; i < n && status == KS_OK; i++) {
        status = keep_value(plan, name, &values[i], &param->values[i], err);
    }
    if (status != KS_OK) {
        ks_free(param->values);
        plan->param_count--;
        return status;
    }
    param->count = n;
    plan->axes = true;
    return KS_OK;
}

/* An axis of n values of one type, from an array that `at` reads. */
static ks_status typed_axis(ks_plan *plan, const char *name, const void *values, size_t n,
                            ks_value (*at)(const void *values, size_t i), ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    ks_value *copy = NULL;
    if (values != NULL && n > 0) {
        copy = ks_calloc(n, sizeof *copy);
        if (copy == NULL) {
            return ks_enomem(err);
        }
        for (size_t i = 0; i < n; i++) {
            copy[i] = at(values, i);
        }
    }
    ks_status status = ks_plan_axis(plan, name, copy, n, err);
    ks_free(copy);
    return status;
}

static ks_value i64_at(const void *values, size_t i)
{
    return ks_i64(((const int64_t *)values)[i]);
}

static ks_value f64_at(const void *values, size_t i)
{
    return ks_f64(((const double *)values)[i]);
}

static ks_value text_at(const void *values, size_t i)
{
    return ks_text(((const char *const *)values)[i]);
}

ks_status ks_plan_axis_i64(ks_plan *plan, const char *name, const int64_t *values, size_t n,
                           ks_error *err)
{
    return typed_axis(plan, name, values, n, i64_at, err);
}

ks_status ks_plan_axis_f64(ks_plan *plan, const char *name, const double *values, size_t n,
                           ks_error *err)
{
    return typed_axis(plan, name, values, n, f64_at, err);
}

ks_status ks_plan_axis_text(ks_plan *plan, const char *name, const char *const *values, size_t n,
                            ks_error *err)
{
    return typed_axis(plan, name, values, n, text_at, err);
}

ks_status ks_plan_zip(ks_plan *plan, bool zip, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    plan->zip = zip;
    return KS_OK;
}

ks_status ks_plan_param(ks_plan *plan, const char *name, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (plan->axes) {
        return refuse_mix(err);
    }
    if (plan->given_configs > 0) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "parameter '%s' comes after the first config; name all parameters first",
                       name != NULL ? name : "");
    }
    return add_param(plan, name, err);
}

ks_status ks_plan_config(ks_plan *plan, const ks_value *values, size_t n, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (plan->axes) {
        return refuse_mix(err);
    }
    if (n != plan->param_count || (n > 0 && values == NULL)) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "config %zu has %zu values for %zu parameters",
                       plan->given_configs + 1, values == NULL ? 0 : n, plan->param_count);
    }
    KS_TRY(KS_GROW(plan->cells, plan->cell_capacity, plan->cell_count + n, err));
    for (size_t i = 0; i < n; i++) {
        ks_value *cell = &plan->cells[plan->cell_count + i];
        ks_status status = keep_value(plan, plan->params[i].name, &values[i], cell, err);
        if (status != KS_OK) {
            ks_error_prefix(err, "config %zu", plan->given_configs + 1);
            return status;
        }
    }
    plan->cell_count += n;
    plan->given_configs++;
    return KS_OK;
}

const ks_value *ks_plan_value(const ks_plan *plan, size_t config, size_t param)
{
    if (!plan->axes) {
        return &plan->cells[config * plan->param_count + param];
    }
    if (plan->zip) {
        return &plan->params[param].values[config];
    }
    /* the last axis changes fastest: its digit is the lowest of the config's number */
    for (size_t i = plan->param_count - 1; i > param; i--) {
        config /= plan->params[i].count;
    }
    return &plan->params[param].values[config % plan->params[param].count];
}
