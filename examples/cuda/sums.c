#include "sums.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    MOST_BLOCKS = 2048
};

static gpu_ptr from, to;

ks_status sums_prepare(unsigned count, ks_error *err)
{
    float *zeros = calloc(count, sizeof *zeros);
    if (zeros == NULL) {
        return ks_fail(err, KS_ENOMEM, "sums", 0, "out of memory");
    }
    if (gpu_load(COMPILED_PTX, NULL) != KS_OK) { /* not compiled here, or too new for the driver */
        gpu_load(SHIPPED_PTX, err);
    }
    if (err->code == KS_OK && gpu_alloc(&from, count * sizeof(float), err) == KS_OK &&
        gpu_alloc(&to, MOST_BLOCKS * sizeof(float), err) == KS_OK) {
        gpu_copy_in(from, zeros, count * sizeof(float), err);
    }
    free(zeros);
    return err->code;
}

ks_status sums_start(unsigned n, unsigned blocks, void *stream, ks_error *err)
{
    gpu_shape shape = {blocks, 1, 256, 1};
    return gpu_start("reduce_wide", shape, to, from, n, stream, err);
}

void sums_measure(const char *title, ks_plan *plan, ks_body_fn body, bool kernels, ks_error *err)
{
    ks_results *results = NULL;
    ks_print_options options = KS_PRINT_OPTIONS_INIT;
    options.launches = kernels;
    if (err->code == KS_OK) {
        ks_run(plan, body, NULL, &results, err);
    }
    if (results != NULL) {
        printf("\n%s\n", title);
        ks_results_print(results, stdout, &options, err);
    }
    ks_results_free(results);
}

int sums_exit(const char *program, const ks_error *err)
{
    if (err->code == KS_OK) {
        return 0;
    }
    fprintf(stderr, "%s: %s\n", program, err->message);
    return err->code == KS_UNAVAILABLE || err->code == KS_EPERM ? 77 : 1;
}
