/* Plans that trace kernels on an imaginary GPU: what tests of it have in common. */
#ifndef TRACING_FIXTURE_H
#define TRACING_FIXTURE_H

#include "harness.h"

#include <math.h>

#include "api/run.h"
#include "collect/nvidia/tracing/tracing.h"
#include "fakes/fake_activity.h"
#include "table/table.h"

static ks_error err;
static ks_plan *plan;
static ks_results *results;

static const ks_collector_ops *const alone[] = {&ks_tracing_ops, NULL};

static const char TIME[] = "kernel__time_duration.sum";
static const char SPAN[] = "kernel__span.max";
static const char COUNT[] = "kernel__count.sum";

static inline int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    return 0;
}

/* CUPTI has none of our buffers, wants no records any more, and this thread has no ids left. */
static inline int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    assert_int_equal(fake_activity.lent, 0);
    assert_int_equal(fake_activity.enabled, 0);
    assert_int_equal(fake_gpu_ids(), 0);
    ks_activity_use(NULL);
    return 0;
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

static inline ks_status try_run(ks_body_fn body, fake_activity_script script)
{
    fake_activity_reset(script);
    ks_status status = ks_plan_metric(plan, "kernel__*", &err);
    return status == KS_OK ? ks_run_with(alone, plan, body, NULL, &results, &err) : status;
}

static inline void run(ks_body_fn body, fake_activity_script script)
{
    KT_OK(try_run(body, script));
}

static inline double mean(const char *annotation, const char *metric)
{
    return kt_number(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, "AvgValue");
}

static inline const char *text(const char *annotation, const char *metric, const char *column)
{
    return kt_text(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, column);
}

/* No value of a metric, and why. */
static inline void is_missing(const char *annotation, const char *metric, const char *why)
{
    assert_true(isnan(mean(annotation, metric)));
    KT_HAS(text(annotation, metric, "Failure"), why);
}

static inline void all_missing(const char *annotation, const char *why)
{
    is_missing(annotation, TIME, why);
    is_missing(annotation, SPAN, why);
    is_missing(annotation, COUNT, why);
}

/* Whether a warning of the results holds a text. */
static inline bool warned(const char *part)
{
    const ks_table *t = ks_results_table(results);
    bool found = false;
    for (size_t i = 0; i < t->fact_count; i++) {
        const char *told = ks_table_fact_value(t, i).text;
        found = found ||
                (strcmp(ks_table_fact_key(t, i), "warnings[]") == 0 && strstr(told, part) != NULL);
    }
    return found;
}

static inline ks_status two_kernels(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    fake_gpu_kernel("input", 4000);
    KS_ANNOTATE("work") {
        fake_gpu_kernel("a", 1000);
        fake_gpu_call();
        fake_gpu_think(70000);
        fake_gpu_kernel("b", 500);
    }
    return KS_OK;
}

#endif
