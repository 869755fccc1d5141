/* Events of the processor and of the kernel, counted by the kernel (perf_event_open). */
#ifndef KS_COLLECT_PERF_PERF_H
#define KS_COLLECT_PERF_PERF_H

#include "collect/collector.h"

extern const ks_collector_ops ks_perf_ops;

#endif
