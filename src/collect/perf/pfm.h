/* libpfm4, if the system has it: names of the events of many processors. */
#ifndef KS_COLLECT_PERF_PFM_H
#define KS_COLLECT_PERF_PFM_H

#include <linux/perf_event.h>
#include <stdbool.h>

/** Encode the name of an event for user mode, unless it names other modes. */
bool ks_pfm_encode(const char *name, struct perf_event_attr *out);

/** The library's name; NULL: it is not here. */
const char *ks_pfm_name(void);

#endif
