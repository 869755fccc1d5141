/*
 * How memory is accessed decides how fast a GPU is: transposes and sums in three ways each, with
 * the bytes that DRAM moved, the conflicts in shared memory, and the useful GB/s.
 *
 *     access [-p n=1024..4096*2] [--runs N] [--csv F] [--plot F.svg]
 *
 * For each task there are two tables: what was measured, and how the ways stand to the naive one.
 * The files are of the transposes.
 */
#include "gpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST = 4096,
    BLOCKS = 1056 /* of reduce_wide, some for each multiprocessor */
};

static struct {
    float *host, *back; /* LARGEST * LARGEST each, as the GPU's */
    gpu_ptr from, to;
} memory;

/* Small whole numbers: sums of them are exact in any order. */
static float input(size_t i)
{
    return (float)((int)(i % 7) - 3);
}

static ks_status prepare(ks_error *err)
{
    size_t count = (size_t)LARGEST * LARGEST;
    memory.host = malloc(count * sizeof(float));
    memory.back = malloc(count * sizeof(float));
    if (memory.host == NULL || memory.back == NULL) {
        return ks_fail(err, KS_ENOMEM, "access", 0, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        memory.host[i] = input(i);
    }
    if (gpu_open(err) != KS_OK) {
        return err->code;
    }
    if (gpu_load(COMPILED_PTX, NULL) != KS_OK) { /* not compiled here, or too new for the driver */
        gpu_load(SHIPPED_PTX, err);
    }
    if (err->code == KS_OK && gpu_alloc(&memory.from, count * sizeof(float), err) == KS_OK &&
        gpu_alloc(&memory.to, count * sizeof(float), err) == KS_OK) {
        gpu_copy_in(memory.from, memory.host, count * sizeof(float), err);
    }
    return err->code;
}

static ks_status side(const ks_call *call, unsigned *out, ks_error *err)
{
    int64_t n = ks_call_i64(call, "n");
    if (n < 32 || n > LARGEST || n % 32 != 0) {
        return ks_fail(err, KS_EBODY, "access", 0, "n must be a multiple of 32, from 32 to %d",
                       LARGEST);
    }
    *out = (unsigned)n;
    return KS_OK;
}

/* ---- the two tasks --------------------------------------------------------------------------- */

static ks_status check_transpose(const char *kernel, unsigned n, ks_error *err)
{
    size_t count = (size_t)n * n;
    gpu_copy_out(memory.back, memory.to, count * sizeof(float), err);
    for (size_t i = 0; err->code == KS_OK && i < count; i++) {
        if (memory.back[i] != input(i % n * n + i / n)) {
            return ks_fail(err, KS_EBODY, "access", 0, "%s is wrong", kernel);
        }
    }
    return err->code;
}

static ks_status transposes(const ks_call *call, void *user, ks_error *err)
{
    static const struct {
        const char *name, *kernel;
    } ways[] = {{"naive", "transpose_naive"},
                {"shared", "transpose_shared"},
                {"padded", "transpose_padded"}};
    (void)user;
    unsigned n = 0;
    if (side(call, &n, err) != KS_OK) {
        return err->code;
    }
    gpu_shape shape = {n / 32, n / 32, 32, 32};
    for (size_t w = 0; err->code == KS_OK && w < sizeof ways / sizeof ways[0]; w++) {
        KS_ANNOTATE(ways[w].name) {
            gpu_launch(ways[w].kernel, shape, memory.to, memory.from, n, err);
        }
        if (ks_call_is_warmup(call)) { /* once a config is enough */
            check_transpose(ways[w].kernel, n, err);
        }
    }
    return err->code;
}

static ks_status check_sum(const char *kernel, unsigned blocks, size_t count, ks_error *err)
{
    double sum = 0.0;
    double expected = 0.0;
    gpu_copy_out(memory.back, memory.to, blocks * sizeof(float), err);
    for (size_t i = 0; i < blocks; i++) {
        sum += (double)memory.back[i];
    }
    for (size_t i = 0; i < count; i++) {
        expected += (double)input(i);
    }
    return err->code == KS_OK && sum != expected
               ? ks_fail(err, KS_EBODY, "access", 0, "%s is wrong: %g, not %g", kernel, sum,
                         expected)
               : err->code;
}

static ks_status sums(const ks_call *call, void *user, ks_error *err)
{
    static const struct {
        const char *name, *kernel;
        unsigned blocks; /* 0: an element a thread */
    } ways[] = {{"strided", "reduce_strided", 0},
                {"halves", "reduce_halves", 0},
                {"wide", "reduce_wide", BLOCKS}};
    (void)user;
    unsigned n = 0;
    if (side(call, &n, err) != KS_OK) {
        return err->code;
    }
    for (size_t w = 0; err->code == KS_OK && w < sizeof ways / sizeof ways[0]; w++) {
        unsigned blocks = ways[w].blocks > 0 ? ways[w].blocks : (n * n + 255) / 256;
        gpu_shape shape = {blocks, 1, 256, 1};
        KS_ANNOTATE(ways[w].name) {
            gpu_launch(ways[w].kernel, shape, memory.to, memory.from, n * n, err);
        }
        if (ks_call_is_warmup(call)) {
            check_sum(ways[w].kernel, blocks, (size_t)n * n, err);
        }
    }
    return err->code;
}

/* ---- what is measured ------------------------------------------------------------------------ */

typedef struct task {
    const char *title, *naive;
    ks_body_fn body;
    double bytes; /* that must be moved for each element */
} task;

static const task tasks[] = {
    {"transpose of n x n floats", "naive", transposes, 8.0},
    {"sum of n x n floats", "strided", sums, 4.0},
};

static const char time_metric[] = "gpu__time_duration.sum";
static const char conflicts[] = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
static const char *const details[] = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    conflicts,
};

