/* Cases that users of other tools ran into (docs/testing.md), with kernels launched by the driver.
 */
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

extern char **environ;

#define MIB ((size_t)1 << 20)

static const char duration[] = "gpu__time_duration.sum";
static const char instructions[] = "smsp__inst_executed.sum";
static const char throughput[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
static const char reads[] = "dram__bytes_read.sum";
static const char traced[] = "kernel__time_duration.sum";

enum {
    N = 1 << 20,
    BLOCKS = 264,
    THREADS = 256,
    REPEATS = 2000
};

typedef struct memory {
    gt_ptr a, b, c;
} memory;

static memory data;

/* ---- C01: several kernels in one annotation ---------------------------------------------------
 */

static ks_status two_kernels(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    KS_ANNOTATE("two") {
        gt_vadd(data.c, data.a, data.b, N);
        gt_fma_chain(data.c, BLOCKS, THREADS, REPEATS);
        gt_fma_chain(data.c, BLOCKS, THREADS, REPEATS);
    }
    KS_ANNOTATE("vadd") {
        gt_vadd(data.c, data.a, data.b, N);
    }
    KS_ANNOTATE("chain") {
        gt_fma_chain(data.c, BLOCKS, THREADS, REPEATS);
    }
    gt_sync();
    return KS_OK;
}

static void several_kernels_are_refused_by_name(void)
{
    const char *const metrics[] = {instructions, traced};
    for (size_t i = 0; i < 2; i++) {
        ks_error err = KS_ERROR_INIT;
        gt_options options = {
            .metrics = metrics[i], .combine = KS_COMBINE_REFUSE, .ignore = "misspelt"};
        ks_results *results = gt_measure(&options, two_kernels, NULL, &err);
        TAP_CHECK(err.code == KS_ESTATE, "%s: %s, %g", metrics[i], ks_status_name(err.code),
                  gt_value(results, "two", metrics[i]));
        TAP_HAS(err.message, "'two' launched 3 kernels");
        TAP_HAS(err.message, "vadd 1x");
        TAP_HAS(err.message, "fma_chain 2x");
        TAP_HAS(err.message, "ks_plan_ignore_kernel()");
        TAP_HAS(err.message, "ks_plan_combine()");
        TAP_CHECK(gt_warned(results, "no kernel matched 'misspelt'"), "%s: no warning", metrics[i]);
        tap_note("it says: %s", err.message);
        ks_results_free(results);
    }
}

static void ignored_kernels_leave_the_others_value(void)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = instructions, .combine = KS_COMBINE_REFUSE, .ignore = "fma_*"};
    ks_results *results = gt_measure(&options, two_kernels, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "two", instructions), gt_value(results, "vadd", instructions));
    TAP_EXACT(gt_number(results, "two", instructions, "NumKernels"), 1);
    TAP_CHECK(gt_equal(gt_text(results, "two", instructions, "Kernel"), "vadd"), "it is %s",
              gt_shown(gt_text(results, "two", instructions, "Kernel")));
    TAP_CHECK(!gt_warned(results, "no kernel matched"), "fma_* matched nothing");
    ks_results_free(results);

    options.metrics = "kernel__count.sum";
    results = gt_measure(&options, two_kernels, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "two", "kernel__count.sum"), 1);
    ks_results_free(results);
}

static void a_pattern_that_matched_nothing_is_told(void)
{
    static const char *const metrics[] = {"smsp__inst_executed.sum", "kernel__count.sum"};
    for (size_t i = 0; i < 2; i++) {
        ks_error err = KS_ERROR_INIT;
        gt_options options = {.metrics = metrics[i], .ignore = "no_such_kernel*"};
        ks_results *results = gt_measure(&options, two_kernels, NULL, &err);
        TAP_CHECK(err.code == KS_OK, "%s", err.message);
        TAP_CHECK(gt_warned(results, "no kernel matched 'no_such_kernel*'"), "%s: no warning",
                  metrics[i]);
        ks_results_free(results);
    }
}

static ks_status add_up(double sum, double next, double *out, void *user, ks_error *err)
{
    (void)user;
    (void)err;
    *out = sum + next;
    return KS_OK;
}

