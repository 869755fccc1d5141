/* The events that the kernel can count, and the metrics made of them. */
#ifndef KS_COLLECT_PERF_EVENTS_H
#define KS_COLLECT_PERF_EVENTS_H

#include "collect/collector.h"
#include "collect/perf/sys.h"

/** What to count. */
typedef struct ks_perf_event {
    uint32_t type; /**< as in struct perf_event_attr */
    uint64_t config;
    uint64_t config1;
    uint64_t config2;
    bool soft;           /**< counted by the kernel itself: it needs no counter of the processor */
    bool exclude_user;   /**< do not count in user mode ... */
    bool exclude_kernel; /**< ... or in the kernel */
} ks_perf_event;

enum {
    KS_PERF_EVENTS_MAX = 2
};

/** A metric is one event, or the ratio of two that are counted together. */
typedef struct ks_perf_metric {
    ks_metric_entry entry;
    ks_rule rule;
    uint32_t event_count;
    ks_perf_event events[KS_PERF_EVENTS_MAX]; /**< of a ratio: numerator, denominator */
} ks_perf_metric;

/** An event of every processor that has counters, and one of every kernel. */
extern const ks_perf_event ks_perf_cycles;
extern const ks_perf_event ks_perf_faults;

/** The metrics with names of their own. */
extern const ks_perf_metric ks_perf_metrics[];
extern const size_t ks_perf_metric_count;

bool ks_perf_same(const ks_perf_event *a, const ks_perf_event *b);

/** What to hand to the kernel: a disabled counter that threads inherit. */
struct perf_event_attr ks_perf_attr(const ks_perf_event *event);

#endif
