/*
 * CUPTI's clock against the system's. A tool can give CUPTI a clock of its own, for the whole
 * process and for good; torch's profiler does, and its ticks are no nanoseconds.
 */
#ifndef KS_COLLECT_NVIDIA_TRACING_TIMELINE_H
#define KS_COLLECT_NVIDIA_TRACING_TIMELINE_H

#include "collect/nvidia/tracing/api.h"

/** A moment on both clocks. */
typedef struct ks_moment {
    uint64_t cupti;  /**< CUPTI's clock; 0: it does not tell */
    uint64_t before; /**< the system's, ns: a little earlier ... */
    uint64_t after;  /**< ... and a little later */
} ks_moment;

/** Now, as sharp as it can be had in a few attempts. */
ks_moment ks_moment_now(const ks_activity_api *api);

/** Whether CUPTI's clock has counted nanoseconds, within 1 %, since a moment. Waits busily until
 * that moment is so long ago that it can be told (0.2 ms). */
bool ks_clock_agrees(const ks_activity_api *api, const ks_moment *since);

#endif