/* Counts may be added; a share that was added is told (C16). */
static void a_callback_adds_what_it_is_told_to(void)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {
        .metrics = "gpu__time_duration.sum,smsp__inst_executed.sum,"
                   "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        .runs = 3,
        .warmup = 1,
        .combine_fn = add_up,
    };
    ks_results *results = gt_measure(&options, two_kernels, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_number(results, "two", duration, "NumKernels"), 3);
    TAP_EXACT(gt_value(results, "two", instructions),
              gt_value(results, "vadd", instructions) +
                  2 * gt_value(results, "chain", instructions));
    TAP_NEAR(gt_value(results, "two", duration),
             gt_value(results, "vadd", duration) + 2 * gt_value(results, "chain", duration), 0.1);
    TAP_NEAR(gt_value(results, "two", throughput),
             gt_value(results, "vadd", throughput) + 2 * gt_value(results, "chain", throughput),
             0.1);
    TAP_HAS(gt_text(results, "two", throughput, "Warnings"), "is in %");
    TAP_CHECK(gt_text(results, "two", instructions, "Warnings") == NULL, "a count is warned of: %s",
              gt_shown(gt_text(results, "two", instructions, "Warnings")));
    ks_results_free(results);
}

/* ---- C02: no kernel at all --------------------------------------------------------------------
 */

typedef enum idle {
    PASS,
    COPIES,
    OUTSIDE
} idle;

static ks_status launch_no_kernel(const ks_call *call, void *user, ks_error *err)
{
    const idle *what = user;
    (void)call;
    (void)err;
    KS_ANNOTATE("idle") {
        if (*what == COPIES) {
            gt_copy_within(data.c, data.a, MIB);
            gt_clear(data.c, MIB);
        }
    }
    if (*what == OUTSIDE) {
        gt_nothing();
    }
    gt_sync();
    return KS_OK;
}

static void check_no_kernel(const char *metric, idle what, const char *said)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = metric, .axis = "n=7"};
    ks_results *results = gt_measure(&options, launch_no_kernel, &what, &err);
    TAP_CHECK(err.code == KS_ESTATE && !(gt_value(results, "idle", metric) >= 0), "%s: %s, %g",
              metric, ks_status_name(err.code), gt_value(results, "idle", metric));
    TAP_HAS(err.message, "'idle'");
    TAP_HAS(err.message, "n=7");
    TAP_HAS(err.message, said);
    ks_results_free(results);

    ks_error_clear(&err);
    options.tolerant = true;
    results = gt_measure(&options, launch_no_kernel, &what, &err);
    TAP_CHECK(err.code == KS_OK && isnan(gt_value(results, "idle", metric)), "%s: %s, %g", metric,
              err.message, gt_value(results, "idle", metric));
    TAP_HAS(gt_text(results, "idle", metric, "Failure"), said);
    ks_results_free(results);
}

static void no_kernel_is_an_error_that_says_what_there_was(void)
{
    static const char *const metrics[] = {"gpu__time_duration.sum", "kernel__time_duration.sum"};
    for (size_t i = 0; i < 2; i++) {
        check_no_kernel(metrics[i], PASS, "nor a copy or memset");
        check_no_kernel(metrics[i], COPIES, "only copies or memsets");
        check_no_kernel(metrics[i], OUTSIDE, "outside any annotation");
    }
}

/* ---- C18: more launches than the buffers hold -------------------------------------------------
 */

static ks_status many(const ks_call *call, void *user, ks_error *err)
{
    int64_t n = ks_call_i64(call, "n");
    (void)user;
    (void)err;
    KS_ANNOTATE("many") {
        for (int64_t i = 0; i < n; i++) {
            gt_nothing();
        }
    }
    gt_sync();
    return KS_OK;
}

static void launches_at_the_limits_of_buffers_are_all_there(void)
{
    static const double n[] = {1, 32, 33, 64, 65, 4096, 4097};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {
        .metrics = instructions, .axis = "n=1,32,33,64,65,4096,4097", .cache = KS_CACHE_NONE};
    ks_results *results = gt_measure(&options, many, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double one = gt_value_at(results, "many", instructions, 0);
    TAP_CHECK(one > 0, "one launch: %g", one);
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        double value = gt_value_at(results, "many", instructions, i);
        TAP_CHECK(value == n[i] * one, "%g launches: %.17g, %g each", n[i], value, one);
    }
    ks_results_free(results);

    options.metrics = "kernel__count.sum";
    results = gt_measure(&options, many, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        TAP_EXACT(gt_value_at(results, "many", "kernel__count.sum", i), n[i]);
    }
    ks_results_free(results);
}

