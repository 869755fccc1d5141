/* The table for people, on values that are known beforehand. */
#include "harness.h"

#include <stdlib.h>

#include "api/run.h"
#include "fakes/fake_collector.h"

static ks_error err;

/* Durations by run around 51.2 us, bytes exact; "slow" is ten times slower and not stable. */
static ks_status body(const ks_call *call, void *user, ks_error *e)
{
    static const double spread[] = {-100, 0, 100, 50, -50};
    (void)user;
    double off = spread[ks_call_run(call) % 5];
    KS_ANNOTATE("fast") {
        fake_launch("k", 51200 + off, 134217728, 99.5);
    }
    if (ks_call_i64(call, "n") == 2) {
        return ks_fail(e, KS_EBODY, "user", 0,
                       "the device said no, for a reason that is so long "
                       "that it does not fit on one line of a terminal");
    }
    KS_ANNOTATE("a rather slow variant") {
        fake_launch("k", 512000 + 200 * off, 1000, 12.25);
    }
    return KS_OK;
}

typedef struct view {
    const ks_results *results;
    ks_print_options options;
} view;

static ks_status print(void *arg, FILE *to, ks_error *e)
{
    const view *v = arg;
    return ks_results_print(v->results, to, &v->options, e);
}

static ks_results *measure(void)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_runs(plan, 5, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    KT_OK(ks_plan_metric(plan, "fake__busy.pct", &err));
    KT_OK(ks_run_with(fake_collectors, plan, body, NULL, &results, &err));
    ks_plan_free(plan);
    return results;
}

static void shows(const ks_results *results, size_t width, bool color, bool ascii,
                  const char *expected)
{
    view v = {results, {sizeof v.options, width, color, ascii}};
    char *text = kt_capture(print, &v);
    assert_string_equal(text, expected);
    free(text);
}

static void a_terminal_gets_what_fits(void **state)
{
    (void)state;
    ks_results *results = measure();
    /* by hand: the deviation of -100, 0, 100, 50, -50 is 79.06, times 2.776 / sqrt(5) is 98.1 ns */
    shows(
        results, 80, false, false,
        "                          fake__duration.sum  fake__bytes.sum  fake__busy.pct\n"
        "annotation             n              \u00b5s  n            MB  n            %  n\n"
        "fast                   1  51.200 \u00b1 0.098  5   134.218 \u00b1 0  5     99.5 \u00b1 0  5\n"
        "fast                   2       -          0a        -      0a       -      0a\n"
        "a rather slow variant  1     512 \u00b1 20     5~    0.001 \u00b1 0  5    12.25 \u00b1 0  5\n"
        "a rather slow variant  2       -          0a        -      0a       -      0a\n"
        "\n"
        "~  not stable: the standard deviation is 2 % of the mean or more\n"
        "a  all 5 runs failed: the device said no, for a reason that is so long that it\n"
        "   does not fit on one line of a terminal\n");
    ks_results_free(results);
}

static void a_narrow_terminal_gets_sections_and_shorter_names(void **state)
{
    (void)state;
    ks_results *results = measure();
    shows(results, 40, false, true,
          "                      fake__duration.sum\n"
          "annotation        n               us  n\n"
          "fast              1  51.200 +- 0.098  5\n"
          "fast              2       -           0a\n"
          "a rathe...ariant  1     512 +- 20     5~\n"
          "a rathe...ariant  2       -           0a\n"
          "\n"
          "                         fake__bytes.sum\n"
          "annotation           n            MB  n\n"
          "fast                 1  134.218 +- 0  5\n"
          "fast                 2        -       0a\n"
          "a rather... variant  1    0.001 +- 0  5\n"
          "a rather... variant  2        -       0a\n"
          "\n"
          "                          fake__busy.pct\n"
          "annotation             n           %  n\n"
          "fast                   1   99.5 +- 0  5\n"
          "fast                   2      -       0a\n"
          "a rather slow variant  1  12.25 +- 0  5\n"
          "a rather slow variant  2      -       0a\n"
          "\n"
          "~  not stable: the standard deviation is\n"
          "   2 % of the mean or more\n"
          "a  all 5 runs failed: the device said\n"
          "   no, for a reason that is so long that\n"
          "   it does not fit on one line of a\n"
          "   terminal\n");
    ks_results_free(results);
}

