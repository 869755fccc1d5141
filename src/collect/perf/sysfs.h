/* Names of events as the kernel itself tells them, in /sys/bus/event_source. */
#ifndef KS_COLLECT_PERF_SYSFS_H
#define KS_COLLECT_PERF_SYSFS_H

#include "collect/perf/events.h"

/**
 * Find `NAME` or `PMU/NAME`. Without a PMU the one called "cpu" comes first.
 *
 * @param[out] found  whether there is one; `out` is untouched if not
 * @return KS_ENOTFOUND if several PMUs have it, with their names
 */
ks_status ks_perf_sysfs_find(const char *name, ks_perf_event *out, bool *found, ks_error *err);

#endif
