/* The table of results: derived metrics, baselines, types of parameters, columns. The fake
 * collector gives values that are known beforehand. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "api/run.h"
#include "fakes/fake_collector.h"

static ks_error err;
static ks_plan *plan;
static ks_results *results;

static const char *const DURATION = "fake__duration.sum";

static int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_metric(plan, DURATION, &err));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    return 0;
}

static const ks_table *run(ks_body_fn body)
{
    KT_OK(ks_run_with(fake_collectors, plan, body, NULL, &results, &err));
    return ks_results_table(results);
}

static bool valid(const ks_table *t, kt_key key, const char *column)
{
    return ks_table_valid(t, kt_row(t, key), ks_table_find(t, column));
}

/* "base" takes 10, 12 (mean 11), "test" takes n times 20, 26 (mean 23 n). */
static ks_status base_and_test(const ks_call *call, void *user, ks_error *e)
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
    KT_HAS(kt_text(t, alone, "Failure"), "no baseline: 'base' has no value here");
    KT_NEAR(kt_number(t, (kt_key){"test", DURATION, 1}, "AvgValue"), 2.0, 1e-12);
}

static void an_unknown_baseline_stops_after_the_first_config(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_normalize(plan, "bse", &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, base_and_test, NULL, &results, &err), KS_ENOTFOUND,
             "'bse' was not entered in the first config; entered were: base, test");
}

/* ---- derived metrics --------------------------------------------------------------------------
 */

/* "rate" always, "double" where n is even. */
static ks_status derive_rates(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    double ns = 0;
    (void)user;
    ks_status status = ks_derivation_metric(d, DURATION, &ns, e);
    if (status != KS_OK) {
        return status;
    }
    status = ks_derivation_set(d, "rate", 1000.0 / ns, "1/us", e);
    if (status == KS_OK && ks_call_i64(call, "n") % 2 == 0) {
        status = ks_derivation_set(d, "double", 2.0 * ns, NULL, e);
    }
    return status;
}

static void derived_values_are_computed_run_by_run(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_derive(plan, "rates", derive_rates, NULL, &err));
    const ks_table *t = run(base_and_test);
    kt_key rate = {"test", "rate", 1};
    KT_NEAR(kt_number(t, rate, "AvgValue"), (1000.0 / 20 + 1000.0 / 26) / 2, 1e-12);
    assert_string_equal(kt_text(t, rate, "Unit"), "1/us");
    assert_string_equal(kt_text(t, rate, "Source"), "derived");
    kt_key doubled = {"test", "double", 2};
    KT_F64(kt_number(t, doubled, "AvgValue"), 92);
    assert_null(kt_text(t, doubled, "Unit"));
    /* measured rows first, then all derived ones */
    assert_string_equal(ks_table_text(t, 3, 1), DURATION);
    assert_string_equal(ks_table_text(t, 4, 1), "rate");
    assert_int_equal(ks_table_rows(t), 12);
}

static void a_key_that_is_not_always_given_is_missing_elsewhere(void **state) /* C17 */
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_derive(plan, "rates", derive_rates, NULL, &err));
    const ks_table *t = run(base_and_test);
    kt_key odd = {"test", "double", 1};
    assert_false(valid(t, odd, "AvgValue"));
    KT_F64(kt_number(t, odd, "NumRuns"), 0);
    KT_HAS(kt_text(t, odd, "Failure"), "gave no value of this name");
}

/* By run: 1/0, NaN, a failure, nothing, 5. */
static ks_status derive_oddities(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    switch (ks_call_run(call)) {
    case 0:
        return ks_derivation_set(d, NULL, 1.0 / (double)(ks_call_i64(call, "n") - 1), "x", e);
    case 1:
        return ks_derivation_set(d, NULL, NAN, "x", e);
    case 2:
        return ks_fail(e, KS_EBODY, "user", 0, "cannot tell");
    case 3:
        return KS_OK;
    default:
        return ks_derivation_set(d, NULL, 5, "x", e);
    }
}

