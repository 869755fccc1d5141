/* As nvidia.c, for what we declare of CUPTI's activity API. */
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_runtime_cbid.h>
#include <cupti_version.h>

#include "collect/nvidia/abi_activity.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define SAME_SIZE(ours, theirs)   _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define SAME(ours, member, theirs, their_member)                                                 \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member), #ours "." #member); \
    _Static_assert(sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->their_member),           \
                   #ours "." #member)
/* three numbers of ours for his x, y and z */
#define SAME_PLACE(ours, member, theirs, their_member) \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member), #ours "." #member)

SAME_NUMBER(KS_CUPTI_END_OF_BUFFER, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_NUMBER(KS_CUPTI_BAD_RECORD, CUPTI_ERROR_INVALID_KIND);
SAME_NUMBER(KS_ACTIVITY_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_NUMBER(KS_ACTIVITY_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_NUMBER(KS_ACTIVITY_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_NUMBER(KS_ACTIVITY_EXTERNAL, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME_NUMBER(KS_EXTERNAL_IDS, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
SAME_NUMBER(KS_FLUSH_ALL, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

#define RUNTIME(name) CUPTI_RUNTIME_TRACE_CBID_##name
SAME_NUMBER(KS_RUNTIME_LAUNCH_KERNEL, RUNTIME(cudaLaunchKernel_v7000));
SAME_NUMBER(KS_RUNTIME_LAUNCH_KERNEL_PTSZ, RUNTIME(cudaLaunchKernel_ptsz_v7000));
SAME_NUMBER(KS_RUNTIME_LAUNCH_COOPERATIVE, RUNTIME(cudaLaunchCooperativeKernel_v9000));
SAME_NUMBER(KS_RUNTIME_LAUNCH_COOPERATIVE_PTSZ, RUNTIME(cudaLaunchCooperativeKernel_ptsz_v9000));
SAME_NUMBER(KS_RUNTIME_GRAPH_LAUNCH, RUNTIME(cudaGraphLaunch_v10000));
SAME_NUMBER(KS_RUNTIME_GRAPH_LAUNCH_PTSZ, RUNTIME(cudaGraphLaunch_ptsz_v10000));
SAME_NUMBER(KS_RUNTIME_LAUNCH_KERNEL_EX, RUNTIME(cudaLaunchKernelExC_v11060));
SAME_NUMBER(KS_RUNTIME_LAUNCH_KERNEL_EX_PTSZ, RUNTIME(cudaLaunchKernelExC_ptsz_v11060));
#if CUPTI_API_VERSION >= 130000
SAME_NUMBER(KS_RUNTIME_LAUNCH_KERNEL_13, RUNTIME(__cudaLaunchKernel_v13000));
SAME_NUMBER(KS_RUNTIME_LAUNCH_KERNEL_13_PTSZ, RUNTIME(__cudaLaunchKernel_ptsz_v13000));
#endif

/* The first and last one of each span in KS_RUNTIME_COPIES(). */
SAME_NUMBER(31, RUNTIME(cudaMemcpy_v3020));
SAME_NUMBER(52, RUNTIME(cudaMemset2DAsync_v3020));
SAME_NUMBER(142, RUNTIME(cudaMemset3D_v3020));
SAME_NUMBER(145, RUNTIME(cudaMemcpy3DAsync_v3020));
SAME_NUMBER(160, RUNTIME(cudaMemcpyPeer_v4000));
SAME_NUMBER(163, RUNTIME(cudaMemcpy3DPeerAsync_v4000));
SAME_NUMBER(215, RUNTIME(cudaMemcpy_ptds_v7000));
SAME_NUMBER(236, RUNTIME(cudaMemset2DAsync_ptsz_v7000));
SAME_NUMBER(243, RUNTIME(cudaMemset3D_ptds_v7000));
SAME_NUMBER(246, RUNTIME(cudaMemcpy3DAsync_ptsz_v7000));
SAME_NUMBER(249, RUNTIME(cudaMemcpy3DPeer_ptds_v7000));
SAME_NUMBER(250, RUNTIME(cudaMemcpy3DPeerAsync_ptsz_v7000));

SAME_PLACE(ks_activity, kind, CUpti_Activity, kind);

#define CHECK_KERNEL(THEIRS)                                                 \
    SAME(ks_activity_kernel, kind, THEIRS, kind);                            \
    SAME(ks_activity_kernel, registers, THEIRS, registersPerThread);         \
    SAME(ks_activity_kernel, start, THEIRS, start);                          \
    SAME(ks_activity_kernel, end, THEIRS, end);                              \
    SAME(ks_activity_kernel, completed, THEIRS, completed);                  \
    SAME(ks_activity_kernel, device, THEIRS, deviceId);                      \
    SAME(ks_activity_kernel, context, THEIRS, contextId);                    \
    SAME(ks_activity_kernel, stream, THEIRS, streamId);                      \
    SAME_PLACE(ks_activity_kernel, grid, THEIRS, gridX);                     \
    SAME_PLACE(ks_activity_kernel, block, THEIRS, blockX);                   \
    SAME(ks_activity_kernel, static_shared, THEIRS, staticSharedMemory);     \
    SAME(ks_activity_kernel, dynamic_shared, THEIRS, dynamicSharedMemory);   \
    SAME(ks_activity_kernel, correlation, THEIRS, correlationId);            \
    SAME(ks_activity_kernel, grid_id, THEIRS, gridId);                       \
    SAME(ks_activity_kernel, name, THEIRS, name);                            \
    SAME(ks_activity_kernel, submitted, THEIRS, submitted);                  \
    SAME(ks_activity_kernel, shared_executed, THEIRS, sharedMemoryExecuted); \
    SAME(ks_activity_kernel, graph_node, THEIRS, graphNodeId);               \
    SAME(ks_activity_kernel, graph, THEIRS, graphId);                        \
    _Static_assert(sizeof(ks_activity_kernel) <= sizeof(THEIRS), #THEIRS)

CHECK_KERNEL(CUpti_ActivityKernel9); /* what 12.8 gives */
#if CUPTI_API_VERSION >= 130000
CHECK_KERNEL(CUpti_ActivityKernel10);
#endif
#if CUPTI_API_VERSION >= 130100
CHECK_KERNEL(CUpti_ActivityKernel11);
#endif

SAME_SIZE(ks_activity_call, CUpti_ActivityAPI);
SAME(ks_activity_call, kind, CUpti_ActivityAPI, kind);
SAME(ks_activity_call, function, CUpti_ActivityAPI, cbid);
SAME(ks_activity_call, start, CUpti_ActivityAPI, start);
SAME(ks_activity_call, end, CUpti_ActivityAPI, end);
SAME(ks_activity_call, thread, CUpti_ActivityAPI, threadId);
SAME(ks_activity_call, correlation, CUpti_ActivityAPI, correlationId);
SAME(ks_activity_call, result, CUpti_ActivityAPI, returnValue);

SAME_SIZE(ks_activity_external, CUpti_ActivityExternalCorrelation);
SAME(ks_activity_external, kind, CUpti_ActivityExternalCorrelation, kind);
SAME(ks_activity_external, ids, CUpti_ActivityExternalCorrelation, externalKind);
SAME(ks_activity_external, id, CUpti_ActivityExternalCorrelation, externalId);
SAME(ks_activity_external, correlation, CUpti_ActivityExternalCorrelation, correlationId);

SAME_SIZE(int, CUpti_ActivityKind);
SAME_SIZE(int, CUpti_ExternalCorrelationKind);
SAME_SIZE(ks_buffer_request, CUpti_BuffersCallbackRequestFunc);
SAME_SIZE(ks_buffer_complete, CUpti_BuffersCallbackCompleteFunc);
