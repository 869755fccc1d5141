/* Combining by kind, by callback, and the ledger. Expected values are worked out by hand. */
#include "harness.h"

#include <math.h>

#include "base/error.h"
#include "samples/ledger.h"
#include "samples/samples.h"

static ks_error err;

enum {
    ADD,
    SHARE,
    IPC,
    PEAK,
    LOWEST,
    GRID,
    METRICS
};

static const ks_metric metrics[METRICS] = {
    [ADD] = {.name = "add", .kind = KS_COUNT, .rule = KS_RULE_ADD},
    [SHARE] = {.name = "share", .unit = "%", .kind = KS_PERCENT, .rule = KS_RULE_WEIGHTED},
    [IPC] = {.name = "ipc", .kind = KS_RATIO, .rule = KS_RULE_RATIO},
    [PEAK] = {.name = "peak.max", .kind = KS_EXTREMUM, .rule = KS_RULE_MAX},
    [LOWEST] = {.name = "lowest.min", .kind = KS_EXTREMUM, .rule = KS_RULE_MIN},
    [GRID] = {.name = "grid", .kind = KS_PROPERTY, .rule = KS_RULE_SAME},
};

static ks_samples samples;

static int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    ks_samples_init(&samples, metrics, METRICS);
    KT_OK(ks_samples_start(&samples, 2, &err));
    KT_OK(ks_samples_enter(&samples, 0, &err));
    ks_samples_presence(&samples, 0, 0)->visits = 1;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ks_samples_fini(&samples);
    return 0;
}

static void add(uint32_t metric, double value, double weight)
{
    KT_OK(ks_samples_add(&samples, 0, 0, metric, value, weight, &err));
}

/* The combined value, or NaN with the reason in `why`. */
static const char *why;

static double value(uint32_t metric)
{
    double out = NAN;
    return ks_samples_value(&samples, 0, 0, metric, &out, &why) ? out : NAN;
}

static void each_kind_combines_in_its_own_way(void **state) /* C16 */
{
    (void)state;
    add(ADD, 3, 0);
    add(ADD, 4, 0);
    KT_F64(value(ADD), 7);
    add(SHARE, 90, 1); /* 90 % of 1 us and 10 % of 9 us */
    add(SHARE, 10, 9);
    KT_F64(value(SHARE), 18);
    add(IPC, 300, 100); /* 300 instructions in 100 cycles, 10 in 900 */
    add(IPC, 10, 900);
    KT_F64(value(IPC), 0.31);
    add(PEAK, 5, 0);
    add(PEAK, -2, 0);
    KT_F64(value(PEAK), 5);
    add(LOWEST, 5, 0);
    add(LOWEST, -2, 0);
    KT_F64(value(LOWEST), -2);
    add(GRID, 64, 0);
    add(GRID, 64, 0);
    KT_F64(value(GRID), 64);
    add(GRID, 32, 0);
    KT_F64(value(GRID), NAN);
    KT_HAS(why, "do not agree");
}

static void negative_extremes_are_not_lost_to_zero(void **state)
{
    (void)state;
    add(PEAK, -5, 0);
    KT_F64(value(PEAK), -5);
}

static void what_is_missing_has_a_reason(void **state)
{
    (void)state;
    KT_F64(value(ADD), NAN);
    KT_HAS(why, "nothing was measured");
    ks_samples_presence(&samples, 0, 0)->visits = 0;
    KT_F64(value(ADD), NAN);
    assert_string_equal(why, KS_NOT_ENTERED);
    add(ADD, 1, 0);
    KT_OK(ks_samples_missing(&samples, 0, 0, ADD, "first reason", &err));
    KT_OK(ks_samples_missing(&samples, 0, 0, ADD, "second reason", &err));
    KT_F64(value(ADD), NAN);
    assert_string_equal(why, "first reason");
}

static void numbers_that_are_not_finite_are_missing(void **state) /* C17 */
{
    (void)state;
    add(ADD, INFINITY, 0);
    KT_F64(value(ADD), NAN);
    KT_HAS(why, "infinity");
    add(SHARE, 50, 0);
    KT_F64(value(SHARE), 50); /* nothing to be weighed against */
    add(SHARE, 60, 0);        /* no weight at all */
    KT_F64(value(SHARE), NAN);
    KT_HAS(why, "NaN");
}

