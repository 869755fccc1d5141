/* Derived metrics: what callbacks give, and what they get wrong. */
#include "fakes/results_fixture.h"

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
    KT_HAS(kt_text(t, odd, "Failure"), "no value in 4 of 6 runs: not a finite number: infinity");
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

/* Fails for n = 1, else 5 m. */
static ks_status fail_first(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    return ks_call_i64(call, "n") == 1 ? ks_fail(e, KS_EBODY, "user", 0, "not yet")
                                       : ks_derivation_set(d, NULL, 5, "m", e);
}

static void a_failure_does_not_hide_the_unit(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_derive(plan, "length", fail_first, NULL, &err));
    const ks_table *t = run(base_and_test);
    for (int64_t n = 1; n <= 2; n++) {
        kt_key length = {"test", "length", n};
        assert_string_equal(kt_text(t, length, "Unit"), "m");
        assert_null(kt_text(t, length, "Warnings"));
    }
    KT_HAS(kt_text(t, (kt_key){"test", "length", 1}, "Failure"), "not yet");
}

static void a_name_that_another_callback_took_fails_its_own_row(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_derive(plan, "first", derive_clash, (void *)"second", &err));
    KT_OK(ks_plan_derive(plan, "second", derive_clash, NULL, &err));
    const ks_table *t = run(base_and_test);
    assert_int_equal(ks_results_succeeded(results), 1);
    KT_F64(kt_number(t, (kt_key){"test", DURATION, 1}, "AvgValue"), 20);
    KT_F64(kt_number(t, (kt_key){"test", "second", 1}, "AvgValue"), 1); /* the first one's */
    const char *failure = ks_table_text(t, ks_table_rows(t) - 1, ks_table_find(t, "Failure"));
    KT_HAS(failure, "two derived metrics give a value named 'second'");
}

static void the_name_of_a_measured_metric_is_refused_before_the_run(void **state)
{
    (void)state;
    KT_OK(ks_plan_derive(plan, DURATION, derive_clash, NULL, &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, base_and_test, NULL, &results, &err), KS_EINVAL,
             "has the name of a measured one");
    assert_null(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(derived_values_are_computed_run_by_run),
        T(a_key_that_is_not_always_given_is_missing_elsewhere),
        T(odd_values_are_missing_and_spoil_nobody),
        T(mistakes_of_a_callback_have_a_row_of_their_own),
        T(a_unit_that_changes_is_a_warning),
        T(a_failure_does_not_hide_the_unit),
        T(a_name_that_another_callback_took_fails_its_own_row),
        T(the_name_of_a_measured_metric_is_refused_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
