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
    KS_CUPTI_OUT_OF_MEMORY = 8,
    KS_CUPTI_INVALID_METRIC_NAME = 17,
    KS_CUPTI_HARDWARE_BUSY = 26,
    KS_CUPTI_VIRTUALIZED = 33,
    KS_CUPTI_NO_PRIVILEGES = 35,
    KS_CUPTI_TOO_MANY_SUBSCRIBERS = 39,
    KS_CUPTI_VIRTUALIZED_NO_PRIVILEGES = 40,
    KS_CUPTI_CONFIDENTIAL = 41,
    KS_CUPTI_CMP = 42,
    KS_CUPTI_MIG = 43,
    KS_CUPTI_SLI = 44,
    KS_CUPTI_WSL = 45
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
    const char *const *names;
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

typedef struct ks_cupti_evaluate {
    size_t size;
    void *reserved;
    ks_cupti_host *host;
    const uint8_t *image;
    size_t bytes;
    size_t range;
    const char *const *names;
    size_t count;
    double *values; /* filled */
} ks_cupti_evaluate;

/* The range profiler. */

typedef struct ks_cuda_context_st *ks_cuda_context;
typedef struct ks_cupti_profiler ks_cupti_profiler;

enum {
    KS_CUPTI_AUTO_RANGE = 1, /* a range per kernel */
    KS_CUPTI_USER_RANGE = 2
};

enum {
    KS_CUPTI_KERNEL_REPLAY = 2,
    KS_CUPTI_USER_REPLAY = 3
};

typedef struct ks_cupti_profiler_init {
    size_t size;
    void *reserved;
} ks_cupti_profiler_init;

enum {
    KS_CUPTI_SUPPORT_UNKNOWN = 0,
    KS_CUPTI_UNSUPPORTED,
    KS_CUPTI_DISABLED,
    KS_CUPTI_SUPPORTED
};

typedef struct ks_cupti_device_supported {
    size_t size;
    void *reserved;
    int device;
    int supported; /* out, as all that follow: whether counters can be read, and why not */
    int architecture;
    int sli;
    int vgpu;
    int confidential;
    int cmp;
    int wsl;
    int api; /* KS_CUPTI_RANGE_PROFILING */
} ks_cupti_device_supported;

enum {
    KS_CUPTI_RANGE_PROFILING = 0
};

/** For what takes an object alone: disable, start, pop. */
typedef struct ks_cupti_of_profiler {
    size_t size;
    void *reserved;
    ks_cupti_profiler *profiler;
} ks_cupti_of_profiler;

typedef struct ks_cupti_enable {
    size_t size;
    void *reserved;
    ks_cuda_context context;
    ks_cupti_profiler *profiler; /* out */
} ks_cupti_enable;

typedef struct ks_cupti_set_config {
    size_t size;
    void *reserved;
    ks_cupti_profiler *profiler;
    size_t config_bytes;
    const uint8_t *config;
    size_t image_bytes;
    uint8_t *image;
    int range;  /* KS_CUPTI_AUTO_RANGE */
    int replay; /* KS_CUPTI_USER_REPLAY */
    size_t slots;
    uint16_t levels;
    uint16_t least_level;
    size_t pass;
    uint16_t target_level;
} ks_cupti_set_config;

typedef struct ks_cupti_stop {
    size_t size;
    void *reserved;
    ks_cupti_profiler *profiler;
    size_t pass;         /* out */
    size_t target_level; /* out */
    uint8_t complete;    /* out: that was the last pass */
} ks_cupti_stop;

typedef struct ks_cupti_push {
    size_t size;
    void *reserved;
    ks_cupti_profiler *profiler;
    const char *name;
} ks_cupti_push;

typedef struct ks_cupti_decode {
    size_t size;
    void *reserved;
    ks_cupti_profiler *profiler;
    size_t dropped; /* out */
} ks_cupti_decode;

typedef struct ks_cupti_image_size {
    size_t size;
    void *reserved;
    ks_cupti_profiler *profiler;
    const char *const *names;
    size_t count;
    size_t slots;
    uint32_t nodes;
    size_t bytes; /* out */
} ks_cupti_image_size;

typedef struct ks_cupti_image_init {
    size_t size;
    void *reserved;
    ks_cupti_profiler *profiler;
    size_t bytes;
    uint8_t *image;
} ks_cupti_image_init;