static void several_passes_count_all_or_tell_how_many_they_can(void)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "sm__throughput.avg.pct_of_peak_sustained_elapsed,"
                                     "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                          .axis = "n=65",
                          .warmup = 1,
                          .cache = KS_CACHE_NONE};
    ks_results *results = gt_measure(&options, many, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_number(results, "many", throughput, "NumKernels"), 65);
    TAP_CHECK(gt_value(results, "many", throughput) >= 0, "%g %%",
              gt_value(results, "many", throughput));
    ks_results_free(results);

    options.axis = "n=20000";
    results = gt_measure(&options, many, NULL, &err);
    TAP_CHECK(err.code == KS_ELIMIT && isnan(gt_value(results, "many", throughput)), "%s, %g %%",
              ks_status_name(err.code), gt_value(results, "many", throughput));
    TAP_HAS(err.message, "a call launches 20000 kernels");
    TAP_HAS(err.message, "have room for");
    tap_note("it says: %s", err.message);
    ks_results_free(results);
}

/* ---- C25: cold and warm caches ----------------------------------------------------------------
 */

enum {
    COPIED = 4 << 20,
    RUNS = 10
};

static ks_status copy(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    KS_ANNOTATE("copy") {
        gt_copy(data.b, data.a, COPIED);
    }
    gt_sync();
    return KS_OK;
}

/* Bytes read in each run, and the mean duration. */
static double copy_times(ks_cache_control cache, double bytes[GT_SAMPLES])
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "dram__bytes_read.sum,gpu__time_duration.sum,kernel__span.max",
                          .runs = RUNS,
                          .cache = cache};
    ks_results *results = gt_measure(&options, copy, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    size_t count = gt_samples(results, "copy", reads, 0, bytes);
    TAP_CHECK(count == RUNS, "%zu samples", count);
    for (size_t i = count; i < RUNS; i++) {
        bytes[i] = NAN;
    }
    const char *told = gt_text(results, "copy", reads, "CacheControl");
    TAP_CHECK(gt_equal(told, cache == KS_CACHE_FLUSH ? "all" : "none"), "CacheControl: %s",
              gt_shown(told));
    double ns = gt_value(results, "copy", duration);
    double span = gt_value(results, "copy", "kernel__span.max");
    TAP_CHECK(ns > 500 && ns < 20000, "%g ns: is the flush in it?", ns);
    TAP_CHECK(span > 500 && span < 20000, "a span of %g ns: is the flush in it?", span);
    tap_note("cache %s: run 2 read %g bytes, %g ns, traced %g ns", gt_shown(told), bytes[1], ns,
             span);
    ks_results_free(results);
    return ns;
}

static void a_cold_cache_is_cold_and_a_warm_one_warm(void)
{
    double bytes[GT_SAMPLES];
    if ((size_t)gt_l2_bytes() < 32 * MIB) {
        tap_skip("8 MiB may not stay in a cache below 32 MiB");
        return;
    }
    double cold = copy_times(KS_CACHE_FLUSH, bytes);
    for (size_t i = 0; i < RUNS; i++) {
        TAP_CHECK(fabs(bytes[i] - COPIED) <= 0.1 * COPIED, "cold, run %zu: %g bytes", i + 1,
                  bytes[i]);
    }
    double warm = copy_times(KS_CACHE_NONE, bytes);
    for (size_t i = 1; i < RUNS; i++) {
        TAP_CHECK(bytes[i] < 0.2 * COPIED, "warm, run %zu: %g bytes", i + 1, bytes[i]);
    }
    TAP_CHECK(cold > warm, "cold %g ns, warm %g ns", cold, warm);
}

/* ---- C26: kernels of a few microseconds -------------------------------------------------------
 */

enum {
    SHORT = 9000 /* cycles: 5 us or so */
};

static ks_status short_kernels(const ks_call *call, void *user, ks_error *err)
{
    int64_t n = ks_call_i64(call, "n");
    (void)user;
    (void)err;
    KS_ANNOTATE("empty") {
        for (int64_t i = 0; i < n; i++) {
            gt_nothing();
        }
    }
    KS_ANNOTATE("short") {
        for (int64_t i = 0; i < n; i++) {
            gt_spin(data.c, SHORT);
        }
    }
    gt_sync();
    return KS_OK;
}

