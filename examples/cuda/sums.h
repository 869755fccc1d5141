/* What the small examples share: sums of an array of zeros on the GPU, and how results are shown.
 */
#ifndef EXAMPLE_SUMS_H
#define EXAMPLE_SUMS_H

#include "gpu.h"

/* Make room for `count` floats on the GPU that is in use, and load the kernels there. */
ks_status sums_prepare(unsigned count, ks_error *err);

/* Start sums of the first n of them, with so many blocks, in a stream. */
ks_status sums_start(unsigned n, unsigned blocks, void *stream, ks_error *err);

/* Measure and print; with all kernels behind the table, if that is wanted. */
void sums_measure(const char *title, ks_plan *plan, ks_body_fn body, bool kernels, ks_error *err);

/* Say what went wrong. @return for main(): 77 where there is no GPU, or no permission */
int sums_exit(const char *program, const ks_error *err);

#endif
