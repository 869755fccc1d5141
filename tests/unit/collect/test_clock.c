/* The clock against known work: sleeping, spinning, touching memory. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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
    assert_true(ks_table_fact(t, "annotation_cost_ns").as.f64 >
                ks_table_fact(t, "clock_cost_ns").as.f64);
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
static pid_t opener;

static void *begin_and_die(void *arg)
{
    (void)arg;
    opener = gettid();
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
    while (tgkill(getpid(), opener, 0) == 0) {
        sched_yield(); /* joined, but the kernel has not let go of it yet: its clock still runs */
    }
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

/* Each visit of "outer" has 20,000 empty ones in it: so many that being interrupted now and then
 * changes little. */
static ks_status nested(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("outer") {
        for (int i = 0; i < 20000; i++) {
            KS_ANNOTATE("inner") {
            }
        }
    }
    return KS_OK;
}

static void what_annotations_cost_inside_a_region_is_told(void **state)
{
    (void)state;
    ks_results *results = measure(nested, "cpu__*.sum", 3);
    const ks_table *t = ks_results_table(results);
    kt_key key = {"outer", "cpu__time_duration.sum", KT_ANY};
    KT_HAS(kt_text(t, key, "Warnings"), "is what its 20000 annotations inside cost");
    key.annotation = "outer/inner"; /* none of which lasts */
    KT_HAS(kt_text(t, key, "Warnings"), "shorter than 10 times what an empty region reads");
    key.metric = "cpu__thread_time.sum";
    KT_HAS(kt_text(t, key, "Warnings"), "shorter than 10 times what measuring a visit costs");
    key.metric = "cpu__user_time.sum";
    KT_HAS(kt_text(t, key, "Warnings"), "shorter than 10 times what measuring a visit costs");
    ks_results_free(results);
}

/* Two threads that are in "both" at the same time. */
static pthread_barrier_t meeting;

static void *meet(void *arg)
{
    (void)arg;
    KS_ANNOTATE("both") {
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

static ks_status overlapping(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    pthread_t other;
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_create(&other, NULL, meet, NULL);
    meet(NULL);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&meeting);
    KS_ANNOTATE("alone") {
    }
    return KS_OK;
}

static void the_time_of_the_process_is_not_counted_twice(void **state)
{
    (void)state;
    ks_results *results = measure(overlapping, "cpu__*.sum", 3);
    const ks_table *t = ks_results_table(results);
    kt_key key = {"both", "cpu__user_time.sum", KT_ANY};
    KT_F64(kt_number(t, key, "NumRuns"), 0);
    KT_HAS(kt_text(t, key, "Failure"), "no value in 3 runs: its visits overlapped");
    key.metric = "cpu__thread_time.sum";
    KT_F64(kt_number(t, key, "NumRuns"), 3);
    KT_F64(kt_number(t, key, "Visits"), 2);
    key = (kt_key){"alone", "cpu__user_time.sum", KT_ANY};
    KT_F64(kt_number(t, key, "NumRuns"), 3);
    ks_results_free(results);
}

static ks_status probe_inside(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    KS_ANNOTATE("probe") {
    }
    return ks_probe_table(user, e);
}

static void probing_does_not_disturb_a_run(void **state)
{
    (void)state;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_table *probed = NULL;
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_run(plan, probe_inside, &probed, &results, &err));
    bool said = false;
    for (size_t row = 0; row < ks_table_rows(probed); row++) {
        const char *value = ks_table_text(probed, row, ks_table_find(probed, "Value"));
        said = said || (value != NULL && strstr(value, "not measured: a run is active") != NULL);
    }
    assert_true(said);
    ks_table_free(probed);
    ks_results_free(results);
    ks_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_tell_sleeping_from_working),
        cmocka_unit_test(its_own_cost_and_resolution_are_told),
        cmocka_unit_test(peak_memory_grows_by_what_is_touched),
        cmocka_unit_test(the_time_of_a_thread_that_is_gone_is_missing),
        cmocka_unit_test(what_annotations_cost_inside_a_region_is_told),
        cmocka_unit_test(the_time_of_the_process_is_not_counted_twice),
        cmocka_unit_test(probing_does_not_disturb_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
