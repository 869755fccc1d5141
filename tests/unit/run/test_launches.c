/* Launches: whose they are, how they combine, and what happens when some are lost. */
#include "fakes/run_fixture.h"

#include <math.h>
#include <pthread.h>

/* ---- launches ---------------------------------------------------------------------------------
 */

static ks_status two_kernels(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("mixed") {
        fake_launch("A", 1000, 8, 90); /* 90 % of 1 us */
        fake_launch("B", 9000, 2, 10); /* 10 % of 9 us */
    }
    KS_ANNOTATE("single") {
        fake_launch("A", 1000, 8, 90);
    }
    fake_launch("stray", 5, 5, 5);
    return KS_OK;
}

static void unequal_kernels_combine_by_kind(void **state) /* C16 */
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 3, &err));
    run_fake(two_kernels);
    KT_F64(mean("mixed", "fake__duration.sum"), 10000);
    KT_F64(mean("mixed", "fake__bytes.sum"), 10);
    KT_F64(mean("mixed", "fake__busy.pct"), 18);
    KT_F64(mean("single", "fake__busy.pct"), 90);
    kt_key key = {"mixed", "fake__busy.pct", KT_ANY};
    KT_F64(kt_number(table(), key, "NumKernels"), 2);
    assert_string_equal(kt_text(table(), key, "Kernel"), "A|B");
    KT_F64(kt_number(table(), key, "Passes"), 2);
    /* put together from two passes: its spread says nothing about stability */
    assert_false(
        ks_table_valid(table(), kt_row(table(), key), ks_table_find(table(), "StableMeasurement")));
    assert_true(ks_table_valid(table(),
                               kt_row(table(), (kt_key){"mixed", "fake__bytes.sum", KT_ANY}),
                               ks_table_find(table(), "StableMeasurement")));
}

static void launches_outside_annotations_are_told(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 3, &err));
    run_fake(two_kernels);
    KT_HAS(ks_table_fact(table(), "warnings[]").text,
           "3 launches were made outside any annotation");
}

static void launches_come_as_a_table(void **state)
{
    (void)state;
    ks_table *launches = NULL;
    KT_OK(ks_plan_runs(plan, 2, &err));
    run_fake(two_kernels);
    KT_OK(ks_results_launches(results, &launches, &err));
    assert_int_equal(ks_table_rows(launches), 8);
    size_t kernel = ks_table_find(launches, "Kernel");
    size_t annotation = ks_table_find(launches, "Annotation");
    assert_string_equal(ks_table_text(launches, 5, kernel), "B");
    assert_string_equal(ks_table_text(launches, 5, annotation), "mixed");
    assert_null(ks_table_text(launches, 7, annotation));
    KT_F64(ks_table_number(launches, 7, ks_table_find(launches, "Order")), 3);
    KT_F64(ks_table_number(launches, 7, ks_table_find(launches, "Run")), 1);
    KT_F64(ks_table_number(launches, 0, ks_table_find(launches, "BlockX")), 32);
    ks_table_free(launches);
}

static void *launch_25(void *arg)
{
    (void)arg;
    for (int i = 0; i < 25; i++) {
        fake_launch("worker kernel", 1, 1, 1);
    }
    return NULL;
}

static ks_status launch_from_threads(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    pthread_t threads[4];
    KS_ANNOTATE("workers") {
        for (int i = 0; i < 4; i++) {
            pthread_create(&threads[i], NULL, launch_25, NULL);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    return KS_OK;
}

static void launches_of_worker_threads_are_each_counted_once(void **state) /* C07 in kind */
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 5, &err));
    run_fake(launch_from_threads);
    kt_key key = {"workers", "fake__bytes.sum", KT_ANY};
    KT_F64(mean("workers", "fake__bytes.sum"), 100);
    KT_F64(kt_number(table(), key, "StdDev"), 0);
    KT_F64(kt_number(table(), key, "NumKernels"), 100);
}

static ks_status as_many_as_n(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
        for (int64_t i = 0; i < ks_call_i64(call, "n"); i++) {
            fake_launch("k", 1, 1, 1);
        }
    }
    if (ks_call_i64(call, "n") == 2) {
        KS_ANNOTATE("only for 2") {
            fake_launch("other", 7, 7, 7);
        }
    }
    return KS_OK;
}