typedef struct ks_cupti_image_info {
    size_t size;
    void *reserved;
    const uint8_t *image;
    size_t bytes;
    size_t ranges; /* out */
} ks_cupti_image_info;

typedef struct ks_cupti_range_info {
    size_t size;
    void *reserved;
    const uint8_t *image;
    size_t bytes;
    size_t range;
    const char *delimiter;
    const char *name; /* out */
} ks_cupti_range_info;

/* Callbacks. */

typedef struct ks_cupti_subscriber *ks_cupti_subscription;

/* Of cuptiSubscribe_v2, which the oldest CUPTI that is taken may lack. */
enum {
    KS_CUPTI_HOLDER_BYTES = 64
};

typedef struct ks_cupti_subscriber_params {
    size_t size;
    const char *name; /* NULL: none */
    char *holder;     /* gets who is subscribed already */
    size_t holder_bytes;
} ks_cupti_subscriber_params;

enum {
    KS_CUPTI_DRIVER_API = 1 /* domain */
};

enum {
    KS_CUPTI_ENTER = 0,
    KS_CUPTI_EXIT = 1
};

/** Functions of the driver that launch. */
enum {
    KS_CUPTI_LAUNCH_KERNEL = 307,
    KS_CUPTI_LAUNCH_KERNEL_PTSZ = 442,
    KS_CUPTI_LAUNCH_COOPERATIVE = 477,
    KS_CUPTI_LAUNCH_COOPERATIVE_PTSZ = 478,
    KS_CUPTI_LAUNCH_COOPERATIVE_MULTI = 480,
    KS_CUPTI_GRAPH_LAUNCH = 514,
    KS_CUPTI_GRAPH_LAUNCH_PTSZ = 515,
    KS_CUPTI_LAUNCH_KERNEL_EX = 652,
    KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ = 653
};

/** Functions of the driver that copy or set memory: X(first, last) of numbers that follow each
 * other, those of today's programs. */
#define KS_CUPTI_COPIES(X) \
    X(216, 227) X(248, 254) X(276, 293) X(305, 306) X(318, 321) X(397, 416) X(418, 433)

typedef struct ks_cupti_callback_data {
    int site; /* KS_CUPTI_ENTER */
    const char *function;
    const void *arguments;
    void *result;       /* at the exit: of the function's return type */
    const char *symbol; /* of the kernel */
    ks_cuda_context context;
    uint32_t context_id;
    uint64_t *correlation_data;
    uint32_t correlation;
} ks_cupti_callback_data;

typedef void (*ks_cupti_callback)(void *self, int domain, uint32_t function, const void *data);

/* Arguments of those functions. */

typedef struct ks_cuda_function_st *ks_cuda_function;
typedef struct ks_cuda_stream_st *ks_cuda_stream;

/** cuLaunchKernel and cuLaunchCooperativeKernel, up to what they share. */
typedef struct ks_cuda_launch_args {
    ks_cuda_function function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    ks_cuda_stream stream;
} ks_cuda_launch_args;

enum {
    KS_CUDA_CLUSTER_DIMENSION = 4 /* id of a launch attribute */
};

typedef struct ks_cuda_launch_attribute {
    int id;
    char padding[4];
    union {
        char bytes[64];
        unsigned cluster[3];
    } value;
} ks_cuda_launch_attribute;

typedef struct ks_cuda_launch_config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    ks_cuda_stream stream;
    ks_cuda_launch_attribute *attributes;
    unsigned attribute_count;
} ks_cuda_launch_config;

typedef struct ks_cuda_launch_ex_args {
    const ks_cuda_launch_config *config;
    ks_cuda_function function;
} ks_cuda_launch_ex_args;

typedef struct ks_cuda_graph_launch_args {
    void *graph;
    ks_cuda_stream stream;
} ks_cuda_graph_launch_args;

