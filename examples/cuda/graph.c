/*
 * Twenty small kernels, launched one by one and as a CUDA graph: the kernels take the same time,
 * and the span from the first to the last one shows what the graph saves. Kernel tracing sees both.
 */
#include "sums.h"

enum {
    KERNELS = 20,
    FLOATS = 1 << 16
};

static void *stream, *graph;

static ks_status start_all(ks_error *err)
{
    for (int i = 0; i < KERNELS && err->code == KS_OK; i++) {
        sums_start(FLOATS, 64, stream, err);
    }
    return err->code;
}

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("one by one") {
        start_all(err);
    }
    gpu_wait(err);
    KS_ANNOTATE("graph") {
        gpu_start_graph(graph, stream, err);
    }
    return err->code == KS_OK ? gpu_wait(err) : err->code;
}

int main(void)
{
    ks_error err = KS_ERROR_INIT;
    ks_plan *plan = NULL;
    if (gpu_open(&err) == KS_OK && sums_prepare(FLOATS, &err) == KS_OK &&
        gpu_stream(&stream, &err) == KS_OK && gpu_capture(stream, &err) == KS_OK) {
        start_all(&err);
        gpu_captured(stream, &graph, &err);
    }
    if (err.code == KS_OK) {
        ks_plan_new(&plan, &err);
        ks_plan_runs(plan, 10, &err);
        ks_plan_metric(plan, "kernel__*", &err);
        sums_measure("20 kernels, one by one and as a graph", plan, body, true, &err);
    }
    ks_plan_free(plan);
    return sums_exit("graph", &err);
}