static void a_run_that_failed_takes_its_metrics_with_it(void **state)
{
    (void)state;
    add(ADD, 1, 0);
    add(PEAK, 1, 0);
    KT_OK(ks_samples_fail_run(&samples, 0, (const uint32_t[]){ADD, IPC}, 2, "boom", &err));
    KT_F64(value(ADD), NAN);
    assert_string_equal(why, "boom");
    KT_F64(value(PEAK), 1);
    /* an annotation that only a later run enters: the failed run says why it has no value */
    KT_OK(ks_samples_enter(&samples, 1, &err));
    double out = 0;
    assert_false(ks_samples_value(&samples, 1, 0, ADD, &out, &why));
    assert_string_equal(why, "boom");
    assert_false(ks_samples_value(&samples, 1, 1, ADD, &out, &why));
    assert_string_equal(why, KS_NOT_ENTERED);
}

static void annotations_may_come_later(void **state)
{
    (void)state;
    add(ADD, 5, 0);
    for (uint32_t a = 39; a > 0; a--) {
        KT_OK(ks_samples_enter(&samples, a, &err));
        KT_OK(ks_samples_enter(&samples, a, &err));
        assert_int_equal(ks_samples_presence(&samples, a, 1)->visits, 0);
        assert_int_equal(ks_samples_cell(&samples, a, 1, GRID)->count, 0);
    }
    assert_int_equal(samples.entered_count, 40);
    KT_F64(value(ADD), 5);
    KT_OK(ks_samples_start(&samples, 3, &err)); /* the next config knows nothing of it */
    KT_OK(ks_samples_enter(&samples, 0, &err));
    assert_int_equal(samples.entered_count, 1);
    assert_int_equal(ks_samples_cell(&samples, 0, 0, ADD)->count, 0);
}

static ks_status subtract(double sum, double next, double *out, void *user, ks_error *e)
{
    (void)user;
    if (next == 13) {
        return ks_fail(e, KS_EINVAL, "user", 0, "13 is not combined");
    }
    *out = sum - next;
    return KS_OK;
}

static ks_status sum_up(double sum, double next, double *out, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    *out = sum + next;
    return KS_OK;
}

static void a_callback_folds_from_the_first_value_on(void **state)
{
    (void)state;
    samples.combine_fn = subtract;
    add(ADD, 10, 0);
    add(ADD, 3, 0);
    add(ADD, 2, 0);
    KT_F64(value(ADD), 5);
    add(IPC, 300, 100); /* it sees ratios, not their parts */
    add(IPC, 10, 10);
    KT_F64(value(IPC), 2);
    assert_false(ks_samples_cell(&samples, 0, 0, IPC)->shares_added);
    add(PEAK, 1, 0);
    add(PEAK, 13, 0);
    KT_F64(value(PEAK), NAN);
    KT_HAS(why, "13 is not combined");
}

static void adding_percentages_by_callback_is_noticed(void **state) /* C16 */
{
    (void)state;
    samples.combine_fn = sum_up;
    add(SHARE, 90, 1);
    add(SHARE, 10, 9);
    KT_F64(value(SHARE), 100); /* as asked */
    assert_true(ks_samples_cell(&samples, 0, 0, SHARE)->shares_added);
    add(ADD, 1, 0);
    add(ADD, 2, 0);
    assert_false(ks_samples_cell(&samples, 0, 0, ADD)->shares_added);
}

static void refusing_leaves_single_values_alone(void **state)
{
    (void)state;
    samples.combine = KS_COMBINE_REFUSE;
    add(ADD, 1, 0);
    KT_F64(value(ADD), 1);
    add(ADD, 1, 0);
    KT_F64(value(ADD), NAN);
    KT_HAS(why, "refuses to combine");
}

/* ---- ledger -----------------------------------------------------------------------------------
 */

static ks_ledger ledger;
static const ks_text_id none_failed[8] = {0};

static int start_ledger(void **state)
{
    (void)state;
    ks_error_clear(&err);
    ks_ledger_init(&ledger);
    return 0;
}

static int stop_ledger(void **state)
{
    (void)state;
    ks_ledger_fini(&ledger);
    return 0;
}

