#include "harness.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/pool.h"
#include "base/str.h"

static void the_first_failure_wins(void **state)
{
    (void)state;
    ks_error err = KS_ERROR_INIT;
    assert_int_equal(ks_fail(&err, KS_EINVAL, "plan", 7, "first %d", 1), KS_EINVAL);
    assert_int_equal(ks_fail(&err, KS_EIO, "csv", 8, "second"), KS_EIO);
    assert_int_equal(err.code, KS_EINVAL);
    assert_int_equal(err.native, 7);
    assert_string_equal(err.origin, "plan");
    assert_string_equal(err.message, "first 1");
    ks_error_clear(&err);
    assert_int_equal(err.code, KS_OK);
    assert_int_equal(ks_fail(NULL, KS_EIO, "csv", 0, "nobody listens"), KS_EIO);
}

static void a_message_is_one_line_of_utf8(void **state)
{
    (void)state;
    ks_error err = KS_ERROR_INIT;
    ks_fail(&err, KS_EINVAL, "x", 0, "a\nb\tc\xff\xe4\xb8\xad");
    assert_string_equal(err.message, "a b c?\xe4\xb8\xad");
}

static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    char text[2000];
    for (size_t i = 0; i + 2 < sizeof text; i += 2) {
        memcpy(text + i, "\xc3\xa9", 3);
    }
    ks_error err = KS_ERROR_INIT;
    ks_fail(&err, KS_EINVAL, "x", 0, "x%s", text); /* x: so that a cut falls inside a character */
    size_t length = strlen(err.message);
    assert_true(length < sizeof err.message);
    assert_string_equal(err.message + length - 3, "...");
    assert_int_equal(ks_utf8_check(err.message, length), length);
    ks_error_prefix(&err, "config %d", 3);
    assert_true(strncmp(err.message, "config 3: x\xc3\xa9", 13) == 0);
    assert_int_equal(ks_utf8_check(err.message, strlen(err.message)), strlen(err.message));
}

static void statuses_have_names_and_texts(void **state)
{
    (void)state;
    assert_string_equal(ks_status_name(KS_EPERM), "KS_EPERM");
    assert_string_equal(ks_status_text(KS_EPERM), "not permitted");
    assert_string_equal(ks_status_name((ks_status)99), "KS_UNKNOWN");
    assert_int_equal(KS_ESTATE, 12); /* numbers are part of the interface */
    assert_int_equal(ks_errno_status(ENOENT), KS_ENOTFOUND);
    assert_int_equal(ks_errno_status(EACCES), KS_EPERM);
}

static void a_buffer_keeps_to_its_maximum(void **state)
{
    (void)state;
    ks_buf buf;
    ks_error err = KS_ERROR_INIT;
    ks_buf_init(&buf, 5);
    ks_buf_add(&buf, "abcd");
    ks_buf_add(&buf, "ef");
    ks_buf_add(&buf, "g");
    KT_FAILS(ks_buf_status(&buf, &err), KS_ELIMIT, "longer than 5 bytes");
    assert_string_equal(ks_buf_text(&buf), "abcd");
    assert_null(ks_buf_take(&buf));
    ks_buf_addf(&buf, "%d-%s", 7, "x");
    char *text = ks_buf_take(&buf);
    assert_string_equal(text, "7-x");
    ks_free(text);
    text = ks_buf_take(&buf);
    assert_string_equal(text, "");
    ks_free(text);
}

static const char *f64(double number)
{
    static char text[KS_NUM_MAX];
    ks_num_f64(number, text);
    return text;
}

static const char *fixed(double number, int decimals)
{
    static char text[KS_NUM_MAX];
    ks_num_fixed(number, decimals, text);
    return text;
}

static void doubles_are_written_in_their_shortest_form(void **state)
{
    (void)state;
    assert_string_equal(f64(0.1), "0.1");
    assert_string_equal(f64(1.0), "1.0");
    assert_string_equal(f64(-0.7071067811865476), "-0.7071067811865476");
    assert_string_equal(f64(5e-324), "5e-324");
    assert_string_equal(f64(1.7976931348623157e308), "1.7976931348623157e308");
    assert_string_equal(f64(NAN), "nan");
    assert_string_equal(f64(-INFINITY), "-inf");
}

