/*
 * Metrics of a launch that need no counter: launch__* and what ncu has of theoretical occupancy,
 * under its names, in its units, computed from what a launch was called with and what the driver
 * tells of kernel and device.
 *
 * What ncu has besides is refused with a reason: texts, tables (launch__occupancy_per_*), what only
 * its own driver interface tells, and what belongs to graphs and green contexts.
 */
#ifndef KS_COLLECT_NVIDIA_LAUNCH_METRICS_H
#define KS_COLLECT_NVIDIA_LAUNCH_METRICS_H

#include "collect/nvidia/device_metrics.h"
#include "collect/nvidia/launch_shape.h"

/** Texts are static. All are properties (KS_PROPERTY). */
typedef struct ks_launch_metric {
    const char *name;
    const char *unit; /**< NULL: none */
    const char *description;
    unsigned needs; /**< KS_LAUNCH_* that the shape must be read with */
    int what;       /**< which one, for the code that computes it */
} ks_launch_metric;

size_t ks_launch_metric_count(void);

/** One of them, in no order. @param[in] index  below ks_launch_metric_count() */
const ks_launch_metric *ks_launch_metric_at(size_t index);

/** The one of that name; NULL: there is none. */
const ks_launch_metric *ks_launch_metric_find(const char *name);

/** Why one of ncu's metrics of launches is not offered, static text; NULL: it has none of that
 * name, or it is offered. */
const char *ks_launch_metric_refusal(const char *name);

/**
 * Its value of a launch.
 *
 * @param[out] out  untouched if there is none
 * @param[out] why  static text, if there is none
 * @return whether there is a value
 *
 * Threads: safe; asks no driver.
 */
bool ks_launch_metric_value(const ks_launch_metric *metric, const ks_launch_shape *shape,
                            const ks_device_limits *device, double *out, const char **why);

#endif
