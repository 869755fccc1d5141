/* What a kernel takes of a multiprocessor, as a launch asks for it. */
#ifndef KS_COLLECT_NVIDIA_KERNEL_FACTS_H
#define KS_COLLECT_NVIDIA_KERNEL_FACTS_H

#include "collect/nvidia/launches.h"
#include "samples/kernel_sum.h"

/** What the driver said of launches: a body makes few that differ, again and again. Zeros: nothing.
 */
typedef struct ks_kernel_memo {
    struct {
        ks_api_launch launch;
        ks_kernel_facts facts;
    } known[16];
    size_t next;
} ks_kernel_memo;

/**
 * Ask the driver, in the context of the launch, which is current in a launch callback, or remember.
 * Of a graph nothing is known.
 *
 * @param[in] memo  to be forgotten when functions may have gone, or got other attributes
 *
 * Threads: any, one at a time for a memo; no allocation, no lock of ours, nothing waits for the
 * device.
 */
ks_kernel_facts ks_kernel_facts_read(const ks_cuda *cuda, const ks_api_launch *launch,
                                     ks_kernel_memo *memo);

#endif
