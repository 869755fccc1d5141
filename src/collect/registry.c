#include "collect/registry.h"

#include <string.h>

#include "collect/clock/clock.h"
#include "collect/nvidia/board/board.h"
#include "collect/nvidia/nvidia.h"
#include "collect/nvidia/tracing/tracing.h"
#include "collect/perf/perf.h"

const ks_collector_ops *const ks_collectors[] = {&ks_clock_ops,   &ks_perf_ops,   &ks_board_ops,
                                                 &ks_tracing_ops, &ks_nvidia_ops, NULL};

ks_status ks_no_warm_begin(ks_collector *self, bool first, ks_error *err)
{
    (void)self;
    (void)first;
    (void)err;
    return KS_OK;
}

ks_status ks_no_warm_end(ks_collector *self, ks_error *err)
{
    (void)self;
    (void)err;
    return KS_OK;
}

uint32_t ks_any_room(const ks_collector *self)
{
    (void)self;
    return UINT32_MAX;
}

bool ks_is_gpu_metric(const char *name)
{
    static const char *const prefixes[] = {
        "gpu__",    "sm__",
        "smsp__",   "dram__",
        "fbpa__",   "lts__",
        "ltc__",    "l1tex__",
        "gpc__",    "tpc__",
        "idc__",    "pcie__",
        "nvlrx__",  "nvltx__",
        "sysmem__", "fe__",
        "gr__",     "syslts__",
        "gcc__",    "lrc__",
        "sys__",    "ctc__",
        "dramc__",  "kernel__",
        "launch__", "device__attribute_",
        "nvml__",   "profiler__",
        "@",
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}