static void odd_values_are_missing_and_spoil_nobody(void **state) /* C17 */
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_runs(plan, 6, &err));
    KT_OK(ks_plan_derive(plan, "odd", derive_oddities, NULL, &err));
    const ks_table *t = run(base_and_test);
    kt_key odd = {"test", "odd", 1};
    KT_F64(kt_number(t, odd, "AvgValue"), 5);
    KT_F64(kt_number(t, odd, "NumRuns"), 2);
    KT_F64(kt_number(t, odd, "NumFailed"), 4);
    KT_HAS(kt_text(t, odd, "Failure"), "4 of 6 runs failed: not a finite number: infinity");
    KT_F64(kt_number(t, (kt_key){"test", DURATION, 1}, "NumRuns"), 6);
    static const char *const reasons[] = {"infinity", "NaN", "cannot tell", "gave no value"};
    ks_table *samples = NULL;
    KT_OK(ks_results_samples(results, &samples, &err));
    size_t at = 0;
    for (size_t row = 0; row < ks_table_rows(samples); row++) {
        if (strcmp(ks_table_text(samples, row, 0), "test") == 0 &&
            strcmp(ks_table_text(samples, row, 1), "odd") == 0 && at < 4) {
            KT_HAS(ks_table_text(samples, row, ks_table_find(samples, "Reason")), reasons[at++]);
        }
    }
    assert_int_equal(at, 4);
    ks_table_free(samples);
}

static ks_status derive_clash(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    return ks_derivation_set(d, user, 1, "x", e);
}

static ks_status ask_for_unknown(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    double value = 0;
    (void)user;
    ks_call_f64(call, "m");
    return ks_derivation_metric(d, "no such metric", &value, e);
}

static void mistakes_of_a_callback_have_a_row_of_their_own(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_derive(plan, "clash", derive_clash, (void *)DURATION, &err));
    KT_OK(ks_plan_derive(plan, "first", derive_clash, (void *)"same", &err));
    KT_OK(ks_plan_derive(plan, "second", derive_clash, (void *)"same", &err));
    KT_OK(ks_plan_derive(plan, "bad", derive_clash, (void *)"a\nb", &err));
    KT_OK(ks_plan_derive(plan, "unknown", ask_for_unknown, NULL, &err));
    const ks_table *t = run(base_and_test);
    KT_HAS(kt_text(t, (kt_key){"test", "clash", 1}, "Failure"), "name of a measured metric");
    KT_F64(kt_number(t, (kt_key){"test", "same", 1}, "AvgValue"), 1);
    KT_HAS(kt_text(t, (kt_key){"test", "second", 1}, "Failure"), "two derived metrics give");
    KT_HAS(kt_text(t, (kt_key){"test", "bad", 1}, "Failure"), "without control characters");
    KT_HAS(kt_text(t, (kt_key){"test", "unknown", 1}, "Failure"), "not measured by this plan");
    KT_FAILS(ks_plan_derive(plan, "clash", derive_clash, NULL, &err), KS_EINVAL, "given twice");
}

static ks_status change_unit(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    return ks_derivation_set(d, NULL, 1, ks_call_run(call) == 0 ? "m" : "km", e);
}

static void a_unit_that_changes_is_a_warning(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_derive(plan, "length", change_unit, NULL, &err));
    const ks_table *t = run(base_and_test);
    kt_key length = {"test", "length", 1};
    assert_string_equal(kt_text(t, length, "Unit"), "m");
    KT_HAS(kt_text(t, length, "Warnings"), "different units");
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

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)
    const struct CMUnitTest tests[] = {
        T(a_baseline_puts_all_statistics_on_its_scale),
        T(a_row_without_baseline_stays_with_the_reason),
        T(an_unknown_baseline_stops_after_the_first_config),
        T(derived_values_are_computed_run_by_run),
        T(a_key_that_is_not_always_given_is_missing_elsewhere),
        T(odd_values_are_missing_and_spoil_nobody),
        T(mistakes_of_a_callback_have_a_row_of_their_own),
        T(a_unit_that_changes_is_a_warning),
        T(statistics_stand_in_their_columns),
        T(one_run_leaves_spread_empty_but_its_columns_there),
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
