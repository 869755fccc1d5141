/* The driver, libcuda.so.1. */
#ifndef KS_COLLECT_NVIDIA_CUDA_H
#define KS_COLLECT_NVIDIA_CUDA_H

#include "collect/nvidia/abi.h"
#include "collect/nvidia/library.h"

typedef struct ks_cuda {
    ks_library library;
#define KS_CUDA_MEMBER(member, arguments, name) ks_cuda_result(*member) arguments;
    KS_CUDA_FUNCTIONS(KS_CUDA_MEMBER)
    KS_CUDA_OPTIONAL_FUNCTIONS(KS_CUDA_MEMBER)
#undef KS_CUDA_MEMBER
} ks_cuda;

/**
 * The driver, found and initialised at the first call that succeeds; it stays. No context is made.
 *
 * @return KS_UNAVAILABLE: there is none, or it has no device; KS_ENOMEM
 */
ks_status ks_cuda_get(const ks_cuda **out, ks_error *err);

/**
 * Why there is no driver, by a look at the machine; NULL: there may be one. Loading it to find out
 * takes milliseconds, and a process that measures CPUs alone has no use for it.
 *
 * @return static text
 */
const char *ks_cuda_absent(void);

#endif
