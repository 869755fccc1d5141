/* The table of results: baselines, types of parameters, columns. The fake
 * collector gives values that are known beforehand. */
#include "fakes/results_fixture.h"

#include <stdlib.h>

/* ---- baselines --------------------------------------------------------------------------------
 */

static void a_baseline_puts_all_statistics_on_its_scale(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_normalize(plan, "base", &err));
    const ks_table *t = run(base_and_test);
    kt_key test = {"test", DURATION, 2};
    KT_NEAR(kt_number(t, test, "AvgValue"), 46.0 / 11, 1e-12);
    KT_NEAR(kt_number(t, test, "MinValue"), 40.0 / 11, 1e-12);
    KT_NEAR(kt_number(t, test, "MaxValue"), 52.0 / 11, 1e-12);
    KT_NEAR(kt_number(t, test, "Median"), 46.0 / 11, 1e-12);
    KT_NEAR(kt_number(t, test, "MAD"), 6.0 / 11, 1e-12);
    KT_NEAR(kt_number(t, test, "StdDev"), sqrt(72.0) / 11, 1e-12);
    KT_NEAR(kt_number(t, test, "NormalizationValue"), 11, 1e-12);
    assert_string_equal(kt_text(t, test, "Normalized"), "base");
    assert_null(kt_text(t, test, "Unit"));
    /* errors of both means: by hand with scipy's t.ppf(0.975, dof) */
    double a = 72.0 / 2 / 121;
    double b = (46.0 / 11) * (46.0 / 11) * 2.0 / 2 / 121;
    double dof = (a + b) * (a + b) / (a * a + b * b);
    KT_NEAR(dof, 1.7860498498391963, 1e-9);
    KT_NEAR((kt_number(t, test, "CI95_Upper") - kt_number(t, test, "CI95_Lower")) / 2,
            4.836352040014727 * sqrt(a + b), 1e-9);
    /* the baseline is 1 by definition */
    kt_key base = {"base", DURATION, 1};
    KT_F64(kt_number(t, base, "AvgValue"), 1);
    KT_F64(kt_number(t, base, "CI95_Lower"), 1);
    KT_F64(kt_number(t, base, "CI95_Upper"), 1);
    KT_NEAR(kt_number(t, base, "MaxValue"), 12.0 / 11, 1e-12);
    /* after normalising: sqrt(23/11 * 46/11) */
    KT_NEAR(kt_number(t, test, "Geomean"), sqrt(23.0 * 46.0) / 11, 1e-12);
}

static void a_row_without_baseline_stays_with_the_reason(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,3", &err));
    KT_OK(ks_plan_normalize(plan, "base", &err));
    const ks_table *t = run(base_and_test);
    kt_key alone = {"test", DURATION, 3};
    assert_false(valid(t, alone, "AvgValue"));
    assert_false(valid(t, alone, "Median"));
    KT_F64(kt_number(t, alone, "NumRuns"), 1);
    KT_HAS(kt_text(t, alone, "Failure"), "no baseline: the mean of 'base' is missing here");
    KT_NEAR(kt_number(t, (kt_key){"test", DURATION, 1}, "AvgValue"), 2.0, 1e-12);
}

/* "base" takes 0, "test" n; both fail in the second run of n = 2. */
static ks_status zero_base(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    int64_t n = ks_call_i64(call, "n");
    KS_ANNOTATE("base") {
        fake_launch("k", n == 1 ? 0 : 10, 0, 0);
    }
    KS_ANNOTATE("test") {
        fake_launch("k", (double)n, 0, 0);
    }
    return n == 3 || (n == 2 && ks_call_run(call) == 1) ? ks_fail(e, KS_EBODY, "user", 0, "boom")
                                                        : KS_OK;
}

static void why_there_is_no_ratio_is_told(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2,3", &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_normalize(plan, "base", &err));
    const ks_table *t = run(zero_base);
    assert_string_equal(kt_text(t, (kt_key){"test", DURATION, 1}, "Failure"),
                        "no baseline: the mean of 'base' is 0 here");
    KT_HAS(kt_text(t, (kt_key){"test", DURATION, 2}, "Failure"), "1 of 3 runs failed: boom");
    KT_F64(kt_number(t, (kt_key){"test", DURATION, 2}, "AvgValue"), 0.2);
    assert_string_equal(kt_text(t, (kt_key){"test", DURATION, 3}, "Failure"),
                        "all 3 runs failed: boom");
}

static void an_unknown_baseline_stops_after_the_first_config(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_normalize(plan, "bse", &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, base_and_test, NULL, &results, &err), KS_ENOTFOUND,
             "'bse' was not entered in the first config; entered were: base, test");
}

