/*
 * Kernels that leave most of the GPU idle, in 1 to 8 streams: the sum of their times stays, and the
 * span in which all of them run gets shorter, as far as they overlap.
 */
#include "sums.h"

enum {
    KERNELS = 8,
    FLOATS = 1 << 22
};

static void *streams[KERNELS];

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    int64_t used = ks_call_i64(call, "streams");
    KS_ANNOTATE("sums") {
        for (int i = 0; i < KERNELS && err->code == KS_OK; i++) {
            sums_start(FLOATS, 4, streams[i % used], err);
        }
    }
    return err->code == KS_OK ? gpu_wait(err) : err->code;
}

/* 1: one after the other; 8: all at the same time. */
static ks_status at_once(ks_derivation *derivation, const ks_call *call, void *user, ks_error *err)
{
    double sum = 0.0;
    double span = 0.0;
    (void)call;
    (void)user;
    ks_status status = ks_derivation_metric(derivation, "kernel__time_duration.sum", &sum, err);
    if (status == KS_OK) {
        status = ks_derivation_metric(derivation, "kernel__span.max", &span, err);
    }
    return status == KS_OK ? ks_derivation_set(derivation, NULL, sum / span, NULL, err) : status;
}

int main(void)
{
    ks_error err = KS_ERROR_INIT;
    ks_plan *plan = NULL;
    if (gpu_open(&err) == KS_OK) {
        sums_prepare(FLOATS, &err);
    }
    for (int i = 0; i < KERNELS && err.code == KS_OK; i++) {
        gpu_stream(&streams[i], &err);
    }
    if (err.code == KS_OK) {
        ks_plan_new(&plan, &err);
        ks_plan_axis_spec(plan, "streams=1..8*2", &err);
        ks_plan_runs(plan, 10, &err);
        ks_plan_metric(plan, "kernel__time_duration.sum", &err);
        ks_plan_metric(plan, "kernel__span.max", &err);
        ks_plan_derive(plan, "at once", at_once, NULL, &err);
        sums_measure("8 kernels in 1 to 8 streams", plan, body, false, &err);
    }
    ks_plan_free(plan);
    return sums_exit("overlap", &err);
}
