/* Info collectors: when they are called, and what becomes of their values. */
#include "fakes/run_fixture.h"

#include <math.h>
#include <stdatomic.h>

/* ---- info collectors --------------------------------------------------------------------------
 */

typedef struct counts {
    atomic_int calls[4];
    ks_info_scope scope;
} counts;

static ks_status count_info(const ks_call *call, const char *annotation, ks_value *out, void *user,
                            ks_error *e)
{
    counts *c = user;
    (void)e;
    assert_int_equal(call == NULL, c->scope == KS_SCOPE_ONCE);
    assert_int_equal(annotation != NULL, c->scope == KS_SCOPE_ANNOTATION);
    KS_ANNOTATE("inside an info collector") { /* inert */
    }
    *out = ks_i64(atomic_fetch_add(&c->calls[c->scope], 1) + 1);
    return KS_OK;
}

static ks_status two_annotations(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
        fake_launch("k", 1, 1, 1);
    }
    KS_ANNOTATE("b") {
        fake_launch("k", 1, 1, 1);
    }
    return KS_OK;
}

static void info_collectors_are_called_in_their_scopes(void **state)
{
    (void)state;
    static const char *const names[] = {"once", "config", "run", "annotation"};
    counts c[4] = {0};
    for (int i = 0; i < 4; i++) {
        c[i].scope = (ks_info_scope)i;
        KT_OK(ks_plan_info(plan, names[i], c[i].scope, count_info, &c[i], &err));
    }
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_warmup(plan, 2, &err));
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err)); /* three passes */
    KT_OK(ks_run_with(both, plan, two_annotations, NULL, &results, &err));
    assert_int_equal(atomic_load(&c[0].calls[0]), 1);
    assert_int_equal(atomic_load(&c[1].calls[1]), 2);
    assert_int_equal(atomic_load(&c[2].calls[2]), 6);
    assert_int_equal(atomic_load(&c[3].calls[3]), 12);
    /* values 1 3 5 for a and 2 4 6 for b in the first config, 7 9 11 and 8 10 12 in the second */
    kt_key a1 = {"a", "fake__bytes.sum", 1};
    kt_key b2 = {"b", "fake__bytes.sum", 2};
    KT_F64(kt_number(table(), a1, "annotation_Min"), 1);
    KT_F64(kt_number(table(), a1, "annotation_Max"), 5);
    KT_F64(kt_number(table(), a1, "annotation_Avg"), 3);
    KT_F64(kt_number(table(), a1, "annotation_Std"), 2);
    KT_F64(kt_number(table(), b2, "annotation_Avg"), 10);
    KT_F64(kt_number(table(), b2, "run_Avg"), 5);
    KT_F64(kt_number(table(), b2, "config_Avg"), 2);
    KT_F64(kt_number(table(), b2, "config_Std"), 0); /* once per run, as nsight-python counts it */
    KT_F64(kt_number(table(), b2, "once"), 1);
    assert_int_equal(ks_table_rows(table()), 4); /* no row for the annotation in the callback */
}

static ks_status text_or_failure(const ks_call *call, const char *annotation, ks_value *out,
                                 void *user, ks_error *e)
{
    (void)annotation;
    (void)user;
    if (ks_call_i64(call, "n") == 2) {
        return ks_fail(e, KS_EBODY, "user", 0, "sensor gone");
    }
    static char text[32];
    snprintf(text, sizeof text, "n is %d", (int)ks_call_i64(call, "n"));
    *out = ks_text(text); /* the next call overwrites it */
    return KS_OK;
}

static void info_texts_come_as_they_are_and_failures_as_missing(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2,3", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_info(plan, "note", KS_SCOPE_CONFIG, text_or_failure, NULL, &err));
    KT_OK(ks_run(plan, two_annotations, NULL, &results, &err));
    kt_key key = {"a", "cpu__time_duration.sum", 3};
    assert_string_equal(kt_text(table(), key, "note"), "n is 3");
    key.n = 2;
    assert_null(kt_text(table(), key, "note"));
    KT_HAS(ks_table_fact(table(), "warnings[]").text,
           "info collector 'note' (config scope) failed: sensor gone");
    assert_int_equal(ks_table_find(table(), "note_Avg"), ks_table_columns(table()));
}

static ks_status large_numbers(const ks_call *call, const char *annotation, ks_value *out,
                               void *user, ks_error *e)
{
    (void)annotation;
    (void)user;
    (void)e;
    *out = ks_i64(ks_call_run(call) == 0 ? INT64_MAX : INT64_C(1700000000000000001));
    return KS_OK;
}

