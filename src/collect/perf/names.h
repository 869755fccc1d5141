/* Names of metrics: those of the table, and `perf::NAME` for any event that has a name or a code.
 */
#ifndef KS_COLLECT_PERF_NAMES_H
#define KS_COLLECT_PERF_NAMES_H

#include "collect/perf/events.h"

/** Whether a name starts with `perf::`. */
bool ks_perf_is_open_name(const char *name);

/**
 * Find a metric. `perf::NAME` is asked of libpfm4, then of /sys/bus/event_source (`NAME`, or
 * `PMU/NAME` where several have it), then read as a raw code (`rHEX`). A `.sum` at its end is not
 * part of the event's name.
 *
 * @param[out] out  its entry has the given name, borrowed, and no reason
 * @return KS_ENOTFOUND, with what was asked
 */
ks_status ks_perf_find(const char *name, ks_perf_metric *out, ks_error *err);

#endif
