/* JSON: strict, whatever the values are. Case C17; Python's parser: tests/cli/test_files.py. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "api/run.h"
#include "fakes/fake_collector.h"
#include "yyjson/yyjson.h"

static ks_error err;

static ks_status body(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    KS_ANNOTATE("say \"hi\"/</script>") {
        fake_launch("k", 10 + ks_call_run(call), 100, 50);
    }
    return KS_OK;
}

static ks_status derive(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    return ks_derivation_set(d, NULL, ks_call_run(call) == 1 ? NAN : 1e300, "x", e);
}

static ks_status to_json(void *results, FILE *to, ks_error *e)
{
    return ks_results_json(results, to, e);
}

static ks_results *measure(void)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    int object = 0;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_axis(plan, "p",
                       (ks_value[]){ks_text("two\nlines \x7f \xf0\x9f\x9a\x80"), ks_missing(),
                                    ks_text("None"), ks_opaque(&object, "(1, 2)")},
                       4, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_derive(plan, "huge", derive, NULL, &err));
    KT_OK(ks_run_with(fake_collectors, plan, body, NULL, &results, &err));
    ks_plan_free(plan);
    return results;
}

static void the_document_parses_strictly_and_holds_everything(void **state)
{
    (void)state;
    ks_results *results = measure();
    char *text = kt_capture(to_json, results);
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "schema")), "kernsight-results/1");
    yyjson_val *plan = yyjson_obj_get(root, "plan");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(plan, "runs")), 3);
    assert_string_equal(yyjson_get_str(yyjson_arr_get(yyjson_obj_get(plan, "parameters"), 0)), "p");
    assert_true(yyjson_get_bool(yyjson_obj_get(yyjson_obj_get(root, "environment"), "complete")));
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "columns")),
                     ks_table_columns(ks_results_table(results)));
    yyjson_val *rows = yyjson_obj_get(root, "rows");
    assert_int_equal(yyjson_arr_size(rows), 8);
    yyjson_val *row = yyjson_arr_get(rows, 0);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(row, "p")),
                        "two\nlines \x7f \xf0\x9f\x9a\x80");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(row, "Annotation")),
                        "say \"hi\"\\/<\\/script>");
    KT_F64(yyjson_get_real(yyjson_obj_get(row, "AvgValue")), 11);
    assert_true(yyjson_is_null(yyjson_obj_get(yyjson_arr_get(rows, 1), "p"))); /* missing ... */
    assert_string_equal(yyjson_get_str(yyjson_obj_get(yyjson_arr_get(rows, 2), "p")), "None");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(yyjson_arr_get(rows, 3), "p")), "(1, 2)");
    yyjson_doc_free(doc);
    free(text);
    ks_results_free(results);
}

static void numbers_that_are_not_finite_are_null_and_flagged(void **state) /* C17 */
{
    (void)state;
    ks_results *results = measure();
    char *text = kt_capture(to_json, results);
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    yyjson_val *samples = yyjson_obj_get(yyjson_doc_get_root(doc), "samples");
    assert_int_equal(yyjson_arr_size(samples), 8);
    yyjson_val *huge = yyjson_arr_get(samples, 1);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(huge, "metric")), "huge");
    yyjson_val *values = yyjson_obj_get(huge, "values");
    assert_int_equal(yyjson_arr_size(values), 3);
    KT_F64(yyjson_get_real(yyjson_arr_get(values, 0)), 1e300);
    assert_true(yyjson_is_null(yyjson_arr_get(values, 1)));
    yyjson_val *missing = yyjson_arr_get(yyjson_obj_get(huge, "missing"), 0);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(missing, "run")), 1);
    KT_HAS(yyjson_get_str(yyjson_obj_get(missing, "reason")), "NaN");
    yyjson_val *measured = yyjson_arr_get(samples, 0);
    assert_null(yyjson_obj_get(measured, "missing"));
    KT_F64(yyjson_get_real(yyjson_arr_get(yyjson_obj_get(measured, "values"), 2)), 12);
    yyjson_doc_free(doc);
    free(text);
    ks_results_free(results);
}

static void incomplete_results_do_not_replace_a_complete_file(void **state) /* C28, C29 in kind */
{
    (void)state;
    char path[512];
    char partial[520];
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    snprintf(path, sizeof path, "%s", kt_path("r.json"));
    snprintf(partial, sizeof partial, "%s.partial", path);
    kt_write(path, "the good one");
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    ks_plan_cancel(plan);
    KT_FAILS(ks_run(plan, body, NULL, &results, &err), KS_ECANCELED, "after 0 of 1");
    KT_OK(ks_results_write_json(results, path, &err));
    char *good = kt_read(path);
    char *part = kt_read(partial);
    assert_string_equal(good, "the good one");
    KT_HAS(part, "\"complete\":false");
    free(good);
    free(part);
    KT_FAILS(ks_results_write_csv(NULL, path, &err), KS_EINVAL, "no results");
    KT_FAILS(ks_results_write_csv(results, NULL, &err), KS_EINVAL, "without a name");
    ks_results_free(results);
    ks_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_parses_strictly_and_holds_everything),
        cmocka_unit_test(numbers_that_are_not_finite_are_null_and_flagged),
        cmocka_unit_test(incomplete_results_do_not_replace_a_complete_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
