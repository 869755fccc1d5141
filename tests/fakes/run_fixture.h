/*
 * A plan, its results, and the fake collector: what tests of whole runs share. Each program that
 * includes it has its own.
 */
#ifndef RUN_FIXTURE_H
#define RUN_FIXTURE_H

#include "harness.h"

#include "api/run.h"
#include "collect/clock/clock.h"
#include "fakes/fake_collector.h"

static ks_error err;
static ks_plan *plan;
static ks_results *results;

static const ks_collector_ops *const both[] = {&ks_clock_ops, &fake_ops, NULL};

static inline int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    assert_int_equal(fake.opened, fake.closed);
    return 0;
}

static inline const ks_table *table(void)
{
    return ks_results_table(results);
}

static inline double mean(const char *annotation, const char *metric)
{
    return kt_number(table(), (kt_key){annotation, metric, KT_ANY}, "AvgValue");
}

/* The fake's metrics, all of them. */
static inline void run_fake(ks_body_fn body)
{
    KT_OK(ks_plan_metric(plan, "fake__*", &err));
    KT_OK(ks_run_with(fake_collectors, plan, body, NULL, &results, &err));
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

#endif
