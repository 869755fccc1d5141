/* What makes the records of a call doubtful, so that there are no values rather than wrong ones. */
#ifndef KS_COLLECT_NVIDIA_TRACING_FAULTS_H
#define KS_COLLECT_NVIDIA_TRACING_FAULTS_H

#include "collect/nvidia/tracing/timeline.h"
#include "collect/nvidia/tracing/trace.h"

/** What is said where CUPTI's clock counts something else than nanoseconds. */
extern const char ks_wrong_clock[];

/**
 * All that came of a call is from the time between two moments on CUPTI's clock.
 *
 * @param[in] pass  its begin: kernels of earlier calls may be among them
 * @param[in] call  likewise
 * @return NULL: it is so; ks_wrong_clock
 */
const char *ks_trace_clock_fault(const ks_trace *trace, const ks_moment *pass,
                                 const ks_moment *call, uint64_t now);

/**
 * A device whose work failed does nothing more in this process, so that the sweep ends there. A
 * context that the program destroyed is another matter: there are others.
 *
 * @param[in] result  of a wait for it
 * @return KS_EVENDOR
 */
ks_status ks_trace_device(const ks_activity_api *api, ks_cuda_result result, ks_error *err);

/** @param[out] why  how records were lost; untouched if none was */
void ks_trace_loss(const ks_trace *trace, char *why, size_t size);

#endif
