/* The GPU that this process is about to measure. */
#ifndef KS_COLLECT_NVIDIA_GPU_H
#define KS_COLLECT_NVIDIA_GPU_H

#include "collect/nvidia/chip.h"
#include "collect/nvidia/cuda.h"
#include "samples/samples.h"

/** Room for "GPU-...", terminator included. */
#define KS_GPU_UUID_MAX 48

typedef struct ks_gpu {
    const ks_cuda *cuda;
    const ks_cupti *cupti;
    ks_cuda_device device;
    ks_card card;
    char uuid[KS_GPU_UUID_MAX];
    char chip[32]; /**< as CUPTI spells it */
} ks_gpu;

/**
 * The device of the calling thread's context; the first one if there is none yet.
 *
 * @return KS_UNAVAILABLE: no driver, no device, or no CUPTI; KS_EVENDOR, KS_ENOMEM
 */
ks_status ks_gpu_here(ks_gpu *out, ks_error *err);

/** Its number. @return KS_EVENDOR */
ks_status ks_gpu_device_here(const ks_cuda *cuda, ks_cuda_device *out, ks_error *err);

/** The same device, as rows tell of it: asks the driver alone. @return KS_UNAVAILABLE, KS_EVENDOR
 */
ks_status ks_gpu_card(const ks_cuda *cuda, ks_card *out, ks_error *err);

/** Initialise CUPTI's profiler, once: before that it can be asked nothing about devices. */
ks_status ks_gpu_start_profiler(const ks_cupti *cupti, ks_error *err);

/** A device's UUID, as nvidia-smi writes it. @return KS_EVENDOR */
ks_status ks_gpu_uuid(const ks_cuda *cuda, ks_cuda_device device, char to[KS_GPU_UUID_MAX],
                      ks_error *err);

/** A device by its number, likewise. */
ks_status ks_gpu_at(const ks_cuda *cuda, const ks_cupti *cupti, ks_cuda_device device, ks_gpu *out,
                    ks_error *err);

/** Its chip, kept open for the next question: asked by one thread at a time. */
ks_status ks_gpu_chip(const ks_gpu *gpu, ks_chip **out, ks_error *err);
/** Close that. */
void ks_gpu_forget_chip(void);

#endif