/** Functions: X(member, arguments, name). All return a ks_cupti_result. */
#define KS_CUPTI_FUNCTIONS(X)                                                                  \
    X(version, (uint32_t *), "cuptiGetVersion")                                                \
    X(result_string, (ks_cupti_result, const char **), "cuptiGetResultString")                 \
    X(chips, (ks_cupti_chips *), "cuptiProfilerHostGetSupportedChips")                         \
    X(chip_name, (ks_cupti_chip_name *), "cuptiDeviceGetChipName")                             \
    X(host_init, (ks_cupti_host_init *), "cuptiProfilerHostInitialize")                        \
    X(host_deinit, (ks_cupti_host_deinit *), "cuptiProfilerHostDeinitialize")                  \
    X(base_metrics, (ks_cupti_base_metrics *), "cuptiProfilerHostGetBaseMetrics")              \
    X(sub_metrics, (ks_cupti_sub_metrics *), "cuptiProfilerHostGetSubMetrics")                 \
    X(properties, (ks_cupti_metric_properties *), "cuptiProfilerHostGetMetricProperties")      \
    X(add_metrics, (ks_cupti_add_metrics *), "cuptiProfilerHostConfigAddMetrics")              \
    X(config_size, (ks_cupti_config_size *), "cuptiProfilerHostGetConfigImageSize")            \
    X(config, (ks_cupti_config *), "cuptiProfilerHostGetConfigImage")                          \
    X(passes, (ks_cupti_passes *), "cuptiProfilerHostGetNumOfPasses")                          \
    X(evaluate, (ks_cupti_evaluate *), "cuptiProfilerHostEvaluateToGpuValues")                 \
    X(profiler_init, (ks_cupti_profiler_init *), "cuptiProfilerInitialize")                    \
    X(device_supported, (ks_cupti_device_supported *), "cuptiProfilerDeviceSupported")         \
    X(enable, (ks_cupti_enable *), "cuptiRangeProfilerEnable")                                 \
    X(disable, (ks_cupti_of_profiler *), "cuptiRangeProfilerDisable")                          \
    X(set_config, (ks_cupti_set_config *), "cuptiRangeProfilerSetConfig")                      \
    X(start, (ks_cupti_of_profiler *), "cuptiRangeProfilerStart")                              \
    X(stop, (ks_cupti_stop *), "cuptiRangeProfilerStop")                                       \
    X(push, (ks_cupti_push *), "cuptiRangeProfilerPushRange")                                  \
    X(pop, (ks_cupti_of_profiler *), "cuptiRangeProfilerPopRange")                             \
    X(decode, (ks_cupti_decode *), "cuptiRangeProfilerDecodeData")                             \
    X(image_size, (ks_cupti_image_size *), "cuptiRangeProfilerGetCounterDataSize")             \
    X(image_init, (ks_cupti_image_init *), "cuptiRangeProfilerCounterDataImageInitialize")     \
    X(image_info, (ks_cupti_image_info *), "cuptiRangeProfilerGetCounterDataInfo")             \
    X(range_info, (ks_cupti_range_info *), "cuptiRangeProfilerCounterDataGetRangeInfo")        \
    X(context_id, (ks_cuda_context, uint32_t *), "cuptiGetContextId")                          \
    X(stream_id, (ks_cuda_context, ks_cuda_stream, uint8_t, uint32_t *), "cuptiGetStreamIdEx") \
    X(subscribe, (ks_cupti_subscription *, ks_cupti_callback, void *), "cuptiSubscribe")       \
    X(unsubscribe, (ks_cupti_subscription), "cuptiUnsubscribe")                                \
    X(enable_callback, (uint32_t, ks_cupti_subscription, int, uint32_t), "cuptiEnableCallback")

/* Not in all that are taken. */
#define KS_CUPTI_OPTIONAL_FUNCTIONS(X)                                                    \
    X(subscribe_named,                                                                    \
      (ks_cupti_subscription *, ks_cupti_callback, void *, ks_cupti_subscriber_params *), \
      "cuptiSubscribe_v2")

/* ---- the driver -------------------------------------------------------------------------------
 */

typedef int ks_cuda_result; /* 0: success */
typedef int ks_cuda_device;

typedef struct ks_cuda_uuid {
    unsigned char bytes[16];
} ks_cuda_uuid;

typedef struct ks_cuda_module_st *ks_cuda_module;
typedef unsigned long long ks_cuda_address;

enum {
    KS_CUDA_NO_DEVICE = 100, /* results */
    KS_CUDA_INVALID_CONTEXT = 201,
    KS_CUDA_CONTEXT_DESTROYED = 709
};

enum {
    KS_CUDA_L2_BYTES = 38, /* attributes of devices */
    KS_CUDA_SM_COUNT = 16,
    KS_CUDA_MPS_ENABLED = 133
};

