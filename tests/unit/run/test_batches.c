/* Runs of a config in several batches: interleaved, found out, cancelled. */
#include "fakes/run_fixture.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct capture {
    ks_status (*write)(const ks_results *results, FILE *to, ks_error *err);
    const ks_results *results;
} capture;

static ks_status write_captured(void *arg, FILE *to, ks_error *e)
{
    const capture *c = arg;
    return c->write(c->results, to, e);
}

static ks_status samples_csv(const ks_results *of, FILE *to, ks_error *e)
{
    ks_table *samples = NULL;
    KT_OK(ks_results_samples(of, &samples, e));
    ks_status status = ks_table_csv(samples, to, e);
    ks_table_free(samples);
    return status;
}

static ks_status launches_csv(const ks_results *of, FILE *to, ks_error *e)
{
    ks_table *launches = NULL;
    KT_OK(ks_results_launches(of, &launches, e));
    ks_status status = ks_table_csv(launches, to, e);
    ks_table_free(launches);
    return status;
}

/* ---- interleaved ------------------------------------------------------------------------------
 */

/* Values that tell config and run apart; annotations, kernels, names and failures that not every
 * run has. */
static ks_status varied(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    int64_t n = ks_call_i64(call, "n");
    uint32_t run = ks_call_run(call);
    if (n == 2 && run == 1) {
        return ks_fail(e, KS_EBODY, "body", 0, "the second run of n=2 fails");
    }
    KS_ANNOTATE("often") {
        fake_launch("k", (double)(100 * n + run), 8, 50);
        if (n == 3) {
            fake_launch("l", 1, 8, 10);
        }
    }
    ks_token token = KS_TOKEN_INIT;
    KS_TRY(ks_annotate_begin("moody", &token, e));
    fake_launch("n", 5, 5, 5);
    KS_TRY(run == 2 ? ks_annotate_fail(token, "its work failed", e) : ks_annotate_end(token, e));
    if (run >= 2) {
        KS_ANNOTATE("late") {
            fake_launch("m", 7, 1, 1);
        }
    }
    return KS_OK;
}

static ks_status twice(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    double value = 0;
    KS_TRY(ks_derivation_metric(d, "fake__duration.sum", &value, e));
    if (ks_call_run(call) == 3) {
        return ks_derivation_set(d, "rare", value, NULL, e);
    }
    return ks_derivation_set(d, "twice", 2 * value, "ns", e);
}

/* Gives a name in some runs, fails in others, and in one the annotation's own work fails. */
static ks_status seldom(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    if (ks_call_run(call) == 1) {
        return ks_fail(e, KS_EBODY, "derive", 0, "division by nothing");
    }
    return ks_derivation_set(d, "speed", 1.0, "m/s", e);
}

static ks_status never(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)d;
    (void)call;
    (void)user;
    return ks_fail(e, KS_EBODY, "derive", 0, "it cannot be told");
}

static ks_status run_number(const ks_call *call, const char *annotation, ks_value *out, void *user,
                            ks_error *e)
{
    (void)annotation;
    (void)user;
    (void)e;
    *out = ks_i64(ks_call_run(call));
    return KS_OK;
}

static ks_status config_number(const ks_call *call, const char *annotation, ks_value *out,
                               void *user, ks_error *e)
{
    (void)annotation;
    (void)user;
    (void)e;
    *out = ks_i64((int64_t)ks_call_config(call));
    return KS_OK;
}

/* All three tables of a run of the plan in an order, as CSV; to be freed. */
static void run_in_order(ks_order order, char *texts[3])
{
    static ks_status (*const writers[3])(const ks_results *, FILE *,
                                         ks_error *) = {ks_results_csv, samples_csv, launches_csv};
    KT_OK(ks_plan_order(plan, order, 0, &err));
    KT_OK(ks_run_with(fake_collectors, plan, varied, NULL, &results, &err));
    for (int i = 0; i < 3; i++) {
        capture c = {writers[i], results};
        texts[i] = kt_capture(write_captured, &c);
    }
    ks_results_free(results);
    results = NULL;
}

static void interleaved_runs_give_the_tables_of_runs_one_after_the_other(void **state)
{
    (void)state;
    char *given[3];
    char *interleaved[3];
    KT_OK(ks_plan_axis_spec(plan, "n=1..3", &err));
    KT_OK(ks_plan_runs(plan, 5, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_metric(plan, "fake__*", &err));
    KT_OK(ks_plan_derive(plan, "twice", twice, NULL, &err));
    KT_OK(ks_plan_derive(plan, "seldom", seldom, NULL, &err));
    KT_OK(ks_plan_derive(plan, "never", never, NULL, &err));
    KT_OK(ks_plan_normalize(plan, "late", &err));
    KT_OK(ks_plan_info(plan, "Number", KS_SCOPE_RUN, run_number, NULL, &err));
    KT_OK(ks_plan_info(plan, "Place", KS_SCOPE_CONFIG, config_number, NULL, &err));
    run_in_order(KS_ORDER_GIVEN, given);
    run_in_order(KS_ORDER_INTERLEAVED, interleaved);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(given[i], interleaved[i]);
        free(given[i]);
        free(interleaved[i]);
    }
}

