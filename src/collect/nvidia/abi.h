/*
 * What we use of NVIDIA's libraries, declared by ourselves: kernsight builds where none of them is,
 * and runs with whichever is there. Names of functions and the order and types of members are the
 * vendor's; tests/abi/nvidia compares every size, offset and constant with his headers.
 *
 * Parameter structures begin with the size that the caller knows, up to the last member that it
 * uses (KS_KNOWN): the oldest form that has all we need works with every later library.
 */
#ifndef KS_COLLECT_NVIDIA_ABI_H
#define KS_COLLECT_NVIDIA_ABI_H

#include <stddef.h>
#include <stdint.h>

/** Size of a structure up to a member, without padding behind it. */
#define KS_KNOWN(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* ---- CUPTI ------------------------------------------------------------------------------------
 */

typedef int ks_cupti_result; /* 0: success */

enum {
    KS_CUPTI_INVALID_PARAMETER = 1,
    KS_CUPTI_INVALID_METRIC_NAME = 17
};

/** Kinds of base metrics. */
enum {
    KS_CUPTI_COUNTER = 0,
    KS_CUPTI_RATIO = 1,
    KS_CUPTI_THROUGHPUT = 2,
    KS_CUPTI_METRIC_TYPES
};

enum {
    KS_CUPTI_RANGE_PROFILER = 0
};

typedef struct ks_cupti_host ks_cupti_host;

typedef struct ks_cupti_chips {
    size_t size;
    void *reserved;
    size_t count;             /* out */
    const char *const *names; /* out */
} ks_cupti_chips;

typedef struct ks_cupti_chip_name {
    size_t size;
    void *reserved;
    size_t device;
    const char *name; /* out */
} ks_cupti_chip_name;

typedef struct ks_cupti_host_init {
    size_t size;
    void *reserved;
    int profiler; /* KS_CUPTI_RANGE_PROFILER */
    const char *chip;
    const uint8_t *availability; /* NULL: of a device that is not here */
    ks_cupti_host *host;         /* out */
} ks_cupti_host_init;

typedef struct ks_cupti_host_deinit {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
} ks_cupti_host_deinit;

typedef struct ks_cupti_base_metrics {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
    int type;
    const char **names; /* out */
    size_t count;       /* out */
} ks_cupti_base_metrics;

typedef struct ks_cupti_sub_metrics {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
    int type;
    const char *base;
    size_t count;       /* out */
    const char **names; /* out; each with a point before it */
} ks_cupti_sub_metrics;

typedef struct ks_cupti_metric_properties {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
    const char *name;        /* of a base metric, or with its sub-metric */
    const char *description; /* out */
    const char *unit_of;     /* out: the hardware unit that counts */
    const char *unit;        /* out */
    int type;                /* out */
} ks_cupti_metric_properties;

typedef struct ks_cupti_add_metrics {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
    const char **names;
    size_t count;
} ks_cupti_add_metrics;

typedef struct ks_cupti_config_size {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
    size_t bytes; /* out */
} ks_cupti_config_size;

typedef struct ks_cupti_config {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
    size_t bytes;
    uint8_t *image; /* filled */
} ks_cupti_config;

typedef struct ks_cupti_passes {
    size_t size;
    void *reserved;
    size_t bytes;
    uint8_t *image;
    size_t passes; /* out */
} ks_cupti_passes;

/** Functions: X(member, arguments, name). All return a ks_cupti_result. */
#define KS_CUPTI_FUNCTIONS(X)                                                             \
    X(version, (uint32_t *), "cuptiGetVersion")                                           \
    X(result_string, (ks_cupti_result, const char **), "cuptiGetResultString")            \
    X(chips, (ks_cupti_chips *), "cuptiProfilerHostGetSupportedChips")                    \
    X(chip_name, (ks_cupti_chip_name *), "cuptiDeviceGetChipName")                        \
    X(host_init, (ks_cupti_host_init *), "cuptiProfilerHostInitialize")                   \
    X(host_deinit, (ks_cupti_host_deinit *), "cuptiProfilerHostDeinitialize")             \
    X(base_metrics, (ks_cupti_base_metrics *), "cuptiProfilerHostGetBaseMetrics")         \
    X(sub_metrics, (ks_cupti_sub_metrics *), "cuptiProfilerHostGetSubMetrics")            \
    X(properties, (ks_cupti_metric_properties *), "cuptiProfilerHostGetMetricProperties") \
    X(add_metrics, (ks_cupti_add_metrics *), "cuptiProfilerHostConfigAddMetrics")         \
    X(config_size, (ks_cupti_config_size *), "cuptiProfilerHostGetConfigImageSize")       \
    X(config, (ks_cupti_config *), "cuptiProfilerHostGetConfigImage")                     \
    X(passes, (ks_cupti_passes *), "cuptiProfilerHostGetNumOfPasses")

/* ---- the driver -------------------------------------------------------------------------------
 */

typedef int ks_cuda_result; /* 0: success */
typedef int ks_cuda_device;

typedef struct ks_cuda_uuid {
    unsigned char bytes[16];
} ks_cuda_uuid;

enum {
    KS_CUDA_SM_COUNT = 16
};

#define KS_CUDA_FUNCTIONS(X)                                               \
    X(init, (unsigned), "cuInit")                                          \
    X(version, (int *), "cuDriverGetVersion")                              \
    X(error_name, (ks_cuda_result, const char **), "cuGetErrorName")       \
    X(device_count, (int *), "cuDeviceGetCount")                           \
    X(device, (ks_cuda_device *, int), "cuDeviceGet")                      \
    X(device_name, (char *, int, ks_cuda_device), "cuDeviceGetName")       \
    X(device_uuid, (ks_cuda_uuid *, ks_cuda_device), "cuDeviceGetUuid_v2") \
    X(attribute, (int *, int, ks_cuda_device), "cuDeviceGetAttribute")

#endif
