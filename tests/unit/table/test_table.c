#include "harness.h"

#include <math.h>

#include "table/table.h"

static ks_error err;

static ks_table *new_table(void)
{
    ks_table *t = NULL;
    ks_error_clear(&err);
    KT_OK(ks_table_new(&t, &err));
    return t;
}

static void cells_are_missing_until_they_are_set(void **state)
{
    (void)state;
    ks_table *t = new_table();
    size_t number = 0;
    size_t text = 0;
    KT_OK(ks_table_add_column(t, "number", KS_F64, KS_ROLE_PLAIN, &number, &err));
    KT_OK(ks_table_add_rows(t, 3, &err));
    KT_OK(ks_table_add_column(t, "text", KS_TEXT, KS_ROLE_PARAMETER, &text, &err)); /* later on */
    assert_false(ks_table_valid(t, 0, number));
    KT_F64(ks_table_number(t, 0, number), NAN);
    assert_null(ks_table_text(t, 1, text));
    ks_table_set_f64(t, 1, number, 0.0);
    KT_OK(ks_table_set_text(t, 2, text, "", &err));
    assert_true(ks_table_valid(t, 1, number));
    KT_F64(ks_table_number(t, 1, number), 0.0);
    assert_string_equal(ks_table_text(t, 2, text), ""); /* an empty text is not a missing one */
    ks_table_set_f64(t, 2, number, INFINITY);
    assert_false(ks_table_valid(t, 2, number));
    assert_int_equal(ks_table_role(t, text), KS_ROLE_PARAMETER);
    assert_int_equal(ks_table_find(t, "text"), text);
    assert_int_equal(ks_table_find(t, "nothing"), 2);
    ks_table_free(t);
}

static void columns_can_be_read_as_arrays(void **state)
{
    (void)state;
    enum {
        ROWS = 1000
    };
    ks_table *t = new_table();
    KT_OK(ks_table_add_column(t, "f", KS_F64, KS_ROLE_PLAIN, NULL, &err));
    KT_OK(ks_table_add_column(t, "i", KS_I64, KS_ROLE_PLAIN, NULL, &err));
    KT_OK(ks_table_add_column(t, "b", KS_BOOL, KS_ROLE_PLAIN, NULL, &err));
    KT_OK(ks_table_add_column(t, "t", KS_TEXT, KS_ROLE_PLAIN, NULL, &err));
    for (size_t row = 0; row < ROWS; row++) { /* row by row: the columns grow */
        KT_OK(ks_table_add_rows(t, 1, &err));
        ks_table_set_f64(t, row, 0, (double)row / 2);
        ks_table_set_i64(t, row, 1, -(int64_t)row);
        if (row % 3 != 0) {
            ks_table_set_bool(t, row, 2, row % 2 == 0);
        }
    }
    const double *f = ks_table_data(t, 0);
    const int64_t *i = ks_table_data(t, 1);
    const uint8_t *b = ks_table_data(t, 2);
    const uint8_t *valid = ks_table_validity(t, 2);
    assert_null(ks_table_validity(t, 0)); /* none is missing */
    assert_null(ks_table_data(t, 3));
    for (size_t row = 0; row < ROWS; row++) {
        KT_F64(f[row], (double)row / 2);
        assert_int_equal(i[row], -(int64_t)row);
        assert_int_equal(valid[row / 8] >> row % 8 & 1, row % 3 != 0);
        if (row % 3 != 0) {
            assert_int_equal(b[row], row % 2 == 0);
        }
    }
    ks_table_free(t);
}

static void outside_a_table_there_is_nothing(void **state)
{
    (void)state;
    ks_table *t = new_table();
    assert_int_equal(ks_table_rows(t), 0);
    assert_null(ks_table_name(t, 0));
    assert_int_equal(ks_table_type(t, 5), KS_MISSING);
    assert_false(ks_table_valid(t, 0, 0));
    assert_int_equal(ks_table_get(t, 7, 7).type, KS_MISSING);
    assert_null(ks_table_data(t, 3));
    assert_null(ks_table_validity(t, 3));
    assert_null(ks_table_fact_key(t, 0));
    assert_int_equal(ks_table_fact(t, "x").type, KS_MISSING);
    ks_table_free(t);
    ks_table_free(NULL);
}

static void no_table_is_an_empty_one_or_an_error(void **state)
{
    (void)state;
    assert_int_equal(ks_table_rows(NULL), 0);
    assert_int_equal(ks_table_columns(NULL), 0);
    assert_int_equal(ks_table_find(NULL, "n"), 0);
    assert_null(ks_table_name(NULL, 0));
    assert_int_equal(ks_table_type(NULL, 0), KS_MISSING);
    assert_false(ks_table_valid(NULL, 0, 0));
    assert_int_equal(ks_table_get(NULL, 0, 0).type, KS_MISSING);
    assert_null(ks_table_data(NULL, 0));
    assert_null(ks_table_validity(NULL, 0));
    assert_int_equal(ks_table_fact(NULL, "host").type, KS_MISSING);
    assert_null(ks_table_fact_key(NULL, 0));
    KT_FAILS(ks_table_csv(NULL, stdout, &err), KS_EINVAL, "there is no table (NULL)");
    KT_FAILS(ks_table_write_csv(NULL, kt_path("x"), &err), KS_EINVAL, "there is no table (NULL)");
    KT_FAILS(ks_table_json(NULL, stdout, &err), KS_EINVAL, "there is no table (NULL)");
    KT_FAILS(ks_table_print(NULL, stdout, NULL, &err), KS_EINVAL, "there is no table (NULL)");
}

static void facts_travel_with_a_table(void **state)
{
    (void)state;
    ks_table *t = new_table();
    KT_OK(ks_table_add_fact(t, "host", ks_text("box"), &err));
    KT_OK(ks_table_add_fact(t, "cpus", ks_i64(2), &err));
    KT_OK(ks_table_add_fact(t, "list[]", ks_text("a"), &err));
    KT_OK(ks_table_add_fact(t, "list[]", ks_text("b"), &err));
    assert_string_equal(ks_table_fact(t, "host").text, "box");
    assert_int_equal(ks_table_fact(t, "cpus").as.i64, 2);
    assert_string_equal(ks_table_fact_key(t, 3), "list[]");
    assert_string_equal(ks_table_fact_value(t, 3).text, "b");
    assert_null(ks_table_fact_key(t, 4));
    ks_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_missing_until_they_are_set),
        cmocka_unit_test(columns_can_be_read_as_arrays),
        cmocka_unit_test(outside_a_table_there_is_nothing),
        cmocka_unit_test(no_table_is_an_empty_one_or_an_error),
        cmocka_unit_test(facts_travel_with_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