/* ---- statistics in the table ------------------------------------------------------------------
 */

/* By run 1, 2, 3, 4, 100. */
static ks_status with_outlier(const ks_call *call, void *user, ks_error *e)
{
    static const double values[] = {1, 2, 3, 4, 100};
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
        fake_launch("k", values[ks_call_run(call)], 0, 0);
    }
    return KS_OK;
}

static void statistics_stand_in_their_columns(void **state) /* C24 */
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 5, &err));
    const ks_table *t = run(with_outlier);
    kt_key a = {"a", DURATION, KT_ANY};
    KT_F64(kt_number(t, a, "Median"), 3);
    KT_F64(kt_number(t, a, "AvgValue"), 22);
    KT_F64(kt_number(t, a, "Outliers"), 1);
    KT_F64(kt_number(t, a, "MAD"), 1);
    KT_F64(kt_number(t, a, "StableMeasurement"), 0);
    KT_NEAR(kt_number(t, a, "Geomean"), 22, 1e-12);
    assert_int_equal(ks_table_type(t, ks_table_find(t, "MinValue")), KS_I64); /* all are whole */
    assert_int_equal(ks_table_type(t, ks_table_find(t, "Normalized")), KS_BOOL);
    assert_int_equal(ks_table_find(t, "NormalizationValue"), ks_table_columns(t));
}

static void one_run_leaves_spread_empty_but_its_columns_there(void **state) /* C24 */
{
    (void)state;
    const ks_table *t = run(with_outlier);
    kt_key a = {"a", DURATION, KT_ANY};
    KT_F64(kt_number(t, a, "AvgValue"), 1);
    assert_false(valid(t, a, "StdDev"));
    assert_false(valid(t, a, "RelativeStdDevPct"));
    assert_false(valid(t, a, "StableMeasurement"));
    assert_false(valid(t, a, "CI95_Lower"));
    assert_null(kt_text(t, a, "Warnings"));
}

static ks_status sometimes(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    uint32_t r = ks_call_run(call);
    KS_ANNOTATE("always") {
        fake_launch("k", 1, 0, 0);
    }
    for (uint32_t i = 0; i < r; i++) {
        KS_ANNOTATE("r times") {
            fake_launch("k", 1, 0, 0);
        }
    }
    return KS_OK;
}

/* A name of its own for each config. */
static ks_status named_by_config(const ks_call *call, void *user, ks_error *e)
{
    char name[32];
    (void)user;
    (void)e;
    snprintf(name, sizeof name, "config %d", (int)ks_call_i64(call, "n"));
    KS_ANNOTATE(name) {
        fake_launch("k", 7, 0, 0);
    }
    return KS_OK;
}

static void names_of_other_configs_cost_nothing(void **state)
{
    (void)state;
    /* a place for every annotation in every config would be 20,000 x 20,000 */
    KT_OK(ks_plan_axis_spec(plan, "n=1..20000", &err));
    KT_OK(ks_plan_warmup(plan, 0, &err));
    const ks_table *t = run(named_by_config);
    assert_int_equal(ks_table_rows(t), 20000);
    KT_F64(kt_number(t, (kt_key){"config 20000", DURATION, 20000}, "AvgValue"), 7);
}

static void annotations_that_come_and_go_are_told(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 3, &err));
    const ks_table *t = run(sometimes);
    kt_key key = {"r times", DURATION, KT_ANY};
    KT_F64(kt_number(t, key, "NumRuns"), 2);
    KT_F64(kt_number(t, key, "NumFailed"), 0); /* not entered is no failure */
    KT_F64(kt_number(t, key, "AvgValue"), 1.5);
    assert_false(valid(t, key, "Visits"));
    assert_false(valid(t, key, "NumKernels"));
    KT_HAS(kt_text(t, key, "Warnings"), "entered in 2 of 3 runs");
    KT_HAS(kt_text(t, key, "Warnings"), "not entered equally often");
    KT_HAS(kt_text(t, key, "Warnings"), "not the same number of launches");
    assert_null(kt_text(t, (kt_key){"always", DURATION, KT_ANY}, "Warnings"));
}

/* ---- parameters and columns -------------------------------------------------------------------
 */

static ks_status one(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
        fake_launch("k", 1, 0, 0);
    }
    return KS_OK;
}

