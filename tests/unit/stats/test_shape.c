/* Drift, groups, odd first samples; and how often steady samples seem to have them. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "stats/shape.h"

enum {
    MOST = 50,
    MANY = 100000 /* samples: of these some are drawn */
};

static ks_shape shape_of(const double *values, size_t n)
{
    static double scratch[MANY];
    ks_quantiles quantiles = {0};
    ks_summary summary;
    ks_shape shape;
    ks_summarize(values, n, scratch, &quantiles, &summary);
    ks_find_shape(values, n, &summary, scratch, &shape);
    return shape;
}

static void a_first_run_that_stands_out_is_told_with_its_distance(void **state)
{
    (void)state;
    const double slow[] = {150, 100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 100};
    ks_shape s = shape_of(slow, 12);
    KT_NEAR(s.first_pct, 50.0, 1e-12);
    KT_F64(s.drift_pct, 0.0);
    KT_F64(s.high, 0.0);
    const double quick[] = {80, 100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 100};
    KT_NEAR(shape_of(quick, 12).first_pct, -20.0, 1e-12);
    const double third[] = {100, 100, 150, 99, 100, 102, 98, 100, 101, 99, 100, 100};
    KT_F64(shape_of(third, 12).first_pct, 0.0);
}

static void a_drift_is_the_second_half_against_the_first(void **state)
{
    (void)state;
    double rising[20];
    double falling[20];
    for (int i = 0; i < 20; i++) {
        rising[i] = 100 + i; /* medians of the halves: 104.5 and 114.5 */
        falling[i] = 200 - i;
    }
    KT_NEAR(shape_of(rising, 20).drift_pct, 1000.0 / 104.5, 1e-12);
    KT_NEAR(shape_of(falling, 20).drift_pct, -1000.0 / 195.5, 1e-12);
    for (int i = 0; i < 20; i++) {
        rising[i] = 1000 + 0.1 * i; /* 0.1 %: nobody's concern */
    }
    KT_F64(shape_of(rising, 20).drift_pct, 0.0);
}

static void two_groups_are_told_apart(void **state)
{
    (void)state;
    double values[20];
    for (int i = 0; i < 20; i++) {
        values[i] = (i % 4 == 3 ? 130 : 100) + i % 3; /* 5 of 20 are slow */
    }
    ks_shape s = shape_of(values, 20);
    KT_F64(s.low, 101.0);
    KT_F64(s.high, 131.0);
    KT_F64(s.high_share, 0.25);
    KT_F64(s.first_pct, 0.0);
    KT_F64(s.drift_pct, 0.0);
    values[19] = 100; /* a fifth at least: 4 of 20 are enough, 3 are outliers */
    KT_F64(shape_of(values, 20).high_share, 0.2);
    values[15] = 100;
    KT_F64(shape_of(values, 20).high, 0.0);
}

static void few_or_equal_samples_have_no_shape(void **state)
{
    (void)state;
    const double few[] = {900, 1, 1, 1, 1, 1, 1, 1, 1};
    KT_F64(shape_of(few, 9).first_pct, 0.0);
    const double equal[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    ks_shape s = shape_of(equal, 10);
    KT_F64(s.first_pct, 0.0);
    KT_F64(s.drift_pct, 0.0);
    KT_F64(s.high, 0.0);
}

static void of_many_samples_the_shape_is_that_of_those_that_are_drawn(void **state)
{
    (void)state;
    static double values[MANY];
    for (int i = 0; i < MANY; i++) {
        values[i] = (i % 2 == 0 ? 100 : 130) + i % 7; /* in a regular turn */
    }
    ks_shape s = shape_of(values, MANY);
    assert_true(s.low >= 102 && s.low <= 104 && s.high >= 132 && s.high <= 134);
    KT_NEAR(s.high_share, 0.5, 0.05);
    KT_F64(s.first_pct, 0.0);
    KT_F64(s.drift_pct, 0.0);
    for (int i = 0; i < MANY; i++) {
        values[i] = 100 + 20.0 * i / MANY; /* medians of the halves: 105 and 115 */
    }
    KT_NEAR(shape_of(values, MANY).drift_pct, 1000.0 / 105, 0.1);
    for (int i = 0; i < MANY; i++) {
        values[i] = 100 + i % 10;
    }
    values[0] = 200;
    s = shape_of(values, MANY);
    KT_NEAR(s.first_pct, 100.0 * (200 - 105) / 105, 1.0);
    KT_F64(s.drift_pct, 0.0);
    values[MANY / 2] = 199; /* one that may not have been drawn is as odd */
    KT_F64(shape_of(values, MANY).first_pct, 0.0);
}

/* A number in (0, 1): the same sequence on every machine. */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

/* Deviation 10 around 100: every difference matters. */
static double draw(uint64_t *state, bool skewed)
{
    double u = uniform(state);
    return skewed ? 90.0 - 10.0 * log(u)
                  : 100.0 + 10.0 * sqrt(-2.0 * log(u)) * cos(6.283185307179586 * uniform(state));
}

static void steady_samples_seldom_seem_to_have_a_shape(void **state)
{
    (void)state;
    enum {
        ROWS = 20000
    };
    static const size_t counts[] = {10, 20, 50};
    uint64_t seed = 7;
    for (int skewed = 0; skewed < 2; skewed++) {
        for (size_t c = 0; c < 3; c++) {
            int first = 0;
            int drift = 0;
            int groups = 0;
            for (int row = 0; row < ROWS; row++) {
                double values[MOST];
                for (size_t i = 0; i < counts[c]; i++) {
                    values[i] = draw(&seed, skewed == 1);
                }
                ks_shape s = shape_of(values, counts[c]);
                first += s.first_pct != 0.0;
                drift += s.drift_pct != 0.0;
                groups += s.high != 0.0;
            }
            assert_in_range(first, 0, ROWS * (skewed == 1 ? 15 : 10) / 1000);
            assert_in_range(drift, ROWS * 2 / 1000, ROWS * 12 / 1000);
            assert_in_range(groups, 0, ROWS * 15 / 1000);
            print_message("%zu %s: first %d, drift %d, groups %d of %d\n", counts[c],
                          skewed == 1 ? "exponential" : "normal", first, drift, groups, ROWS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_run_that_stands_out_is_told_with_its_distance),
        cmocka_unit_test(a_drift_is_the_second_half_against_the_first),
        cmocka_unit_test(two_groups_are_told_apart),
        cmocka_unit_test(few_or_equal_samples_have_no_shape),
        cmocka_unit_test(of_many_samples_the_shape_is_that_of_those_that_are_drawn),
        cmocka_unit_test(steady_samples_seldom_seem_to_have_a_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
