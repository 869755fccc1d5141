/*
 * What it costs to measure on a GPU. Work: an FP32 matmul of four sizes, inputs made before; a call
 * is one launch, synchronised. All times are of the sweep alone, in seconds.
 *
 *     bench_gpu plain CALLS               the calls for each size, unprofiled: first sweep, second
 *     bench_gpu kernsight METRICS RUNS    one line "first S" and so on: see print_sweeps()
 *     bench_gpu configs METRICS RUNS N... time per config of a sweep of N configs, for each N
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "gpu.h"
#include "measure.h"

#define LARGEST ((size_t)4096)

enum {
    SWEEPS = 3,
    VADD = 1 << 16
};

static const unsigned sizes[] = {1024, 2048, 3072, 4096};
static const char sizes_axis[] = "n=1024,2048,3072,4096";

static struct {
    gt_ptr a, b, c;
    unsigned calls;
} work;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int plain(unsigned calls)
{
    for (unsigned sweep = 0; sweep < 2; sweep++) {
        double start = now();
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (unsigned call = 0; call < calls; call++) {
                gt_matmul_fast(work.c, work.a, work.b, sizes[i]);
                gt_sync();
            }
        }
        printf("%s %.6f\n", sweep == 0 ? "first" : "again", now() - start);
    }
    return 0;
}

static ks_status matmul_body(const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    (void)err;
    unsigned n = (unsigned)ks_call_i64(call, "n");
    KS_ANNOTATE("matmul") {
        gt_matmul_fast(work.c, work.a, work.b, n);
        gt_sync();
    }
    work.calls++;
    return KS_OK;
}

static int failed(const ks_error *err)
{
    printf("failed %s\n", err->message);
    return 1;
}

static double max_rss_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

/* The same plan several times: "first" has what is paid once; "calls" is of one size. */
static int kernsight(const char *metrics, uint32_t runs)
{
    gt_options options = {.metrics = metrics, .axis = sizes_axis, .runs = runs, .warmup = 1};
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++) {
        ks_error err = KS_ERROR_INIT;
        work.calls = 0;
        double start = now();
        ks_results *results = gt_measure(&options, matmul_body, NULL, &err);
        double seconds = now() - start;
        if (err.code != KS_OK) {
            ks_results_free(results);
            return failed(&err);
        }
        printf("%s %.6f\n", sweep == 0 ? "first" : "again", seconds);
        if (sweep == 0) {
            printf("calls %zu\n", work.calls / (sizeof sizes / sizeof sizes[0]));
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                printf("ns%u %.0f\n", sizes[i],
                       gt_value_at(results, "matmul", "gpu__time_duration.sum", i));
            }
        }
        ks_results_free(results);
    }
    printf("rss_mib %.0f\n", max_rss_mib());
    return 0;
}

static ks_status vadd_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    KS_ANNOTATE("vadd") {
        gt_vadd(work.c, work.a, work.b, VADD);
        gt_sync();
    }
    return KS_OK;
}

/* Seconds per config; negative if it failed. The results are read, as a user would. */
static double per_config(const char *metrics, uint32_t runs, unsigned long n)
{
    char axis[64];
    ks_error err = KS_ERROR_INIT;
    snprintf(axis, sizeof axis, "i=1..%lu", n);
    gt_options options = {.metrics = metrics, .axis = axis, .runs = runs, .warmup = 1};
    double start = now();
    ks_results *results = gt_measure(&options, vadd_body, NULL, &err);
    double seconds = now() - start;
    if (err.code != KS_OK) {
        failed(&err);
    }
    ks_results_free(results);
    return err.code == KS_OK ? seconds / (double)n : -1.0;
}

static int configs(int argc, char **argv)
{
    const char *metrics = argv[2];
    uint32_t runs = (uint32_t)strtoul(argv[3], NULL, 10);
    if (per_config(metrics, runs, 10) < 0.0) { /* what is paid once */
        return 1;
    }
    for (int i = 4; i < argc; i++) {
        double seconds = per_config(metrics, runs, strtoul(argv[i], NULL, 10));
        if (seconds < 0.0) {
            return 1;
        }
        printf("per_config%s %.9f\n", argv[i], seconds);
    }
    printf("rss_mib %.0f\n", max_rss_mib());
    return 0;
}

static int usage(void)
{
    fputs("usage: bench_gpu plain CALLS | kernsight METRICS RUNS | configs METRICS RUNS N...\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    bool is_plain = strcmp(mode, "plain") == 0 && argc == 3;
    bool is_kernsight = strcmp(mode, "kernsight") == 0 && argc == 4;
    if (!is_plain && !is_kernsight && !(strcmp(mode, "configs") == 0 && argc > 4)) {
        return usage();
    }
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        printf("failed %s\n", why);
        return 77;
    }
    work.a = gt_floats(LARGEST * LARGEST);
    work.b = gt_floats(LARGEST * LARGEST);
    work.c = gt_alloc(LARGEST * LARGEST * 4);
    if (is_plain) {
        return plain((unsigned)strtoul(argv[2], NULL, 10));
    }
    return is_kernsight ? kernsight(argv[2], (uint32_t)strtoul(argv[3], NULL, 10))
                        : configs(argc, argv);
}
