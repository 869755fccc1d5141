/* The state of the kernel's counters, for `kernsight doctor`. */
#ifndef KS_COLLECT_PERF_PROBE_H
#define KS_COLLECT_PERF_PROBE_H

#include "collect/collector.h"

/** The collector's probe(). */
ks_status ks_perf_probe(const ks_fact_sink *to, ks_error *err);

#endif