static ks_status note_order(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    char one[32];
    snprintf(one, sizeof one, "c%zu%s%u ", ks_call_config(call),
             ks_call_is_warmup(call) ? "w" : "r", ks_call_run(call));
    strcat(user, one);
    KS_ANNOTATE("a") {
    }
    return KS_OK;
}

/* Fails from run 1 on; tolerant. */
static ks_status fail_soon(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)call;
    return ks_fail(e, KS_EBODY, "body", 0, "no");
}

static void a_config_without_values_is_not_precise(void **state)
{
    (void)state;
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_auto_runs(plan, NULL, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_run_with(fake_collectors, plan, fail_soon, NULL, &results, &err));
    assert_int_equal(ks_table_rows(table()), 1);
    assert_string_equal(ks_table_text(table(), 0, ks_table_find(table(), "StopReason")),
                        "no values");
    KT_F64(ks_table_number(table(), 0, ks_table_find(table(), "NumFailed")), 10);
}

static void interleaved_means_round_by_round(void **state)
{
    (void)state;
    char calls[256] = "";
    KT_OK(ks_plan_axis_spec(plan, "n=1..3", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_order(plan, KS_ORDER_INTERLEAVED, 0, &err));
    KT_OK(ks_run(plan, note_order, calls, &results, &err));
    assert_string_equal(calls, "c0w0 c0r0 c1w0 c1r0 c2w0 c2r0 c0r1 c1r1 c2r1 ");
    assert_string_equal(ks_table_fact(table(), "plan.order").text, "interleaved");
    assert_true(ks_results_complete(results));
}

/* ---- as many as it takes ----------------------------------------------------------------------
 */

/* 100 plus and minus `user`, turn by turn: by hand, after n runs the deviation is about that. */
static ks_status alternate(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    double swing = *(const double *)user;
    KS_ANNOTATE("a") {
        fake_launch("k", 100 + (ks_call_run(call) % 2 == 0 ? swing : -swing), 1, 1);
    }
    return KS_OK;
}

static void run_auto(double swing, const ks_auto_runs *options)
{
    ks_results_free(results);
    results = NULL;
    KT_OK(ks_plan_auto_runs(plan, options, &err));
    KT_OK(ks_run_with(fake_collectors, plan, alternate, &swing, &results, &err));
}

static void ended_with(uint32_t runs, const char *reason)
{
    kt_key key = {"a", "fake__duration.sum", KT_ANY};
    KT_F64(kt_number(table(), key, "NumRuns"), runs);
    assert_string_equal(kt_text(table(), key, "StopReason"), reason);
}

static void runs_go_on_until_the_precision_is_confirmed(void **state)
{
    (void)state;
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    /* n = 10: the deviation is 1.054, times t(9) / sqrt(10) = 0.7154 is 0.75 % < 1 %; 5 more
     * confirm it */
    run_auto(1.0, NULL);
    ended_with(15, "precision");
    /* n = 10: 1.5 * 1.054 * 0.7154 = 1.13 %; n = 13: 1.557 * 0.6043 = 0.94 %; 7 more confirm it */
    run_auto(1.5, NULL);
    ended_with(20, "precision");
    /* turn by turn is two groups, 98.5 and 101.5, and nothing else to be said */
    assert_string_equal(
        kt_text(table(), (kt_key){"a", "fake__duration.sum", KT_ANY}, "Warnings"),
        "the runs fall into two groups, 50 % of them are 3.0 % above the others and "
        "the mean is in neither: look for what differs (clock, CPU, memory)");
    assert_string_equal(ks_table_fact(table(), "plan.runs").text, "auto");
    assert_true(ks_results_complete(results));
}

static void runs_end_at_their_limit_and_the_row_says_what_is_missing(void **state)
{
    (void)state;
    ks_auto_runs options = KS_AUTO_RUNS_INIT;
    options.max_runs = 30;
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    run_auto(20.0, &options);
    ended_with(30, "max runs");
    /* 20 * sqrt(30 / 29) * t(29) / sqrt(30) = 20.34 * 2.0452 / 5.4772 = 7.6 */
    KT_HAS(kt_text(table(), (kt_key){"a", "fake__duration.sum", KT_ANY}, "Warnings"),
           "\u00b17.6 % of the mean in place of 1 %, with all 30 runs that are allowed");
    options.budget_s = 1e-9;
    run_auto(20.0, &options);
    ended_with(1, "time budget");
}

static uint64_t announced; /* calls, when the run had ended */

static void note_calls(const ks_progress *progress, void *user)
{
    (void)user;
    announced = progress->calls;
    if (progress->phase == KS_PHASE_END) {
        assert_int_equal(progress->calls_done, announced);
    }
}

static void calls_that_a_budget_saves_are_no_longer_announced(void **state)
{
    (void)state;
    ks_auto_runs options = KS_AUTO_RUNS_INIT;
    options.budget_s = 1e-9;
    KT_OK(ks_plan_axis_spec(plan, "n=1..3", &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_progress(plan, note_calls, NULL, &err));
    for (int order = KS_ORDER_GIVEN; order <= KS_ORDER_INTERLEAVED; order += 2) {
        KT_OK(ks_plan_order(plan, (ks_order)order, 0, &err));
        run_auto(1.0, &options);
        assert_int_equal(announced, 3 * (1 + 3)); /* a warm-up call, a run of 3 passes */
    }
}

static void interleaved_runs_are_found_out_too(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_order(plan, KS_ORDER_INTERLEAVED, 0, &err));
    run_auto(1.5, NULL);
    for (size_t row = 0; row < 2; row++) {
        KT_F64(ks_table_number(table(), row, ks_table_find(table(), "NumRuns")), 20);
    }
}

static void wrong_limits_are_refused(void **state)
{
    (void)state;
    ks_auto_runs o = KS_AUTO_RUNS_INIT;
    o.precision = 1.0;
    KT_FAILS(ks_plan_auto_runs(plan, &o, &err), KS_EINVAL, "the precision must be above 0");
    o = (ks_auto_runs)KS_AUTO_RUNS_INIT;
    o.min_runs = 1;
    KT_FAILS(ks_plan_auto_runs(plan, &o, &err), KS_EINVAL, "at least 2 are needed");
    o.min_runs = 20;
    o.max_runs = 19;
    KT_FAILS(ks_plan_auto_runs(plan, &o, &err), KS_EINVAL, "from 20 to 19 runs");
    o = (ks_auto_runs)KS_AUTO_RUNS_INIT;
    o.budget_s = NAN;
    KT_FAILS(ks_plan_auto_runs(plan, &o, &err), KS_EINVAL, "the time for a config");
}

/* ---- cancelled --------------------------------------------------------------------------------
 */

static ks_status cancel_in_run_3(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    KS_ANNOTATE("a") {
        fake_launch("k", 10.0 + ks_call_run(call), 1, 1);
    }
    KS_ANNOTATE("b") {
        fake_launch("k", 20.0 + ks_call_run(call), 1, 1);
    }
    if (ks_call_config(call) == 1 && ks_call_run(call) == 2 && ks_call_pass(call) == 2) {
        ks_plan_cancel(user);
    }
    return KS_OK;
}

static void the_runs_that_were_complete_when_a_config_was_cancelled_are_kept(void **state)
{
    (void)state; /* C28 in kind */
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_runs(plan, 5, &err));
    KT_OK(ks_plan_metric(plan, "fake__*", &err));
    KT_FAILS(ks_run_with(fake_collectors, plan, cancel_in_run_3, plan, &results, &err),
             KS_ECANCELED, "cancelled after 1 of 2 configs");
    assert_false(ks_results_complete(results));
    assert_int_equal(ks_results_finished(results), 1);
    /* config by config; of the second, runs 0, 1 and 2 of the last pass were made */
    size_t n = ks_table_find(table(), "NumRuns");
    size_t average = ks_table_find(table(), "AvgValue");
    size_t metric = ks_table_find(table(), "Metric");
    size_t warnings = ks_table_find(table(), "Warnings");
    assert_int_equal(ks_table_rows(table()), 2 * 2 * 3);
    for (size_t row = 0; row < ks_table_rows(table()); row++) {
        bool second = row / 3 % 2 == 1;
        KT_F64(ks_table_number(table(), row, n), second ? 3 : 5);
        if (strcmp(ks_table_text(table(), row, metric), "fake__duration.sum") == 0) {
            KT_F64(ks_table_number(table(), row, average),
                   (row < 6 ? 10.0 : 20.0) + (second ? 1 : 2));
        }
        if (second) {
            assert_string_equal(ks_table_text(table(), row, warnings),
                                "the sweep ended after 3 of its runs");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(interleaved_runs_give_the_tables_of_runs_one_after_the_other),
        T(interleaved_means_round_by_round),
        T(a_config_without_values_is_not_precise),
        T(runs_go_on_until_the_precision_is_confirmed),
        T(runs_end_at_their_limit_and_the_row_says_what_is_missing),
        T(calls_that_a_budget_saves_are_no_longer_announced),
        T(interleaved_runs_are_found_out_too),
        T(wrong_limits_are_refused),
        T(the_runs_that_were_complete_when_a_config_was_cancelled_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
