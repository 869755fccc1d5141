/*
 * A plan, its results, and a fake GPU whose context is current: what tests of whole runs on a GPU
 * share. Each program that includes it has its own.
 */
#ifndef FAKE_NVIDIA_FIXTURE_H
#define FAKE_NVIDIA_FIXTURE_H

#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "fakes/nvidia/fake_nvidia.h"
#include "table/table.h"

#define TIME       "gpu__time_duration.sum"
#define READ       "dram__bytes_read.sum"
#define INST       "smsp__inst_executed.sum"
#define THROUGHPUT "sm__throughput.avg.pct_of_peak_sustained_elapsed"

enum {
    THROUGHPUT_PASSES = 4, /* in the fake's catalogue */
    FLUSHED = 2            /* ranges of a launch before which the caches are swept */
};

static ks_error err;
static ks_plan *plan;
static ks_results *results;
static unsigned gone;  /* profilers that went with their contexts, for good */
static unsigned stuck; /* modules and allocations on devices that broke */

static inline unsigned profilers(void)
{
    return fake_count_alive().profilers - gone;
}

static inline int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    KT_OK(ks_release(&err));
    setenv("XDG_RUNTIME_DIR", kt_path(""), 1); /* other tests have the same imaginary GPU */
    fake_reset();
    fake_use_device(0);
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    fake_script("");
    assert_int_equal(fake_count_alive().subscribers, 0);
    ks_error_clear(&err);
    KT_OK(ks_release(&err));
    assert_int_equal(profilers(), 0);
    assert_int_equal(fake_count_alive().allocations, stuck);
    assert_int_equal(fake_count_alive().modules, stuck);
    assert_int_equal(fake_count_alive().hosts, 0);
    return 0;
}

/* Kernels A, B and small: A is short and busy, B is three times as long and idle. */
static inline void know_kernels(void)
{
    fake_kernel("A", TIME, 1000);
    fake_kernel("B", TIME, 3000);
    fake_kernel("A", READ, 100);
    fake_kernel("B", READ, 300);
    fake_kernel("A", INST, 10);
    fake_kernel("B", INST, 20);
    fake_kernel("A", THROUGHPUT, 80);
    fake_kernel("B", THROUGHPUT, 20);
    fake_kernel("A", "gpc__cycles_elapsed.max", 1500);
    fake_kernel("B", "gpc__cycles_elapsed.max", 4500);
}

static inline void ask(const char *metric)
{
    KT_OK(ks_plan_metric(plan, metric, &err));
}

static inline void measure(ks_body_fn body, void *user)
{
    ks_results_free(results);
    results = NULL;
    KT_OK(ks_run(plan, body, user, &results, &err));
}

static inline void measure_in_vain(ks_body_fn body, void *user, ks_status status, const char *part)
{
    ks_results_free(results);
    results = NULL;
    KT_FAILS(ks_run(plan, body, user, &results, &err), status, part);
}

static inline const ks_table *table(void)
{
    return ks_results_table(results);
}

static inline double mean(const char *annotation, const char *metric)
{
    return kt_number(table(), (kt_key){annotation, metric, KT_ANY}, "AvgValue");
}

static inline double number(const char *annotation, const char *metric, const char *column)
{
    return kt_number(table(), (kt_key){annotation, metric, KT_ANY}, column);
}

static inline const char *text(const char *annotation, const char *metric, const char *column)
{
    return kt_text(table(), (kt_key){annotation, metric, KT_ANY}, column);
}

/* Whether a warning of the results holds a text. */
static inline bool warned(const char *part)
{
    bool found = false;
    for (size_t i = 0; i < table()->fact_count; i++) {
        found = found || (strcmp(ks_table_fact_key(table(), i), "warnings[]") == 0 &&
                          strstr(ks_table_fact_value(table(), i).text, part) != NULL);
    }
    return found;
}

static inline ks_status launch(const char *kernel, ks_error *e)
{
    ks_cuda_result result = fake_launch(kernel, 8, 256, NULL);
    return result == 0 ? KS_OK
                       : ks_fail(e, KS_EBODY, "user", result, "launch of %s: %d", kernel, result);
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

#endif