/* The type of a parameter's column that holds two values. */
static ks_type column_of(ks_value x, ks_value y)
{
    ks_type type = KS_MISSING;
    ks_plan_free(plan);
    ks_results_free(results);
    start(NULL);
    KT_OK(ks_plan_axis(plan, "p", (ks_value[]){x, y}, 2, &err));
    const ks_table *t = run(one);
    type = ks_table_type(t, ks_table_find(t, "p"));
    assert_int_equal(ks_table_role(t, ks_table_find(t, "p")), KS_ROLE_PARAMETER);
    return type;
}

static void columns_of_parameters_lose_nothing(void **state) /* C22, C20 */
{
    (void)state;
    assert_int_equal(column_of(ks_i64(1), ks_i64(2)), KS_I64);
    assert_int_equal(column_of(ks_i64(1), ks_f64(2.5)), KS_F64);
    assert_int_equal(column_of(ks_i64((INT64_C(1) << 60) + 1), ks_f64(2.5)), KS_TEXT);
    assert_int_equal(column_of(ks_bool(true), ks_i64(1)), KS_TEXT); /* True is not 1 */
    assert_int_equal(column_of(ks_bool(true), ks_bool(false)), KS_BOOL);
    assert_int_equal(column_of(ks_f64(INFINITY), ks_f64(1)), KS_TEXT);
    assert_string_equal(ks_table_text(ks_results_table(results), 0, 2), "inf");
    assert_int_equal(column_of(ks_missing(), ks_i64(1)), KS_I64);
    assert_false(ks_table_valid(ks_results_table(results), 0, 2));
    assert_int_equal(column_of(ks_missing(), ks_text("None")), KS_TEXT);
    assert_null(ks_table_text(ks_results_table(results), 0, 2));
    assert_string_equal(ks_table_text(ks_results_table(results), 1, 2), "None");
    int object = 0;
    assert_int_equal(column_of(ks_opaque(&object, "((1, 2), (3,))"), ks_i64(1)), KS_TEXT);
    assert_string_equal(ks_table_text(ks_results_table(results), 0, 2), "((1, 2), (3,))");
    assert_string_equal(ks_table_text(ks_results_table(results), 1, 2), "1");
}

static ks_status same_object(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    assert_ptr_equal(ks_call_object(call, "o"), user);
    return one(call, user, e);
}

static void an_opaque_object_is_handed_on_as_it_is(void **state) /* C22 */
{
    (void)state;
    int object = 0;
    KT_OK(ks_plan_axis(plan, "o", (ks_value[]){ks_opaque(&object, "{'a': 1}")}, 1, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_run_with(fake_collectors, plan, same_object, &object, &results, &err));
    const ks_table *t = ks_results_table(results);
    assert_int_equal(ks_table_rows(t), 1);
    assert_string_equal(ks_table_text(t, 0, ks_table_find(t, "o")), "{'a': 1}");
}

static void equal_configs_are_kept_apart(void **state) /* C23 g */
{
    (void)state;
    KT_OK(ks_plan_axis_i64(plan, "n", (int64_t[]){5, 5}, 2, &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    const ks_table *t = run(one);
    assert_int_equal(ks_table_rows(t), 2);
    for (size_t row = 0; row < 2; row++) {
        KT_F64(ks_table_number(t, row, ks_table_find(t, "NumRuns")), 2);
    }
}

static void a_parameter_without_configs_gives_one_row(void **state) /* C23 a */
{
    (void)state;
    const ks_table *t = run(one);
    assert_int_equal(ks_table_rows(t), 1);
    assert_string_equal(ks_table_name(t, 2), "AvgValue");
}

static void a_parameter_named_like_a_column_of_ours_wins(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "Device=17", &err));
    const ks_table *t = run(one);
    size_t column = ks_table_find(t, "Device");
    assert_int_equal(ks_table_role(t, column), KS_ROLE_PARAMETER);
    KT_F64(ks_table_number(t, 0, column), 17);
    KT_HAS(ks_table_fact(t, "warnings[]").text, "the column Device is left out");
    size_t count = 0;
    for (size_t c = 0; c < ks_table_columns(t); c++) {
        count += strcmp(ks_table_name(t, c), "Device") == 0;
    }
    assert_int_equal(count, 1);
}

static void columns_come_in_the_order_of_the_drop_in(void **state)
{
    (void)state;
    static const char *const expected[] = {"Annotation",
                                           "Metric",
                                           "n",
                                           "AvgValue",
                                           "StdDev",
                                           "MinValue",
                                           "MaxValue",
                                           "NumRuns",
                                           "Kernel",
                                           "GPU",
                                           "Host",
                                           "ComputeClock",
                                           "MemoryClock",
                                           "Unit",
                                           "CI95_Lower",
                                           "CI95_Upper",
                                           "RelativeStdDevPct",
                                           "StableMeasurement",
                                           "Normalized",
                                           "NormalizationValue",
                                           "Geomean",
                                           "Median",
                                           "MAD",
                                           "NumFailed",
                                           "Failure",
                                           "Visits",
                                           "NumKernels",
                                           "Outliers",
                                           "Warnings",
                                           "Passes",
                                           "Replay",
                                           "CacheControl",
                                           "ClockControl",
                                           "ClockMHz",
                                           "Device",
                                           "Source"};
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_normalize(plan, "base", &err));
    const ks_table *t = run(base_and_test);
    assert_int_equal(ks_table_columns(t), sizeof expected / sizeof expected[0]);
    for (size_t c = 0; c < ks_table_columns(t); c++) {
        assert_string_equal(ks_table_name(t, c), expected[c]);
    }
}