/* Bytes per ns are GB/s. */
static ks_status useful(ks_derivation *derivation, const ks_call *call, void *user, ks_error *err)
{
    const task *of = user;
    double n = ks_call_f64(call, "n");
    double ns = 0.0;
    ks_status status = ks_derivation_metric(derivation, time_metric, &ns, err);
    return status != KS_OK
               ? status
               : ks_derivation_set(derivation, NULL, of->bytes * n * n / ns, "GB/s", err);
}

typedef struct options {
    const char *sizes, *csv, *plot;
    uint32_t runs;
} options;

/* Measure one task and print it; against its naive way, time and GB/s only. */
static void measure(const task *of, const options *with, bool against_naive, ks_error *err)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_plan_new(&plan, err);
    ks_plan_axis_spec(plan, with->sizes, err);
    ks_plan_runs(plan, with->runs, err);
    ks_plan_metric(plan, time_metric, err);
    for (size_t i = 0; !against_naive && i < sizeof details / sizeof details[0]; i++) {
        ks_plan_metric(plan, details[i], err);
    }
    ks_plan_derive(plan, "useful", useful, (void *)of, err);
    if (against_naive) {
        ks_plan_normalize(plan, of->naive, err);
    }
    ks_run(plan, of->body, NULL, &results, err);
    if (results != NULL) {
        printf("\n%s%s%s\n", of->title, against_naive ? ", against " : "",
               against_naive ? of->naive : "");
        ks_results_print(results, stdout, NULL, err);
    }
    bool files = results != NULL && !against_naive && of == &tasks[0];
    if (files && with->csv != NULL) {
        ks_results_write_csv(results, with->csv, err);
    }
    if (files && with->plot != NULL) {
        const char *const metrics[] = {"useful", conflicts};
        ks_plot_options plot = KS_PLOT_OPTIONS_INIT;
        plot.metrics = metrics;
        plot.metric_count = 2;
        ks_results_plot(results, with->plot, &plot, err);
    }
    ks_results_free(results);
    ks_plan_free(plan);
}

static bool take_option(const char *name, const char *value, options *with)
{
    if (strcmp(name, "-p") == 0) {
        with->sizes = value;
    } else if (strcmp(name, "--csv") == 0) {
        with->csv = value;
    } else if (strcmp(name, "--plot") == 0) {
        with->plot = value;
    } else if (strcmp(name, "--runs") == 0) {
        with->runs = (uint32_t)strtoul(value, NULL, 10);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    options with = {"n=1024..4096*2", NULL, NULL, 10};
    ks_error err = KS_ERROR_INIT;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !take_option(argv[i], argv[i + 1], &with)) {
            fprintf(stderr, "usage: access [-p n=1024..4096*2] [--runs N] [--csv F] [--plot F]\n");
            return 2;
        }
    }
    prepare(&err);
    for (size_t t = 0; err.code == KS_OK && t < sizeof tasks / sizeof tasks[0]; t++) {
        measure(&tasks[t], &with, false, &err);
        measure(&tasks[t], &with, true, &err);
    }
    if (err.code != KS_OK) {
        fprintf(stderr, "access: %s\n", err.message);
    }
    free(memory.host);
    free(memory.back);
    bool cannot = err.code == KS_UNAVAILABLE || err.code == KS_EPERM; /* no GPU, or no permission */
    return err.code == KS_OK ? 0 : cannot ? 77 : 1;
}
