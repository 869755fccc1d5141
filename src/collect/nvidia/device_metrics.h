/*
 * Metrics device__attribute_*: what the driver tells of a device, under ncu's names.
 *
 * ncu's names are the driver's CU_DEVICE_ATTRIBUTE_* in lower case, some of them under an older
 * spelling as well, and a few of its own that follow from them. What it has besides is refused with
 * a reason: texts, and what only its own driver interface tells.
 */
#ifndef KS_COLLECT_NVIDIA_DEVICE_METRICS_H
#define KS_COLLECT_NVIDIA_DEVICE_METRICS_H

#include <stdbool.h>

#include "collect/nvidia/cuda.h"
#include "collect/nvidia/device_attributes.h"

/** Numbers of attributes that much is computed from. */
enum {
    KS_ATTRIBUTE_WARP_SIZE = 10,
    KS_ATTRIBUTE_BLOCK_REGISTERS = 12,
    KS_ATTRIBUTE_CLOCK_RATE = 13, /**< kHz */
    KS_ATTRIBUTE_SM_COUNT = 16,
    KS_ATTRIBUTE_MEMORY_CLOCK_RATE = 36, /**< kHz */
    KS_ATTRIBUTE_SM_THREADS = 39,
    KS_ATTRIBUTE_MAJOR = 75,
    KS_ATTRIBUTE_MINOR = 76,
    KS_ATTRIBUTE_SM_SHARED = 81,
    KS_ATTRIBUTE_SM_REGISTERS = 82,
    KS_ATTRIBUTE_SM_BLOCKS = 106,
    KS_ATTRIBUTE_RESERVED_SHARED = 111,
    KS_ATTRIBUTE_MPS = 133
};

typedef struct ks_device_limits {
    ks_cuda_device device;
    int values[KS_CUDA_LAST_ATTRIBUTE + 1];
    bool known[KS_CUDA_LAST_ATTRIBUTE + 1]; /**< by this driver */
    size_t memory_bytes;                    /**< 0: not known */
} ks_device_limits;

/**
 * Ask the driver for everything, some 150 calls: once per device.
 *
 * @return KS_EVENDOR: it does not tell how many SMs there are
 */
ks_status ks_device_limits_read(const ks_cuda *cuda, ks_cuda_device device, ks_device_limits *out,
                                ks_error *err);

/** An attribute by its number. @return whether it is known; `out` is untouched if not */
bool ks_device_limit(const ks_device_limits *limits, int number, int *out);

/** Texts are static; none has a unit. All are properties (KS_PROPERTY). */
typedef struct ks_device_metric {
    const char *name;
    const char *description;
    int number;  /**< of the attribute; 0: computed */
    int formula; /**< which, for those that are computed */
} ks_device_metric;

size_t ks_device_metric_count(void);

/** One of them, in no order. @param[in] index  below ks_device_metric_count() */
const ks_device_metric *ks_device_metric_at(size_t index);

/** The one of that name; NULL: there is none. */
const ks_device_metric *ks_device_metric_find(const char *name);

/** Why one of ncu's metrics of devices is not offered, static text; NULL: it has none of that name,
 * or it is offered. */
const char *ks_device_metric_refusal(const char *name);

/**
 * Its value on a device.
 *
 * @param[out] out  untouched if there is none
 * @param[out] why  static text, if there is none
 * @return whether there is a value
 *
 * Threads: safe; asks no driver.
 */
bool ks_device_metric_value(const ks_device_metric *metric, const ks_device_limits *limits,
                            double *out, const char **why);

#endif
