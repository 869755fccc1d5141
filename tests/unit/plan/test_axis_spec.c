#include "harness.h"

#include <stdlib.h>

#include "base/buf.h"
#include "plan/call.h"
#include "plan/plan.h"

/* An axis as "TYPE: value value ..."; the error's message if it was refused. */
static const char *axis(const char *spec)
{
    static const char *const types[] = {"missing", "bool", "i64", "f64", "text", "opaque"};
    static char shown[4096];
    ks_error err = KS_ERROR_INIT;
    ks_plan *plan = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    if (ks_plan_axis_spec(plan, spec, &err) != KS_OK) {
        snprintf(shown, sizeof shown, "%s", err.message);
    } else {
        ks_buf text;
        ks_buf_init(&text, sizeof shown - 1);
        ks_buf_addf(&text, "%s:", types[plan->params[0].values[0].type]);
        for (size_t i = 0; i < plan->params[0].count; i++) {
            ks_buf_add_char(&text, ' ');
            ks_value_text(&plan->params[0].values[i], &text);
        }
        snprintf(shown, sizeof shown, "%s", ks_buf_text(&text));
        ks_buf_fini(&text);
    }
    ks_plan_free(plan);
    return shown;
}

static void lists_take_the_narrowest_type(void **state)
{
    (void)state;
    assert_string_equal(axis("n=1,2,4"), "i64: 1 2 4");
    assert_string_equal(axis("n= 1 , -2 "), "i64: 1 -2");
    assert_string_equal(axis("n=1,2.5"), "f64: 1 2.5");
    assert_string_equal(axis("n=1e3,.5,-.25"), "f64: 1000 0.5 -0.25");
    assert_string_equal(axis("n=1,fast"), "text: 1 fast");
    assert_string_equal(axis("n='1',2"), "text: 1 2");
    assert_string_equal(axis("n=1.50,x"), "text: 1.50 x"); /* a text stays as it was written */
    assert_string_equal(axis("n='a, b','it''s',''"), "text: a, b it's ");
    assert_string_equal(axis("f=../a,..,a..b"), "text: ../a .. a..b");
}

static void what_would_change_as_a_number_is_text(void **state)
{
    (void)state;
    assert_string_equal(axis("n=007"), "text: 007");
    assert_string_equal(axis("n=0x10"), "text: 0x10");
    assert_string_equal(axis("n=99999999999999999999"), "text: 99999999999999999999");
    assert_string_equal(axis("n=nan,inf"), "text: nan inf");
    assert_string_equal(axis("n=1e999"), "text: 1e999");
    assert_string_equal(axis("n=9223372036854775807"), "i64: 9223372036854775807");
}

static void ranges_include_both_ends(void **state)
{
    (void)state;
    assert_string_equal(axis("n=1..8"), "i64: 1 2 3 4 5 6 7 8");
    assert_string_equal(axis("n=8..64+8"), "i64: 8 16 24 32 40 48 56 64");
    assert_string_equal(axis("n=8..20+8"), "i64: 8 16");
    assert_string_equal(axis("n=1..4096*2"), "i64: 1 2 4 8 16 32 64 128 256 512 1024 2048 4096");
    assert_string_equal(axis("n=5..5"), "i64: 5");
    assert_string_equal(axis("n=5..5-1"), "i64: 5");
    assert_string_equal(axis("n=5..5*2"), "i64: 5");
    assert_string_equal(axis("n=1,8..10,20"), "i64: 1 8 9 10 20");
    assert_string_equal(axis("n=1..3,x"), "text: 1 2 3 x");
}

static void ranges_go_down_and_through_zero(void **state)
{
    (void)state;
    assert_string_equal(axis("n=3..-3-2"), "i64: 3 1 -1 -3");
    assert_string_equal(axis("n=3..-3+-3"), "i64: 3 0 -3");
    assert_string_equal(axis("n=-2..2"), "i64: -2 -1 0 1 2");
    assert_string_equal(axis("n=-8..-1*0.5"), "i64: -8 -4 -2 -1");
    assert_string_equal(axis("n=-1..-8*2"), "i64: -1 -2 -4 -8");
    assert_string_equal(axis("n=1024..1*0.25"), "i64: 1024 256 64 16 4 1");
}

static void steps_of_floats_do_not_drift(void **state)
{
    (void)state;
    assert_string_equal(axis("x=0..1+0.1"), "f64: 0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
    assert_string_equal(axis("x=1..0-0.25"), "f64: 1 0.75 0.5 0.25 0");
    assert_string_equal(axis("x=0.5..2"), "f64: 0.5 1.5");
    assert_string_equal(axis("x=1e-3..3e-3+1e-3"), "f64: 0.001 0.002 0.003");
    assert_string_equal(axis("x=0.1..10*10"), "f64: 0.1 1 10");
    assert_string_equal(axis("x=1..2*1.5"), "f64: 1 1.5");
    assert_string_equal(axis("x=1e300..3e300+1e300"), "f64: 1e300 2e300 3e300");
}

static void ranges_at_the_edge_of_64_bits_end(void **state)
{
    (void)state;
    assert_string_equal(axis("n=9223372036854775806..9223372036854775807"),
                        "i64: 9223372036854775806 9223372036854775807");
    assert_string_equal(axis("n=4611686018427387904..9223372036854775807*2"),
                        "i64: 4611686018427387904");
}

static void mistakes_are_named_with_their_place(void **state)
{
    (void)state;
    KT_HAS(axis("n"), "name=values is expected");
    KT_HAS(axis("=1"), "name=values is expected");
    KT_HAS(axis("a b=1"), "name=values is expected");
    KT_HAS(axis("9n=1"), "name=values is expected");
    KT_HAS(axis("n="), "character 3: a value is expected");
    KT_HAS(axis("n=1,,2"), "character 5: a value is expected");
    KT_HAS(axis("n=1,"), "character 5: a value is expected");
    KT_HAS(axis("n='a"), "character 3: this quote is not closed");
    KT_HAS(axis("n='a'b"), "character 6: a comma is expected");
    KT_HAS(axis("n=1..x"), "character 6: a number is expected after '..'");
    KT_HAS(axis("n=1..8+"), "character 8: a number is expected as the range's step");
    KT_HAS(axis("n=1..8 9"), "character 8: a comma is expected");
    KT_HAS(axis("n=8..1"), "this range is empty");
    KT_HAS(axis("n=1..8-1"), "this range is empty");
    KT_HAS(axis("n=1..8+0"), "a step of 0");
    KT_HAS(axis("n=0..8*2"), "not 0");
    KT_HAS(axis("n=-1..8*2"), "same sign");
    KT_HAS(axis("n=1..8*1"), "factor above 0 that is not 1");
    KT_HAS(axis("n=1..8*0.5"), "this range is empty");
    KT_HAS(axis("n=1..99999999"), "over 1000000 values");
    KT_HAS(axis("n=\xff"), "not UTF-8");
    KT_HAS(axis("Metric=1"), "reserved column");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_take_the_narrowest_type),
        cmocka_unit_test(what_would_change_as_a_number_is_text),
        cmocka_unit_test(ranges_include_both_ends),
        cmocka_unit_test(ranges_go_down_and_through_zero),
        cmocka_unit_test(steps_of_floats_do_not_drift),
        cmocka_unit_test(ranges_at_the_edge_of_64_bits_end),
        cmocka_unit_test(mistakes_are_named_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
