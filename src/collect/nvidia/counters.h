/*
 * The counters of a run: the metrics that were asked for, and those that are always read along: the
 * time of each launch, its clock, and what weighs a launch's value where several become one.
 */
#ifndef KS_COLLECT_NVIDIA_COUNTERS_H
#define KS_COLLECT_NVIDIA_COUNTERS_H

#include "collect/nvidia/chip.h"
#include "collect/nvidia/rules.h"

/** Index of a metric that is not read. */
#define KS_NOT_READ SIZE_MAX

typedef struct ks_counters {
    ks_chip *chip;
    ks_pool names;
    const char **metrics; /**< those asked for first, in their order */
    size_t count;
    size_t capacity;
    size_t asked;
    ks_combining *combining; /**< of those asked for */
    size_t *weights;         /**< of those asked for: index of what weighs */
    size_t duration;         /**< index of gpu__time_duration.sum */
    size_t cycles;           /**< index of gpc__cycles_elapsed.max, or KS_NOT_READ */
    ks_chip_config config;
} ks_counters;

/**
 * @param[in]  chip   of the device
 * @param[in]  names  full names, `count` >= 1 of them
 * @param[out] out    free with ks_counters_fini(); nothing to free on failure
 * @return as ks_chip_open() and ks_chip_configure()
 */
ks_status ks_counters_init(const char *chip, const char *const *names, size_t count,
                           ks_counters *out, ks_error *err);
void ks_counters_fini(ks_counters *counters);

#endif