/** The default stream of a thread. */
#define KS_CUDA_STREAM_PER_THREAD ((ks_cuda_stream)0x2)

#define KS_CUDA_FUNCTIONS(X)                                                                      \
    X(init, (unsigned), "cuInit")                                                                 \
    X(version, (int *), "cuDriverGetVersion")                                                     \
    X(error_name, (ks_cuda_result, const char **), "cuGetErrorName")                              \
    X(device_count, (int *), "cuDeviceGetCount")                                                  \
    X(device, (ks_cuda_device *, int), "cuDeviceGet")                                             \
    X(device_name, (char *, int, ks_cuda_device), "cuDeviceGetName")                              \
    X(device_uuid, (ks_cuda_uuid *, ks_cuda_device), "cuDeviceGetUuid_v2")                        \
    X(attribute, (int *, int, ks_cuda_device), "cuDeviceGetAttribute")                            \
    X(context, (ks_cuda_context *), "cuCtxGetCurrent")                                            \
    X(push_context, (ks_cuda_context), "cuCtxPushCurrent_v2")                                     \
    X(pop_context, (ks_cuda_context *), "cuCtxPopCurrent_v2")                                     \
    X(context_id, (ks_cuda_context, unsigned long long *), "cuCtxGetId")                          \
    X(context_device, (ks_cuda_device *), "cuCtxGetDevice")                                       \
    X(synchronize, (void), "cuCtxSynchronize")                                                    \
    X(module_load, (ks_cuda_module *, const void *), "cuModuleLoadData")                          \
    X(module_unload, (ks_cuda_module), "cuModuleUnload")                                          \
    X(module_function, (ks_cuda_function *, ks_cuda_module, const char *), "cuModuleGetFunction") \
    X(alloc, (ks_cuda_address *, size_t), "cuMemAlloc_v2")                                        \
    X(free, (ks_cuda_address), "cuMemFree_v2")                                                    \
    X(memset, (ks_cuda_address, unsigned char, size_t), "cuMemsetD8_v2")                          \
    X(function_attribute, (int *, int, ks_cuda_function), "cuFuncGetAttribute")                   \
    X(stream_capturing, (ks_cuda_stream, int *), "cuStreamIsCapturing")                           \
    X(launch,                                                                                     \
      (ks_cuda_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,    \
       ks_cuda_stream, void **, void **),                                                         \
      "cuLaunchKernel")

/* Of launches, and what depends on them. */

enum {
    KS_CUDA_PREFERRED_CLUSTER = 11, /* ids of launch attributes */
    KS_CUDA_LAUNCH_CARVEOUT = 14
};

enum {
    KS_CUDA_FUNCTION_SHARED = 1, /* attributes of functions */
    KS_CUDA_FUNCTION_LOCAL = 3,
    KS_CUDA_FUNCTION_REGISTERS = 4,
    KS_CUDA_FUNCTION_CARVEOUT = 9,
    KS_CUDA_FUNCTION_CLUSTER_WIDTH = 11,
    KS_CUDA_FUNCTION_CLUSTER_HEIGHT = 12,
    KS_CUDA_FUNCTION_CLUSTER_DEPTH = 13
};

enum {
    KS_CUDA_LIMIT_STACK = 0, /* of contexts */
    KS_CUDA_LIMIT_PERSISTING_L2 = 6
};

/** Functions that an older driver may lack; NULL then. */
#define KS_CUDA_OPTIONAL_FUNCTIONS(X)                                                 \
    X(device_memory, (size_t *, ks_cuda_device), "cuDeviceTotalMem_v2")               \
    X(context_limit, (size_t *, int), "cuCtxGetLimit")                                \
    X(kernel_function, (ks_cuda_function *, ks_cuda_function), "cuKernelGetFunction") \
    X(stream_green, (ks_cuda_stream, void **), "cuStreamGetGreenCtx")                 \
    X(active_blocks, (int *, ks_cuda_function, int, size_t),                          \
      "cuOccupancyMaxActiveBlocksPerMultiprocessor")                                  \
    X(active_clusters, (int *, ks_cuda_function, const ks_cuda_launch_config *),      \
      "cuOccupancyMaxActiveClusters")                                                 \
    X(potential_cluster, (int *, ks_cuda_function, const ks_cuda_launch_config *),    \
      "cuOccupancyMaxPotentialClusterSize")

#endif
