/*
 * How many blocks of a launch an SM can hold, by each thing that it has so many of: the rules of
 * NVIDIA's occupancy calculator for compute capability 7.0 to 12.x.
 *
 * How much of an SM's memory is shared memory is the driver's choice: at least what the blocks that
 * can be active need, often more. A kernel whose cuFuncSetCacheConfig() asked for something else is
 * taken as one that did not: the driver tells nobody.
 */
#ifndef KS_COLLECT_NVIDIA_OCCUPANCY_H
#define KS_COLLECT_NVIDIA_OCCUPANCY_H

#include "collect/nvidia/device_metrics.h"
#include "collect/nvidia/launch_shape.h"

typedef struct ks_occupancy {
    unsigned warps;     /**< of a block */
    unsigned max_warps; /**< of an SM */
    /* blocks on an SM */
    unsigned by_blocks;
    unsigned by_warps;
    unsigned by_registers;
    unsigned by_shared; /**< if all that can be shared memory is; `by_blocks` if it takes none */
    /* registers and bytes */
    unsigned thread_registers; /**< with what is lost by rounding */
    unsigned block_shared;     /**< what a block needs, the driver's part too */
    unsigned block_allocated;  /**< with what is lost by rounding */
} ks_occupancy;

/**
 * @param[out] out  untouched if it is not known
 * @param[out] why  static text, if it is not
 * @return whether it is known
 */
bool ks_occupancy_of(const ks_launch_shape *shape, const ks_device_limits *device,
                     ks_occupancy *out, const char **why);

/** Blocks on an SM at the same time: what the driver says; where it was not asked and barriers do
 * not count (before 9.0), the least of the above. */
bool ks_occupancy_active(const ks_occupancy *occupancy, const ks_launch_shape *shape,
                         const ks_device_limits *device, unsigned *out, const char **why);

/** Bytes of shared memory that the SM was set to: of the kernel's record; without one, if a single
 * size holds all blocks that can be active. */
bool ks_occupancy_shared_config(const ks_occupancy *occupancy, const ks_launch_shape *shape,
                                const ks_device_limits *device, unsigned *out, const char **why);

/** Blocks by the shared memory that the SM was set to, as ncu counts them; known without a record
 * if shared memory is what limits them, or if all sizes give the same. */
bool ks_occupancy_shared(const ks_occupancy *occupancy, const ks_launch_shape *shape,
                         const ks_device_limits *device, unsigned *out, const char **why);

#endif
