/* The list of collectors, and what is known about metrics that none of them has. */
#ifndef KS_COLLECT_REGISTRY_H
#define KS_COLLECT_REGISTRY_H

#include "collect/collector.h"

/**
 * Whether a name is that of a GPU hardware metric (PerfWorks and its kin), whether or not this
 * build has a collector for it.
 */
bool ks_is_gpu_metric(const char *name);

#endif
