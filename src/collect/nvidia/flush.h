/*
 * Emptying the caches before a kernel, as ncu does: a kernel that reads twice the size of the L2
 * cache. It only reads: lines that it wrote would have to be written back while the measured
 * kernel runs, and be counted as that kernel's traffic (docs/gpu.md has the figures).
 */
#ifndef KS_COLLECT_NVIDIA_FLUSH_H
#define KS_COLLECT_NVIDIA_FLUSH_H

#include "collect/nvidia/cuda.h"

typedef struct ks_flush {
    const ks_cuda *cuda;
    ks_cuda_module module;
    ks_cuda_function kernel;
    ks_cuda_address buffer;
    size_t bytes;
    unsigned blocks;
} ks_flush;

/**
 * Load the kernel and make the buffer in the current context: not in a callback.
 *
 * @param[out] out  free with ks_flush_fini(); nothing to free on failure
 */
ks_status ks_flush_init(const ks_cuda *cuda, ks_cuda_device device, ks_flush *out, ks_error *err);
/** In the current context, which is the one it was made in. */
void ks_flush_fini(ks_flush *flush);

/** Launch the kernel on a stream of the current context. */
ks_cuda_result ks_flush_launch(const ks_flush *flush, ks_cuda_stream stream);

#endif
