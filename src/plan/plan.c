#include "plan/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

enum {
    DEFAULT_MAX_CONFIGS = 100000
};

ks_status ks_plan_new(ks_plan **out, ks_error *err)
{
    KS_ENTER(err);
    ks_plan *plan = ks_calloc(1, sizeof *plan);
    if (plan == NULL) {
        return ks_enomem(err);
    }
    ks_pool_init(&plan->pool);
    plan->max_configs = DEFAULT_MAX_CONFIGS;
    plan->runs = 1;
    plan->warmup = 1;
    plan->thermal = ks_thermal_off;
    plan->drain_limit_s = 60.0;
    atomic_init(&plan->cancelled, false);
    *out = plan;
    return KS_OK;
}

ks_status ks_no_plan(ks_error *err)
{
    return ks_fail(err, KS_EINVAL, "plan", 0, "there is no plan (NULL)");
}

static void release_values(const ks_plan *plan, const ks_value *values, size_t count)
{
    for (size_t i = 0; plan->release != NULL && i < count; i++) {
        if (values[i].type == KS_OPAQUE) {
            plan->release(values[i].as.object, plan->release_user);
        }
    }
}

void ks_plan_free(ks_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    for (size_t i = 0; i < plan->param_count; i++) {
        release_values(plan, plan->params[i].values, plan->params[i].count);
        ks_free(plan->params[i].values);
    }
    release_values(plan, plan->cells, plan->cell_count);
    ks_free(plan->params);
    ks_free(plan->cells);
    ks_free(plan->metrics.texts);
    ks_free(plan->ignored.texts);
    ks_free(plan->derives);
    ks_free(plan->infos);
    ks_free(plan->facts);
    ks_pool_fini(&plan->pool);
    ks_free(plan);
}

ks_status ks_plan_keep(ks_plan *plan, const char *what, const char *text, const char **out,
                       ks_error *err)
{
    if (text == NULL) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "%s is missing (NULL)", what);
    }
    size_t length = strlen(text);
    size_t bad = ks_utf8_check(text, length);
    if (bad < length) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "%s is not UTF-8: byte 0x%02X at position %zu",
                       what, (unsigned char)text[bad], bad + 1);
    }
    ks_text_id id = 0;
    KS_TRY(ks_pool_add(&plan->pool, text, &id, err));
    *out = ks_pool_text(&plan->pool, id);
    return KS_OK;
}

/* ks_plan_keep() for names: not empty, no control characters. */
static ks_status keep_name(ks_plan *plan, const char *what, const char *name, const char **out,
                           ks_error *err)
{
    if (name != NULL && name[0] == '\0') {
        return ks_fail(err, KS_EINVAL, "plan", 0, "%s is empty", what);
    }
    if (name != NULL && ks_has_control(name, strlen(name))) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "%s '%s' has a control character", what, name);
    }
    return ks_plan_keep(plan, what, name, out, err);
}

static ks_status need_function(bool given, const char *what, ks_error *err)
{
    return given ? KS_OK : ks_fail(err, KS_EINVAL, "plan", 0, "%s has no function (NULL)", what);
}

ks_status ks_plan_max_configs(ks_plan *plan, size_t max, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (max == 0 || max > UINT32_MAX) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "the limit of configs must be from 1 to %u, not %zu", UINT32_MAX, max);
    }
    plan->max_configs = max;
    return KS_OK;
}

ks_status ks_plan_release(ks_plan *plan, void (*release)(void *object, void *user), void *user,
                          ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    plan->release = release;
    plan->release_user = user;
    return KS_OK;
}

ks_status ks_plan_runs(ks_plan *plan, uint32_t runs, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (runs == 0) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "0 runs measure nothing; ask for at least 1");
    }
    plan->runs = runs;
    plan->auto_runs = false;
    return KS_OK;
}

ks_status ks_plan_auto_runs(ks_plan *plan, const ks_auto_runs *options, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    static const ks_auto_runs defaults = KS_AUTO_RUNS_INIT;
    const ks_auto_runs *o = options != NULL ? options : &defaults;
    if (o->struct_size < sizeof defaults) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "the options are not initialised; start from KS_AUTO_RUNS_INIT");
    }
    if (!(o->precision > 0.0 && o->precision < 1.0)) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "the precision must be above 0 and below 1 (100 %%), such as 0.01");
    }
    if (o->min_runs < 2 || o->max_runs < o->min_runs) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "from %u to %u runs: at least 2 are needed, and no fewer at most than at "
                       "least",
                       o->min_runs, o->max_runs);
    }
    if (!(o->budget_s >= 0.0 && o->budget_s <= 1e9)) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "the time for a config must be from 0 (no limit) to 1e9 seconds");
    }
    plan->runs = o->min_runs;
    plan->auto_runs = true;
    plan->until = *o;
    return KS_OK;
}

ks_status ks_plan_warmup(ks_plan *plan, uint32_t calls, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    plan->warmup = calls;
    plan->warmup_set = true;
    return KS_OK;
}

ks_status ks_plan_order(ks_plan *plan, ks_order order, uint64_t seed, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (order < KS_ORDER_GIVEN || order > KS_ORDER_INTERLEAVED) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "unknown order %d", (int)order);
    }
    if (seed > INT64_MAX) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "the seed must be below 2^63");
    }
    plan->order = order;
    plan->seed = seed;
    return KS_OK;
}

