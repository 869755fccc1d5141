/* Expected values: scipy 1.16 (stats.t.ppf, stats.t.interval, stats.gmean), or worked out by hand.
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "stats/student.h"
#include "stats/summary.h"

static ks_summary summary_of(const double *values, size_t n)
{
    ks_summary s;
    ks_quantiles quantiles = {0};
    double *scratch = calloc(n + 1, sizeof *scratch);
    assert_non_null(scratch);
    ks_summarize(values, n, scratch, &quantiles, &s);
    free(scratch);
    return s;
}

static void t_quantiles_agree_with_scipy(void **state)
{
    (void)state;
    static const double expected[][2] = {
        {1, 12.706204736174694},      {2, 4.302652729749462},     {3, 3.1824463052837078},
        {4, 2.7764451051977934},      {5, 2.5705818356363146},    {9, 2.262157162798205},
        {10, 2.228138851986274},      {29.5, 2.043724966772122},  {63, 1.998340542520741},
        {100, 1.9839715185235518},    {1000, 1.9623390808264083}, {99999, 1.9599877077718442},
        {100001, 1.9599877072973786}, {1e6, 1.959966356814107},   {1e8, 1.9599640082627663},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        KT_NEAR(ks_student_quantile(0.975, expected[i][0]), expected[i][1], 1e-9);
    }
    KT_NEAR(ks_student_quantile(0.9999, 3), 22.203742273205, 1e-9);
    KT_NEAR(ks_student_quantile(0.6, 7.3), 0.2627568052507191, 1e-9);
    KT_NEAR(ks_normal_quantile(0.975), 1.959963984540054, 1e-12);
    KT_NEAR(ks_normal_quantile(0.9999), 3.719016485455709, 1e-12);
}

static void a_sample_set_is_summarised_as_scipy_does(void **state)
{
    (void)state;
    static const double x[] = {12.1, 11.9, 12.4, 12.0, 11.8, 12.2, 12.3, 11.7};
    ks_summary s = summary_of(x, 8);
    KT_NEAR(s.mean, 12.05, 1e-12);
    KT_NEAR(s.stddev, 0.2449489742783179, 1e-12);
    KT_NEAR(s.median, 12.05, 1e-12);
    KT_NEAR(s.mad, 0.2, 1e-12);
    KT_NEAR(s.ci_low, 11.845217532771589, 1e-9);
    KT_NEAR(s.ci_high, 12.254782467228413, 1e-9);
    KT_NEAR(s.relative_pct, 100 * 0.2449489742783179 / 12.05, 1e-12);
    KT_F64(s.min, 11.7);
    KT_F64(s.max, 12.4);
    assert_int_equal(s.n, 8);
}

static void numbers_whose_squares_are_no_doubles_are_summarised_too(void **state)
{
    (void)state;
    static const double units[] = {5e307, 1e200, 1e-200, 3e-308};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double unit = units[i];
        const double x[] = {1.5 * unit, 2.0 * unit, 2.5 * unit, 3.0 * unit, 1.0 * unit};
        ks_summary s = summary_of(x, 5);
        KT_NEAR(s.mean / unit, 2.0, 1e-12);
        KT_NEAR(s.stddev / unit, 0.7905694150420949, 1e-12); /* sqrt(0.625) */
        KT_NEAR(s.median / unit, 2.0, 1e-12);
        KT_NEAR(s.relative_pct, 39.52847075210474, 1e-9);
    }
    const ks_summary large[] = {{.n = 9, .mean = 2e300, .stddev = 2e299},
                                {.n = 9, .mean = 1e300, .stddev = 1e299}};
    const ks_summary plain[] = {{.n = 9, .mean = 2, .stddev = 0.2},
                                {.n = 9, .mean = 1, .stddev = 0.1}};
    double low[2];
    double high[2];
    ks_ratio_interval(&large[0], &large[1], &low[0], &high[0]);
    ks_ratio_interval(&plain[0], &plain[1], &low[1], &high[1]);
    KT_NEAR(low[0], low[1], 1e-12);
    KT_NEAR(high[0], high[1], 1e-12);
}

