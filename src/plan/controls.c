/* What a plan says of GPUs: how their counters are read, and under what conditions. */
#include "base/num.h"
#include "plan/plan.h"

const ks_thermal ks_thermal_off = {sizeof(ks_thermal), KS_THERMAL_OFF, 10, 20, 180.0, -1};

ks_status ks_plan_replay(ks_plan *plan, ks_replay replay, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (replay < KS_REPLAY_AUTO || replay > KS_REPLAY_KERNEL) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "there is no replay mode %d", (int)replay);
    }
    plan->replay = replay;
    return KS_OK;
}

ks_status ks_plan_cache_control(ks_plan *plan, ks_cache_control control, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (control < KS_CACHE_FLUSH || control > KS_CACHE_BOTH) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "there is no cache control %d", (int)control);
    }
    plan->cache = control;
    return KS_OK;
}

ks_status ks_plan_hold_counters(ks_plan *plan, bool hold, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    plan->give_back = !hold;
    return KS_OK;
}

ks_status ks_plan_drain_limit(ks_plan *plan, double seconds, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (!(seconds >= 0.0 && seconds <= 1e9)) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "work on a GPU is waited for from 0 (no limit) to 1e9 s");
    }
    plan->drain_limit_s = seconds;
    return KS_OK;
}

ks_status ks_plan_clock_control(ks_plan *plan, ks_clock_control control, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    if (control < KS_CLOCK_NONE || control > KS_CLOCK_TRY_BASE) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "there is no clock control %d", (int)control);
    }
    plan->clocks = control;
    return KS_OK;
}

ks_status ks_plan_thermal(ks_plan *plan, const ks_thermal *options, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    static const ks_thermal defaults = KS_THERMAL_INIT;
    const ks_thermal *o = options != NULL ? options : &defaults;
    if (o->struct_size < sizeof defaults) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "the options are not initialised; start from KS_THERMAL_INIT");
    }
    if (o->mode < KS_THERMAL_OFF || o->mode > KS_THERMAL_MANUAL) {
        return ks_fail(err, KS_EINVAL, "plan", 0, "there is no thermal mode %d", (int)o->mode);
    }
    if (o->cont_c <= o->wait_c) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "invalid thermal control parameters: to wait at %d degrees until there are "
                       "%d would wait for nothing; go on at more than is waited at",
                       (int)o->wait_c, (int)o->cont_c);
    }
    if (!(o->timeout_s > 0.0 && o->timeout_s <= 1e9)) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "the time that the thermal guard waits must be above 0 and at most 1e9 s");
    }
    plan->thermal = *o;
    return KS_OK;
}
