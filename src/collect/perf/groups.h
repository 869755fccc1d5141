/* Which events are counted in which pass: as many together as the processor has counters for. */
#ifndef KS_COLLECT_PERF_GROUPS_H
#define KS_COLLECT_PERF_GROUPS_H

#include "collect/perf/events.h"

/** A counter in use, for all metrics that need its event. */
typedef struct ks_perf_counter {
    struct perf_event_attr attr;
    ks_perf_event event;
    uint32_t pass;
    bool leads; /**< it starts a group: those behind it go where it goes, up to the next that leads
                 */
} ks_perf_counter;

/** Counters in the order of their passes. */
typedef struct ks_perf_groups {
    ks_perf_counter *counters;
    uint32_t count;
    uint32_t passes; /**< at least 1 */
} ks_perf_groups;

/**
 * Divide the events of some metrics into passes, by trial on the calling thread. Events of the
 * kernel itself are in the first pass; both events of a ratio are in the same one.
 *
 * @param[out] out  free with ks_perf_groups_fini(), also after a failure
 * @return KS_UNAVAILABLE, KS_EPERM: an event that the kernel refuses, with the reason; KS_ENOMEM
 */
ks_status ks_perf_groups_make(const ks_perf_metric *metrics, uint32_t count, ks_perf_groups *out,
                              ks_error *err);
void ks_perf_groups_fini(ks_perf_groups *groups);

/** Indices of the counters of a metric's events, all in one pass. */
void ks_perf_groups_find(const ks_perf_groups *groups, const ks_perf_metric *metric,
                         uint32_t counters[KS_PERF_EVENTS_MAX]);

/** The counters of a pass: `*first` is set. @return how many */
uint32_t ks_perf_groups_pass(const ks_perf_groups *groups, uint32_t pass, uint32_t *first);

#endif
