/*
 * Three ways to multiply two n x n matrices, measured and compared.
 *
 *     matmul [-p n=64..512*2] [--runs N] [--csv F] [--json F] [--plot F.svg]
 *
 * The first table has the time and the GFLOP/s of each, the second how they stand to the naive one.
 */
#include <kernsight/kernsight.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 32,
    LARGEST = 4096
};

typedef void (*multiply_fn)(size_t n, const double *a, const double *b, double *c);

static void naive(size_t n, const double *a, const double *b, double *c)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < n; k++) {
                sum += a[i * n + k] * b[k * n + j]; /* strides through b: a cache line a step */
            }
            c[i * n + j] = sum;
        }
    }
}

static void loop_ordered(size_t n, const double *a, const double *b, double *c)
{
    memset(c, 0, n * n * sizeof *c);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            for (size_t j = 0; j < n; j++) {
                c[i * n + j] += a[i * n + k] * b[k * n + j];
            }
        }
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void blocked(size_t n, const double *a, const double *b, double *c)
{
    memset(c, 0, n * n * sizeof *c);
    for (size_t kk = 0; kk < n; kk += BLOCK) {
        for (size_t jj = 0; jj < n; jj += 8 * BLOCK) {
            for (size_t i = 0; i < n; i++) {
                for (size_t k = kk; k < smaller(kk + BLOCK, n); k++) {
                    for (size_t j = jj; j < smaller(jj + 8 * BLOCK, n); j++) {
                        c[i * n + j] += a[i * n + k] * b[k * n + j];
                    }
                }
            }
        }
    }
}

static const struct {
    const char *name;
    multiply_fn multiply;
} ways[] = {{"naive", naive}, {"loop-ordered", loop_ordered}, {"blocked", blocked}};

typedef struct matrices {
    double *a, *b, *c, *expected;
} matrices;

/* The same sums in another order: equal but for rounding. */
static bool right(size_t n, const double *c, const double *expected)
{
    for (size_t i = 0; i < n * n; i++) {
        if (!(fabs(c[i] - expected[i]) <= 1e-9 * (fabs(expected[i]) + 1.0))) {
            return false;
        }
    }
    return true;
}

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    const matrices *m = user;
    int64_t size = ks_call_i64(call, "n");
    if (size < 1 || size > LARGEST) {
        return ks_fail(err, KS_EBODY, "matmul", 0, "n must be from 1 to %d", LARGEST);
    }
    size_t n = (size_t)size;
    for (size_t i = 0; i < n * n; i++) {
        m->a[i] = (double)(i % 7) - 3.0;
        m->b[i] = (double)(i % 11) / 11.0;
    }
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        KS_ANNOTATE(ways[w].name) {
            ways[w].multiply(n, m->a, m->b, m->c);
        }
        if (w == 0) {
            memcpy(m->expected, m->c, n * n * sizeof *m->c);
        } else if (!right(n, m->c, m->expected)) {
            return ks_fail(err, KS_EBODY, "matmul", 0, "%s gives a wrong product", ways[w].name);
        }
    }
    return KS_OK;
}

static ks_status gflops(ks_derivation *derivation, const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    double n = ks_call_f64(call, "n");
    double ns = 0.0;
    ks_status status = ks_derivation_metric(derivation, "cpu__time_duration.sum", &ns, err);
    return status != KS_OK
               ? status
               : ks_derivation_set(derivation, NULL, 2.0 * n * n * n / ns, "GFLOP/s", err);
}

/* Where results go, beside the terminal; NULL: nowhere. */
typedef struct outputs {
    const char *csv, *json, *plot;
} outputs;

/* Measure the plan and show it; then once more, against the naive way. */
static void measure(ks_plan *plan, matrices *m, const outputs *to, ks_error *err)
{
    static const char *const both[] = {"cpu__time_duration.sum", "gflops"};
    ks_results *results = NULL;
    ks_plot_options plot = KS_PLOT_OPTIONS_INIT;
    plot.metrics = both;
    plot.metric_count = 2;
    if (to->plot != NULL && ks_plot_check(plan, body, to->plot, &plot, err) != KS_OK) {
        return; /* before minutes are spent on it */
    }
    ks_run(plan, body, m, &results, err);
    if (results != NULL) {
        ks_results_print(results, stdout, NULL, err);
    }
    if (results != NULL && to->csv != NULL) {
        ks_results_write_csv(results, to->csv, err);
    }
    if (results != NULL && to->json != NULL) {
        ks_results_write_json(results, to->json, err);
    }
    if (results != NULL && to->plot != NULL) {
        ks_results_plot(results, to->plot, &plot, err);
    }
    ks_results_free(results);

    ks_plan_normalize(plan, "naive", err);
    ks_run(plan, body, m, &results, err);
    if (results != NULL) {
        puts("");
        ks_results_print(results, stdout, NULL, err);
    }
    ks_results_free(results);
}

int main(int argc, char **argv)
{
    const char *sizes = "n=64..512*2";
    outputs to = {NULL, NULL, NULL};
    uint32_t runs = 10;
    for (int i = 1; i + 1 < argc; i += 2) {
        sizes = strcmp(argv[i], "-p") == 0 ? argv[i + 1] : sizes;
        to.csv = strcmp(argv[i], "--csv") == 0 ? argv[i + 1] : to.csv;
        to.json = strcmp(argv[i], "--json") == 0 ? argv[i + 1] : to.json;
        to.plot = strcmp(argv[i], "--plot") == 0 ? argv[i + 1] : to.plot;
        runs = strcmp(argv[i], "--runs") == 0 ? (uint32_t)strtoul(argv[i + 1], NULL, 10) : runs;
    }
    size_t room = (size_t)LARGEST * LARGEST;
    matrices m = {malloc(room * sizeof(double)), malloc(room * sizeof(double)),
                  malloc(room * sizeof(double)), malloc(room * sizeof(double))};
    ks_plan *plan = NULL;
    ks_error err = KS_ERROR_INIT;
    if (m.a == NULL || m.b == NULL || m.c == NULL || m.expected == NULL) {
        ks_fail(&err, KS_ENOMEM, "matmul", 0, "out of memory");
    }
    ks_plan_new(&plan, &err);
    ks_plan_axis_spec(plan, sizes, &err);
    ks_plan_runs(plan, runs, &err);
    ks_plan_metric(plan, "cpu__time_duration.sum", &err);
    ks_plan_derive(plan, "gflops", gflops, NULL, &err);
    if (err.code == KS_OK) {
        measure(plan, &m, &to, &err);
    }
    if (err.code != KS_OK) {
        fprintf(stderr, "matmul: %s\n", err.message);
    }
    ks_plan_free(plan);
    free(m.a);
    free(m.b);
    free(m.c);
    free(m.expected);
    return err.code == KS_OK ? 0 : 1;
}
