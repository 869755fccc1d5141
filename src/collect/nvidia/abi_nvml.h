/*
 * What is used of NVML, the library that manages devices, declared here as abi.h declares the rest;
 * tests/abi/nvml.c compares it with the vendor's header.
 */
#ifndef KS_COLLECT_NVIDIA_ABI_NVML_H
#define KS_COLLECT_NVIDIA_ABI_NVML_H

typedef int ks_nvml_result; /* 0: success */
typedef struct ks_nvml_device_st *ks_nvml_device;
typedef unsigned ks_nvml_clock;
typedef unsigned ks_nvml_sensor;
typedef unsigned ks_nvml_policy;
typedef unsigned long long ks_nvml_u64;

enum {
    KS_NVML_VERSION_BYTES = 80,
    KS_NVML_MIG_ON = 1,
    KS_NVML_NOT_SUPPORTED = 3, /* results */
    KS_NVML_NO_PERMISSION = 4,
    KS_NVML_SENSOR_GPU = 0,
    KS_NVML_CLOCK_SM = 1,
    KS_NVML_CLOCK_MEMORY = 2,
    KS_NVML_POLICY_POWER = 0,
    KS_NVML_POLICY_THERMAL = 1
};

/* In place of a clock in MHz: the one that the device can keep up whatever it computes (its base
 * clock). */
#define KS_NVML_CLOCK_BASE 0xffffff01u

/* Why clocks are below what they could be. */
#define KS_NVML_POWER_CAP      0x04u
#define KS_NVML_HW_SLOWDOWN    0x08u
#define KS_NVML_SYNC_BOOST     0x10u
#define KS_NVML_SW_THERMAL     0x20u
#define KS_NVML_HW_THERMAL     0x40u
#define KS_NVML_HW_POWER_BRAKE 0x80u

/* How far a GPU is from the temperature at which it slows down. */
typedef struct ks_nvml_margin {
    unsigned version;
    int celsius;
} ks_nvml_margin;

/* For how long a limit held a GPU's clocks down, since the driver was loaded. */
typedef struct ks_nvml_violation {
    ks_nvml_u64 reference_us;
    ks_nvml_u64 held_ns;
} ks_nvml_violation;

#define KS_NVML_MARGIN_VERSION ((unsigned)(sizeof(ks_nvml_margin) | 1u << 24))

/* Names as such, not as texts: the test takes the vendor's function of each. */
#define KS_NVML_FUNCTIONS(X)                                                               \
    X(ks_nvml_result, init, (void), nvmlInit_v2)                                           \
    X(const char *, error_string, (ks_nvml_result), nvmlErrorString)                       \
    X(ks_nvml_result, driver_version, (char *, unsigned), nvmlSystemGetDriverVersion)      \
    X(ks_nvml_result, device, (const char *, ks_nvml_device *), nvmlDeviceGetHandleByUUID) \
    X(ks_nvml_result, mig_mode, (ks_nvml_device, unsigned *, unsigned *), nvmlDeviceGetMigMode)

/* Those that not every driver has: what they tell is missing there. */
#define KS_NVML_OPTIONAL_FUNCTIONS(X)                                                             \
    X(ks_nvml_result, whole, (ks_nvml_device, ks_nvml_device *),                                  \
      nvmlDeviceGetDeviceHandleFromMigDeviceHandle)                                               \
    X(ks_nvml_result, clock, (ks_nvml_device, ks_nvml_clock, unsigned *), nvmlDeviceGetClockInfo) \
    X(ks_nvml_result, temperature, (ks_nvml_device, ks_nvml_sensor, unsigned *),                  \
      nvmlDeviceGetTemperature)                                                                   \
    X(ks_nvml_result, margin, (ks_nvml_device, ks_nvml_margin *), nvmlDeviceGetMarginTemperature) \
    X(ks_nvml_result, energy, (ks_nvml_device, ks_nvml_u64 *),                                    \
      nvmlDeviceGetTotalEnergyConsumption)                                                        \
    X(ks_nvml_result, reasons, (ks_nvml_device, ks_nvml_u64 *),                                   \
      nvmlDeviceGetCurrentClocksThrottleReasons)                                                  \
    X(ks_nvml_result, violation, (ks_nvml_device, ks_nvml_policy, ks_nvml_violation *),           \
      nvmlDeviceGetViolationStatus)                                                               \
    X(ks_nvml_result, lock_clocks, (ks_nvml_device, unsigned, unsigned),                          \
      nvmlDeviceSetGpuLockedClocks)                                                               \
    X(ks_nvml_result, unlock_clocks, (ks_nvml_device), nvmlDeviceResetGpuLockedClocks)

#endif
