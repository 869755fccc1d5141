/* Kernel tracing: times of kernels from CUPTI's activity records, which need no permission. */
#ifndef KS_COLLECT_NVIDIA_TRACING_TRACING_H
#define KS_COLLECT_NVIDIA_TRACING_TRACING_H

#include "collect/collector.h"

extern const ks_collector_ops ks_tracing_ops;

#endif
