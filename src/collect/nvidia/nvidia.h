/* The back end of NVIDIA's GPUs: hardware counters of annotated kernels, by CUPTI. */
#ifndef KS_COLLECT_NVIDIA_NVIDIA_H
#define KS_COLLECT_NVIDIA_NVIDIA_H

#include "collect/collector.h"

extern const ks_collector_ops ks_nvidia_ops;

/** Give back what is held between runs. No run is active. */
void ks_nvidia_release(void);

#endif
