/* What a kernel takes of a multiprocessor, as a launch asks for it. */
#ifndef KS_COLLECT_NVIDIA_KERNEL_FACTS_H
#define KS_COLLECT_NVIDIA_KERNEL_FACTS_H

#include "collect/nvidia/launches.h"
#include "samples/kernel_sum.h"

/**
 * Ask the driver, in the context of the launch, which is current in a launch callback. Of a graph
 * nothing is known.
 *
 * Threads: any; no allocation, no lock of ours, nothing waits for the device.
 */
ks_kernel_facts ks_kernel_facts_read(const ks_cuda *cuda, const ks_api_launch *launch);

#endif