static void one_sample_has_no_spread(void **state) /* C24 */
{
    (void)state;
    ks_summary s = summary_of((double[]){42.0}, 1);
    KT_F64(s.mean, 42.0);
    KT_F64(s.median, 42.0);
    KT_F64(s.stddev, NAN);
    KT_F64(s.mad, NAN);
    KT_F64(s.ci_low, NAN);
    KT_F64(s.relative_pct, NAN);
    assert_true(ks_is_whole(42.0));
    assert_true(ks_is_whole(-9007199254740991.0));
    assert_false(ks_is_whole(9007199254740992.0)); /* 2^53: the next one is not known apart */
    assert_false(ks_is_whole(0.5));
}

static void no_sample_has_nothing(void **state) /* C24 */
{
    (void)state;
    ks_summary s = summary_of(NULL, 0);
    assert_int_equal(s.n, 0);
    KT_F64(s.mean, NAN);
    KT_F64(s.min, NAN);
    KT_F64(s.median, NAN);
}

static void two_samples_use_the_sample_deviation(void **state) /* C24 */
{
    (void)state;
    ks_summary s = summary_of((double[]){0.96, 1.04}, 2);
    KT_NEAR(s.mean, 1.0, 1e-15);
    KT_NEAR(s.stddev, 0.0565685424949238, 1e-12); /* 0.08 / sqrt(2) */
    KT_NEAR(s.ci_high - s.mean, 12.706204736174694 * 0.04, 1e-9);
}

static void an_outlier_is_flagged_and_stays(void **state) /* C24 */
{
    (void)state;
    ks_summary s = summary_of((double[]){1, 2, 3, 4, 100}, 5);
    KT_F64(s.median, 3.0);
    KT_F64(s.mean, 22.0);
    KT_F64(s.max, 100.0);
    KT_F64(s.mad, 1.0);
    assert_int_equal(s.outliers, 1);
    /* most samples equal: the mean deviation serves where the median one is 0 */
    s = summary_of((double[]){5, 5, 5, 5, 5, 5, 5, 5, 5, 9}, 10);
    KT_F64(s.mad, 0.0);
    assert_int_equal(s.outliers, 1);
    assert_int_equal(summary_of((double[]){5, 5, 5, 5}, 4).outliers, 0);
    assert_int_equal(summary_of((double[]){1, 100}, 2).outliers, 0);
}

/* A number in (0, 1): the same sequence on every machine. */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static void one_row_of_normal_samples_in_a_hundred_has_an_outlier(void **state)
{
    (void)state;
    enum {
        ROWS = 20000
    };
    static const size_t counts[] = {3, 5, 8, 10, 20, 50};
    uint64_t seed = 1;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        int flagged = 0;
        for (int row = 0; row < ROWS; row++) {
            double values[50];
            for (size_t i = 0; i < counts[c]; i++) { /* Box and Muller */
                values[i] = 100.0 + sqrt(-2.0 * log(uniform(&seed))) *
                                        cos(6.283185307179586 * uniform(&seed));
            }
            flagged += summary_of(values, counts[c]).outliers > 0;
        }
        assert_in_range(flagged, ROWS * 7 / 1000, ROWS * 13 / 1000);
    }
}

