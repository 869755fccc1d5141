/* Runs that fail: bodies, annotations, parameters, collectors; strict and tolerant. */
#include "fakes/run_fixture.h"

#include <math.h>

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

/* ---- failures ---------------------------------------------------------------------------------
 */

static ks_status boom_at_3(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("a") {
        fake_launch("k", 1, 1, 1);
        if (ks_call_i64(call, "n") == 3 && !ks_call_is_warmup(call)) {
            return ks_fail(e, KS_ENOTFOUND, "user", 77, "boom");
        }
    }
    KS_ANNOTATE("b") {
    }
    return KS_OK;
}

static void a_strict_run_stops_and_keeps_what_is_finished(void **state) /* C05 */
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1..5", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    assert_int_equal(ks_run(plan, boom_at_3, NULL, &results, &err), KS_ENOTFOUND);
    assert_string_equal(err.message, "config 3 of 5 (n=3): run 1: boom");
    assert_string_equal(err.origin, "user");
    assert_int_equal(err.native, 77);
    assert_false(ks_results_complete(results));
    assert_int_equal(ks_results_finished(results), 2);
    assert_int_equal(ks_table_rows(table()), 4);
    ks_error_clear(&err);
    /* the next run knows nothing of it */
    ks_plan *next = NULL;
    ks_results *good = NULL;
    KT_OK(ks_plan_new(&next, &err));
    KT_OK(ks_plan_axis_spec(next, "n=1", &err));
    KT_OK(ks_run(next, boom_at_3, NULL, &good, &err));
    assert_int_equal(ks_table_rows(ks_results_table(good)), 2);
    ks_results_free(good);
    ks_plan_free(next);
}

static void a_tolerant_run_marks_what_failed(void **state) /* C05 */
{
    (void)state;
    const char *wall = "cpu__time_duration.sum";
    KT_OK(ks_plan_axis_spec(plan, "n=1..5", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_run(plan, boom_at_3, NULL, &results, &err));
    assert_int_equal(ks_table_rows(table()), 10);
    for (int64_t n = 1; n <= 5; n++) {
        kt_key a = {"a", wall, n};
        KT_F64(kt_number(table(), a, "NumRuns"), n == 3 ? 0 : 2);
        KT_F64(kt_number(table(), a, "NumFailed"), n == 3 ? 2 : 0);
        assert_int_equal(isnan(kt_number(table(), a, "AvgValue")), n == 3);
    }
    KT_HAS(kt_text(table(), (kt_key){"a", wall, 3}, "Failure"), "all 2 runs failed: boom");
    /* an annotation that it never came to is there too, with the reason */
    KT_HAS(kt_text(table(), (kt_key){"b", wall, 3}, "Failure"), "boom");
    assert_null(kt_text(table(), (kt_key){"b", wall, 2}, "Failure"));
    assert_int_equal(ks_results_succeeded(results), 4);
    assert_true(ks_results_complete(results));
}

static ks_status boom_in_pass_2(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("a") {
        fake_launch("k", 1, 1, 1);
    }
    bool fails = ks_call_pass(call) == 1 && ks_call_run(call) == 1;
    return fails ? ks_fail(e, KS_EBODY, "user", 0, "late boom") : KS_OK;
}

static void a_call_that_fails_is_aborted_and_spoils_its_run_alone(void **state)
{
    (void)state;
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_metric(plan, "cpu__time_duration.sum", &err));
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    KT_OK(ks_run_with(both, plan, boom_in_pass_2, NULL, &results, &err));
    assert_int_equal(fake.aborts, 1);
    /* the clock's pass was good */
    KT_F64(kt_number(table(), (kt_key){"a", "cpu__time_duration.sum", KT_ANY}, "NumRuns"), 3);
    kt_key bytes = {"a", "fake__bytes.sum", KT_ANY};
    KT_F64(kt_number(table(), bytes, "NumRuns"), 2);
    KT_F64(kt_number(table(), bytes, "AvgValue"), 1);
    KT_HAS(kt_text(table(), bytes, "Failure"), "1 of 3 runs failed: late boom");
}

static ks_status mark_failed(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    ks_token token = KS_TOKEN_INIT;
    ks_status status = ks_annotate_begin("a", &token, e);
    if (status != KS_OK) {
        return status;
    }
    status = ks_call_run(call) == 1 ? ks_annotate_fail(token, "no memory", e)
                                    : ks_annotate_end(token, e);
    KS_ANNOTATE("b") {
    }
    return status;
}

static void an_annotation_that_failed_leaves_the_others_alone(void **state)
{
    (void)state;
    const char *wall = "cpu__time_duration.sum";
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_run(plan, mark_failed, NULL, &results, &err));
    KT_F64(kt_number(table(), (kt_key){"a", wall, KT_ANY}, "NumRuns"), 2);
    KT_HAS(kt_text(table(), (kt_key){"a", wall, KT_ANY}, "Failure"),
           "1 of 3 runs failed: no memory");
    KT_F64(kt_number(table(), (kt_key){"b", wall, KT_ANY}, "NumRuns"), 3);
}

static ks_status always_fails(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    return KS_EIO; /* without a message */
}

