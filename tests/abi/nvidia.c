/*
 * Our declarations of NVIDIA's libraries against his own: compiled, never run. `string` is a header
 * of C++ that one of his includes; an empty one stands for it.
 */
/* the types of arguments of old functions too */
#define __CUDA_API_VERSION_INTERNAL
#include <stdbool.h>

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <generated_cuda_meta.h>

#include "collect/nvidia/abi.h"
#include "collect/nvidia/device_attributes.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define SAME(ours, member, theirs, their_member)                                                 \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member), #ours "." #member); \
    _Static_assert(sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->their_member),           \
                   #ours "." #member)
/* his may have grown since */
#define SAME_KNOWN(ours, member, their_size) \
    _Static_assert(KS_KNOWN(ours, member) <= (their_size), #ours)

SAME_SIZE(ks_cupti_result, CUptiResult);
_Static_assert((int)KS_CUPTI_INVALID_PARAMETER == (int)CUPTI_ERROR_INVALID_PARAMETER, "");
_Static_assert((int)KS_CUPTI_INVALID_METRIC_NAME == (int)CUPTI_ERROR_INVALID_METRIC_NAME, "");
_Static_assert((int)KS_CUPTI_COUNTER == (int)CUPTI_METRIC_TYPE_COUNTER, "");
_Static_assert((int)KS_CUPTI_RATIO == (int)CUPTI_METRIC_TYPE_RATIO, "");
_Static_assert((int)KS_CUPTI_THROUGHPUT == (int)CUPTI_METRIC_TYPE_THROUGHPUT, "");
_Static_assert((int)KS_CUPTI_METRIC_TYPES == (int)CUPTI_METRIC_TYPE__COUNT, "");
_Static_assert((int)KS_CUPTI_RANGE_PROFILER == (int)CUPTI_PROFILER_TYPE_RANGE_PROFILER, "");

#define CHIPS CUpti_Profiler_Host_GetSupportedChips_Params
SAME(ks_cupti_chips, size, CHIPS, structSize);
SAME(ks_cupti_chips, reserved, CHIPS, pPriv);
SAME(ks_cupti_chips, count, CHIPS, numChips);
SAME(ks_cupti_chips, names, CHIPS, ppChipNames);
SAME_KNOWN(ks_cupti_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);

#define CHIP_NAME CUpti_Device_GetChipName_Params
SAME(ks_cupti_chip_name, device, CHIP_NAME, deviceIndex);
SAME(ks_cupti_chip_name, name, CHIP_NAME, pChipName);
SAME_KNOWN(ks_cupti_chip_name, name, CUpti_Device_GetChipName_Params_STRUCT_SIZE);

#define INIT CUpti_Profiler_Host_Initialize_Params
SAME(ks_cupti_host_init, profiler, INIT, profilerType);
SAME(ks_cupti_host_init, chip, INIT, pChipName);
SAME(ks_cupti_host_init, availability, INIT, pCounterAvailabilityImage);
SAME(ks_cupti_host_init, host, INIT, pHostObject);
SAME_KNOWN(ks_cupti_host_init, host, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);

#define DEINIT CUpti_Profiler_Host_Deinitialize_Params
SAME(ks_cupti_host_deinit, host, DEINIT, pHostObject);
SAME_KNOWN(ks_cupti_host_deinit, host, CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);

#define BASES CUpti_Profiler_Host_GetBaseMetrics_Params
SAME(ks_cupti_base_metrics, host, BASES, pHostObject);
SAME(ks_cupti_base_metrics, type, BASES, metricType);
SAME(ks_cupti_base_metrics, names, BASES, ppMetricNames);
SAME(ks_cupti_base_metrics, count, BASES, numMetrics);
SAME_KNOWN(ks_cupti_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE);

#define SUBS CUpti_Profiler_Host_GetSubMetrics_Params
SAME(ks_cupti_sub_metrics, host, SUBS, pHostObject);
SAME(ks_cupti_sub_metrics, type, SUBS, metricType);
SAME(ks_cupti_sub_metrics, base, SUBS, pMetricName);
SAME(ks_cupti_sub_metrics, count, SUBS, numOfSubmetrics);
SAME(ks_cupti_sub_metrics, names, SUBS, ppSubMetrics);
SAME_KNOWN(ks_cupti_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics_Params_STRUCT_SIZE);

#define PROPERTIES CUpti_Profiler_Host_GetMetricProperties_Params
SAME(ks_cupti_metric_properties, host, PROPERTIES, pHostObject);
SAME(ks_cupti_metric_properties, name, PROPERTIES, pMetricName);
SAME(ks_cupti_metric_properties, description, PROPERTIES, pDescription);
SAME(ks_cupti_metric_properties, unit_of, PROPERTIES, pHwUnit);
SAME(ks_cupti_metric_properties, unit, PROPERTIES, pDimUnit);
SAME(ks_cupti_metric_properties, type, PROPERTIES, metricType);
SAME_KNOWN(ks_cupti_metric_properties, type,
           CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);

#define ADD CUpti_Profiler_Host_ConfigAddMetrics_Params
SAME(ks_cupti_add_metrics, host, ADD, pHostObject);
SAME(ks_cupti_add_metrics, names, ADD, ppMetricNames);
SAME(ks_cupti_add_metrics, count, ADD, numMetrics);
SAME_KNOWN(ks_cupti_add_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);

#define CONFIG_SIZE CUpti_Profiler_Host_GetConfigImageSize_Params
SAME(ks_cupti_config_size, host, CONFIG_SIZE, pHostObject);
SAME(ks_cupti_config_size, bytes, CONFIG_SIZE, configImageSize);
SAME_KNOWN(ks_cupti_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);

#define CONFIG CUpti_Profiler_Host_GetConfigImage_Params
SAME(ks_cupti_config, host, CONFIG, pHostObject);
SAME(ks_cupti_config, bytes, CONFIG, configImageSize);
SAME(ks_cupti_config, image, CONFIG, pConfigImage);
SAME_KNOWN(ks_cupti_config, image, CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);

#define PASSES CUpti_Profiler_Host_GetNumOfPasses_Params
SAME(ks_cupti_passes, bytes, PASSES, configImageSize);
SAME(ks_cupti_passes, image, PASSES, pConfigImage);
SAME(ks_cupti_passes, passes, PASSES, numOfPasses);
SAME_KNOWN(ks_cupti_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);

SAME_SIZE(ks_cuda_result, CUresult);
SAME_SIZE(ks_cuda_device, CUdevice);
SAME_SIZE(ks_cuda_uuid, CUuuid);
_Static_assert((int)KS_CUDA_SM_COUNT == (int)CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "");

#define EVALUATE CUpti_Profiler_Host_EvaluateToGpuValues_Params
SAME(ks_cupti_evaluate, host, EVALUATE, pHostObject);
SAME(ks_cupti_evaluate, image, EVALUATE, pCounterDataImage);
SAME(ks_cupti_evaluate, bytes, EVALUATE, counterDataImageSize);
SAME(ks_cupti_evaluate, range, EVALUATE, rangeIndex);
SAME(ks_cupti_evaluate, names, EVALUATE, ppMetricNames);
SAME(ks_cupti_evaluate, count, EVALUATE, numMetrics);
SAME(ks_cupti_evaluate, values, EVALUATE, pMetricValues);
SAME_KNOWN(ks_cupti_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);

/* ---- the range profiler ---- */

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

SAME_NUMBER(KS_CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(KS_CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME_NUMBER(KS_CUPTI_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(KS_CUPTI_NO_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(KS_CUPTI_TOO_MANY_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_NUMBER(KS_CUPTI_VIRTUALIZED_NO_PRIVILEGES,
            CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(KS_CUPTI_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME_NUMBER(KS_CUPTI_CMP, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(KS_CUPTI_MIG, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(KS_CUPTI_SLI, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(KS_CUPTI_WSL, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME_NUMBER(KS_CUPTI_AUTO_RANGE, CUPTI_AutoRange);
SAME_NUMBER(KS_CUPTI_USER_RANGE, CUPTI_UserRange);
SAME_NUMBER(KS_CUPTI_KERNEL_REPLAY, CUPTI_KernelReplay);
SAME_NUMBER(KS_CUPTI_USER_REPLAY, CUPTI_UserReplay);
SAME_NUMBER(KS_CUPTI_SUPPORT_UNKNOWN, CUPTI_PROFILER_CONFIGURATION_UNKNOWN);
SAME_NUMBER(KS_CUPTI_UNSUPPORTED, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED);
SAME_NUMBER(KS_CUPTI_DISABLED, CUPTI_PROFILER_CONFIGURATION_DISABLED);
SAME_NUMBER(KS_CUPTI_SUPPORTED, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);
SAME_NUMBER(KS_CUPTI_RANGE_PROFILING, CUPTI_PROFILER_RANGE_PROFILING);

SAME_KNOWN(ks_cupti_profiler_init, reserved, CUpti_Profiler_Initialize_Params_STRUCT_SIZE);

#define DEVICE_SUPPORTED CUpti_Profiler_DeviceSupported_Params
SAME(ks_cupti_device_supported, device, DEVICE_SUPPORTED, cuDevice);
SAME(ks_cupti_device_supported, supported, DEVICE_SUPPORTED, isSupported);
SAME(ks_cupti_device_supported, architecture, DEVICE_SUPPORTED, architecture);
SAME(ks_cupti_device_supported, sli, DEVICE_SUPPORTED, sli);
SAME(ks_cupti_device_supported, vgpu, DEVICE_SUPPORTED, vGpu);
SAME(ks_cupti_device_supported, confidential, DEVICE_SUPPORTED, confidentialCompute);
SAME(ks_cupti_device_supported, cmp, DEVICE_SUPPORTED, cmp);
SAME(ks_cupti_device_supported, wsl, DEVICE_SUPPORTED, wsl);
SAME(ks_cupti_device_supported, api, DEVICE_SUPPORTED, api);
SAME_KNOWN(ks_cupti_device_supported, api, CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);

#define START CUpti_RangeProfiler_Start_Params
SAME(ks_cupti_of_profiler, profiler, START, pRangeProfilerObject);
SAME(ks_cupti_of_profiler, profiler, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME(ks_cupti_of_profiler, profiler, CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject);
SAME_KNOWN(ks_cupti_of_profiler, profiler, CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
SAME_KNOWN(ks_cupti_of_profiler, profiler, CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
SAME_KNOWN(ks_cupti_of_profiler, profiler, CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);

#define ENABLE CUpti_RangeProfiler_Enable_Params
SAME(ks_cupti_enable, context, ENABLE, ctx);
SAME(ks_cupti_enable, profiler, ENABLE, pRangeProfilerObject);
SAME_KNOWN(ks_cupti_enable, profiler, CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);

#define SET_CONFIG CUpti_RangeProfiler_SetConfig_Params
SAME(ks_cupti_set_config, profiler, SET_CONFIG, pRangeProfilerObject);
SAME(ks_cupti_set_config, config_bytes, SET_CONFIG, configSize);
SAME(ks_cupti_set_config, config, SET_CONFIG, pConfig);
SAME(ks_cupti_set_config, image_bytes, SET_CONFIG, counterDataImageSize);
SAME(ks_cupti_set_config, image, SET_CONFIG, pCounterDataImage);
SAME(ks_cupti_set_config, range, SET_CONFIG, range);
SAME(ks_cupti_set_config, replay, SET_CONFIG, replayMode);
SAME(ks_cupti_set_config, slots, SET_CONFIG, maxRangesPerPass);
SAME(ks_cupti_set_config, levels, SET_CONFIG, numNestingLevels);
SAME(ks_cupti_set_config, least_level, SET_CONFIG, minNestingLevel);
SAME(ks_cupti_set_config, pass, SET_CONFIG, passIndex);
SAME(ks_cupti_set_config, target_level, SET_CONFIG, targetNestingLevel);
SAME_KNOWN(ks_cupti_set_config, target_level, CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);

#define STOP CUpti_RangeProfiler_Stop_Params
SAME(ks_cupti_stop, profiler, STOP, pRangeProfilerObject);
SAME(ks_cupti_stop, pass, STOP, passIndex);
SAME(ks_cupti_stop, target_level, STOP, targetNestingLevel);
SAME(ks_cupti_stop, complete, STOP, isAllPassSubmitted);
SAME_KNOWN(ks_cupti_stop, complete, CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);

#define PUSH CUpti_RangeProfiler_PushRange_Params
SAME(ks_cupti_push, profiler, PUSH, pRangeProfilerObject);
SAME(ks_cupti_push, name, PUSH, pRangeName);
SAME_KNOWN(ks_cupti_push, name, CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);

#define DECODE CUpti_RangeProfiler_DecodeData_Params
SAME(ks_cupti_decode, profiler, DECODE, pRangeProfilerObject);
SAME(ks_cupti_decode, dropped, DECODE, numOfRangeDropped);
SAME_KNOWN(ks_cupti_decode, dropped, CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);

#define IMAGE_SIZE CUpti_RangeProfiler_GetCounterDataSize_Params
SAME(ks_cupti_image_size, profiler, IMAGE_SIZE, pRangeProfilerObject);
SAME(ks_cupti_image_size, names, IMAGE_SIZE, pMetricNames);
SAME(ks_cupti_image_size, count, IMAGE_SIZE, numMetrics);
SAME(ks_cupti_image_size, slots, IMAGE_SIZE, maxNumOfRanges);
SAME(ks_cupti_image_size, nodes, IMAGE_SIZE, maxNumRangeTreeNodes);
SAME(ks_cupti_image_size, bytes, IMAGE_SIZE, counterDataSize);
SAME_KNOWN(ks_cupti_image_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);

#define IMAGE_INIT CUpti_RangeProfiler_CounterDataImage_Initialize_Params
SAME(ks_cupti_image_init, profiler, IMAGE_INIT, pRangeProfilerObject);
SAME(ks_cupti_image_init, bytes, IMAGE_INIT, counterDataSize);
SAME(ks_cupti_image_init, image, IMAGE_INIT, pCounterData);
SAME_KNOWN(ks_cupti_image_init, image,
           CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);

#define IMAGE_INFO CUpti_RangeProfiler_GetCounterDataInfo_Params
SAME(ks_cupti_image_info, image, IMAGE_INFO, pCounterDataImage);
SAME(ks_cupti_image_info, bytes, IMAGE_INFO, counterDataImageSize);
SAME(ks_cupti_image_info, ranges, IMAGE_INFO, numTotalRanges);
SAME_KNOWN(ks_cupti_image_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);

#define RANGE_INFO CUpti_RangeProfiler_CounterData_GetRangeInfo_Params
SAME(ks_cupti_range_info, image, RANGE_INFO, pCounterDataImage);
SAME(ks_cupti_range_info, bytes, RANGE_INFO, counterDataImageSize);
SAME(ks_cupti_range_info, range, RANGE_INFO, rangeIndex);
SAME(ks_cupti_range_info, delimiter, RANGE_INFO, rangeDelimiter);
SAME(ks_cupti_range_info, name, RANGE_INFO, rangeName);
SAME_KNOWN(ks_cupti_range_info, name,
           CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE);

/* ---- callbacks ---- */

SAME_NUMBER(KS_CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(KS_CUPTI_ENTER, CUPTI_API_ENTER);
SAME_NUMBER(KS_CUPTI_EXIT, CUPTI_API_EXIT);
SAME_NUMBER(KS_CUPTI_LAUNCH_KERNEL, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
SAME_NUMBER(KS_CUPTI_LAUNCH_KERNEL_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
SAME_NUMBER(KS_CUPTI_LAUNCH_COOPERATIVE, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
SAME_NUMBER(KS_CUPTI_LAUNCH_COOPERATIVE_PTSZ,
            CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
SAME_NUMBER(KS_CUPTI_LAUNCH_COOPERATIVE_MULTI,
            CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice);
SAME_NUMBER(KS_CUPTI_GRAPH_LAUNCH, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
SAME_NUMBER(KS_CUPTI_GRAPH_LAUNCH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
SAME_NUMBER(KS_CUPTI_LAUNCH_KERNEL_EX, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
SAME_NUMBER(KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);

/* All of a span are copies and memsets: its first and last one, in KS_CUPTI_COPIES(). */
#define SPAN(first, last, a, b)                      \
    SAME_NUMBER(first, CUPTI_DRIVER_TRACE_CBID_##a); \
    SAME_NUMBER(last, CUPTI_DRIVER_TRACE_CBID_##b)
SPAN(216, 227, cuMemsetD8Async, cu64MemsetD2D32Async);
SPAN(248, 254, cuMemcpy_v2, cuMemsetD2D32_v2);
SPAN(276, 293, cuMemcpyHtoD_v2, cuMemcpyHtoAAsync_v2);
SPAN(305, 306, cuMemcpy, cuMemcpyAsync);
SPAN(318, 321, cuMemcpyPeer, cuMemcpy3DPeerAsync);
SPAN(397, 416, cuMemcpyHtoD_v2_ptds, cuMemsetD2D32_v2_ptds);
SPAN(418, 433, cuMemcpyAsync_ptsz, cuMemsetD2D32Async_ptsz);

SAME_SIZE(ks_cupti_callback_data, CUpti_CallbackData);
SAME(ks_cupti_callback_data, site, CUpti_CallbackData, callbackSite);
SAME(ks_cupti_callback_data, function, CUpti_CallbackData, functionName);
SAME(ks_cupti_callback_data, arguments, CUpti_CallbackData, functionParams);
SAME(ks_cupti_callback_data, result, CUpti_CallbackData, functionReturnValue);
SAME(ks_cupti_callback_data, symbol, CUpti_CallbackData, symbolName);
SAME(ks_cupti_callback_data, context, CUpti_CallbackData, context);
SAME(ks_cupti_callback_data, context_id, CUpti_CallbackData, contextUid);
SAME(ks_cupti_callback_data, correlation, CUpti_CallbackData, correlationId);
SAME_SIZE(uint32_t, CUpti_CallbackId);
#ifdef CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN /* not in the oldest */
#define SUBSCRIBER CUpti_SubscriberParams
SAME(ks_cupti_subscriber_params, size, SUBSCRIBER, structSize);
SAME(ks_cupti_subscriber_params, name, SUBSCRIBER, subscriberName);
SAME(ks_cupti_subscriber_params, holder, SUBSCRIBER, oldSubscriberName);
SAME(ks_cupti_subscriber_params, holder_bytes, SUBSCRIBER, oldSubscriberSize);
SAME_KNOWN(ks_cupti_subscriber_params, holder_bytes, CUpti_SubscriberParams_STRUCT_SIZE);
SAME_NUMBER(KS_CUPTI_HOLDER_BYTES, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#endif
SAME_SIZE(int, CUpti_CallbackDomain);

SAME(ks_cuda_launch_args, function, cuLaunchKernel_params, f);
SAME(ks_cuda_launch_args, stream, cuLaunchKernel_params, hStream);
SAME(ks_cuda_launch_args, shared_bytes, cuLaunchKernel_params, sharedMemBytes);
SAME(ks_cuda_launch_args, stream, cuLaunchKernel_ptsz_params, hStream);
SAME(ks_cuda_launch_args, stream, cuLaunchCooperativeKernel_params, hStream);
SAME(ks_cuda_launch_args, shared_bytes, cuLaunchCooperativeKernel_params, sharedMemBytes);
_Static_assert(offsetof(ks_cuda_launch_args, grid) == offsetof(cuLaunchKernel_params, gridDimX) &&
                   offsetof(ks_cuda_launch_args, block) ==
                       offsetof(cuLaunchKernel_params, blockDimX) &&
                   offsetof(ks_cuda_launch_args, block) ==
                       offsetof(cuLaunchCooperativeKernel_params, blockDimX),
               "");
SAME(ks_cuda_launch_ex_args, config, cuLaunchKernelEx_params, config);
SAME(ks_cuda_launch_ex_args, function, cuLaunchKernelEx_params, f);
SAME(ks_cuda_graph_launch_args, graph, cuGraphLaunch_params, hGraph);
SAME(ks_cuda_graph_launch_args, stream, cuGraphLaunch_params, hStream);
SAME_SIZE(ks_cuda_launch_config, CUlaunchConfig);
SAME(ks_cuda_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME(ks_cuda_launch_config, stream, CUlaunchConfig, hStream);
SAME(ks_cuda_launch_config, attributes, CUlaunchConfig, attrs);
SAME(ks_cuda_launch_config, attribute_count, CUlaunchConfig, numAttrs);
SAME_SIZE(ks_cuda_launch_attribute, CUlaunchAttribute);
_Static_assert(offsetof(ks_cuda_launch_attribute, value) == offsetof(CUlaunchAttribute, value), "");
SAME_NUMBER(KS_CUDA_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);

SAME_NUMBER(KS_CUDA_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
SAME_NUMBER(KS_CUDA_CONTEXT_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME_NUMBER(KS_CUDA_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_NUMBER(KS_CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME_NUMBER(KS_CUDA_MPS_ENABLED, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
SAME_SIZE(ks_cuda_address, CUdeviceptr);
_Static_assert(sizeof(CUstreamCaptureStatus) == sizeof(int), "");

/* ---- launches and devices ---- */

SAME_NUMBER(KS_CUDA_PREFERRED_CLUSTER, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION);
SAME_NUMBER(KS_CUDA_LAUNCH_CARVEOUT, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME_NUMBER(KS_CUDA_FUNCTION_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_NUMBER(KS_CUDA_FUNCTION_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_NUMBER(KS_CUDA_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_NUMBER(KS_CUDA_FUNCTION_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME_NUMBER(KS_CUDA_FUNCTION_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
SAME_NUMBER(KS_CUDA_FUNCTION_CLUSTER_HEIGHT, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
SAME_NUMBER(KS_CUDA_FUNCTION_CLUSTER_DEPTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
SAME_NUMBER(KS_CUDA_LIMIT_STACK, CU_LIMIT_STACK_SIZE);
SAME_NUMBER(KS_CUDA_LIMIT_PERSISTING_L2, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
_Static_assert(offsetof(CUlaunchAttributeValue, clusterDim) == 0 &&
                   offsetof(CUlaunchAttributeValue, preferredClusterDim) == 0 &&
                   offsetof(CUlaunchAttributeValue, preferredClusterDim.z) == 2 * sizeof(int),
               "");
/* a part of the enumeration only: his may have more */
#define SAME_ATTRIBUTE(upper, number, name, description) \
    SAME_NUMBER(number, CU_DEVICE_ATTRIBUTE_##upper);
KS_CUDA_DEVICE_ATTRIBUTES(SAME_ATTRIBUTE)
