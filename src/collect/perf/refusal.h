/* Why the kernel does not count an event, and what to do about it. */
#ifndef KS_COLLECT_PERF_REFUSAL_H
#define KS_COLLECT_PERF_REFUSAL_H

#include "collect/perf/events.h"

typedef struct ks_refusal {
    char why[200];
    char cure[240];
    bool of_event; /**< it is about this event alone: `kernsight doctor` does not speak of it */
} ks_refusal;

/** @param[in] number  errno of what was tried */
void ks_perf_refusal(const ks_perf_event *event, int number, ks_refusal *out);

/** Why, and what to do or who says it: for lists and rows. */
#define KS_REASON_MAX (sizeof(ks_refusal) + sizeof "; ")
void ks_perf_reason(const ks_perf_event *event, int number, char to[KS_REASON_MAX]);

/** Open a counter of this thread and close it again. @return 0 or errno */
int ks_perf_try(const ks_perf_event *event);

/** kernel.perf_event_paranoid; false: this kernel has none. */
bool ks_perf_paranoid(int64_t *out);

/** Whether the kernel's watchdog holds one of the processor's counters. */
bool ks_perf_watchdog(void);

/** Whether this process has CAP_PERFMON or CAP_SYS_ADMIN. */
bool ks_perf_capable(void);

#endif
