/* CSV out and in: cases C20 and C21. What other readers make of it: tests/cli/test_files.py. */
#include "harness.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "output/csv_read.h"
#include "table/table.h"

static ks_error err;

static ks_status to_csv(void *table, FILE *to, ks_error *e)
{
    return ks_table_csv(table, to, e);
}

/* Texts that a CSV file must bring back as they are. */
static const char *const hard[] = {"a,b",    "say \"hi\"", "two\nlines", "cr\rlf\r\n", "tab\there",
                                   "  pad ", "🚀",          "مرحبا",      "=1+1",       "",
                                   "None",   "\"",         "\"\"",       ",",          "#"};
enum {
    HARD = sizeof hard / sizeof hard[0]
};

static ks_table *hard_table(void)
{
    ks_table *t = NULL;
    ks_error_clear(&err);
    KT_OK(ks_table_new(&t, &err));
    KT_OK(ks_table_add_column(t, "na,me \"x\"", KS_TEXT, KS_ROLE_PLAIN, NULL, &err));
    KT_OK(ks_table_add_column(t, "f", KS_F64, KS_ROLE_PLAIN, NULL, &err));
    KT_OK(ks_table_add_column(t, "i", KS_I64, KS_ROLE_PLAIN, NULL, &err));
    KT_OK(ks_table_add_column(t, "b", KS_BOOL, KS_ROLE_PLAIN, NULL, &err));
    KT_OK(ks_table_add_rows(t, HARD + 1, &err));
    for (size_t row = 0; row < HARD; row++) {
        KT_OK(ks_table_set_text(t, row, 0, hard[row], &err));
        ks_table_set_f64(t, row, 1, 0.1 * (double)row);
        ks_table_set_i64(t, row, 2, INT64_MAX - (int64_t)row);
        ks_table_set_bool(t, row, 3, row % 2 == 0);
    }
    return t; /* the last row is all missing */
}

static void the_bytes_are_those_of_rfc_4180(void **state)
{
    (void)state;
    ks_table *t = hard_table();
    char *text = kt_capture(to_csv, t);
    assert_int_equal(strncmp(text,
                             "\"na,me \"\"x\"\"\",f,i,b\n"
                             "\"a,b\",0.0,9223372036854775807,True\n"
                             "\"say \"\"hi\"\"\",0.1,9223372036854775806,False\n"
                             "\"two\nlines\",0.2,9223372036854775805,True\n"
                             "\"cr\rlf\r\n\",0.30000000000000004,9223372036854775804,False\n"
                             "tab\there,0.4,",
                             164),
                     0);
    KT_HAS(text, "\n\"\",0.9,9223372036854775798,False\n"); /* an empty text is no missing one */
    KT_HAS(text, "\n,,,\n");
    free(text);
    ks_table_free(t);
}

static void what_was_written_is_read_back(void **state) /* C20 */
{
    (void)state;
    ks_table *t = hard_table();
    ks_table *back = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", kt_path("hard.csv"));
    KT_OK(ks_table_write_csv(t, path, &err));
    KT_OK(ks_table_read_csv(path, &back, &err));
    assert_int_equal(ks_table_rows(back), HARD + 1);
    assert_int_equal(ks_table_columns(back), 4);
    assert_string_equal(ks_table_name(back, 0), "na,me \"x\"");
    assert_int_equal(ks_table_type(back, 0), KS_TEXT);
    assert_int_equal(ks_table_type(back, 1), KS_F64);
    assert_int_equal(ks_table_type(back, 2), KS_I64);
    assert_int_equal(ks_table_type(back, 3), KS_BOOL);
    for (size_t row = 0; row < HARD; row++) {
        assert_string_equal(ks_table_text(back, row, 0), hard[row]);
        KT_F64(ks_table_number(back, row, 1), 0.1 * (double)row);
        assert_int_equal(ks_table_get(back, row, 2).as.i64, INT64_MAX - (int64_t)row);
        assert_int_equal(ks_table_get(back, row, 3).as.boolean, row % 2 == 0);
    }
    for (size_t column = 0; column < 4; column++) {
        assert_false(ks_table_valid(back, HARD, column));
    }
    ks_table_free(back);
    ks_table_free(t);
}

