/* -p: whatever is typed gives an axis of one type, or a message. */
#include "fuzz.h"

#include "base/buf.h"
#include "plan/call.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    ks_error err = KS_ERROR_INIT;
    ks_plan *plan = NULL;
    MUST(ks_plan_new(&plan, &err) == KS_OK);
    ks_status status = ks_plan_axis_spec(plan, text, &err);
    if (status == KS_OK) {
        const ks_param *param = &plan->params[0];
        MUST(plan->param_count == 1 && param->count >= 1);
        for (size_t i = 0; i < param->count; i++) {
            const ks_value *value = &param->values[i];
            MUST(value->type == param->values[0].type);
            MUST(value->type == KS_I64 || value->type == KS_F64 || value->type == KS_TEXT);
            MUST(value->type != KS_F64 || value->as.f64 - value->as.f64 == 0.0); /* finite */
        }
    } else {
        MUST(err.code == status && err.message[0] != '\0');
        MUST(plan->param_count == 0);
    }
    ks_plan_free(plan);
    free(text);
    return 0;
}
