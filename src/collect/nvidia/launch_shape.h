/* All that is to be known of one launch: what it was called with, and what the driver tells of its
 * kernel, its stream and its context. */
#ifndef KS_COLLECT_NVIDIA_LAUNCH_SHAPE_H
#define KS_COLLECT_NVIDIA_LAUNCH_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/nvidia/cuda.h"
#include "collect/nvidia/launches.h"

/** What to ask the driver for, a bit each. */
enum {
    KS_LAUNCH_FUNCTION = 1u, /**< attributes of the kernel: five calls */
    KS_LAUNCH_ACTIVE = 2u,   /**< blocks on an SM: one call more */
    KS_LAUNCH_CLUSTERS = 4u, /**< clusters: two calls more */
    KS_LAUNCH_CONTEXT = 8u,  /**< limits of the context, and whether the stream's is green: three */
    KS_LAUNCH_IDS = 16u      /**< numbers of context and stream, which CUPTI tells: two */
};

enum {
    KS_LEAST_REGISTERS = 16 /**< of a thread, as ncu counts: on an H200 kernels compiled for 9 to 14
                             */
};

/** What is not known is -1, and 0 for numbers that start at 1. */
typedef struct ks_launch_shape {
    /* of the call */
    unsigned grid[3];
    unsigned block[3];
    unsigned cluster[3];           /**< blocks; 0: it has none */
    unsigned preferred_cluster[3]; /**< likewise */
    unsigned dynamic_shared;       /**< bytes */
    ks_cuda_stream stream;
    /* of the kernel */
    int registers; /**< of a thread */
    int static_shared;
    int local;             /**< bytes of a thread in local memory */
    bool carveout_asked;   /**< launch or kernel may ask for a share of shared memory */
    int active_blocks;     /**< most on an SM, as the driver computes them */
    int active_clusters;   /**< most on the device; 0 if it has none */
    int potential_cluster; /**< blocks of the largest cluster */
    /* of its context and stream */
    int64_t stack_bytes;
    int64_t persisting_l2_bytes;
    int green; /**< 1: the stream belongs to a green context, and has not all SMs */
    /* of others; the driver tells none of them */
    uint64_t context_id;   /**< CUPTI's, of the callback's data; 0: not known */
    uint64_t stream_id;    /**< CUPTI's (cuptiGetStreamIdEx); 0: not known */
    int64_t shared_config; /**< bytes of shared memory that the SM was set to: of the kernel's
                              activity record */
} ks_launch_shape;

/** With nothing known. */
void ks_launch_shape_init(ks_launch_shape *shape);

/** Fill in what a call of cuLaunchKernelEx says. */
void ks_launch_shape_config(ks_launch_shape *shape, const ks_cuda_launch_config *config);

/** Fill in what any call that launches says. */
void ks_launch_shape_take(ks_launch_shape *shape, const ks_api_launch *launch);

/**
 * Ask the driver for the rest, in the context of the launch, which is current in a launch callback.
 * What it does not tell stays unknown.
 *
 * @param[in]     needs  KS_LAUNCH_*, of the metrics that are asked for
 * @param[in,out] shape  with what the call says
 *
 * Threads: any; no allocation, no lock of ours, nothing waits for the device.
 */
void ks_launch_shape_read(const ks_cuda *cuda, ks_cuda_function function, unsigned needs,
                          ks_launch_shape *shape);

#endif