static void a_pipe_gets_everything_on_one_line(void **state)
{
    (void)state;
    ks_results *results = measure();
    view v = {results, KS_PRINT_OPTIONS_INIT};
    char *text = kt_capture(print, &v);
    KT_HAS(text, "a rather slow variant  1     512 \u00b1 20     5~    0.001 \u00b1 0  5    12.25");
    KT_HAS(text,
           "a  all 5 runs failed: the device said no, for a reason that is so long that it does "
           "not fit on one line of a terminal\n");
    assert_null(strchr(text, '\033'));
    free(text);
    v.options.color = true;
    text = kt_capture(print, &v);
    assert_int_equal(strncmp(text, "\033[1m   ", 7), 0); /* the header is bold */
    free(text);
    ks_results_free(results);
}

/* Mean of the three runs: 812.25 ns, 5.1235 us, 2.5 ms; or all of them in one table. */
static ks_status short_kernels(const ks_call *call, void *user, ks_error *e)
{
    static const double durations[] = {812.25, 5123.5, 2.5e6};
    static const char *const names[] = {"empty", "small", "large"};
    int64_t n = ks_call_i64(call, "n");
    (void)user;
    for (int64_t i = 0; i < 3; i++) {
        ks_token token = KS_TOKEN_INIT;
        if (n == i || n == 3) {
            KT_OK(ks_annotate_begin(names[i], &token, e));
            fake_launch("k", durations[i] * (1 + 0.01 * (ks_call_run(call) - 1.0)), 1, 1);
            KT_OK(ks_annotate_end(token, e));
        }
    }
    return KS_OK;
}

static ks_results *measure_short(const char *axis)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_axis_spec(plan, axis, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_run_with(fake_collectors, plan, short_kernels, NULL, &results, &err));
    ks_plan_free(plan);
    return results;
}

static void durations_are_shown_in_ns_us_and_ms(void **state) /* C26 */
{
    (void)state;
    /* by hand: three values 1 % apart deviate by 1 %, times 4.303 / sqrt(3) is 2.484 % */
    static const struct {
        const char *axis, *unit, *value;
    } cases[] = {
        {"n=0", " ns  n\n", " 812 \u00b1 20  3\n"},
        {"n=1", " \u00b5s  n\n", " 5.12 \u00b1 0.13  3\n"},
        {"n=2", " ms  n\n", " 2.500 \u00b1 0.062  3\n"},
    };
    for (size_t i = 0; i < 3; i++) {
        ks_results *results = measure_short(cases[i].axis);
        view v = {results, KS_PRINT_OPTIONS_INIT};
        char *text = kt_capture(print, &v);
        KT_HAS(text, cases[i].unit);
        KT_HAS(text, cases[i].value);
        free(text);
        ks_results_free(results);
    }
}

static void short_durations_beside_long_ones_stay_above_zero(void **state) /* C26 */
{
    (void)state;
    static const char *const names[] = {"empty ", "small ", "large "};
    ks_results *results = measure_short("n=3");
    view v = {results, KS_PRINT_OPTIONS_INIT};
    char *text = kt_capture(print, &v);
    for (size_t i = 0; i < 3; i++) {
        const char *row = strstr(text, names[i]);
        double value = 0;
        assert_non_null(row);
        assert_int_equal(sscanf(row, "%*s 3 %lf", &value), 1);
        assert_true(value > 0);
    }
    free(text);
    ks_results_free(results);
}