ks_status ks_plan_metric(ks_plan *plan, const char *name, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    const char *blanks = " \t\r\n";
    const char *kept = NULL;
    char trimmed[256];
    if (name != NULL) {
        name += strspn(name, blanks);
        size_t length = strlen(name);
        while (length > 0 && strchr(blanks, name[length - 1]) != NULL) {
            length--;
        }
        if (length >= sizeof trimmed) {
            return ks_fail(err, KS_EINVAL, "plan", 0,
                           "no metric has a name of %zu bytes; see `kernsight metrics`", length);
        }
        memcpy(trimmed, name, length);
        trimmed[length] = '\0';
        name = trimmed;
    }
    KS_TRY(keep_name(plan, "a metric's name", name, &kept, err));
    for (size_t i = 0; i < plan->metrics.count; i++) {
        if (plan->metrics.texts[i] == kept) {
            return KS_OK;
        }
    }
    KS_TRY(KS_GROW(plan->metrics.texts, plan->metrics.capacity, plan->metrics.count + 1, err));
    plan->metrics.texts[plan->metrics.count++] = kept;
    return KS_OK;
}

ks_status ks_plan_derive(ks_plan *plan, const char *name, ks_derive_fn derive, void *user,
                         ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    const char *kept = NULL;
    KS_TRY(keep_name(plan, "a derived metric's name", name, &kept, err));
    KS_TRY(need_function(derive != NULL, "a derived metric", err));
    for (size_t i = 0; i < plan->derive_count; i++) {
        if (plan->derives[i].name == kept) {
            return ks_fail(err, KS_EINVAL, "plan", 0, "derived metric '%s' is given twice", name);
        }
    }
    KS_TRY(KS_GROW(plan->derives, plan->derive_capacity, plan->derive_count + 1, err));
    plan->derives[plan->derive_count++] = (ks_derive){kept, derive, user};
    return KS_OK;
}

ks_status ks_plan_normalize(ks_plan *plan, const char *annotation, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    return ks_plan_keep(plan, "the baseline annotation", annotation, &plan->normalize, err);
}

ks_status ks_plan_combine(ks_plan *plan, ks_combine combine, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (combine != KS_COMBINE_BY_KIND && combine != KS_COMBINE_REFUSE) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "unknown way to combine %d", (int)combine);
    }
    plan->combine = combine;
    plan->combine_fn = NULL;
    return KS_OK;
}

ks_status ks_plan_combine_fn(ks_plan *plan, ks_combine_fn combine, void *user, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    KS_TRY(need_function(combine != NULL, "combining", err));
    plan->combine_fn = combine;
    plan->combine_user = user;
    return KS_OK;
}

ks_status ks_plan_tolerant(ks_plan *plan, bool tolerant, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    plan->tolerant = tolerant;
    return KS_OK;
}

ks_status ks_plan_ignore_kernel(ks_plan *plan, const char *pattern, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    const char *kept = NULL;
    KS_TRY(keep_name(plan, "a kernel to be ignored", pattern, &kept, err));
    KS_TRY(KS_GROW(plan->ignored.texts, plan->ignored.capacity, plan->ignored.count + 1, err));
    plan->ignored.texts[plan->ignored.count++] = kept;
    return KS_OK;
}

ks_status ks_plan_info(ks_plan *plan, const char *name, ks_info_scope scope, ks_info_fn info,
                       void *user, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    const char *kept = NULL;
    KS_TRY(keep_name(plan, "an info collector's name", name, &kept, err));
    KS_TRY(need_function(info != NULL, "an info collector", err));
    if (scope < KS_SCOPE_ONCE || scope > KS_SCOPE_ANNOTATION) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "info collector '%s': unknown scope %d; there are once, config, run and "
                       "annotation",
                       name, (int)scope);
    }
    if (ks_column_reserved(name)) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "info collector '%s': that is the name of a reserved column; choose another",
                       name);
    }
    for (size_t i = 0; i < plan->info_count; i++) {
        if (plan->infos[i].name == kept) {
            return ks_fail(err, KS_EINVAL, "plan", 0, "info collector '%s' is given twice", name);
        }
    }
    KS_TRY(KS_GROW(plan->infos, plan->info_capacity, plan->info_count + 1, err));
    plan->infos[plan->info_count++] = (ks_info){kept, scope, info, user};
    return KS_OK;
}

ks_status ks_plan_fact(ks_plan *plan, const char *key, const char *text, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    ks_fact_text fact = {NULL, NULL};
    KS_TRY(keep_name(plan, "a fact's key", key, &fact.key, err));
    KS_TRY(ks_plan_keep(plan, "a fact", text, &fact.text, err));
    KS_TRY(KS_GROW(plan->facts, plan->fact_capacity, plan->fact_count + 1, err));
    plan->facts[plan->fact_count++] = fact;
    return KS_OK;
}

ks_status ks_plan_progress(ks_plan *plan, ks_progress_fn progress, void *user, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    plan->progress = progress;
    plan->progress_user = user;
    return KS_OK;
}

void ks_plan_cancel(ks_plan *plan)
{
    if (plan != NULL) {
        atomic_store(&plan->cancelled, true);
    }
}
