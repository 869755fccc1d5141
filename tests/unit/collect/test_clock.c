/* The clock against known work: sleeping, spinning, touching memory. */
#include "harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "collect/clock/calibrate.h"

static ks_error err;

static void sleep_ms(long ms)
{
    const struct timespec pause = {0, ms * 1000000};
    nanosleep(&pause, NULL);
}

static double thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Burn so much CPU time of this thread, whatever else the machine does. */
static void spin_ms(double ms)
{
    double end = thread_cpu_ns() + ms * 1e6;
    while (thread_cpu_ns() < end) {
    }
}

static void *spin_elsewhere(void *arg)
{
    (void)arg;
    spin_ms(30);
    return NULL;
}

static ks_status work(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("sleep") {
        sleep_ms(20);
    }
    KS_ANNOTATE("spin") {
        spin_ms(30);
    }
    KS_ANNOTATE("other thread") {
        pthread_t thread;
        pthread_create(&thread, NULL, spin_elsewhere, NULL);
        pthread_join(thread, NULL);
    }
    KS_ANNOTATE("twice") {
        sleep_ms(5);
    }
    KS_ANNOTATE("twice") {
        sleep_ms(5);
    }
    KS_ANNOTATE("empty") {
    }
    return KS_OK;
}

static ks_results *measure(ks_body_fn body, const char *metrics, uint32_t runs)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_runs(plan, runs, &err));
    KT_OK(ks_plan_metric(plan, metrics, &err));
    KT_OK(ks_run(plan, body, NULL, &results, &err));
    ks_plan_free(plan);
    return results;
}

static double mean(const ks_table *t, const char *annotation, const char *metric)
{
    return kt_number(t, (kt_key){annotation, metric, KT_ANY}, "AvgValue");
}

/* Only lower bounds: a loaded machine makes everything take longer, never less. */
static void clocks_tell_sleeping_from_working(void **state)
{
    (void)state;
    const char *wall = "cpu__time_duration.sum";
    const char *thread = "cpu__thread_time.sum";
    const char *user = "cpu__user_time.sum";
    const char *system = "cpu__system_time.sum";
    ks_results *results = measure(work, "cpu__*", 2);
    const ks_table *t = ks_results_table(results);
    assert_true(mean(t, "sleep", wall) >= 20e6);
    assert_true(mean(t, "sleep", thread) < 10e6);
    assert_true(mean(t, "spin", wall) >= 30e6);
    assert_true(mean(t, "spin", thread) >= 30e6);
    /* the opening thread only waits, the process works */
    assert_true(mean(t, "other thread", thread) < 15e6);
    assert_true(mean(t, "other thread", user) + mean(t, "other thread", system) >= 25e6);
    assert_true(mean(t, "twice", wall) >= 10e6);
    KT_F64(kt_number(t, (kt_key){"twice", wall, KT_ANY}, "Visits"), 2);
    assert_true(mean(t, "empty", wall) > 0);
    assert_string_equal(kt_text(t, (kt_key){"spin", wall, KT_ANY}, "Unit"), "ns");
    assert_string_equal(kt_text(t, (kt_key){"spin", wall, KT_ANY}, "Source"), "clock");
    ks_results_free(results);
}

static void its_own_cost_and_resolution_are_told(void **state)
{
    (void)state;
    ks_results *results = measure(work, "cpu__time_duration.sum", 1);
    const ks_table *t = ks_results_table(results);
    kt_key spin = {"spin", "cpu__time_duration.sum", KT_ANY};
    ks_value cost = ks_table_fact(t, "clock_cost_ns");
    assert_int_equal(cost.type, KS_F64);
    assert_true(cost.as.f64 > 0 && cost.as.f64 < 1e6);
    assert_true(ks_table_fact(t, "clock_resolution_ns").as.f64 > 0);
    assert_null(kt_text(t, spin, "Warnings"));
    ks_results_free(results);
}

static ks_status grow(const ks_call *call, void *user, ks_error *e)
{
    enum {
        BYTES = 64 << 20
    };
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("touch 64 MiB") {
        volatile char *block = malloc(BYTES);
        for (size_t i = 0; block != NULL && i < BYTES; i += 4096) {
            block[i] = 1;
        }
        free((void *)block);
    }
    KS_ANNOTATE("nothing") {
    }
    return KS_OK;
}

static void peak_memory_grows_by_what_is_touched(void **state)
{
    (void)state;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    const char *metric = "cpu__peak_rss_growth.max";
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_warmup(plan, 0, &err)); /* a warm-up would have set the peak already */
    KT_OK(ks_plan_metric(plan, metric, &err));
    KT_OK(ks_run(plan, grow, NULL, &results, &err));
    const ks_table *t = ks_results_table(results);
    assert_true(mean(t, "touch 64 MiB", metric) > 48e6);
    KT_F64(mean(t, "nothing", metric), 0); /* a true zero */
    assert_string_equal(kt_text(t, (kt_key){"nothing", metric, KT_ANY}, "Unit"), "byte");
    ks_results_free(results);
    ks_plan_free(plan);
}

static ks_token handed;

static void *begin_and_die(void *arg)
{
    (void)arg;
    ks_annotate_begin("opener gone", &handed, NULL);
    return NULL;
}

static ks_status opener_ends_first(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    pthread_t thread;
    pthread_create(&thread, NULL, begin_and_die, NULL);
    pthread_join(thread, NULL);
    return ks_annotate_end(handed, e);
}

static void the_time_of_a_thread_that_is_gone_is_missing(void **state)
{
    (void)state;
    ks_results *results = measure(opener_ends_first, "cpu__thread_time.sum", 1);
    const ks_table *t = ks_results_table(results);
    kt_key key = {"opener gone", "cpu__thread_time.sum", KT_ANY};
    assert_false(ks_table_valid(t, kt_row(t, key), ks_table_find(t, "AvgValue")));
    KT_HAS(kt_text(t, key, "Failure"), "had ended before the region did");
    ks_results_free(results);
}

static void calibrating_needs_no_run_and_refuses_one(void **state)
{
    (void)state;
    ks_clock_costs costs = {0};
    ks_error_clear(&err);
    KT_OK(ks_clock_calibrate(&costs, &err));
    assert_true(costs.empty_ns > 0);
    assert_true(costs.resolution_ns > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_tell_sleeping_from_working),
        cmocka_unit_test(its_own_cost_and_resolution_are_told),
        cmocka_unit_test(peak_memory_grows_by_what_is_touched),
        cmocka_unit_test(the_time_of_a_thread_that_is_gone_is_missing),
        cmocka_unit_test(calibrating_needs_no_run_and_refuses_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
