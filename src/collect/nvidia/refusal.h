/* Why CUPTI refuses counters, and what to do about it. */
#ifndef KS_COLLECT_NVIDIA_REFUSAL_H
#define KS_COLLECT_NVIDIA_REFUSAL_H

#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"

/**
 * Fail with what CUPTI answered to a call about counters: its name and number, the cause and the
 * cure of those that are known.
 *
 * @param[in] what  what was tried, such as "cannot start the counters"
 * @return KS_EPERM, KS_EBUSY, KS_UNAVAILABLE or KS_EVENDOR
 */
ks_status ks_counters_fail(const ks_cupti *cupti, ks_cupti_result result, const char *what,
                           ks_error *err);

/** Fail with what the driver answered. @return KS_EVENDOR */
ks_status ks_cuda_fail(const ks_cuda *cuda, ks_cuda_result result, const char *what, ks_error *err);

/**
 * Fail with what the driver answered to a wait for the work of a device, which goes on no more:
 * such an error stays with the process.
 *
 * @return KS_EVENDOR
 */
ks_status ks_device_fail(const ks_cuda *cuda, ks_cuda_result result, ks_error *err);

/** Why the counters of a device cannot be read by anybody, static text; NULL: nothing is known
 * against it. */
const char *ks_counters_unsupported(const ks_cupti *cupti, ks_cuda_device device);

#endif
