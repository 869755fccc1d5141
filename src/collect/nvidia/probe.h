/* What is here of NVIDIA's, for `kernsight doctor`. */
#ifndef KS_COLLECT_NVIDIA_PROBE_H
#define KS_COLLECT_NVIDIA_PROBE_H

#include "collect/collector.h"

/** Libraries and devices, each with its reason where it is not there. Makes no context. */
ks_status ks_nvidia_probe(const ks_fact_sink *to, ks_error *err);

#endif
