/*
 * What is used of NVML, the library that manages devices, declared here as abi.h declares the rest;
 * tests/abi/nvml.c compares it with the vendor's header.
 */
#ifndef KS_COLLECT_NVIDIA_ABI_NVML_H
#define KS_COLLECT_NVIDIA_ABI_NVML_H

typedef int ks_nvml_result; /* 0: success */
typedef struct ks_nvml_device_st *ks_nvml_device;

enum {
    KS_NVML_VERSION_BYTES = 80,
    KS_NVML_MIG_ON = 1
};

/* Names as such, not as texts: the test takes the vendor's function of each. */
#define KS_NVML_FUNCTIONS(X)                                                               \
    X(ks_nvml_result, init, (void), nvmlInit_v2)                                           \
    X(const char *, error_string, (ks_nvml_result), nvmlErrorString)                       \
    X(ks_nvml_result, driver_version, (char *, unsigned), nvmlSystemGetDriverVersion)      \
    X(ks_nvml_result, device, (const char *, ks_nvml_device *), nvmlDeviceGetHandleByUUID) \
    X(ks_nvml_result, mig_mode, (ks_nvml_device, unsigned *, unsigned *), nvmlDeviceGetMigMode)

#endif
