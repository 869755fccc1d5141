/*
 * What we use of CUPTI's activity API, declared by ourselves as abi.h does for the rest. Records of
 * later versions are longer and begin alike: no more is declared than what 12.8 and all later ones
 * have in the same place (tests/abi/activity.c). How long a record is, CUPTI alone knows.
 */
#ifndef KS_COLLECT_NVIDIA_ABI_ACTIVITY_H
#define KS_COLLECT_NVIDIA_ABI_ACTIVITY_H

#include "collect/nvidia/abi.h"

/** Results of its functions. */
enum {
    KS_CUPTI_END_OF_BUFFER = 12, /* no record is left */
    KS_CUPTI_BAD_RECORD = 21     /* what follows in the buffer is no record */
};

/** Kinds of records. */
enum {
    KS_ACTIVITY_DRIVER = 4,
    KS_ACTIVITY_RUNTIME = 5,
    KS_ACTIVITY_KERNEL = 10, /* CONCURRENT_KERNEL: kernels go on running side by side */
    KS_ACTIVITY_EXTERNAL = 39
};

/** Whose a thread's external ids are. torch's profiler has CUSTOM0 and CUSTOM1. */
enum {
    KS_EXTERNAL_IDS = 5 /* CUSTOM2 */
};

enum {
    KS_FLUSH_FINISHED = 0, /* buffers with an unfinished record stay */
    KS_FLUSH_ALL = 1
};

/** Functions of the runtime that launch; those of the driver are in abi.h. */
enum {
    KS_RUNTIME_LAUNCH_KERNEL = 211,
    KS_RUNTIME_LAUNCH_KERNEL_PTSZ = 214,
    KS_RUNTIME_LAUNCH_COOPERATIVE = 269,
    KS_RUNTIME_LAUNCH_COOPERATIVE_PTSZ = 270,
    KS_RUNTIME_GRAPH_LAUNCH = 311,
    KS_RUNTIME_GRAPH_LAUNCH_PTSZ = 312,
    KS_RUNTIME_LAUNCH_KERNEL_EX = 430,
    KS_RUNTIME_LAUNCH_KERNEL_EX_PTSZ = 431,
    KS_RUNTIME_LAUNCH_KERNEL_13 = 505, /* what programs built with CUDA 13 call */
    KS_RUNTIME_LAUNCH_KERNEL_13_PTSZ = 506
};

/** Those of the runtime that copy or set memory, as KS_CUPTI_COPIES(). */
#define KS_RUNTIME_COPIES(X) X(31, 52) X(142, 145) X(160, 163) X(215, 236) X(243, 246) X(249, 250)

/** The vendor packs its records. */
#define KS_RECORD __attribute__((packed, aligned(8)))

/** Any record. */
typedef struct KS_RECORD ks_activity {
    int kind;
} ks_activity;

/** A kernel that ran. Times are in ns; both 0: not known. */
typedef struct KS_RECORD ks_activity_kernel {
    int kind;
    uint8_t cache[2];
    uint16_t registers;
    int partitioned_cache[2];
    uint64_t start;
    uint64_t end;
    uint64_t completed;
    uint32_t device;
    uint32_t context;
    uint32_t stream;
    int32_t grid[3];
    int32_t block[3];
    int32_t static_shared;
    int32_t dynamic_shared;
    uint32_t local_per_thread;
    uint32_t local_total;
    uint32_t correlation; /* that of the call that launched it; also of a graph's */
    int64_t grid_id;
    const char *name; /* mangled; CUPTI's */
    void *reserved;
    uint64_t queued;
    uint64_t submitted;
    uint8_t launch[4];
    uint32_t shared_executed;
    uint64_t graph_node;
    int shared_limit;
    uint32_t graph; /* 0: none */
} ks_activity_kernel;

/** A call of a function of the driver or the runtime. */
typedef struct KS_RECORD ks_activity_call {
    int kind;
    uint32_t function;
    uint64_t start;
    uint64_t end;
    uint32_t process;
    uint32_t thread;
    uint32_t correlation;
    uint32_t result;
} ks_activity_call;

/** The id that was the last one pushed on a thread when it made a call. */
typedef struct KS_RECORD ks_activity_external {
    int kind;
    int ids; /* KS_EXTERNAL_IDS */
    uint64_t id;
    uint32_t correlation; /* of the call */
    uint32_t reserved;
} ks_activity_external;

typedef void (*ks_buffer_request)(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void (*ks_buffer_complete)(ks_cuda_context context, uint32_t stream, uint8_t *buffer,
                                   size_t bytes, size_t used);

/** Functions: X(member, arguments, name). All return a ks_cupti_result. */
#define KS_ACTIVITY_FUNCTIONS(X)                                                           \
    X(timestamp, (uint64_t *), "cuptiGetTimestamp")                                        \
    X(register_callbacks, (ks_buffer_request, ks_buffer_complete),                         \
      "cuptiActivityRegisterCallbacks")                                                    \
    X(enable, (int), "cuptiActivityEnable")                                                \
    X(disable, (int), "cuptiActivityDisable")                                              \
    X(flush, (uint32_t), "cuptiActivityFlushAll")                                          \
    X(next, (uint8_t *, size_t, ks_activity **), "cuptiActivityGetNextRecord")             \
    X(dropped, (ks_cuda_context, uint32_t, size_t *), "cuptiActivityGetNumDroppedRecords") \
    X(push, (int, uint64_t), "cuptiActivityPushExternalCorrelationId")                     \
    X(pop, (int, uint64_t *), "cuptiActivityPopExternalCorrelationId")

/** Those that came with 13.2; NULL before. */
#define KS_ACTIVITY_NEW_FUNCTIONS(X)                                         \
    X(enabled_kinds, (ks_cupti_subscription, int *, uint32_t *, uint32_t *), \
      "cuptiActivityGetEnabledKinds")

#endif