static void large_offsets_do_not_cancel(void **state)
{
    (void)state;
    ks_summary s = summary_of((double[]){1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}, 4);
    KT_F64(s.mean, 1e9 + 10);
    KT_NEAR(s.stddev, sqrt(30.0), 1e-12);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_median(const double *values, size_t n)
{
    double *copy = malloc(n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, values, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, compare);
    double median = n % 2 ? copy[n / 2] : (copy[n / 2 - 1] + copy[n / 2]) / 2;
    free(copy);
    return median;
}

static void medians_of_any_order_are_those_of_sorting(void **state)
{
    (void)state;
    enum {
        LONGEST = 3000
    };
    static double values[LONGEST];
    srand(7);
    for (size_t n = 1; n < LONGEST; n += n < 80 ? 1 : 97) {
        for (int shape = 0; shape < 6; shape++) {
            for (size_t i = 0; i < n; i++) {
                double up = (double)i;
                values[i] = shape == 0   ? rand() / 1000.0
                            : shape == 1 ? up
                            : shape == 2 ? -up
                            : shape == 3 ? (double)(rand() % 3)
                            : shape == 4 ? 7.0
                                         : (i < n / 2 ? up : (double)(n - i)); /* organ pipe */
            }
            ks_summary s = summary_of(values, n);
            double median = sorted_median(values, n);
            KT_NEAR(s.median, median, 1e-15);
            for (size_t i = 0; i < n; i++) {
                values[i] = fabs(values[i] - median);
            }
            KT_NEAR(s.mad, n < 2 ? NAN : sorted_median(values, n), 1e-12);
        }
    }
}

static double geomean_of(const double *values, size_t n)
{
    ks_geomean mean = {0};
    for (size_t i = 0; i < n; i++) {
        ks_geomean_add(&mean, values[i]);
    }
    return ks_geomean_value(&mean);
}

static void geometric_means_leave_missing_values_out(void **state)
{
    (void)state;
    KT_NEAR(geomean_of((double[]){1, NAN, 100}, 3), 10.0, 1e-12);
    KT_NEAR(geomean_of((double[]){12.1, 11.9, 12.4, 12.0, 11.8, 12.2, 12.3, 11.7}, 8),
            12.047821079570532, 1e-12);
    KT_F64(geomean_of((double[]){4, 0}, 2), 0.0);
    KT_F64(geomean_of((double[]){4, -1}, 2), NAN);
    KT_F64(geomean_of((double[]){NAN}, 1), NAN);
    KT_F64(geomean_of(NULL, 0), NAN);
}

static void the_interval_of_a_ratio_counts_both_spreads(void **state)
{
    (void)state;
    static const double a[] = {10, 11, 9, 10.5, 9.5};
    static const double b[] = {20, 21, 19.5};
    ks_summary sa = summary_of(a, 5);
    ks_summary sb = summary_of(b, 3);
    double low = 0;
    double high = 0;
    ks_ratio_interval(&sa, &sb, &low, &high);
    KT_NEAR(low, 0.4452511729306413, 1e-9); /* Welch-Satterthwaite, by scipy */
    KT_NEAR(high, 0.5464843642594412, 1e-9);
    sb = summary_of(b, 1);
    ks_ratio_interval(&sa, &sb, &low, &high);
    KT_F64(low, NAN);
    sa = summary_of((double[]){3, 3}, 2);
    ks_ratio_interval(&sa, &sa, &low, &high);
    KT_F64(low, 1.0);
    KT_F64(high, 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_quantiles_agree_with_scipy),
        cmocka_unit_test(a_sample_set_is_summarised_as_scipy_does),
        cmocka_unit_test(numbers_whose_squares_are_no_doubles_are_summarised_too),
        cmocka_unit_test(one_sample_has_no_spread),
        cmocka_unit_test(no_sample_has_nothing),
        cmocka_unit_test(two_samples_use_the_sample_deviation),
        cmocka_unit_test(an_outlier_is_flagged_and_stays),
        cmocka_unit_test(one_row_of_normal_samples_in_a_hundred_has_an_outlier),
        cmocka_unit_test(large_offsets_do_not_cancel),
        cmocka_unit_test(medians_of_any_order_are_those_of_sorting),
        cmocka_unit_test(geometric_means_leave_missing_values_out),
        cmocka_unit_test(the_interval_of_a_ratio_counts_both_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