static void every_double_reads_back_the_same(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = 0;
        double number = 0.0;
        double back = 0.0;
        for (int k = 0; k < 5; k++) {
            bits = bits << 15 ^ (uint64_t)rand();
        }
        memcpy(&number, &bits, sizeof number);
        if (isfinite(number)) {
            const char *text = f64(number);
            assert_true(ks_num_read_f64(text, strlen(text), &back));
            assert_memory_equal(&back, &number, sizeof back);
        }
    }
}

static void fixed_numbers_have_all_their_digits(void **state)
{
    (void)state;
    assert_string_equal(fixed(3.14159, 2), "3.14");
    assert_string_equal(fixed(0.004, 2), "0.00");
    assert_string_equal(fixed(-0.004, 2), "0.00"); /* no -0.00 */
    assert_string_equal(fixed(-0.05, 2), "-0.05");
    assert_string_equal(fixed(12, 3), "12.000");
    assert_string_equal(fixed(99.995, 1), "100.0");
    assert_string_equal(fixed(7, 0), "7");
    assert_string_equal(fixed(1e20, 2), "100000000000000000000.0");
}

static bool i64_is(const char *text, int64_t expected)
{
    int64_t number = 0;
    return ks_num_read_i64(text, strlen(text), &number) && number == expected;
}

static void whole_numbers_are_read_to_their_last_bit(void **state)
{
    (void)state;
    int64_t number = 0;
    char text[KS_NUM_MAX];
    assert_true(i64_is("9223372036854775807", INT64_MAX));
    assert_true(i64_is("-9223372036854775808", INT64_MIN));
    assert_true(i64_is("-0", 0));
    assert_false(ks_num_read_i64("9223372036854775808", 19, &number));
    assert_false(ks_num_read_i64("", 0, &number));
    assert_false(ks_num_read_i64("-", 1, &number));
    assert_false(ks_num_read_i64("1x", 2, &number));
    ks_num_i64(INT64_MIN, text);
    assert_string_equal(text, "-9223372036854775808");
    uint64_t code = 0;
    assert_true(ks_num_read_hex("01aF", 4, &code) && code == 0x1af);
    assert_true(ks_num_read_hex("ffffffffffffffff", 16, &code) && code == UINT64_MAX);
    assert_false(ks_num_read_hex("10000000000000000", 17, &code));
    assert_false(ks_num_read_hex("", 0, &code));
    assert_false(ks_num_read_hex("1g", 2, &code));
    assert_false(ks_num_read_hex("-1", 2, &code));
}

static void a_host_with_decimal_commas_changes_nothing(void **state)
{
    (void)state;
    double number = 0.0;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        /* the locale is not there on every machine; tests/cli makes one with localedef */
        print_message("no German locale here\n");
    }
    assert_string_equal(f64(2.5), "2.5");
    assert_string_equal(fixed(2.5, 2), "2.50");
    assert_true(ks_num_read_f64("2.5", 3, &number));
    KT_F64(number, 2.5);
    assert_false(ks_num_read_f64("2,5", 3, &number));
    setlocale(LC_ALL, "C");
}

static void utf8_is_checked_to_the_letter(void **state)
{
    (void)state;
    assert_int_equal(ks_utf8_check("aé中🚀", strlen("aé中🚀")), strlen("aé中🚀"));
    assert_int_equal(ks_utf8_check("a\xc0\x80", 3), 1);        /* overlong NUL */
    assert_int_equal(ks_utf8_check("\xed\xa0\x80", 3), 0);     /* lone surrogate */
    assert_int_equal(ks_utf8_check("\xf4\x90\x80\x80", 4), 0); /* beyond U+10FFFF */
    assert_int_equal(ks_utf8_check("ab\xe4\xb8", 4), 2);       /* cut */
    assert_int_equal(ks_utf8_check("\x80", 1), 0);
    assert_true(ks_has_control("a\nb", 3));
    assert_true(ks_has_control("a\x7f", 2));
    assert_true(ks_has_control("a\xc2\x85", 3)); /* NEL, a C1 control */
    assert_false(ks_has_control("a b\xc2\xa0", 5));
}