static void when_all_fail_there_is_a_row_that_says_so(void **state) /* C24 */
{
    (void)state;
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_run(plan, always_fails, NULL, &results, &err));
    assert_int_equal(ks_table_rows(table()), 2);
    kt_key key = {NULL, "cpu__time_duration.sum", 2};
    KT_F64(kt_number(table(), key, "NumRuns"), 0);
    KT_F64(kt_number(table(), key, "AvgValue"), NAN);
    KT_F64(kt_number(table(), key, "Median"), NAN);
    KT_HAS(kt_text(table(), key, "Failure"), "input or output failed");
    assert_int_equal(ks_results_succeeded(results), 0);
    KT_OK(ks_plan_tolerant(plan, false, &err));
    ks_results_free(results);
    KT_FAILS(ks_run(plan, always_fails, NULL, &results, &err), KS_EIO, "warm-up call 1");
}

static ks_status annotates_nothing(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    return KS_OK;
}

static void a_body_without_annotations_is_an_error(void **state) /* C02 in kind */
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=7", &err));
    KT_FAILS(ks_run(plan, annotates_nothing, NULL, &results, &err), KS_ESTATE,
             "config 1 of 1 (n=7): run 1: the body entered no annotation");
}

static ks_status asks_for_nonsense(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    KS_ANNOTATE("a") {
        if (user == NULL) {
            assert_int_equal(ks_call_i64(call, "m"), 0);
        } else {
            assert_null(ks_call_text(call, "n"));
        }
    }
    return KS_OK;
}

static void a_parameter_asked_for_in_vain_fails_the_call(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_FAILS(ks_run(plan, asks_for_nonsense, NULL, &results, &err), KS_ENOTFOUND,
             "parameter 'm' was asked for, but the plan does not have it");
    ks_results_free(results);
    KT_FAILS(ks_run(plan, asks_for_nonsense, plan, &results, &err), KS_EINVAL,
             "parameter 'n' was asked for as a text, but its value is a whole number");
}

/* A parameter, and as what it is asked for. */
typedef struct question {
    const char *name;
    ks_type type;
} question;

static ks_status asks(const ks_call *call, void *user, ks_error *e)
{
    const question *q = user;
    (void)e;
    KS_ANNOTATE("a") {
        switch (q->type) {
        case KS_BOOL:
            assert_false(ks_call_bool(call, q->name));
            break;
        case KS_I64:
            assert_int_equal(ks_call_i64(call, q->name), 0);
            break;
        case KS_F64:
            assert_true(isnan(ks_call_f64(call, q->name)));
            break;
        case KS_TEXT:
            assert_null(ks_call_text(call, q->name));
            break;
        default:
            assert_null(ks_call_object(call, q->name));
        }
    }
    return KS_OK;
}

static void a_parameter_of_another_type_says_what_it_is(void **state)
{
    (void)state;
    static const struct {
        question asked;
        const char *said;
    } cases[] = {
        {{"i", KS_BOOL}, "asked for as a truth value, but its value is a whole number"},
        {{"x", KS_I64}, "asked for as a whole number, but its value is a number"},
        {{"t", KS_F64}, "asked for as a number, but its value is a text"},
        {{"b", KS_TEXT}, "asked for as a text, but its value is a truth value"},
        {{"b", KS_OPAQUE}, "asked for as an object, but its value is a truth value"},
        {{"o", KS_TEXT}, "asked for as a text, but its value is an object"},
        {{"m", KS_TEXT}, "asked for as a text, but its value is missing"},
    };
    const ks_value values[] = {ks_i64(1),     ks_f64(0.5),           ks_text("a"),
                               ks_bool(true), ks_opaque(plan, "it"), ks_missing()};
    static const char *const names[] = {"i", "x", "t", "b", "o", "m"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        KT_OK(ks_plan_axis(plan, names[i], &values[i], 1, &err));
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        question asked = cases[i].asked;
        KT_FAILS(ks_run(plan, asks, &asked, &results, &err), KS_EINVAL, cases[i].said);
        ks_results_free(results);
        results = NULL;
    }
}

static ks_status leaves_open(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    ks_token token = KS_TOKEN_INIT;
    return ks_annotate_begin("left open", &token, e);
}

static void an_annotation_left_open_fails_the_call(void **state) /* C04 d */
{
    (void)state;
    KT_FAILS(ks_run(plan, leaves_open, NULL, &results, &err), KS_ESTATE,
             "'left open' was still open");
}

static void what_a_collector_fails_at_comes_back(void **state)
{
    (void)state;
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    for (int fault = FAKE_FAIL_OPEN; fault <= FAKE_FAIL_DRAIN; fault++) {
        char text[64];
        fake_reset((fake_script){.fault = (enum fake_fault)fault});
        snprintf(text, sizeof text, "the fake device broke at step %d", fault);
        KT_FAILS(ks_run_with(fake_collectors, plan, two_kernels, NULL, &results, &err), KS_EVENDOR,
                 text);
        assert_int_equal(fake.opened, fake.closed);
        assert_int_equal(results != NULL, fault != FAKE_FAIL_OPEN);
        ks_results_free(results);
        results = NULL;
    }
    fake_reset((fake_script){0});
    KT_OK(ks_run_with(fake_collectors, plan, two_kernels, NULL, &results, &err));
    KT_F64(mean("mixed", "fake__bytes.sum"), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_strict_run_stops_and_keeps_what_is_finished),
        T(a_tolerant_run_marks_what_failed),
        T(a_call_that_fails_is_aborted_and_spoils_its_run_alone),
        T(an_annotation_that_failed_leaves_the_others_alone),
        T(when_all_fail_there_is_a_row_that_says_so),
        T(a_body_without_annotations_is_an_error),
        T(a_parameter_asked_for_in_vain_fails_the_call),
        T(a_parameter_of_another_type_says_what_it_is),
        T(an_annotation_left_open_fails_the_call),
        T(what_a_collector_fails_at_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
