/* The little of a GPU's driver that the examples need; what fails ends up in `err`. */
#ifndef EXAMPLE_GPU_H
#define EXAMPLE_GPU_H

#include <kernsight/kernsight.h>

typedef uint64_t gpu_ptr;

typedef struct gpu_shape {
    unsigned grid_x, grid_y, block_x, block_y;
} gpu_shape;

/* Take the first GPU. KS_UNAVAILABLE where there is none. */
ks_status gpu_open(ks_error *err);

/* Take another one, once the first one was; kernels are loaded, and memory is allocated, on each.
 */
ks_status gpu_use(int device, ks_error *err);
int gpu_count(void);

/* The kernels of a PTX file. */
ks_status gpu_load(const char *ptx, ks_error *err);

ks_status gpu_alloc(gpu_ptr *out, size_t bytes, ks_error *err);
ks_status gpu_copy_in(gpu_ptr to, const void *from, size_t bytes, ks_error *err);
ks_status gpu_copy_out(void *to, gpu_ptr from, size_t bytes, ks_error *err);

/* Launch kernel(to, from, n) and wait until it is done. */
ks_status gpu_launch(const char *kernel, gpu_shape shape, gpu_ptr to, gpu_ptr from, unsigned n,
                     ks_error *err);

/* The same without waiting, in a stream; NULL: the default one. */
ks_status gpu_start(const char *kernel, gpu_shape shape, gpu_ptr to, gpu_ptr from, unsigned n,
                    void *stream, ks_error *err);
ks_status gpu_wait(ks_error *err);

/* A stream that runs beside the others. */
ks_status gpu_stream(void **stream, ks_error *err);

/* What is started in a stream between the two becomes a graph. */
ks_status gpu_capture(void *stream, ks_error *err);
ks_status gpu_captured(void *stream, void **graph, ks_error *err);
/* Start a graph, without waiting. */
ks_status gpu_start_graph(void *graph, void *stream, ks_error *err);

#endif
