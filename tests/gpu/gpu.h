/*
 * The first GPU of this machine through its driver: memory, our kernels, launches. The driver comes
 * by dlopen and is declared here, so that this builds on any machine.
 *
 * What goes wrong after gt_open() ends the program: a test cannot go on without its GPU.
 */
#ifndef GT_GPU_H
#define GT_GPU_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t gt_ptr; /* memory of the GPU */

/* All of a file as a text, or the end of the program; free() it. */
char *gt_read_all(const char *path);

/* Take the GPU and load the kernels of a PTX file. NULL, or the reason why there is no GPU. */
const char *gt_open(const char *ptx);

/* Make the GPU that of the calling thread; gt_open() did so for its own. */
void gt_use(void);

const char *gt_name(void);
int gt_l2_bytes(void);
int gt_multiprocessors(void);
int gt_compute_capability(void); /* 90 is 9.0 */

gt_ptr gt_alloc(size_t bytes);
void gt_free(gt_ptr memory);
void gt_copy_in(gt_ptr to, const void *from, size_t bytes);
void gt_copy_out(void *to, gt_ptr from, size_t bytes);
void gt_copy_within(gt_ptr to, gt_ptr from, size_t bytes); /* by the driver, no kernel of ours */
void gt_clear(gt_ptr memory, size_t bytes);                /* likewise */

/* Memory with n floats in it: small whole numbers, of which all sums are exact. */
gt_ptr gt_floats(size_t n);

/* A stream that does not wait for others; NULL elsewhere means the default one. */
void *gt_stream(void);
/* What the thread launches on the stream between the two becomes a graph, and is not run. */
void gt_capture(void *stream);
void *gt_captured(void *stream);
void gt_launch_graph(void *graph, void *stream);
void gt_sync(void);

typedef struct gt_shape {
    unsigned grid_x, grid_y, block_x, block_y;
} gt_shape;

void gt_launch(const char *kernel, gt_shape shape, void *stream, void **arguments);

/* Other code than ours: PTX that is compiled here and now. NULL, or why the driver does not take
 * it. */
const char *gt_load(const char *ptx, void **module);
void *gt_function(void *module, const char *name);
void gt_launch_function(void *function, gt_shape shape, void *stream, void **arguments);

/* Our kernels, on the default stream, with the shapes that they are written for. */
void gt_nothing(void);
void gt_copy(gt_ptr to, gt_ptr from, size_t bytes); /* a multiple of 4096 */
void gt_vadd(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n);
void gt_fma_chain(gt_ptr out, unsigned blocks, unsigned threads, unsigned n);
void gt_shared_loads(gt_ptr out, unsigned blocks, unsigned threads, unsigned n);
void gt_spin(gt_ptr out, int64_t cycles);
void gt_spin_on(void *stream, gt_ptr out, int64_t cycles);
void gt_matmul_naive(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n);
void gt_matmul_tiled(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n);
void gt_matmul_fast(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n);
void gt_reduce(gt_ptr sums, gt_ptr from, unsigned blocks, unsigned n);
void gt_sweep(gt_ptr sink, gt_ptr from, unsigned n); /* 16 n bytes of zeros; sink stays as it is */
void gt_transpose(const char *kernel, gt_ptr to, gt_ptr from, unsigned n);

#endif
