/* How often intervals hold the truth, and how often equal samples seem to differ: by simulation. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernsight/kernsight.h"
#include "run/stopping.h"
#include "stats/summary.h"

enum {
    MOST = 1000,
    KINDS = 4
};

static const char *const kinds[KINDS] = {"normal", "skewed", "heavy-tailed", "autocorrelated"};

static uint64_t state;

/* splitmix64 (Steele, Lea, Flood 2014), in (0, 1) */
static double uniform(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* n samples of mean 0 and deviation 1: lognormal with sigma 0.5, Student's t with 3 degrees of
 * freedom, a first-order autoregression with coefficient 0.5. */
static void draw(int kind, double *to, size_t n)
{
    double last = normal();
    for (size_t i = 0; i < n; i++) {
        double z = normal();
        if (kind == 1) {
            double mean = exp(0.125);
            z = (exp(0.5 * z) - mean) / (mean * sqrt(exp(0.25) - 1.0));
        } else if (kind == 2) {
            double a = normal();
            double b = normal();
            double c = normal();
            z /= sqrt((a * a + b * b + c * c) / 3.0) * sqrt(3.0);
        } else if (kind == 3) {
            z = last = 0.5 * last + sqrt(0.75) * z;
        }
        to[i] = z;
    }
}

static void check(ks_status status, const ks_error *err)
{
    if (status != KS_OK) {
        fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

/* Share of the intervals of n samples that hold the mean. */
static double fixed_coverage(int kind, size_t n, int rows)
{
    ks_quantiles quantiles = {0};
    double values[MOST];
    double scratch[MOST];
    int held = 0;
    for (int row = 0; row < rows; row++) {
        ks_summary s;
        draw(kind, values, n);
        ks_summarize(values, n, scratch, &quantiles, &s);
        held += s.ci_low <= 0.0 && s.ci_high >= 0.0;
    }
    return (double)held / rows;
}

/* Runs until the library's own rule stops. @return how many */
static size_t stop(const ks_plan *plan, const double *values)
{
    ks_error err = KS_ERROR_INIT;
    const ks_metric metric = {.name = "value"};
    ks_samples samples;
    ks_stopping stopping = {0};
    ks_samples_init(&samples, &metric, 1);
    while (stopping.stop == KS_STOP_NOT_YET) {
        uint32_t runs = ks_stopping_batch(&stopping, plan);
        check(ks_samples_start(&samples, runs, &err), &err);
        check(ks_samples_enter(&samples, 0, &err), &err);
        for (uint32_t run = 0; run < runs; run++) {
            ks_samples_presence(&samples, 0, run)->visits = 1;
            check(ks_samples_add(&samples, 0, run, 0, values[stopping.runs + run], 1.0, &err),
                  &err);
        }
        check(ks_stopping_add(&stopping, plan, &samples, 0.0, &err), &err);
        stopping.stop = ks_stopping_judge(&stopping, plan);
    }
    size_t n = stopping.runs;
    ks_stopping_fini(&stopping);
    ks_samples_fini(&samples);
    return n;
}

/* The same under the stopping rule, for a spread that needs about `runs` of them: mean 100, +- 1 %.
 */
static double stopped_coverage(int kind, double runs, int rows, double *taken)
{
    ks_error err = KS_ERROR_INIT;
    ks_quantiles quantiles = {0};
    ks_plan *plan = NULL;
    double values[MOST];
    double scratch[MOST];
    double deviation = sqrt(runs) / 1.96;
    int held = 0;
    *taken = 0.0;
    check(ks_plan_new(&plan, &err), &err);
    check(ks_plan_auto_runs(plan, NULL, &err), &err);
    for (int row = 0; row < rows; row++) {
        draw(kind, values, MOST);
        for (size_t i = 0; i < MOST; i++) {
            values[i] = 100.0 + deviation * values[i];
        }
        size_t n = stop(plan, values);
        ks_summary s;
        ks_summarize(values, n, scratch, &quantiles, &s);
        held += s.ci_low <= 100.0 && s.ci_high >= 100.0;
        *taken += (double)n / rows;
    }
    ks_plan_free(plan);
    return (double)held / rows;
}

typedef struct verdicts {
    double different; /* share of pairs of equal sets that are called faster or slower */
    double held;      /* share of the intervals that hold a ratio of 1 */
} verdicts;

static verdicts compare_equals(int kind, size_t n, int rows)
{
    ks_error err = KS_ERROR_INIT;
    double a[MOST];
    double b[MOST];
    verdicts v = {0};
    for (int row = 0; row < rows; row++) {
        ks_comparison c;
        draw(kind, a, n);
        draw(kind, b, n);
        for (size_t i = 0; i < n; i++) {
            a[i] = 100.0 + 5.0 * a[i];
            b[i] = 100.0 + 5.0 * b[i];
        }
        check(ks_compare_samples(a, n, b, n, NULL, &c, &err), &err);
        v.different += (c.verdict == KS_FASTER || c.verdict == KS_SLOWER) / (double)rows;
        v.held += (c.ratio_low <= 1.0 && c.ratio_high >= 1.0) / (double)rows;
    }
    return v;
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {3, 5, 10, 30, 100};
    static const double spreads[] = {5, 15, 30, 60, 150};
    int rows = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20000;
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            printf("fixed %s %zu %.4f\n", kinds[kind], counts[i],
                   fixed_coverage(kind, counts[i], rows));
        }
        for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
            double taken = 0.0;
            double held = stopped_coverage(kind, spreads[i], rows, &taken);
            printf("auto %s %.0f %.4f %.1f\n", kinds[kind], spreads[i], held, taken);
        }
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            verdicts v = compare_equals(kind, counts[i], rows);
            printf("equal %s %zu %.4f %.4f\n", kinds[kind], counts[i], v.different, v.held);
        }
    }
    return 0;
}
