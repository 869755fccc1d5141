/* As nvidia.c, for what we declare of NVML. */
#include <nvml.h>
#include <stddef.h>

#include "collect/nvidia/abi_nvml.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define SAME_SIZE(ours, theirs)   _Static_assert(sizeof(ours) == sizeof(theirs), #ours)

SAME_SIZE(ks_nvml_result, nvmlReturn_t);
SAME_SIZE(ks_nvml_device, nvmlDevice_t);
SAME_NUMBER(0, NVML_SUCCESS);
SAME_NUMBER(KS_NVML_VERSION_BYTES, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
SAME_NUMBER(KS_NVML_MIG_ON, NVML_DEVICE_MIG_ENABLE);
SAME_NUMBER(KS_NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME_NUMBER(KS_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME_NUMBER(KS_NVML_SENSOR_GPU, NVML_TEMPERATURE_GPU);
SAME_NUMBER(KS_NVML_CLOCK_SM, NVML_CLOCK_SM);
SAME_NUMBER(KS_NVML_CLOCK_MEMORY, NVML_CLOCK_MEM);
SAME_NUMBER(KS_NVML_CLOCK_BASE, NVML_CLOCK_LIMIT_ID_TDP);
SAME_NUMBER(KS_NVML_POWER_CAP, nvmlClocksEventReasonSwPowerCap);
SAME_NUMBER(KS_NVML_HW_SLOWDOWN, nvmlClocksThrottleReasonHwSlowdown);
SAME_NUMBER(KS_NVML_SYNC_BOOST, nvmlClocksEventReasonSyncBoost);
SAME_NUMBER(KS_NVML_SW_THERMAL, nvmlClocksEventReasonSwThermalSlowdown);
SAME_NUMBER(KS_NVML_HW_THERMAL, nvmlClocksThrottleReasonHwThermalSlowdown);
SAME_NUMBER(KS_NVML_HW_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
SAME_NUMBER(KS_NVML_POLICY_POWER, NVML_PERF_POLICY_POWER);
SAME_NUMBER(KS_NVML_POLICY_THERMAL, NVML_PERF_POLICY_THERMAL);
SAME_SIZE(ks_nvml_policy, nvmlPerfPolicyType_t);
SAME_SIZE(ks_nvml_violation, nvmlViolationTime_t);
SAME_NUMBER(offsetof(ks_nvml_violation, held_ns), offsetof(nvmlViolationTime_t, violationTime));
SAME_SIZE(ks_nvml_clock, nvmlClockType_t);
SAME_SIZE(ks_nvml_sensor, nvmlTemperatureSensors_t);
SAME_SIZE(ks_nvml_u64, unsigned long long);
SAME_SIZE(ks_nvml_margin, nvmlMarginTemperature_v1_t);
SAME_NUMBER(KS_NVML_MARGIN_VERSION, nvmlMarginTemperature_v1);
SAME_NUMBER(offsetof(ks_nvml_margin, version), offsetof(nvmlMarginTemperature_v1_t, version));
SAME_NUMBER(offsetof(ks_nvml_margin, celsius),
            offsetof(nvmlMarginTemperature_v1_t, marginTemperature));

/* Each of our functions has the type of his of that name, once our types are his. */
#define ks_nvml_result    nvmlReturn_t
#define ks_nvml_device    nvmlDevice_t
#define ks_nvml_clock     nvmlClockType_t
#define ks_nvml_sensor    nvmlTemperatureSensors_t
#define ks_nvml_margin    nvmlMarginTemperature_v1_t
#define ks_nvml_policy    nvmlPerfPolicyType_t
#define ks_nvml_violation nvmlViolationTime_t
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* older drivers have no others */
#define SAME_FUNCTION(type, member, arguments, name) \
    static inline void same_##member(void)           \
    {                                                \
        type(*ours) arguments = name;                \
        (void)ours;                                  \
    }
KS_NVML_FUNCTIONS(SAME_FUNCTION)
KS_NVML_OPTIONAL_FUNCTIONS(SAME_FUNCTION)
