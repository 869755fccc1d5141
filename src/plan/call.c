/* What a body can ask its call. */
#include "plan/call.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"

const ks_value *ks_call_value(const ks_call *call, const char *name)
{
    size_t param = ks_plan_find_param(call->plan, name);
    return param < call->plan->param_count ? ks_plan_value(call->plan, call->config, param) : NULL;
}

static const char *type_text(ks_type type)
{
    switch (type) {
    case KS_MISSING:
        return "missing";
    case KS_BOOL:
        return "a truth value";
    case KS_I64:
        return "a whole number";
    case KS_F64:
        return "a number";
    case KS_TEXT:
        return "a text";
    case KS_OPAQUE:
        return "an object";
    }
    return "of an unknown type";
}

/* The value if it has the type; else NULL, and the call fails once the body returns. */
static const ks_value *typed(const ks_call *call, const char *name, ks_type type)
{
    const ks_value *value = ks_call_value(call, name);
    if (value != NULL && value->type == type) {
        return value;
    }
    ks_error fault = KS_ERROR_INIT;
    if (value == NULL) {
        ks_fail(&fault, KS_ENOTFOUND, "run", 0,
                "parameter '%s' was asked for, but the plan does not have it", name);
    } else {
        ks_fail(&fault, KS_EINVAL, "run", 0,
                "parameter '%s' was asked for as %s, but its value is %s", name, type_text(type),
                type_text(value->type));
    }
    ks_fault_note(call->fault, &fault);
    return NULL;
}

int64_t ks_call_i64(const ks_call *call, const char *name)
{
    const ks_value *value = typed(call, name, KS_I64);
    return value != NULL ? value->as.i64 : 0;
}

double ks_call_f64(const ks_call *call, const char *name)
{
    const ks_value *value = ks_call_value(call, name);
    if (value != NULL && value->type == KS_I64) {
        return (double)value->as.i64;
    }
    value = typed(call, name, KS_F64);
    return value != NULL ? value->as.f64 : NAN;
}

bool ks_call_bool(const ks_call *call, const char *name)
{
    const ks_value *value = typed(call, name, KS_BOOL);
    return value != NULL && value->as.boolean;
}

const char *ks_call_text(const ks_call *call, const char *name)
{
    const ks_value *value = typed(call, name, KS_TEXT);
    return value != NULL ? value->text : NULL;
}

void *ks_call_object(const ks_call *call, const char *name)
{
    const ks_value *value = typed(call, name, KS_OPAQUE);
    return value != NULL ? value->as.object : NULL;
}

size_t ks_call_config(const ks_call *call)
{
    return call->config;
}

uint32_t ks_call_run(const ks_call *call)
{
    return call->run;
}

uint32_t ks_call_pass(const ks_call *call)
{
    return call->pass;
}

bool ks_call_is_warmup(const ks_call *call)
{
    return call->warmup;
}

bool ks_call_cancelled(const ks_call *call)
{
    return atomic_load(&call->plan->cancelled);
}

void ks_value_text(const ks_value *value, ks_buf *to)
{
    char digits[KS_NUM_MAX];
    switch (value->type) {
    case KS_MISSING:
        break;
    case KS_BOOL:
        ks_buf_add(to, value->as.boolean ? "True" : "False");
        break;
    case KS_I64:
        ks_buf_add_i64(to, value->as.i64);
        break;
    case KS_F64:
        ks_num_f64_plain(value->as.f64, digits);
        ks_buf_add(to, digits);
        break;
    case KS_TEXT:
    case KS_OPAQUE:
        ks_buf_add(to, value->text);
        break;
    }
}

size_t ks_call_describe(const ks_call *call, char *buf, size_t size)
{
    ks_buf text;
    ks_buf_init(&text, 1u << 20);
    for (size_t i = 0; i < call->plan->param_count; i++) {
        ks_buf_addf(&text, "%s%s=", i > 0 ? ", " : "", call->plan->params[i].name);
        ks_value_text(ks_plan_value(call->plan, call->config, i), &text);
    }
    size_t length = text.length;
    if (size > 0) {
        size_t kept = length < size ? length : size - 1;
        while (kept < length && kept > 0 && ((unsigned char)text.text[kept] & 0xC0u) == 0x80u) {
            kept--;
        }
        memcpy(buf, ks_buf_text(&text), kept);
        buf[kept] = '\0';
    }
    ks_buf_fini(&text);
    return length;
}
