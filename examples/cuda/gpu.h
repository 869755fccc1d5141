/* The little of a GPU's driver that access.c needs; what fails ends up in `err`. */
#ifndef EXAMPLE_GPU_H
#define EXAMPLE_GPU_H

#include <kernsight/kernsight.h>

typedef uint64_t gpu_ptr;

typedef struct gpu_shape {
    unsigned grid_x, grid_y, block_x, block_y;
} gpu_shape;

/* Take the first GPU. KS_UNAVAILABLE where there is none. */
ks_status gpu_open(ks_error *err);

/* The kernels of a PTX file. */
ks_status gpu_load(const char *ptx, ks_error *err);

ks_status gpu_alloc(gpu_ptr *out, size_t bytes, ks_error *err);
ks_status gpu_copy_in(gpu_ptr to, const void *from, size_t bytes, ks_error *err);
ks_status gpu_copy_out(void *to, gpu_ptr from, size_t bytes, ks_error *err);

/* Launch kernel(to, from, n) and wait until it is done. */
ks_status gpu_launch(const char *kernel, gpu_shape shape, gpu_ptr to, gpu_ptr from, unsigned n,
                     ks_error *err);

#endif
