#include "collect/calibrate.h"

#include <math.h>

#include "base/clock.h"
#include "base/error.h"

/* As many digits as such a measurement has. */
static double three_digits(double number)
{
    double unit = number > 0.0 ? pow(10.0, floor(log10(number)) - 2.0) : 1.0;
    return unit < 1.0 ? round(number / unit) / round(1.0 / unit) : round(number / unit) * unit;
}

static ks_status visit_inside(uint32_t visits, double *visit_ns, ks_error *err)
{
    uint64_t start = ks_now_ns();
    for (uint32_t i = 0; i < visits; i++) {
        ks_token token = KS_TOKEN_INIT;
        KS_TRY(ks_annotate_begin("empty", &token, err));
        KS_TRY(ks_annotate_end(token, err));
    }
    *visit_ns = three_digits((double)(ks_now_ns() - start) / visits);
    return KS_OK;
}

static ks_status visit_all(uint32_t visits, double *visit_ns, ks_error *err)
{
    ks_token around = KS_TOKEN_INIT;
    KS_TRY(ks_annotate_begin("around", &around, err));
    ks_status status = visit_inside(visits, visit_ns, err);
    ks_status ended = ks_annotate_end(around, err);
    return status != KS_OK ? status : ended;
}

ks_status ks_visit_nothing(const ks_hook *hook, uint32_t slots, uint32_t visits, double *visit_ns,
                           void (*done)(void *arg), void *arg, ks_error *err)
{
    KS_TRY(ks_session_open(slots, err));
    const ks_hooks hooks = {.list = {*hook}, .count = 1};
    ks_session_begin_call(&hooks);
    ks_status status = visit_all(visits, visit_ns, err);
    ks_status ended = ks_session_end_call(err);
    done(arg);
    ks_session_forget_call();
    ks_session_close();
    return status != KS_OK ? status : ended;
}
