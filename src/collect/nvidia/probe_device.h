/* What doctor says of a device. */
#ifndef KS_COLLECT_NVIDIA_PROBE_DEVICE_H
#define KS_COLLECT_NVIDIA_PROBE_DEVICE_H

#include "collect/collector.h"
#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"
#include "collect/nvidia/nvml.h"

/** The libraries that there are; NULL: there is none. */
typedef struct ks_probed {
    const ks_cuda *cuda;
    const ks_cupti *cupti;
    const ks_nvml *nvml;
} ks_probed;

/**
 * Name, chip, UUID (which the driver and nvidia-smi agree on, whatever the order is), what is in
 * the way of its counters, and who has them. Needs a driver.
 */
ks_status ks_probe_device(const ks_probed *with, int index, const ks_fact_sink *to, ks_error *err);

#endif
