/*
 * Samples to a table with every statistic, and a table to CSV.
 *
 *     bench_tables samples CONFIGS METRICS RUNS FILE   seconds and bytes per sample; values to FILE
 *     bench_tables csv ROWS FILE                       seconds for ten columns
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/plan.h"
#include "results/results.h"

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Values like those of timings: skewed, positive, the same in every process. */
static double next_value(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    double uniform = (double)(*state >> 11) / 9007199254740992.0;
    return 1e6 * (1.0 - 0.05 * log(1.0 - uniform));
}

/* Bytes in use, those of large blocks included. */
static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void check(ks_status status, const ks_error *err)
{
    if (status != KS_OK) {
        fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

/* All samples of one config, as collectors give them. */
static void fill(ks_samples *samples, uint32_t runs, uint32_t metrics, uint64_t *state, FILE *file)
{
    ks_error err = KS_ERROR_INIT;
    check(ks_samples_start(samples, runs, &err), &err);
    check(ks_samples_enter(samples, 0, &err), &err);
    for (uint32_t run = 0; run < runs; run++) {
        ks_samples_presence(samples, 0, run)->visits = 1;
        for (uint32_t m = 0; m < metrics; m++) {
            double value = next_value(state);
            check(ks_samples_add(samples, 0, run, m, value, 1.0, &err), &err);
            fwrite(&value, sizeof value, 1, file);
        }
    }
}

static int bench_samples(uint32_t configs, uint32_t metric_count, uint32_t runs, const char *path)
{
    ks_error err = KS_ERROR_INIT;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_samples samples;
    ks_ledger ledger;
    ks_info_values none = {0};
    const char *const paths[] = {"region"};
    ks_metric *metrics = calloc(metric_count, sizeof *metrics);
    char(*names)[32] = calloc(metric_count, sizeof *names);
    FILE *file = fopen(path, "wb");
    if (metrics == NULL || names == NULL || file == NULL) {
        return 1;
    }
    for (uint32_t m = 0; m < metric_count; m++) {
        snprintf(names[m], sizeof names[m], "metric%u", m);
        metrics[m] = (ks_metric){.name = names[m], .unit = "ns", .source = "bench", .passes = 1};
    }
    char spec[64];
    snprintf(spec, sizeof spec, "n=1..%u", configs);
    check(ks_plan_new(&plan, &err), &err);
    check(ks_plan_axis_spec(plan, spec, &err), &err);
    check(ks_results_new(plan, configs, metrics, metric_count, &results, &err), &err);
    ks_samples_init(&samples, metrics, metric_count);
    ks_ledger_init(&ledger);
    uint64_t state = 42;
    double taken = 0.0;
    size_t before = allocated();
    for (uint32_t config = 0; config < configs; config++) {
        fill(&samples, runs, metric_count, &state, file);
        const ks_batch batch = {.config = config,
                                .stop = KS_STOP_RUNS,
                                .succeeded = true,
                                .samples = &samples,
                                .ledger = &ledger,
                                .once = &none,
                                .infos = &none,
                                .paths = paths};
        double start = now_s();
        check(ks_results_batch_done(results, &batch, &err), &err);
        taken += now_s() - start;
    }
    size_t kept = allocated() - before;
    const ks_run_notes notes = {.complete = true};
    double start = now_s();
    check(ks_results_finish(results, &notes, &err), &err);
    taken += now_s() - start;
    double count = (double)configs * metric_count * runs;
    printf("%.4f %.1f\n", taken, (double)kept / count);
    fclose(file);
    ks_samples_fini(&samples);
    ks_ledger_fini(&ledger);
    ks_results_free(results);
    ks_plan_free(plan);
    free(metrics);
    free(names);
    return 0;
}

static int bench_csv(size_t rows, const char *path)
{
    ks_error err = KS_ERROR_INIT;
    ks_table *t = NULL;
    uint64_t state = 42;
    static const char *const texts[] = {"naive", "loop-ordered", "blocked", "with, comma"};
    check(ks_table_new(&t, &err), &err);
    for (int c = 0; c < 10; c++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", c);
        ks_type type = c < 6 ? KS_F64 : c < 8 ? KS_I64 : KS_TEXT;
        check(ks_table_add_column(t, name, type, KS_ROLE_PLAIN, NULL, &err), &err);
    }
    check(ks_table_add_rows(t, rows, &err), &err);
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < 6; c++) {
            ks_table_set_f64(t, row, c, next_value(&state));
        }
        ks_table_set_i64(t, row, 6, (int64_t)row);
        ks_table_set_i64(t, row, 7, (int64_t)(state >> 32));
        check(ks_table_set_text(t, row, 8, texts[row % 4], &err), &err);
        check(ks_table_set_text(t, row, 9, texts[row / 4 % 4], &err), &err);
    }
    double start = now_s();
    check(ks_table_write_csv(t, path, &err), &err);
    printf("%.4f\n", now_s() - start);
    ks_table_free(t);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "samples") == 0) {
        return bench_samples((uint32_t)strtoul(argv[2], NULL, 10),
                             (uint32_t)strtoul(argv[3], NULL, 10),
                             (uint32_t)strtoul(argv[4], NULL, 10), argv[5]);
    }
    if (argc == 4 && strcmp(argv[1], "csv") == 0) {
        return bench_csv(strtoul(argv[2], NULL, 10), argv[3]);
    }
    fprintf(stderr, "usage: bench_tables samples CONFIGS METRICS RUNS FILE | csv ROWS FILE\n");
    return 2;
}