/* A call that launches one kernel per letter. */
static void launch(uint32_t run, uint32_t pass, const char *kernels)
{
    ks_ledger_call(&ledger, run, pass);
    for (; *kernels != '\0'; kernels++) {
        const char name[] = {*kernels, '\0'};
        ks_launch l = {.annotation = *kernels == '-' ? KS_NO_ANNOTATION : 0,
                       .grid = {1, 2, 3},
                       .block = {4, 5, 6},
                       .stream = 7};
        ks_ledger_lock(&ledger);
        ks_ledger_add(&ledger, l, name);
        ks_ledger_unlock(&ledger);
    }
}

static void passes_that_agree_are_accepted(void **state)
{
    (void)state;
    ks_ledger_start(&ledger, 1);
    KT_OK(ks_ledger_compare(&ledger, 1, none_failed, &err)); /* nothing at all */
    for (uint32_t pass = 1; pass < 4; pass++) { /* pass 0 saw none: it is another collector's */
        launch(0, pass, "ab");
        launch(1, pass, "abc"); /* runs may differ from each other */
    }
    KT_OK(ks_ledger_compare(&ledger, 2, none_failed, &err));
    KT_OK(ks_ledger_compare(&ledger, 3, none_failed, &err));
}

static void the_first_difference_is_named(void **state)
{
    (void)state;
    launch(0, 0, "ab");
    launch(1, 0, "abc");
    launch(0, 1, "ab");
    launch(1, 1, "axc");
    KT_FAILS(ks_ledger_compare(&ledger, 1, none_failed, &err), KS_ESTATE,
             "launch 2 of run 2 is b grid (1, 2, 3), block (4, 5, 6), stream 0x7 in pass 1, but x");
}

static void more_and_fewer_launches_are_differences(void **state)
{
    (void)state;
    launch(0, 0, "ab");
    launch(1, 0, "a");
    launch(0, 1, "abc");
    launch(1, 1, "a");
    KT_FAILS(ks_ledger_compare(&ledger, 1, none_failed, &err), KS_ESTATE,
             "launch 3 of run 1 is nothing more in pass 1, but c");
    ks_ledger_start(&ledger, 0);
    launch(0, 0, "ab");
    launch(0, 1, ""); /* a pass without any */
    KT_FAILS(ks_ledger_compare(&ledger, 1, none_failed, &err), KS_ESTATE,
             "launch 1 of run 1 is a grid (1, 2, 3), block (4, 5, 6), stream 0x7 in pass 1, but "
             "nothing more in pass 2");
    ks_ledger_start(&ledger, 0); /* the first pass may be the one */
    launch(0, 0, "");
    launch(0, 1, "a");
    KT_FAILS(ks_ledger_compare(&ledger, 1, none_failed, &err), KS_ESTATE,
             "launch 1 of run 1 is nothing more in pass 1, but a");
}

static void runs_that_failed_are_not_compared(void **state)
{
    (void)state;
    const ks_text_id failed[8] = {[1] = 5};
    launch(0, 0, "ab");
    launch(1, 0, "a");
    launch(2, 0, "c");
    launch(0, 1, "ab");
    launch(1, 1, "axxxx");
    launch(2, 1, "c");
    KT_OK(ks_ledger_compare(&ledger, 1, failed, &err));
    KT_FAILS(ks_ledger_compare(&ledger, 1, none_failed, &err), KS_ESTATE, "run 2");
}

int main(void)
{
#define WITH_SAMPLES(test) cmocka_unit_test_setup_teardown(test, start, stop)
#define WITH_LEDGER(test)  cmocka_unit_test_setup_teardown(test, start_ledger, stop_ledger)
    const struct CMUnitTest tests[] = {
        WITH_SAMPLES(each_kind_combines_in_its_own_way),
        WITH_SAMPLES(negative_extremes_are_not_lost_to_zero),
        WITH_SAMPLES(what_is_missing_has_a_reason),
        WITH_SAMPLES(numbers_that_are_not_finite_are_missing),
        WITH_SAMPLES(a_run_that_failed_takes_its_metrics_with_it),
        WITH_SAMPLES(annotations_may_come_later),
        WITH_SAMPLES(a_callback_folds_from_the_first_value_on),
        WITH_SAMPLES(adding_percentages_by_callback_is_noticed),
        WITH_SAMPLES(refusing_leaves_single_values_alone),
        WITH_LEDGER(passes_that_agree_are_accepted),
        WITH_LEDGER(the_first_difference_is_named),
        WITH_LEDGER(more_and_fewer_launches_are_differences),
        WITH_LEDGER(runs_that_failed_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
