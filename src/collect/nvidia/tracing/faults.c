#include "collect/nvidia/tracing/faults.h"

#include <stdio.h>

const char ks_wrong_clock[] =
    "CUPTI's clock does not count nanoseconds in this process: torch.profiler gives it another one "
    "at its first use, for good; measure in a process without it";

/* A little is allowed for the way from the GPU's clock to the CPU's. */
const char *ks_trace_clock_fault(const ks_trace *trace, const ks_moment *pass,
                                 const ks_moment *call, uint64_t now)
{
    static const uint64_t LEEWAY_NS = 1000000;
    const ks_trace *t = trace;
    bool inside = t->calls == 0;
    for (size_t i = 0; i < t->origin_count && !inside; i++) {
        inside = t->origins[i].start >= call->cupti && t->origins[i].start <= now;
    }
    for (size_t i = 0; i < t->kernel_count && inside; i++) {
        const ks_traced_kernel *k = &t->kernels[i];
        bool known = k->start != 0 || k->end != 0;
        inside = !known || (k->start + LEEWAY_NS >= pass->cupti && k->start <= k->end &&
                            k->end <= now + LEEWAY_NS);
    }
    return inside ? NULL : ks_wrong_clock;
}

ks_status ks_trace_device(const ks_activity_api *api, ks_cuda_result result, ks_error *err)
{
    bool gone = result == KS_CUDA_INVALID_CONTEXT || result == KS_CUDA_CONTEXT_DESTROYED;
    return result == 0 || gone ? KS_OK : api->device_fail(result, err);
}

void ks_trace_loss(const ks_trace *trace, char *why, size_t size)
{
    if (trace->dropped > 0) {
        snprintf(why, size, "%zu records were lost: CUPTI had no buffer for them", trace->dropped);
    } else if (trace->calls == 0 && trace->kernel_count == 0) {
        snprintf(why, size,
                 "no record came, not even of kernsight's own calls: another tool in this process, "
                 "such as torch.profiler, has CUPTI's records");
    }
}
