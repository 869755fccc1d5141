/*
 * Waits for the work of a GPU, but not for ever: kernels that wait for each other, and cannot run
 * side by side while counters are read, would never end. CUDA's own wait cannot be broken off, so a
 * thread of ours makes it; where it does not come back it is left alone, and the context with it.
 */
#ifndef KS_COLLECT_NVIDIA_DRAIN_H
#define KS_COLLECT_NVIDIA_DRAIN_H

#include "collect/nvidia/cuda.h"

enum {
    KS_DRAIN_NEVER = 1 << 20 /**< no result of the driver's: the work did not end in time */
};

/**
 * Get ready to wait, for so many seconds at most; 0: as long as it takes, without a thread. At a
 * run's begin; a second one changes the limit alone.
 *
 * @return KS_ENOMEM, as where no thread is to be had
 */
ks_status ks_drain_start(double seconds, ks_error *err);

/** End the thread that waits, unless it never will. At a run's end. */
void ks_drain_stop(void);

/**
 * Wait until the work of the calling thread's context is done.
 *
 * @return 0, the driver's result, or KS_DRAIN_NEVER: nothing may be asked of that context any more.
 *         Once it was said of a context it is said at once
 *
 * Threads: one at a time.
 */
ks_cuda_result ks_drain(const ks_cuda *cuda);

/** Whether the work of a context did not end. */
bool ks_drain_is_stuck(const ks_cuda *cuda, ks_cuda_context context);

/** Fail with what is known of a wait that did not end.
 * @param[in] kernel  the last one launched, mangled; NULL: not known
 * @return KS_ELIMIT */
ks_status ks_drain_fail(const char *kernel, ks_error *err);

#endif
