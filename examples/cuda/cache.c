/*
 * The same kernel with cold and with warm caches: two plans, one that sweeps the caches before each
 * kernel and one that leaves them as they are. What fits into the L2 cache is read from DRAM only
 * once.
 */
#include "sums.h"

enum {
    FLOATS = 1 << 24
};

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    unsigned n = (unsigned)ks_call_i64(call, "n");
    KS_ANNOTATE("sum") {
        sums_start(n, 1056, NULL, err);
    }
    return err->code == KS_OK ? gpu_wait(err) : err->code;
}

static void study(const char *title, ks_cache_control cache, ks_error *err)
{
    ks_plan *plan = NULL;
    ks_plan_new(&plan, err);
    ks_plan_axis_spec(plan, "n=1048576..16777216*4", err);
    ks_plan_runs(plan, 10, err);
    ks_plan_warmup(plan, 2, err); /* the first call brings the data in */
    ks_plan_metric(plan, "gpu__time_duration.sum", err);
    ks_plan_metric(plan, "dram__bytes_read.sum", err);
    ks_plan_cache_control(plan, cache, err);
    sums_measure(title, plan, body, false, err);
    ks_plan_free(plan);
}

int main(void)
{
    ks_error err = KS_ERROR_INIT;
    if (gpu_open(&err) == KS_OK && sums_prepare(FLOATS, &err) == KS_OK) {
        study("sum of n floats, caches swept before each kernel", KS_CACHE_FLUSH, &err);
    }
    if (err.code == KS_OK) {
        study("sum of n floats, caches as the last call left them", KS_CACHE_NONE, &err);
    }
    return sums_exit("cache", &err);
}
