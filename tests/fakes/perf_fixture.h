/* A plan that is measured with an imaginary kernel: what tests of the perf collector share. */
#ifndef PERF_FIXTURE_H
#define PERF_FIXTURE_H

#include "harness.h"

#include "api/run.h"
#include "collect/perf/perf.h"
#include "fakes/fake_perf.h"

static ks_error err;
static ks_plan *plan;
static ks_results *results;

static const ks_collector_ops *const perf_alone[] = {&ks_perf_ops, NULL};

static const char *const CYCLES = "cpu__cycles.sum";
static const char *const INSTRUCTIONS = "cpu__instructions.sum";
static const char *const IPC = "cpu__ipc.ratio";
static const char *const FAULTS = "cpu__page_faults.sum";

enum {
    HARD = PERF_TYPE_HARDWARE,
    SOFT = PERF_TYPE_SOFTWARE
};

static inline int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    return 0;
}

/* Every descriptor was closed, and no call was a wrong one. */
static inline int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    assert_int_equal(fake_perf.open, 0);
    assert_int_equal(fake_perf.wrong, 0);
    ks_perf_use(NULL);
    return 0;
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

static inline void use(fake_perf_script script)
{
    fake_perf_reset(script);
}

/* A second measurement in a test. */
static inline void use_again(fake_perf_script script)
{
    stop(NULL);
    start(NULL);
    use(script);
}

static inline void ask(const char *const *metrics)
{
    for (size_t i = 0; metrics[i] != NULL; i++) {
        KT_OK(ks_plan_metric(plan, metrics[i], &err));
    }
}

#define ASK(...) ask((const char *const[]){__VA_ARGS__, NULL})

static inline void run(ks_body_fn body)
{
    KT_OK(ks_run_with(perf_alone, plan, body, NULL, &results, &err));
}

static inline double mean(const char *annotation, const char *metric)
{
    return kt_number(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, "AvgValue");
}

static inline const char *text(const char *annotation, const char *metric, const char *column)
{
    return kt_text(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, column);
}

static inline int64_t passes(void)
{
    return ks_table_fact(ks_results_table(results), "plan.passes").as.i64;
}

static unsigned calls; /* of work() that were measured */

/* A region of 5,000 ns: 10,000 cycles, 15,000 instructions, 5,000 of anything else. */
static inline ks_status work(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    calls += !ks_call_is_warmup(call);
    fake_perf_work(70);
    KS_ANNOTATE("work") {
        fake_perf_work(5000);
    }
    fake_perf_work(70);
    return KS_OK;
}

#endif
