/*
 * A zoo of kernels, to be measured by ncu and by kernsight: compare_ncu.sh.
 *
 *     gpu_zoo list                     the kernels: label,name, in the order of their launches
 *     gpu_zoo plain ROUNDS             launches them; for ncu
 *     gpu_zoo swept ROUNDS             the same, and reads 128 MiB before each: kernel "sweep"
 *     gpu_zoo kernsight METRICS RUNS   measures them: CSV of kernel, metric, value (median), unit
 *
 * METRICS is a file as common_metrics.txt.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "measure.h"

#define MIB ((size_t)1 << 20)

enum {
    SIDE = 1024,
    WIDE = 4096,
    LINE = 256
};

static struct {
    gt_ptr a, b, c; /* 16 Mi floats each: inputs, output */
    gt_ptr other;   /* 128 MiB of zeros */
} memory;

static void vadd_small(void)
{
    gt_vadd(memory.c, memory.a, memory.b, MIB);
}

static void vadd_large(void)
{
    gt_vadd(memory.c, memory.a, memory.b, 16 * MIB);
}

static void matmul_naive(void)
{
    gt_matmul_naive(memory.c, memory.a, memory.b, SIDE);
}

static void matmul_tiled(void)
{
    gt_matmul_tiled(memory.c, memory.a, memory.b, SIDE);
}

static void reduce(void)
{
    gt_reduce(memory.c, memory.a, 1056, 16 * MIB);
}

static void transpose_naive(void)
{
    gt_transpose("transpose_naive", memory.c, memory.a, WIDE);
}

static void transpose_shared(void)
{
    gt_transpose("transpose_shared", memory.c, memory.a, WIDE);
}

static void transpose_padded(void)
{
    gt_transpose("transpose_padded", memory.c, memory.a, WIDE);
}

static void spin(void)
{
    gt_spin(memory.c, 200000);
}

static const struct {
    const char *label, *name;
    void (*launch)(void);
} zoo[] = {
    {"vadd-1M", "vadd", vadd_small},
    {"vadd-16M", "vadd", vadd_large},
    {"matmul-naive-1024", "matmul_naive", matmul_naive},
    {"matmul-tiled-1024", "matmul_tiled", matmul_tiled},
    {"reduce-16M", "reduce", reduce},
    {"transpose-naive-4096", "transpose_naive", transpose_naive},
    {"transpose-shared-4096", "transpose_shared", transpose_shared},
    {"transpose-padded-4096", "transpose_padded", transpose_padded},
    {"spin-200k", "spin", spin},
};
#define KERNELS (sizeof zoo / sizeof zoo[0])

static int list(void)
{
    for (size_t i = 0; i < KERNELS; i++) {
        printf("%s,%s\n", zoo[i].label, zoo[i].name);
    }
    return 0;
}

static int plain(unsigned rounds, bool swept)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < KERNELS; i++) {
            if (swept) {
                gt_sweep(memory.c, memory.other, 8 * MIB);
            }
            zoo[i].launch();
            gt_sync();
        }
    }
    return 0;
}

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    for (size_t i = 0; i < KERNELS; i++) {
        KS_ANNOTATE(zoo[i].label) {
            zoo[i].launch();
        }
        gt_sync();
    }
    return KS_OK;
}

static void print_rows(const ks_results *results)
{
    const ks_table *table = ks_results_table(results);
    size_t value = ks_table_find(table, "Median");
    size_t annotation = ks_table_find(table, "Annotation");
    size_t metric = ks_table_find(table, "Metric");
    size_t unit = ks_table_find(table, "Unit");
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        const char *of = ks_table_text(table, row, unit);
        printf("%s,%s,", ks_table_text(table, row, annotation), ks_table_text(table, row, metric));
        if (ks_table_valid(table, row, value)) {
            printf("%.17g", ks_table_number(table, row, value));
        }
        printf(",%s\n", of == NULL ? "" : of);
    }
}

/* One run for a group of metrics, "a,b,c". False if it failed: said on stderr. */
static bool measure_group(const char *metrics, uint32_t runs)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = metrics, .runs = runs, .warmup = 1};
    ks_results *results = gt_measure(&options, body, NULL, &err);
    if (results != NULL) {
        print_rows(results);
        fflush(stdout);
    }
    if (err.code != KS_OK) {
        fprintf(stderr, "gpu_zoo: %s\n    in: %s\n", err.message, metrics);
    }
    ks_results_free(results);
    return err.code == KS_OK;
}

/* Each group of the file; a group ends at a blank line. */
static int measure(FILE *file, uint32_t runs)
{
    char group[64 * LINE] = "";
    char line[LINE];
    size_t used = 0;
    bool good = true;
    puts("kernel,metric,value,unit");
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, file) != NULL;
        line[more ? strcspn(line, "\r\n") : 0] = '\0';
        if (line[0] != '\0' && line[0] != '#' && used + strlen(line) + 2 < sizeof group) {
            used += (size_t)snprintf(group + used, sizeof group - used, "%s%s", used > 0 ? "," : "",
                                     line);
        } else if (line[0] == '\0' && used > 0) {
            good = measure_group(group, runs) && good;
            used = 0;
        }
    }
    return good ? 0 : 1;
}

static int usage(void)
{
    fputs("usage: gpu_zoo list | plain ROUNDS | swept ROUNDS | kernsight METRICS RUNS\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "list") == 0) {
        return list();
    }
    bool swept = strcmp(mode, "swept") == 0;
    bool is_plain = swept || strcmp(mode, "plain") == 0;
    if (!(is_plain && argc == 3) && !(strcmp(mode, "kernsight") == 0 && argc == 4)) {
        return usage();
    }
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        fprintf(stderr, "gpu_zoo: %s\n", why);
        return 77;
    }
    memory.a = gt_floats(16 * MIB);
    memory.b = gt_floats(16 * MIB);
    memory.c = gt_alloc(64 * MIB);
    if (is_plain) {
        memory.other = gt_alloc(128 * MIB);
        gt_clear(memory.other, 128 * MIB);
        return plain((unsigned)strtoul(argv[2], NULL, 10), swept);
    }
    FILE *file = fopen(argv[2], "r");
    if (file == NULL) {
        perror(argv[2]);
        return 1;
    }
    int status = measure(file, (uint32_t)strtoul(argv[3], NULL, 10));
    fclose(file);
    return status;
}
