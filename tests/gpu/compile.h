/*
 * NVIDIA's compiler and runtime, as programs use them beside the driver: by dlopen, declared in
 * compile.c, so that no toolkit is needed to build. A machine may lack either.
 */
#ifndef GT_COMPILE_H
#define GT_COMPILE_H

#include <stddef.h>

#include "gpu.h"

enum {
    GT_NAMES = 8
};

/* What NVRTC made of a source. */
typedef struct gt_compiled {
    char *ptx;
    char *names[GT_NAMES]; /* mangled: of the expressions, in their order */
} gt_compiled;

/*
 * Compile CUDA C++ for a GPU of that compute capability. `expressions` are templates' instances,
 * such as "scale<float, 4>", at most GT_NAMES, ended by NULL.
 *
 * Returns NULL, or why it cannot be done here. Free what it made with gt_compiled_free().
 */
const char *gt_compile(const char *source, int capability, const char *const *expressions,
                       gt_compiled *out);
void gt_compiled_free(gt_compiled *compiled);

/*
 * The runtime's way to launch: PTX is loaded as a library, and its kernels launched by
 * cudaLaunchKernel(). Returns NULL, or why there is none here.
 */
const char *gt_runtime_open(const char *ptx);
void *gt_runtime_kernel(const char *name);
void gt_runtime_launch(void *kernel, unsigned blocks, unsigned threads, void **arguments);
void gt_runtime_copy(gt_ptr to, gt_ptr from, size_t bytes); /* on the device */
void gt_runtime_sync(void);

#endif