static void check_short(const ks_results *results, const char *metric)
{
    double empty = gt_value_at(results, "empty", metric, 0);
    double some = gt_value_at(results, "short", metric, 0);
    double empties = gt_value_at(results, "empty", metric, 1);
    double somes = gt_value_at(results, "short", metric, 1);
    TAP_CHECK(empty > 0 && empty < 5000, "%s of an empty kernel: %g ns", metric, empty);
    /* a clock of 1.0 to 2.5 GHz, and up to 4 us to begin and end */
    TAP_CHECK(some > SHORT / 2.5 && some < SHORT / 1.0 + 4000, "%s of %d cycles: %g ns", metric,
              SHORT, some);
    TAP_NEAR(empties, 100 * empty, 0.3);
    TAP_NEAR(somes, 100 * some, 0.15);
    TAP_CHECK(gt_equal(gt_text(results, "short", metric, "Unit"), "ns"), "in %s",
              gt_shown(gt_text(results, "short", metric, "Unit")));
    tap_note("%s: empty %g ns, 100 of them %g; short %g ns, 100 of them %g", metric, empty, empties,
             some, somes);
}

static void kernels_of_a_few_microseconds_are_timed_alone(void)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "gpu__time_duration.sum,kernel__time_duration.sum",
                          .axis = "n=1,100",
                          .runs = 5,
                          .warmup = 1};
    ks_results *results = gt_measure(&options, short_kernels, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    check_short(results, duration);
    check_short(results, traced);
    ks_results_free(results);
}

/* ---- an error of the device, in processes of their own ----------------------------------------
 */

static ks_status write_nowhere(const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    (void)err;
    KS_ANNOTATE("copy") {
        gt_copy(ks_call_i64(call, "k") == 2 ? 4096 : data.b, data.a, 4096);
    }
    return KS_OK;
}

static int break_the_device(const char *metric)
{
    alarm(30);
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = metric, .axis = "k=1..3", .tolerant = true};
    ks_results *results = gt_measure(&options, write_nowhere, NULL, &err);
    double first = gt_value_at(results, "copy", metric, 0);
    size_t finished = results != NULL ? ks_results_finished(results) : 0;
    printf("# the other process, %s: %s (%d) %s; %zu finished, %g in the first\n", metric,
           ks_status_name(err.code), err.native, err.message, finished, first);
    bool good = err.code == KS_EVENDOR && strstr(err.message, "700") != NULL &&
                strstr(err.message, "k=2") != NULL && finished == 1 && first > 0;
    ks_results_free(results);
    return good ? 0 : 1;
}

static void an_error_of_the_device_stops_and_keeps_what_was_finished(void)
{
    char counted[] = "smsp__inst_executed.sum";
    char timed[] = "kernel__time_duration.sum";
    char *const metrics[] = {counted, timed};
    ks_error err = KS_ERROR_INIT;
    ks_release(&err); /* the other one takes the counters */
    for (size_t i = 0; i < 2; i++) {
        char *argv[] = {"test_cases", "break", metrics[i], NULL};
        pid_t pid = 0;
        int status = -1;
        fflush(stdout);
        if (TAP_CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0,
                      "no process")) {
            waitpid(pid, &status, 0);
            TAP_CHECK(status == 0, "%s: the other process ended with %#x: what it says is above",
                      metrics[i], status);
        }
    }
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        {"several kernels are refused by name", several_kernels_are_refused_by_name},
        {"ignored kernels leave the others' value", ignored_kernels_leave_the_others_value},
        {"a pattern that matched nothing is told", a_pattern_that_matched_nothing_is_told},
        {"a callback adds what it is told to", a_callback_adds_what_it_is_told_to},
        {"no kernel is an error that says what there was",
         no_kernel_is_an_error_that_says_what_there_was},
        {"launches at the limits of buffers are all there",
         launches_at_the_limits_of_buffers_are_all_there},
        {"several passes count all or tell how many they can",
         several_passes_count_all_or_tell_how_many_they_can},
        {"a cold cache is cold and a warm one warm", a_cold_cache_is_cold_and_a_warm_one_warm},
        {"kernels of a few microseconds are timed alone",
         kernels_of_a_few_microseconds_are_timed_alone},
        {"an error of the device stops and keeps what was finished",
         an_error_of_the_device_stops_and_keeps_what_was_finished},
    };
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        return tap_skip_all(why);
    }
    data = (memory){gt_floats(N), gt_floats(N), gt_alloc(4 * N)};
    return argc > 2 && strcmp(argv[1], "break") == 0
               ? break_the_device(argv[2])
               : tap_main(tests, sizeof tests / sizeof tests[0]);
}
