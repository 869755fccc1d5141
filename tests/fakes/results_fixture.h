/* A plan that measures the fake's duration, and bodies whose values are known beforehand. */
#ifndef RESULTS_FIXTURE_H
#define RESULTS_FIXTURE_H

#include "harness.h"

#include <math.h>

#include "api/run.h"
#include "fakes/fake_collector.h"

static ks_error err;
static ks_plan *plan;
static ks_results *results;

static const char *const DURATION = "fake__duration.sum";

static inline int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_metric(plan, DURATION, &err));
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    return 0;
}

static inline const ks_table *run(ks_body_fn body)
{
    KT_OK(ks_run_with(fake_collectors, plan, body, NULL, &results, &err));
    return ks_results_table(results);
}

static inline bool valid(const ks_table *t, kt_key key, const char *column)
{
    return ks_table_valid(t, kt_row(t, key), ks_table_find(t, column));
}

/* "base" takes 10, 12 (mean 11), "test" takes n times 20, 26 (mean 23 n). */
static inline ks_status base_and_test(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    bool second = ks_call_run(call) % 2 == 1;
    int64_t n = ks_call_i64(call, "n");
    if (n != 3) {
        KS_ANNOTATE("base") {
            fake_launch("k", second ? 12 : 10, 0, 0);
        }
    }
    KS_ANNOTATE("test") {
        fake_launch("k", (double)n * (second ? 26 : 20), 0, 0);
    }
    return KS_OK;
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

#endif
