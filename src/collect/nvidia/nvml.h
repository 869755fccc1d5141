/* NVML, the library that manages devices: what the driver's and CUPTI's interfaces do not tell. */
#ifndef KS_COLLECT_NVIDIA_NVML_H
#define KS_COLLECT_NVIDIA_NVML_H

#include "collect/nvidia/abi_nvml.h"
#include "collect/nvidia/library.h"

typedef struct ks_nvml {
    ks_library library;
#define KS_NVML_MEMBER(type, member, arguments, name) type(*member) arguments;
    KS_NVML_FUNCTIONS(KS_NVML_MEMBER)
#undef KS_NVML_MEMBER
} ks_nvml;

/**
 * It, initialised; it stays.
 *
 * @return KS_UNAVAILABLE: it is not there, or cannot be used; KS_ENOMEM
 *
 * Threads: any.
 */
ks_status ks_nvml_get(const ks_nvml **out, ks_error *err);

typedef enum ks_mig {
    KS_MIG_UNKNOWN,
    KS_MIG_OFF,
    KS_MIG_ON,   /**< the GPU is divided */
    KS_MIG_PART, /**< ... and this is a part of it */
} ks_mig;

/** Whether a device is divided. @param[in] uuid  "GPU-...", as ks_gpu_uuid() writes it */
ks_mig ks_nvml_mig(const ks_nvml *nvml, const char *uuid);

#endif