static void csv_keeps_every_digit_of_a_short_duration(void **state) /* C26 */
{
    (void)state;
    ks_table *read = NULL;
    ks_results *results = measure_short("n=3");
    KT_OK(ks_results_write_csv(results, kt_path("short.csv"), &err));
    KT_OK(ks_table_read_csv(kt_path("short.csv"), &read, &err));
    KT_NEAR(kt_number(read, (kt_key){"empty", "fake__duration.sum", 3}, "AvgValue"), 812.25, 1e-15);
    KT_NEAR(kt_number(read, (kt_key){"small", "fake__duration.sum", 3}, "AvgValue"), 5123.5, 1e-15);
    KT_NEAR(kt_number(read, (kt_key){"large", "fake__duration.sum", 3}, "AvgValue"), 2.5e6, 1e-15);
    assert_string_equal(kt_text(read, (kt_key){"empty", "fake__duration.sum", 3}, "Unit"), "ns");
    ks_table_free(read);
    ks_results_free(results);
}

static ks_status one_kernel(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
        fake_launch("k", 1000, 1, 1);
    }
    return KS_OK;
}

static void parameters_of_every_type_are_shown(void **state)
{
    (void)state;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_table *samples = NULL;
    const ks_value first[] = {ks_bool(true), ks_i64(-3), ks_f64(0.25), ks_text("")};
    const ks_value second[] = {ks_bool(false), ks_i64(4), ks_missing(), ks_text("word")};
    static const char *const names[] = {"b", "i", "x", "t"};
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    KT_OK(ks_plan_new(&plan, &err));
    for (size_t i = 0; i < 4; i++) {
        KT_OK(ks_plan_param(plan, names[i], &err));
    }
    KT_OK(ks_plan_config(plan, first, 4, &err));
    KT_OK(ks_plan_config(plan, second, 4, &err));
    KT_OK(ks_plan_runs(plan, 1, &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_run_with(fake_collectors, plan, one_kernel, NULL, &results, &err));
    ks_plan_free(plan);
    view v = {results, KS_PRINT_OPTIONS_INIT};
    char *text = kt_capture(print, &v);
    char words[4][16];
    const char *row = strstr(text, "\na ");
    assert_non_null(row);
    assert_int_equal(sscanf(row, " a %15s %15s %15s %15s", words[0], words[1], words[2], words[3]),
                     4);
    assert_string_equal(words[0], "True");
    assert_string_equal(words[1], "-3");
    assert_string_equal(words[2], "0.25");
    assert_string_equal(words[3], "\"\"");
    row = strstr(row + 1, "\na ");
    assert_non_null(row);
    assert_int_equal(sscanf(row, " a %15s %15s %15s %15s", words[0], words[1], words[2], words[3]),
                     4);
    assert_string_equal(words[0], "False");
    assert_string_equal(words[1], "4");
    assert_string_equal(words[2], "-");
    assert_string_equal(words[3], "word");
    free(text);
    KT_OK(ks_results_samples(results, &samples, &err));
    assert_true(ks_table_get(samples, 0, ks_table_find(samples, "b")).as.boolean);
    KT_F64(ks_table_number(samples, 0, ks_table_find(samples, "x")), 0.25);
    assert_false(ks_table_valid(samples, 1, ks_table_find(samples, "x")));
    assert_string_equal(ks_table_text(samples, 1, ks_table_find(samples, "t")), "word");
    ks_table_free(samples);
    ks_results_free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_gets_what_fits),
        cmocka_unit_test(a_pipe_gets_everything_on_one_line),
        cmocka_unit_test(a_narrow_terminal_gets_sections_and_shorter_names),
        cmocka_unit_test(parameters_of_every_type_are_shown),
        cmocka_unit_test(durations_are_shown_in_ns_us_and_ms),
        cmocka_unit_test(short_durations_beside_long_ones_stay_above_zero),
        cmocka_unit_test(csv_keeps_every_digit_of_a_short_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
