#include "run/info.h"

#include <math.h>
#include <string.h>

#include "annotate/session.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "plan/call.h"
#include "samples/samples.h"

ks_status ks_infos_init(ks_infos *infos, const ks_plan *plan, ks_error *err)
{
    memset(infos, 0, sizeof *infos);
    infos->plan = plan;
    pthread_mutex_init(&infos->lock, NULL);
    infos->warned = ks_calloc(plan->info_count, sizeof *infos->warned);
    if (infos->warned == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < plan->info_count; i++) {
        infos->wanted[plan->infos[i].scope] = true;
    }
    return KS_OK;
}

void ks_infos_fini(ks_infos *infos)
{
    ks_info_values_fini(&infos->once);
    ks_info_values_fini(&infos->values);
    ks_free(infos->warned);
    ks_pool_fini(&infos->warnings);
    pthread_mutex_destroy(&infos->lock);
}

void ks_infos_start_batch(ks_infos *infos)
{
    ks_info_values_truncate(&infos->values, 0);
}

/* One warning per collector, however often it fails. The caller holds the lock. */
static void warn(ks_infos *infos, size_t info, const char *why)
{
    static const char *const scopes[] = {"once", "config", "run", "annotation"};
    if (infos->warned[info]) {
        return;
    }
    infos->warned[info] = true;
    ks_buf text;
    ks_buf_init(&text, 4096);
    ks_buf_addf(&text, "info collector '%.200s' (%s scope) failed: %s; its value is missing there",
                infos->plan->infos[info].name, scopes[infos->plan->infos[info].scope], why);
    ks_text_id id = 0;
    if (ks_buf_status(&text, NULL) != KS_OK ||
        ks_pool_add(&infos->warnings, ks_buf_text(&text), &id, NULL) != KS_OK) {
        infos->out_of_memory = true;
    }
    ks_buf_fini(&text);
}

static const char *refusal(const ks_value *value, const ks_error *failed, ks_status status)
{
    if (status != KS_OK) {
        return failed->message[0] != '\0' ? failed->message : ks_status_text(status);
    }
    if (value->type < KS_MISSING || value->type > KS_OPAQUE) {
        return "its value has no valid type";
    }
    if (value->type == KS_F64 && !isfinite(value->as.f64)) {
        return ks_not_finite(value->as.f64);
    }
    bool has_text = value->type == KS_TEXT || value->type == KS_OPAQUE;
    if (has_text && value->text == NULL) {
        return "its text is missing (NULL)";
    }
    if (has_text && ks_utf8_check(value->text, strlen(value->text)) < strlen(value->text)) {
        return "its text is not UTF-8";
    }
    return NULL;
}

static void collect(ks_infos *infos, size_t info, const ks_call *call, const char *annotation,
                    uint32_t entry)
{
    const ks_info *spec = &infos->plan->infos[info];
    ks_value value = ks_missing();
    ks_error failed = KS_ERROR_INIT;
    ks_fault fault = KS_FAULT_INIT;
    ks_call own = {0}; /* what it asks in vain is its own mistake, not the body's */
    if (call != NULL) {
        own = *call;
        own.fault = &fault;
    }
    ks_status status =
        spec->fn(call != NULL ? &own : NULL, annotation, &value, spec->user, &failed);
    if (status == KS_OK) {
        ks_error_clear(&failed);
        status = ks_fault_take(&fault, &failed);
    }
    const char *why = refusal(&value, &failed, status);
    if (why != NULL) {
        value = ks_missing();
    }
    bool has_text = value.type == KS_TEXT || value.type == KS_OPAQUE;
    value.text = has_text ? value.text : NULL;

    pthread_mutex_lock(&infos->lock);
    if (why != NULL) {
        warn(infos, info, why);
    }
    ks_info_values *to = spec->scope == KS_SCOPE_ONCE ? &infos->once : &infos->values;
    uint32_t run = call != NULL ? ks_call_run(call) : 0;
    if (ks_info_values_add(to, (uint32_t)info, run, entry, &value, NULL) != KS_OK) {
        infos->out_of_memory = true;
    }
    pthread_mutex_unlock(&infos->lock);
}

void ks_infos_collect(ks_infos *infos, ks_info_scope scope, const ks_call *call)
{
    for (size_t i = 0; infos->wanted[scope] && i < infos->plan->info_count; i++) {
        if (infos->plan->infos[i].scope == scope) {
            collect(infos, i, call, NULL, 0);
        }
    }
}

void ks_infos_start_call(ks_infos *infos, const ks_call *call)
{
    infos->call = call;
    infos->call_start = infos->values.count;
    infos->entries = 0;
}

uint32_t ks_infos_enter(void *self, const char *name)
{
    ks_infos *infos = self;
    pthread_mutex_lock(&infos->lock);
    uint32_t entry = ++infos->entries;
    pthread_mutex_unlock(&infos->lock);
    for (size_t i = 0; i < infos->plan->info_count; i++) {
        if (infos->plan->infos[i].scope == KS_SCOPE_ANNOTATION) {
            collect(infos, i, infos->call, name, entry);
        }
    }
    return entry;
}

ks_status ks_infos_end_call(ks_infos *infos, ks_error *err)
{
    if (infos->out_of_memory) {
        return ks_enomem(err);
    }
    if (infos->entries == 0) {
        return KS_OK;
    }
    uint32_t *annotations = ks_alloc((infos->entries + 1u) * sizeof *annotations);
    if (annotations == NULL) {
        return ks_enomem(err);
    }
    memset(annotations, 0xFF, (infos->entries + 1u) * sizeof *annotations);
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        annotations[v->info] = v->annotation->id;
    }
    for (size_t i = infos->call_start; i < infos->values.count; i++) {
        ks_info_value *value = &infos->values.list[i];
        if (infos->plan->infos[value->info].scope == KS_SCOPE_ANNOTATION) {
            value->annotation = annotations[value->annotation];
        }
    }
    ks_free(annotations);
    return KS_OK;
}
