/* Names of metrics: case C15 as far as it concerns the CPU. */
#include "harness.h"

#include "api/run.h"
#include "collect/clock/clock.h"
#include "fakes/fake_collector.h"

static ks_error err;

static ks_status must_not_run(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    fail_msg("the body was called");
    return KS_OK;
}

static ks_status annotate(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
    }
    return KS_OK;
}

/* The message and status that metrics separated by blanks are refused with. */
static ks_status refused(const char *names)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    char copy[512];
    ks_error_clear(&err);
    snprintf(copy, sizeof copy, "%s", names);
    KT_OK(ks_plan_new(&plan, &err));
    for (char *name = strtok(copy, " "); name != NULL; name = strtok(NULL, " ")) {
        KT_OK(ks_plan_metric(plan, name, &err));
    }
    ks_status status = ks_run(plan, must_not_run, NULL, &results, &err);
    assert_null(results);
    ks_plan_free(plan);
    return status;
}

static void all_unknown_names_come_in_one_error(void **state) /* C15 */
{
    (void)state;
    assert_int_equal(refused("cpu__time_durations.sum foo cpu__user_time.sum achieved_occupancy"),
                     KS_ENOTFOUND);
    KT_HAS(err.message, "unknown metrics cpu__time_durations.sum, foo, achieved_occupancy");
    KT_HAS(err.message, "for cpu__time_durations.sum did you mean cpu__time_duration.sum");
    assert_null(strstr(err.message, "for foo"));
}

static void a_name_without_its_suffix_is_near(void **state)
{
    (void)state;
    assert_int_equal(refused("cpu__thread_time"), KS_ENOTFOUND);
    KT_HAS(err.message, "did you mean cpu__thread_time.sum");
}

static void a_pattern_that_matches_nothing_is_an_unknown_name(void **state)
{
    (void)state;
    assert_int_equal(refused("xyz__*"), KS_ENOTFOUND);
    KT_HAS(err.message, "unknown metric xyz__*");
}

static void gpu_metrics_are_known_but_not_here(void **state)
{
    (void)state;
    static const char *const names[] = {"gpu__time_duration.sum", "sm__cycles_active.avg",
                                        "dram__bytes_read.sum", "launch__sm_count",
                                        "kernel__nothing.sum"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(refused(names[i]), KS_UNAVAILABLE);
        KT_HAS(err.message, names[i]);
    }
}

static void what_is_of_programs_is_not_of_regions(void **state)
{
    (void)state;
    assert_int_equal(refused("cpu__max_rss.max"), KS_UNAVAILABLE);
    KT_HAS(err.message, "is measured of programs, not of annotated regions");
}

static void a_metric_that_is_not_available_says_why(void **state)
{
    (void)state;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_metric(plan, "fake__broken.sum", &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, must_not_run, NULL, &results, &err), KS_UNAVAILABLE,
             "fake__broken.sum is not available here: the fake has no such unit");
    ks_plan_free(plan);
}

static void patterns_take_what_can_be_measured_once_each(void **state)
{
    (void)state;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_metric(plan, "cpu__user_time.sum", &err));
    KT_OK(ks_plan_metric(plan, "cpu__*time*", &err));
    KT_OK(ks_run(plan, annotate, NULL, &results, &err));
    const ks_table *t = ks_results_table(results);
    static const char *const expected[] = {"cpu__user_time.sum", "cpu__system_time.sum",
                                           "cpu__thread_time.sum", "cpu__time_duration.sum"};
    assert_int_equal(ks_table_rows(t), 4);
    for (size_t row = 0; row < 4; row++) {
        assert_string_equal(ks_table_text(t, row, 1), expected[row]);
    }
    ks_results_free(results);
    ks_plan_free(plan);
}

static void the_list_of_metrics_is_a_table(void **state)
{
    (void)state;
    ks_table *t = NULL;
    ks_error_clear(&err);
    KT_OK(ks_metrics_table("cpu__*time*.sum", &t, &err));
    assert_int_equal(ks_table_rows(t), 4);
    size_t row = 3;
    assert_string_equal(ks_table_text(t, row, ks_table_find(t, "Metric")), "cpu__user_time.sum");
    assert_string_equal(ks_table_text(t, row, ks_table_find(t, "Unit")), "ns");
    assert_string_equal(ks_table_text(t, row, ks_table_find(t, "Kind")), "duration");
    assert_string_equal(ks_table_text(t, row, ks_table_find(t, "Collector")), "clock");
    assert_string_equal(ks_table_text(t, row, ks_table_find(t, "Target")), "region, program");
    assert_true(ks_table_get(t, row, ks_table_find(t, "Available")).as.boolean);
    ks_table_free(t);
    KT_FAILS(ks_metrics_table("cpu__time_duraton.sum", &t, &err), KS_ENOTFOUND,
             "no metric matches 'cpu__time_duraton.sum'; did you mean cpu__time_duration.sum");
}

static void the_state_of_collectors_is_a_table(void **state)
{
    (void)state;
    ks_table *t = NULL;
    bool available = false;
    ks_error_clear(&err);
    KT_OK(ks_probe_table(&t, &err));
    for (size_t row = 0; row < ks_table_rows(t); row++) {
        available = available || (strcmp(ks_table_text(t, row, 0), "clock") == 0 &&
                                  strcmp(ks_table_text(t, row, 1), "available") == 0 &&
                                  strcmp(ks_table_text(t, row, 2), "yes") == 0);
    }
    assert_true(available);
    ks_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_unknown_names_come_in_one_error),
        cmocka_unit_test(a_name_without_its_suffix_is_near),
        cmocka_unit_test(a_pattern_that_matches_nothing_is_an_unknown_name),
        cmocka_unit_test(gpu_metrics_are_known_but_not_here),
        cmocka_unit_test(what_is_of_programs_is_not_of_regions),
        cmocka_unit_test(a_metric_that_is_not_available_says_why),
        cmocka_unit_test(patterns_take_what_can_be_measured_once_each),
        cmocka_unit_test(the_list_of_metrics_is_a_table),
        cmocka_unit_test(the_state_of_collectors_is_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