/* The table that a text is read as; NULL if it is refused, with the message in `err`. */
static ks_table *parse(const char *text)
{
    ks_table *t = NULL;
    char *copy = strdup(text);
    assert_non_null(copy);
    ks_error_clear(&err);
    ks_table_parse_csv(copy, strlen(copy), &t, &err);
    free(copy);
    return t;
}

static void files_of_other_programs_are_understood(void **state)
{
    (void)state;
    ks_table *t = parse("\xEF\xBB\xBF"
                        "a,b,c,d\r\n1,\"x\",,1e+22\r\n\r\n-2,y,,\r\n");
    assert_non_null(t);
    assert_int_equal(ks_table_rows(t), 2);
    assert_string_equal(ks_table_name(t, 0), "a");
    assert_int_equal(ks_table_type(t, 0), KS_I64);
    assert_string_equal(ks_table_text(t, 1, 1), "y");
    assert_int_equal(ks_table_type(t, 2), KS_F64); /* nothing in it */
    KT_F64(ks_table_number(t, 0, 3), 1e22);
    ks_table_free(t);
    t = parse("\xEF\xBB\xBF\xEF\xBB\xBF,b\n1,2\n"); /* a name that is a mark itself */
    assert_string_equal(ks_table_name(t, 0), "\xEF\xBB\xBF");
    char *written = kt_capture(to_csv, t);
    assert_string_equal(written, "\"\xEF\xBB\xBF\",b\n1,2\n");
    free(written);
    ks_table_free(t);
    t = parse("a\n1\n"); /* one column */
    assert_int_equal(ks_table_rows(t), 1);
    ks_table_free(t);
    t = parse("a,b"); /* no line end, no rows */
    assert_int_equal(ks_table_rows(t), 0);
    ks_table_free(t);
}

static void a_type_is_that_of_all_fields(void **state)
{
    (void)state;
    ks_table *t = parse("a,b,c,d,e\n1,1,True,1,9223372036854775808\n2,2.5,False,x,1\n");
    assert_int_equal(ks_table_type(t, 0), KS_I64);
    assert_int_equal(ks_table_type(t, 1), KS_F64);
    assert_int_equal(ks_table_type(t, 2), KS_BOOL);
    assert_int_equal(ks_table_type(t, 3), KS_TEXT);
    assert_int_equal(ks_table_type(t, 4), KS_F64);
    ks_table_free(t);
}

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } bad[] = {
        {"", "line 1: there is no header"},
        {"a,b\n1\n", "line 2: it has 1 fields, the header has 2"},
        {"a,b\n1,2\n1,2,3\n", "line 3: it has 3 fields"},
        {"a\n\"x\ny", "line 3: a quote is not closed"},
        {"a\n\"x\"y\n", "line 2: a comma or the end of the line is expected"},
        {"a\nx\"y\n", "line 2: a comma or the end of the line is expected"},
        {"a\n\n\xff\n", "line 3: byte 0xFF is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(parse(bad[i].text));
        assert_int_equal(err.code, KS_EINVAL);
        KT_HAS(err.message, bad[i].message);
    }
    ks_table *t = NULL;
    KT_FAILS(ks_table_read_csv("/nonexistent/file.csv", &t, &err), KS_EIO,
             "/nonexistent/file.csv: cannot read it: No such file");
    KT_FAILS(ks_table_read_csv("/", &t, &err), KS_EIO, "directory");
    char nul[] = "a\nx\0y\n";
    ks_error_clear(&err);
    assert_int_equal(ks_table_parse_csv(nul, sizeof nul - 1, &t, &err), KS_EINVAL);
    KT_HAS(err.message, "line 2: byte 0x00");
}

static void a_host_with_decimal_commas_changes_nothing(void **state) /* C21 */
{
    (void)state;
    ks_table *t = hard_table();
    char *before = kt_capture(to_csv, t);
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one; tests/cli makes its own */
    char *after = kt_capture(to_csv, t);
    assert_string_equal(before, after);
    setlocale(LC_ALL, "C");
    free(before);
    free(after);
    ks_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_of_rfc_4180),
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(files_of_other_programs_are_understood),
        cmocka_unit_test(a_type_is_that_of_all_fields),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(a_host_with_decimal_commas_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
