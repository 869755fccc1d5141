/* Names of metrics: what the collector lists, what a name, a pattern or a set stands for. */
#ifndef KS_COLLECT_NVIDIA_NAMES_H
#define KS_COLLECT_NVIDIA_NAMES_H

#include "collect/collector.h"
#include "collect/nvidia/chip.h"

/** As ks_collector_ops.list: metrics that need no counter. Loads no library. */
ks_status ks_nvidia_list(const ks_metric_sink *to, ks_error *err);

/** As ks_collector_ops.lookup: counters by their full name, a pattern of such, or a set. */
ks_status ks_nvidia_lookup(const char *name, const ks_metric_sink *to, ks_error *err);

/**
 * Tell of every metric that a name stands for on a chip: a full name for itself, a pattern with a
 * point in it for the full names that it matches, a set ("@memory") for those of it that the chip
 * has.
 *
 * @return KS_ENOTFOUND: there is none, and what is near
 */
ks_status ks_names_of(ks_chip *chip, const char *name, ks_chip_metric_fn each, void *self,
                      ks_error *err);

#endif