static void patterns_match_whole_texts(void **state)
{
    (void)state;
    assert_true(ks_match("cpu__*.sum", "cpu__time_duration.sum"));
    assert_true(ks_match("*", ""));
    assert_true(ks_match("a?c", "abc"));
    assert_true(ks_match("*a*b*", "xxaxxbxx"));
    assert_true(ks_match("a*b*c", "abbbcbc"));
    assert_false(ks_match("a?c", "ac"));
    assert_false(ks_match("abc", "abcd"));
    assert_false(ks_match("*x", "abc"));
    assert_false(ks_match("", "a"));
}

static void near_names_come_best_first(void **state)
{
    (void)state;
    ks_near near;
    ks_near_init(&near, "gpu__time_durations.sum");
    ks_near_offer(&near, "cpu__time_duration.sum");
    ks_near_offer(&near, "entirely different");
    ks_near_offer(&near, "gpu__time_duration.sum");
    assert_int_equal(near.count, 2);
    assert_string_equal(near.names[0], "gpu__time_duration.sum");
    assert_int_equal(ks_distance("kitten", "sitting"), 3);
    assert_int_equal(ks_distance("ab", "ba"), 1);
    ks_near_init(&near, "page_faults");
    ks_near_offer(&near, "cpu__page_faults.sum"); /* the prefix and suffix were forgotten */
    assert_int_equal(near.count, 1);
}

static void a_pool_keeps_each_text_once(void **state)
{
    (void)state;
    ks_error err = KS_ERROR_INIT;
    ks_pool pool;
    ks_text_id id = 99;
    char name[32];
    ks_pool_init(&pool);
    KT_OK(ks_pool_add(&pool, NULL, &id, &err));
    assert_int_equal(id, 0);
    assert_null(ks_pool_text(&pool, 0));
    KT_OK(ks_pool_add(&pool, "first", &id, &err));
    const char *first = ks_pool_text(&pool, id);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "text %d", i % 2500);
        KT_OK(ks_pool_add(&pool, name, &id, &err));
        assert_string_equal(ks_pool_text(&pool, id), name);
    }
    assert_int_equal(pool.count, 2501);
    assert_ptr_equal(ks_pool_text(&pool, ks_pool_find(&pool, "first")), first);
    assert_int_equal(ks_pool_find(&pool, "never seen"), 0);
    ks_pool_fini(&pool);
    assert_int_equal(ks_pool_find(&pool, "first"), 0);
}

static void the_allocator_is_not_changed_under_living_blocks(void **state)
{
    (void)state;
    ks_error err = KS_ERROR_INIT;
    ks_allocator half = KS_ALLOCATOR_INIT;
    KT_FAILS(ks_set_allocator(&half, &err), KS_EINVAL, "both functions");
    void *block = ks_alloc(10);
    KT_FAILS(ks_set_allocator(NULL, &err), KS_ESTATE, "1 blocks");
    ks_free(block);
    KT_OK(ks_set_allocator(NULL, &err));
    assert_null(ks_calloc(SIZE_MAX / 2, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_wins),
        cmocka_unit_test(a_message_is_one_line_of_utf8),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(statuses_have_names_and_texts),
        cmocka_unit_test(a_buffer_keeps_to_its_maximum),
        cmocka_unit_test(doubles_are_written_in_their_shortest_form),
        cmocka_unit_test(every_double_reads_back_the_same),
        cmocka_unit_test(fixed_numbers_have_all_their_digits),
        cmocka_unit_test(whole_numbers_are_read_to_their_last_bit),
        cmocka_unit_test(a_host_with_decimal_commas_changes_nothing),
        cmocka_unit_test(utf8_is_checked_to_the_letter),
        cmocka_unit_test(patterns_match_whole_texts),
        cmocka_unit_test(near_names_come_best_first),
        cmocka_unit_test(a_pool_keeps_each_text_once),
        cmocka_unit_test(the_allocator_is_not_changed_under_living_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