static void launch_counts_may_differ_between_configs(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2,5", &err));
    run_fake(as_many_as_n);
    for (int64_t n = 1; n <= 5; n = n == 1 ? 2 : n + 3) {
        KT_F64(kt_number(table(), (kt_key){"a", "fake__bytes.sum", n}, "AvgValue"), (double)n);
    }
    /* an annotation of one config has a row there, and none elsewhere */
    KT_F64(kt_number(table(), (kt_key){"only for 2", "fake__bytes.sum", 2}, "AvgValue"), 7);
    size_t rows = 0;
    for (size_t row = 0; row < ks_table_rows(table()); row++) {
        rows += strcmp(ks_table_text(table(), row, 0), "only for 2") == 0;
    }
    assert_int_equal(rows, 3); /* its three metrics */
}

/* As a compiler that runs in the first call does. */
static ks_status compile_first(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
        if (ks_call_run(call) == 0) {
            fake_launch("jit_fill", 1, 1, 1);
        }
        fake_launch("k", 1, 1, 1);
        fake_launch(ks_call_run(call) == 2 ? "l" : "m", 1, 1, 1);
    }
    KS_ANNOTATE("b") {
        fake_launch(ks_call_run(call) % 2 == 0 ? "k" : "m", 1, 1, 1);
        fake_launch(ks_call_run(call) % 2 == 0 ? "m" : "k", 1, 1, 1);
    }
    return KS_OK;
}

static void runs_that_launched_different_kernels_are_told(void **state) /* C03 */
{
    (void)state;
    kt_key key = {"a", "fake__bytes.sum", KT_ANY};
    KT_OK(ks_plan_runs(plan, 5, &err));
    run_fake(compile_first);
    KT_F64(kt_number(table(), key, "NumRuns"), 5);
    assert_true(isnan(kt_number(table(), key, "NumKernels")));
    KT_HAS(kt_text(table(), key, "Warnings"), "not the same number of launches in each run");
    KT_HAS(kt_text(table(), key, "Warnings"),
           "its runs launched different kernels: jit_fill 1x in run 1, 0x in run 2");
    key.annotation = "b"; /* in another order, as by several threads */
    assert_null(kt_text(table(), key, "Warnings"));
}

static void lost_launches_are_measured_once_more(void **state)
{
    (void)state;
    fake.script.lose_every = 2;
    fake.script.lose_until = 1; /* only the first time */
    run_fake(two_kernels);
    assert_int_equal(fake.drains, 2);
    KT_F64(mean("mixed", "fake__bytes.sum"), 10);
}

static void launches_that_stay_lost_are_an_error(void **state) /* C18 in kind */
{
    (void)state;
    fake.script.lose_every = 4;
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, two_kernels, NULL, &results, &err), KS_ESTATE,
             "config 1 of 1: 9 of 12 launches were captured: the values would be too small");
    assert_int_equal(fake.drains, 2);
    assert_int_equal(ks_table_rows(table()), 0);
    assert_false(ks_results_complete(results));
}

static void more_launches_than_were_seen_are_an_error(void **state)
{
    (void)state;
    fake.script.invent = 1;
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, two_kernels, NULL, &results, &err), KS_ESTATE,
             "13 of 12 launches were captured: work that kernels launched themselves");
}

static void passes_in_another_order_are_measured_once_more(void **state)
{
    (void)state;
    fake.script.reorder_pass = 2;
    fake.script.reorder_until = 1;
    run_fake(two_kernels);
    assert_int_equal(fake.drains, 2);
    KT_F64(mean("mixed", "fake__busy.pct"), 18);
}

static void passes_that_stay_different_fail_naming_what_differs(void **state)
{
    (void)state;
    fake.script.reorder_pass = 3;
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    KT_FAILS(
        ks_run_with(fake_collectors, plan, two_kernels, NULL, &results, &err), KS_ESTATE,
        "launch 1 of run 1 is A grid (1, 1, 1), block (32, 1, 1), stream 0x7 in pass 1, but B");
}