/* "base" takes 11 ns on average, "test" 23. */
static void values_below_what_a_metric_can_tell_carry_a_warning(void **state)
{
    (void)state;
    fake_reset((fake_script){.floor_ns = 15});
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_normalize(plan, "base", &err)); /* the ratio is not what is compared */
    const ks_table *t = run(base_and_test);
    KT_HAS(kt_text(t, (kt_key){"base", DURATION, 1}, "Warnings"), "too short to tell");
    assert_null(kt_text(t, (kt_key){"test", DURATION, 1}, "Warnings"));
}

static void samples_come_as_a_table(void **state)
{
    (void)state;
    ks_table *samples = NULL;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_order(plan, KS_ORDER_SHUFFLED, 2, &err));
    run(base_and_test);
    KT_OK(ks_results_samples(results, &samples, &err));
    assert_int_equal(ks_table_rows(samples), 8);
    static const double expected[] = {10, 12, 10, 12, 20, 26, 40, 52};
    for (size_t row = 0; row < 8; row++) { /* by annotation, config, run, whatever was run first */
        KT_F64(ks_table_number(samples, row, ks_table_find(samples, "Value")), expected[row]);
        KT_F64(ks_table_number(samples, row, ks_table_find(samples, "Config")),
               (double)(row / 2 % 2));
        KT_F64(ks_table_number(samples, row, ks_table_find(samples, "n")),
               (double)(row / 2 % 2) + 1);
    }
    ks_table_free(samples);
}

/* A value per run from a list. */
static ks_status listed(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    KS_ANNOTATE("a") {
        fake_launch("k", ((const double *)user)[ks_call_run(call)], 1, 1);
    }
    return KS_OK;
}

static void what_a_mean_does_not_show_is_a_warning(void **state)
{
    (void)state;
    static double cold[] = {135, 100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 100};
    static double rising[] = {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111};
    kt_key key = {"a", DURATION, KT_ANY};
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_runs(plan, 12, &err));
    KT_OK(ks_run_with(fake_collectors, plan, listed, cold, &results, &err));
    assert_string_equal(kt_text(ks_results_table(results), key, "Warnings"),
                        "the first run is 35.0 % above the others: warm up before it (--warmup 1)");
    ks_results_free(results);
    KT_OK(ks_run_with(fake_collectors, plan, listed, rising, &results, &err));
    /* medians 102.5 and 108.5 */
    assert_string_equal(kt_text(ks_results_table(results), key, "Warnings"),
                        "it drifts, the second half of the runs is 5.9 % above the first: let the "
                        "machine settle");
    ks_results_free(results);
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_run_with(fake_collectors, plan, listed, rising, &results, &err));
    KT_HAS(kt_text(ks_results_table(results), key, "Warnings"),
           ": let the machine settle, or compare configs in turn (--order interleaved)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_a_mean_does_not_show_is_a_warning),
        T(a_baseline_puts_all_statistics_on_its_scale),
        T(a_row_without_baseline_stays_with_the_reason),
        T(why_there_is_no_ratio_is_told),
        T(an_unknown_baseline_stops_after_the_first_config),
        T(statistics_stand_in_their_columns),
        T(one_run_leaves_spread_empty_but_its_columns_there),
        T(names_of_other_configs_cost_nothing),
        T(annotations_that_come_and_go_are_told),
        T(columns_of_parameters_lose_nothing),
        T(an_opaque_object_is_handed_on_as_it_is),
        T(equal_configs_are_kept_apart),
        T(a_parameter_without_configs_gives_one_row),
        T(a_parameter_named_like_a_column_of_ours_wins),
        T(columns_come_in_the_order_of_the_drop_in),
        T(values_below_what_a_metric_can_tell_carry_a_warning),
        T(samples_come_as_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
