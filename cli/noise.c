/* kernsight doctor --noise: measure, report. */
#include "noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    KERNEL_NS = 1000000,
    WARMUP = 20,
    MIN_PAIRS = 40
};

/* Arithmetic alone, in registers: what varies is the machine. */
static uint64_t spin(uint64_t steps)
{
    uint64_t x = 88172645463325252u;
    for (uint64_t i = 0; i < steps; i++) {
        x ^= x << 13; /* Marsaglia (2003) */
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static volatile uint64_t sink;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The least of several timings: one alone may have been interrupted. */
static double least_ns(uint64_t steps)
{
    double least = INFINITY;
    for (int i = 0; i < 5; i++) {
        double start = now_ns();
        sink = spin(steps);
        least = fmin(least, now_ns() - start);
    }
    return least;
}

/* Steps that take about KERNEL_NS. */
static uint64_t calibrate(void)
{
    uint64_t steps = 1000;
    double taken = least_ns(steps);
    while (taken < KERNEL_NS / 2.0) {
        steps *= 2;
        taken = least_ns(steps);
    }
    return (uint64_t)((double)steps * KERNEL_NS / taken) + 1;
}

/* The kernel as "a" and as "b". Who comes first is drawn: in a regular turn one side could meet the
 * machine's own beats, such as the timer's, more often than the other. */
static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    uint64_t steps = *(const uint64_t *)user;
    bool swap = (spin(ks_call_run(call) + 8) & 1) == 1;
    (void)err;
    for (int i = 0; i < 2; i++) {
        KS_ANNOTATE((i == 0) == swap ? "b" : "a") {
            sink = spin(steps);
        }
    }
    return KS_OK;
}

/* The samples of an annotation, in the order of the runs. */
static void copy_samples(const ks_table *samples, const char *annotation, double *to)
{
    size_t name = ks_table_find(samples, "Annotation");
    size_t run = ks_table_find(samples, "Run");
    size_t value = ks_table_find(samples, "Value");
    for (size_t row = 0; row < ks_table_rows(samples); row++) {
        if (strcmp(ks_table_text(samples, row, name), annotation) == 0) {
            to[ks_table_get(samples, row, run).as.i64] = ks_table_number(samples, row, value);
        }
    }
}

static ks_status judge(const ks_results *results, size_t pairs, noise_report *out, ks_error *err)
{
    ks_table *samples = NULL;
    double *times = calloc(2 * pairs, sizeof *times);
    if (times == NULL) {
        return ks_fail(err, KS_ENOMEM, "cli", 0, "out of memory");
    }
    ks_status status = ks_results_samples(results, &samples, err);
    if (status == KS_OK) {
        copy_samples(samples, "a", times);
        copy_samples(samples, "b", times + pairs);
        status = judge_noise(times, times + pairs, pairs, out, err);
    }
    ks_table_free(samples);
    free(times);
    return status;
}

/* A line on a terminal, rewritten now and then: seldom, for it is work on the machine too. */
typedef struct shown {
    double seconds; /* that it is to take */
    double last_s;
} shown;

static void show(const ks_progress *now, void *user)
{
    shown *s = user;
    if (now->phase == KS_PHASE_END) {
        fputs("\r\033[K", stderr);
    } else if (now->elapsed_s - s->last_s >= 1.0 || now->phase == KS_PHASE_START) {
        s->last_s = now->elapsed_s;
        fprintf(stderr, "\r\033[Kmeasuring this machine: %.0f s of about %.0f s", now->elapsed_s,
                s->seconds);
    }
    fflush(stderr);
}

static bool can_rewrite(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && term != NULL && strcmp(term, "dumb") != 0;
}

static ks_status measure(double seconds, noise_report *out, ks_error *err)
{
    uint64_t steps = calibrate();
    double pairs = seconds * 1e9 / (2.0 * KERNEL_NS);
    uint32_t runs = pairs < MIN_PAIRS ? MIN_PAIRS : pairs < 1e7 ? (uint32_t)pairs : 10000000;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_plan_new(&plan, err);
    ks_plan_runs(plan, runs, err);
    ks_plan_warmup(plan, WARMUP, err);
    shown line = {.seconds = seconds};
    if (can_rewrite()) {
        ks_plan_progress(plan, show, &line, err);
    }
    ks_status status = ks_run(plan, body, &steps, &results, err);
    if (status == KS_OK) {
        status = judge(results, runs, out, err);
    }
    ks_results_free(results);
    ks_plan_free(plan);
    return status;
}

static void print_group(const noise_group *g)
{
    if (g->comparisons == 0) {
        printf("  %3zu runs     not enough time: take more seconds\n", g->runs);
        return;
    }
    printf("  %3zu runs  %9.2f %%   in turn %zu, one after the other %zu, of %zu\n", g->runs,
           g->difference_pct, g->alarms, g->alarms_later, g->comparisons);
}

static void print_report(const noise_report *r)
{
    printf("a kernel of %.2f ms against itself, %zu pairs\n", r->kernel_ns / 1e6, r->pairs);
    printf("  spread       %.2f %% standard deviation, %.2f %% median deviation\n", r->spread_pct,
           r->mad_pct);
    printf("  slowest 1 %%  %.2f %% above the median or more\n", r->slow_pct);
    printf("  drift        %+.2f %% from the first quarter to the last\n", r->drift_pct);
    puts("  compared by  shows at 80 %   false alarms");
    for (int i = 0; i < NOISE_GROUPS; i++) {
        print_group(&r->groups[i]);
    }
    if (!is_noisy(r)) {
        puts("this machine is quiet: 10 runs show 1 %, and equal kernels seem different rarely");
        return;
    }
    double load = 0.0;
    if (getloadavg(&load, 1) != 1) {
        load = 0.0;
    }
    puts("this machine is noisy; what may hurt:");
    if (print_noise_hints("", load, sysconf(_SC_NPROCESSORS_ONLN), stdout) == 0) {
        puts("  nothing that is known here; look for other work, thermal limits, interrupts");
    }
}

static void print_json(const noise_report *r)
{
    printf("{\"pairs\": %zu, \"kernel_ns\": %.1f, \"stddev_pct\": %.4f, \"mad_pct\": %.4f, "
           "\"p99_pct\": %.4f, \"drift_pct\": %.4f, \"noisy\": %s, \"comparisons\": [",
           r->pairs, r->kernel_ns, r->spread_pct, r->mad_pct, r->slow_pct, r->drift_pct,
           is_noisy(r) ? "true" : "false");
    for (int i = 0; i < NOISE_GROUPS; i++) {
        const noise_group *g = &r->groups[i];
        printf(
            "%s\n {\"runs\": %zu, \"comparisons\": %zu, \"alarms\": %zu, \"alarms_later\": %zu, ",
            i > 0 ? "," : "", g->runs, g->comparisons, g->alarms, g->alarms_later);
        if (isnan(g->difference_pct)) {
            fputs("\"difference_pct\": null}", stdout);
        } else {
            printf("\"difference_pct\": %.4f}", g->difference_pct);
        }
    }
    puts("]}");
}

int measure_noise(double seconds, bool json)
{
    ks_error err = KS_ERROR_INIT;
    noise_report report = {0};
    if (measure(seconds, &report, &err) != KS_OK) {
        return report_error(&err);
    }
    if (json) {
        print_json(&report);
    } else {
        print_report(&report);
    }
    return EXIT_OK;
}