static ks_status not_a_number(const ks_call *call, const char *annotation, ks_value *out,
                              void *user, ks_error *e)
{
    (void)annotation;
    (void)user;
    (void)e;
    *out = ks_f64(ks_call_run(call) == 0 ? NAN : 2.5);
    return KS_OK;
}

static void numbers_of_info_collectors_stay_what_they_are(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_info(plan, "stamp", KS_SCOPE_RUN, large_numbers, NULL, &err));
    KT_OK(ks_plan_info(plan, "odd", KS_SCOPE_RUN, not_a_number, NULL, &err));
    KT_OK(ks_run(plan, two_annotations, NULL, &results, &err));
    assert_true(ks_table_get(table(), 0, ks_table_find(table(), "stamp_Max")).as.i64 == INT64_MAX);
    assert_true(ks_table_get(table(), 0, ks_table_find(table(), "stamp_Min")).as.i64 ==
                INT64_C(1700000000000000001));
    KT_F64(kt_number(table(), (kt_key){"a", "cpu__time_duration.sum", 1}, "odd_Avg"), 2.5);
    KT_HAS(ks_table_fact(table(), "warnings[]").text, "not a finite number: NaN");
}

static ks_status asks_in_vain(const ks_call *call, const char *annotation, ks_value *out,
                              void *user, ks_error *e)
{
    (void)annotation;
    (void)user;
    (void)e;
    *out = ks_i64(ks_call_i64(call, "typo"));
    return KS_OK;
}

static void progress_asks_in_vain(const ks_progress *progress, void *user)
{
    (void)user;
    if (progress->call != NULL) {
        ks_call_i64(progress->call, "typo");
    }
}

static void what_they_ask_in_vain_is_not_the_bodys_mistake(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_info(plan, "lost", KS_SCOPE_ANNOTATION, asks_in_vain, NULL, &err));
    KT_OK(ks_plan_progress(plan, progress_asks_in_vain, NULL, &err));
    KT_OK(ks_run(plan, two_annotations, NULL, &results, &err));
    assert_int_equal(ks_results_succeeded(results), 1);
    KT_HAS(ks_table_fact(table(), "warnings[]").text, "parameter 'typo' was asked for");
    kt_key key = {"a", "cpu__time_duration.sum", 1};
    assert_false(ks_table_valid(table(), kt_row(table(), key), ks_table_find(table(), "lost")));
}

static void columns_of_one_name_are_refused(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "temp_Avg=1", &err));
    KT_OK(ks_plan_info(plan, "temp", KS_SCOPE_RUN, count_info, NULL, &err));
    KT_FAILS(ks_run(plan, two_annotations, NULL, &results, &err), KS_EINVAL,
             "would give a column 'temp_Avg'");
    ks_plan_free(plan);
    plan = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_info(plan, "temp_Min", KS_SCOPE_ONCE, count_info, NULL, &err));
    KT_OK(ks_plan_info(plan, "temp", KS_SCOPE_RUN, count_info, NULL, &err));
    KT_FAILS(ks_run(plan, two_annotations, NULL, &results, &err), KS_EINVAL,
             "'temp' and 'temp_Min' would give two columns");
}

static ks_status run_number(const ks_call *call, const char *annotation, ks_value *out, void *user,
                            ks_error *e)
{
    (void)annotation;
    (void)user;
    (void)e;
    *out = ks_i64(ks_call_run(call));
    return KS_OK;
}

static ks_status enter(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
    }
    return KS_OK;
}

static void as_many_runs_as_one_likes_have_room_for_their_infos(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 100000, &err)); /* their square in numbers would be 160 GB */
    KT_OK(ks_plan_info(plan, "Number", KS_SCOPE_RUN, run_number, NULL, &err));
    KT_OK(ks_run(plan, enter, NULL, &results, &err));
    KT_F64(ks_table_number(table(), 0, ks_table_find(table(), "Number_Max")), 99999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(info_collectors_are_called_in_their_scopes),
        T(info_texts_come_as_they_are_and_failures_as_missing),
        T(numbers_of_info_collectors_stay_what_they_are),
        T(what_they_ask_in_vain_is_not_the_bodys_mistake),
        T(columns_of_one_name_are_refused),
        T(as_many_runs_as_one_likes_have_room_for_their_infos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
