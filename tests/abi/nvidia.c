/*
 * Our declarations of NVIDIA's libraries against his own: compiled, never run. `string` is a header
 * of C++ that one of his includes; an empty one stands for it.
 */
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "collect/nvidia/abi.h"

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
