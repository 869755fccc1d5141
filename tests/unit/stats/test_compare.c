/* Comparing samples, and the rank test behind it. Expected values: scipy 1.17, numpy. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "kernsight/compare.h"
#include "stats/rank.h"

static ks_error err;

static ks_comparison compared(const double *a, size_t m, const double *b, size_t n)
{
    ks_comparison c;
    KT_OK(ks_compare_samples(a, m, b, n, NULL, &c, &err));
    return c;
}

static void p_and_ratio_are_those_of_other_programs(void **state)
{
    (void)state;
    double a[40] = {10.1, 10.4, 9.8, 10.0, 10.2, 10.3, 9.9, 10.15};
    double b[30] = {10.9, 11.2, 10.6, 10.8, 11.0, 10.35, 10.95};
    ks_comparison c = compared(a, 8, b, 7);
    assert_true(c.exact);
    KT_NEAR(c.p, 0.0006216006216006216, 1e-12);
    KT_NEAR(c.ratio, 1.0765432098765433, 1e-12);
    KT_NEAR(c.ratio_low, 1.0358661843993293, 1e-9);
    KT_NEAR(c.ratio_high, 1.1188175656137784, 1e-9);
    assert_int_equal(c.verdict, KS_SLOWER);
    assert_int_equal(c.runs_needed, 0);
    /* many samples: the normal distribution */
    for (int i = 0; i < 40; i++) {
        a[i] = 100.0 + (i * 37 % 101) * 0.1;
    }
    for (int i = 0; i < 30; i++) {
        b[i] = 100.7 + (i * 53 % 97) * 0.1;
    }
    c = compared(a, 40, b, 30);
    assert_false(c.exact);
    KT_NEAR(c.p, 0.8633625408906621, 1e-9);
    KT_NEAR(c.ratio, 1.0038149737720554, 1e-12);
    KT_NEAR(c.ratio_low, 0.981417726951341, 1e-9);
    KT_NEAR(c.ratio_high, 1.0267233553026618, 1e-9);
    assert_int_equal(c.verdict, KS_UNDECIDED);
    /* (1.95996 + 0.84162)^2 (40 v_a + 30 v_b) / (ln 1.01 - ln 1.00381)^2, by numpy */
    assert_int_equal(c.runs_needed, 955);
}

static void ties_are_corrected(void **state)
{
    (void)state;
    const double a[] = {5, 6, 7, 7, 8, 9, 9, 9, 10, 11};
    const double b[] = {7, 7, 8, 9, 10, 10, 11, 12, 12, 13, 13};
    ks_comparison c = compared(a, 10, b, 11);
    assert_false(c.exact);
    KT_NEAR(c.p, 0.04660488845237353, 1e-9);
    KT_NEAR(c.ratio_low, 0.8659407488243679, 1e-9);
    KT_NEAR(c.ratio_high, 1.5983576784690867, 1e-9);
    assert_int_equal(c.verdict, KS_UNDECIDED); /* the interval holds 1 */
}

static void few_samples_cannot_decide(void **state)
{
    (void)state;
    const double a[] = {3, 1, 2};
    const double b[] = {6, 5, 4};
    ks_comparison c = compared(a, 3, b, 3);
    KT_NEAR(c.p, 0.1, 1e-12); /* 2 of 20 arrangements */
    assert_int_equal(c.verdict, KS_UNDECIDED);
    assert_int_equal(c.runs_needed, 8); /* by the same formula */
    c = compared(a, 1, b, 1);
    KT_F64(c.p, 1.0);
    assert_true(isnan(c.ratio_low));
    assert_int_equal(c.verdict, KS_UNDECIDED);
    assert_int_equal(c.runs_needed, 0);
}

static void verdicts_depend_on_direction_and_threshold(void **state)
{
    (void)state;
    double a[12];
    double b[12];
    for (int i = 0; i < 12; i++) {
        a[i] = 1000 + i;
        b[i] = 1020 + i;
    }
    ks_compare_options o = KS_COMPARE_OPTIONS_INIT;
    ks_comparison c;
    KT_OK(ks_compare_samples(a, 12, b, 12, &o, &c, &err));
    assert_int_equal(c.verdict, KS_SLOWER);
    KT_OK(ks_compare_samples(b, 12, a, 12, &o, &c, &err));
    assert_int_equal(c.verdict, KS_FASTER);
    o.higher_is_better = true;
    KT_OK(ks_compare_samples(a, 12, b, 12, &o, &c, &err));
    assert_int_equal(c.verdict, KS_FASTER);
    o.threshold = 0.05; /* 2 % do not matter */
    KT_OK(ks_compare_samples(a, 12, b, 12, &o, &c, &err));
    assert_int_equal(c.verdict, KS_SAME);
    assert_string_equal(ks_verdict_name(c.verdict), "same");
}

static void samples_without_spread_or_sign_are_compared_too(void **state)
{
    (void)state;
    const double five[] = {5, 5, 5, 5, 5, 5, 5, 5};
    const double six[] = {6, 6, 6, 6, 6, 6, 6, 6};
    const double negative[] = {-1, -2, -3, -4, -5, -6, -7, -8};
    ks_comparison c = compared(five, 8, five, 8);
    KT_F64(c.p, 1.0);
    assert_int_equal(c.verdict, KS_SAME);
    c = compared(five, 8, six, 8);
    KT_F64(c.ratio_low, 1.2);
    assert_int_equal(c.verdict, KS_SLOWER);
    c = compared(negative, 8, five, 8);
    assert_true(isnan(c.ratio_low) && isnan(c.ratio_high));
    KT_NEAR(c.ratio, 5.0 / -4.5, 1e-12);
    assert_int_equal(c.verdict, KS_SLOWER); /* 5 is more than any of them */
    double more[8];
    for (int i = 0; i < 8; i++) {
        more[i] = negative[i] - 10.0;
    }
    assert_int_equal(compared(negative, 8, more, 8).verdict, KS_FASTER);
    const double zero[] = {0, 0, 0, 0, 0, 0, 0, 0};
    c = compared(zero, 8, five, 8);
    assert_true(isnan(c.ratio));
    assert_int_equal(c.verdict, KS_SLOWER);
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    const double a[] = {1, NAN};
    ks_compare_options o = KS_COMPARE_OPTIONS_INIT;
    ks_comparison c;
    KT_FAILS(ks_compare_samples(a, 2, a, 1, NULL, &c, &err), KS_EINVAL,
             "sample 2 of the first set is not a finite number");
    KT_FAILS(ks_compare_samples(a, 1, a, 0, NULL, &c, &err), KS_EINVAL,
             "the second set has no samples");
    o.level = 1.0;
    KT_FAILS(ks_compare_samples(a, 1, a, 1, &o, &c, &err), KS_EINVAL, "the level");
    o.struct_size = 0;
    KT_FAILS(ks_compare_samples(a, 1, a, 1, &o, &c, &err), KS_EINVAL, "KS_COMPARE_OPTIONS_INIT");
}

static ks_status scene(void *arg, ks_error *e)
{
    (void)arg;
    const double a[] = {1, 2, 3};
    ks_comparison c;
    return ks_compare_samples(a, 3, a, 3, NULL, &c, e);
}

static void a_comparison_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_int_equal(kt_oom_sweep(scene, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p_and_ratio_are_those_of_other_programs),
        cmocka_unit_test(ties_are_corrected),
        cmocka_unit_test(few_samples_cannot_decide),
        cmocka_unit_test(verdicts_depend_on_direction_and_threshold),
        cmocka_unit_test(samples_without_spread_or_sign_are_compared_too),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
        cmocka_unit_test(a_comparison_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