static void a_spoilt_config_is_marked_when_tolerant(void **state)
{
    (void)state;
    fake.script.lose_every = 4;
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    run_fake(two_kernels);
    kt_key key = {"mixed", "fake__bytes.sum", KT_ANY};
    assert_false(ks_table_valid(table(), kt_row(table(), key), ks_table_find(table(), "AvgValue")));
    KT_HAS(kt_text(table(), key, "Failure"), "all 2 runs failed: 18 of 24 launches were captured");
    assert_true(ks_results_complete(results));
    assert_int_equal(ks_results_succeeded(results), 0);
}

static void refusing_to_combine_names_the_kernels(void **state) /* C01 */
{
    (void)state;
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    KT_OK(ks_plan_combine(plan, KS_COMBINE_REFUSE, &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, two_kernels, NULL, &results, &err), KS_ESTATE,
             "annotation 'mixed' launched 2 kernels in one run, and the plan refuses to combine "
             "them; annotate one of them, ignore the others (ks_plan_ignore_kernel()), or let the "
             "plan combine them (ks_plan_combine()): A 1x, B 1x");
}

static ks_status three_kernels(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("mixed") {
        fake_launch("A", 1000, 8, 90);
        fake_launch("_Z5scaleIfLi4EEvPT_i", 9000, 2, 10);
        fake_launch("A", 1000, 8, 90);
    }
    KS_ANNOTATE("single") {
        fake_launch("A", 1000, 8, 90);
    }
    return KS_OK;
}

static void a_tolerant_plan_that_refuses_names_the_kernels_in_the_row(void **state) /* C01 */
{
    (void)state;
    KT_OK(ks_plan_combine(plan, KS_COMBINE_REFUSE, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    run_fake(three_kernels);
    kt_key key = {"mixed", "fake__bytes.sum", KT_ANY};
    assert_true(isnan(mean("mixed", "fake__bytes.sum")));
    KT_HAS(kt_text(table(), key, "Failure"), "launched 3 kernels in one run");
    KT_HAS(kt_text(table(), key, "Failure"), ": A 2x, scale<float, 4> 1x");
    KT_F64(mean("single", "fake__bytes.sum"), 8);
}

static ks_status enter_twice(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    for (int i = 0; i < 2; i++) {
        KS_ANNOTATE("twice") {
        }
    }
    return KS_OK;
}

static void refusing_to_combine_counts_visits_too(void **state)
{
    (void)state;
    KT_OK(ks_plan_combine(plan, KS_COMBINE_REFUSE, &err));
    KT_FAILS(ks_run(plan, enter_twice, NULL, &results, &err), KS_ESTATE,
             "'twice' was entered 2 times in one run, and the plan refuses");
}

static ks_status add_up(double sum, double next, double *out, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    *out = sum + next;
    return KS_OK;
}

static void adding_percentages_is_done_with_a_warning(void **state) /* C16 */
{
    (void)state;
    KT_OK(ks_plan_combine_fn(plan, add_up, NULL, &err));
    run_fake(two_kernels);
    kt_key key = {"mixed", "fake__busy.pct", KT_ANY};
    KT_F64(mean("mixed", "fake__busy.pct"), 100);
    KT_F64(mean("mixed", "fake__bytes.sum"), 10);
    KT_F64(kt_number(table(), key, "NumKernels"), 2);
    KT_HAS(kt_text(table(), key, "Warnings"), "fake__busy.pct is in %");
    assert_null(kt_text(table(), (kt_key){"mixed", "fake__bytes.sum", KT_ANY}, "Warnings"));
    assert_null(kt_text(table(), (kt_key){"single", "fake__busy.pct", KT_ANY}, "Warnings"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(unequal_kernels_combine_by_kind),
        T(launches_outside_annotations_are_told),
        T(launches_come_as_a_table),
        T(launches_of_worker_threads_are_each_counted_once),
        T(launch_counts_may_differ_between_configs),
        T(runs_that_launched_different_kernels_are_told),
        T(lost_launches_are_measured_once_more),
        T(launches_that_stay_lost_are_an_error),
        T(more_launches_than_were_seen_are_an_error),
        T(passes_in_another_order_are_measured_once_more),
        T(passes_that_stay_different_fail_naming_what_differs),
        T(a_spoilt_config_is_marked_when_tolerant),
        T(refusing_to_combine_names_the_kernels),
        T(a_tolerant_plan_that_refuses_names_the_kernels_in_the_row),
        T(refusing_to_combine_counts_visits_too),
        T(adding_percentages_is_done_with_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
