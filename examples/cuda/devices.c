/*
 * The same kernel on each GPU of this machine in turn. Metrics are of the GPU whose context is
 * current on the thread that calls ks_run().
 */
#include "sums.h"

enum {
    FLOATS = 1 << 24
};

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("sum") {
        sums_start(FLOATS, 1056, NULL, err);
    }
    return err->code == KS_OK ? gpu_wait(err) : err->code;
}

static void measure_on(int device, ks_error *err)
{
    char title[64];
    ks_plan *plan = NULL;
    snprintf(title, sizeof title, "GPU %d of %d", device, gpu_count());
    ks_plan_new(&plan, err);
    ks_plan_runs(plan, 10, err);
    ks_plan_metric(plan, "gpu__time_duration.sum", err);
    ks_plan_metric(plan, "dram__throughput.avg.pct_of_peak_sustained_elapsed", err);
    sums_measure(title, plan, body, false, err);
    ks_plan_free(plan);
}

int main(void)
{
    ks_error err = KS_ERROR_INIT;
    gpu_open(&err);
    for (int device = 0; err.code == KS_OK && device < gpu_count(); device++) {
        if (gpu_use(device, &err) == KS_OK && sums_prepare(FLOATS, &err) == KS_OK) {
            measure_on(device, &err);
        }
    }
    return sums_exit("devices", &err);
}
