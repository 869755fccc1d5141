/* The run: calls, one at a time, forks, cancelling; with the clock and the fake. */
#include "fakes/run_fixture.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- calls ------------------------------------------------------------------------------------
 */

typedef struct seen {
    char calls[4096]; /* "w0 r0p0 r1p0 " */
    uint64_t told;    /* calls that progress announced */
    uint64_t done;
    unsigned events;
} seen;

static ks_status note_call(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    seen *s = user;
    char one[64];
    if (ks_call_is_warmup(call)) {
        snprintf(one, sizeof one, "c%zuw%u ", ks_call_config(call), ks_call_run(call));
    } else {
        snprintf(one, sizeof one, "c%zur%up%u ", ks_call_config(call), ks_call_run(call),
                 ks_call_pass(call));
    }
    strncat(s->calls, one, sizeof s->calls - strlen(s->calls) - 1);
    KS_ANNOTATE("a") {
        fake_launch("kernel", 10, 100, 50);
    }
    return KS_OK;
}

static void note_progress(const ks_progress *p, void *user)
{
    seen *s = user;
    s->events++;
    if (p->phase == KS_PHASE_START) {
        s->told = p->calls;
        assert_true(isnan(p->remaining_s));
        assert_null(p->call);
    }
    if (p->phase == KS_PHASE_END) {
        s->done = p->calls_done;
        assert_int_equal(p->config, p->configs);
    }
    if (p->phase == KS_PHASE_RUN) {
        assert_non_null(p->call);
        assert_int_equal(p->run, ks_call_run(p->call));
    }
}

static ks_status cannot_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *e)
{
    (void)self;
    (void)ctx;
    return ks_fail(e, KS_EVENDOR, "clock", 1, "the clock stood still");
}

static void collectors_that_began_a_run_abort_it_where_another_cannot_begin(void **state)
{
    (void)state;
    seen s = {0};
    ks_collector_ops broken = ks_clock_ops;
    broken.run_begin = cannot_begin;
    const ks_collector_ops *const fake_first[] = {&fake_ops, &broken, NULL};
    const ks_collector_ops *const fake_last[] = {&broken, &fake_ops, NULL};
    fake_reset((fake_script){.shares_first = true});
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_metric(plan, "cpu__time_duration.sum", &err));
    KT_FAILS(ks_run_with(fake_first, plan, note_call, &s, &results, &err), KS_EVENDOR,
             "the clock stood still");
    assert_int_equal(fake.aborts, 1);
    ks_results_free(results);
    results = NULL;
    KT_FAILS(ks_run_with(fake_last, plan, note_call, &s, &results, &err), KS_EVENDOR,
             "the clock stood still");
    assert_int_equal(fake.aborts, 1); /* it had not begun */
}

static void a_collector_with_the_clock_beside_it_has_its_own_passes(void **state)
{
    (void)state;
    seen s = {0};
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_metric(plan, "cpu__time_duration.sum", &err));
    KT_OK(ks_plan_progress(plan, note_progress, &s, &err));
    KT_OK(ks_run_with(both, plan, note_call, &s, &results, &err));
    assert_string_equal(s.calls, "c0w0 c0r0p0 c0r1p0 c0r0p1 c0r1p1 c0r0p2 c0r1p2 c0r0p3 c0r1p3 "
                                 "c1w0 c1r0p0 c1r1p0 c1r0p1 c1r1p1 c1r0p2 c1r1p2 c1r0p3 c1r1p3 ");
    assert_int_equal(s.told, 18);
    assert_int_equal(s.done, 18);
    assert_int_equal(s.events, 20);
    assert_int_equal(ks_table_fact(table(), "plan.passes").as.i64, 4);
    KT_F64(mean("a", "fake__duration.sum"), 10);
    assert_true(mean("a", "cpu__time_duration.sum") > 0);
    /* rows in the order in which metrics were asked for, whichever collector has them */
    assert_string_equal(ks_table_text(table(), 0, ks_table_find(table(), "Metric")),
                        "fake__duration.sum");
    assert_string_equal(ks_table_fact(table(), "fake_device").text, "imaginary");
}

static void collectors_that_disturb_nobody_share_passes(void **state)
{
    (void)state;
    seen s = {0};
    fake.script.shares_first = true;
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_metric(plan, "cpu__time_duration.sum", &err));
    KT_OK(ks_plan_metric(plan, "fake__bytes.sum", &err));
    KT_OK(ks_run_with(both, plan, note_call, &s, &results, &err));
    assert_string_equal(s.calls, "c0r0p0 c0r0p1 c0r0p2 ");
    KT_F64(mean("a", "fake__bytes.sum"), 100);
}

static void rows_keep_the_order_of_the_plan_in_a_shuffle(void **state)
{
    (void)state;
    seen s = {0};
    KT_OK(ks_plan_axis_spec(plan, "n=1..50", &err));
    KT_OK(ks_plan_order(plan, KS_ORDER_SHUFFLED, 3, &err));
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_run(plan, note_call, &s, &results, &err));
    assert_true(strncmp(s.calls, "c0r0p0 c1r0p0 c2r0p0", 20) != 0);
    for (size_t row = 0; row < 50; row++) {
        KT_F64(ks_table_number(table(), row, ks_table_find(table(), "n")), (double)row + 1);
    }
    assert_int_equal(ks_table_fact(table(), "plan.seed").as.i64, 3);
}

static void a_plan_can_be_run_again(void **state)
{
    (void)state;
    seen s = {0};
    KT_OK(ks_plan_warmup(plan, 0, &err));
    for (int i = 0; i < 3; i++) {
        KT_OK(ks_run(plan, note_call, &s, &results, &err));
        assert_int_equal(ks_table_rows(table()), 1);
        ks_results_free(results);
    }
    results = NULL;
    assert_string_equal(s.calls, "c0r0p0 c0r0p0 c0r0p0 ");
}

/* ---- before the run ---------------------------------------------------------------------------
 */

static ks_status must_not_run(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    fail_msg("the body was called");
    return KS_OK;
}

static void a_refused_plan_calls_nothing(void **state)
{
    (void)state;
    KT_FAILS(ks_run(plan, NULL, NULL, &results, &err), KS_EINVAL, "no body");
    KT_FAILS(ks_run(NULL, must_not_run, NULL, &results, &err), KS_EINVAL, "no plan");
    KT_OK(ks_plan_param(plan, "n", &err));
    KT_FAILS(ks_run(plan, must_not_run, NULL, &results, &err), KS_EINVAL, "no configs");
    assert_null(results);
    ks_error before = KS_ERROR_INIT;
    ks_fail(&before, KS_EINVAL, "plan", 0, "an earlier mistake");
    assert_int_equal(ks_run(plan, must_not_run, NULL, &results, &before), KS_EINVAL);
    assert_string_equal(before.message, "an earlier mistake");
}

/* ---- one run at a time, forks, cancelling -----------------------------------------------------
 */

static ks_status run_within(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)e;
    ks_error inner = KS_ERROR_INIT;
    ks_results *none = NULL;
    KS_ANNOTATE("a") {
        assert_int_equal(ks_run(user, must_not_run, NULL, &none, &inner), KS_EBUSY);
        KT_HAS(inner.message, "another run is active");
        assert_null(none);
    }
    return KS_OK;
}

static void runs_do_not_nest(void **state)
{
    (void)state;
    ks_plan *inner = NULL;
    KT_OK(ks_plan_new(&inner, &err));
    KT_OK(ks_run(plan, run_within, inner, &results, &err));
    assert_int_equal(ks_table_rows(table()), 1);
    ks_plan_free(inner);
}

static atomic_int busy_count;

static void *run_in_thread(void *arg)
{
    (void)arg;
    ks_error told = KS_ERROR_INIT;
    ks_plan *own = NULL;
    seen s = {0};
    for (int i = 0; i < 20; i++) {
        ks_results *r = NULL;
        ks_error_clear(&told);
        ks_plan_new(&own, &told);
        ks_status status = ks_run(own, note_call, &s, &r, &told);
        if (status == KS_EBUSY) {
            atomic_fetch_add(&busy_count, 1);
        } else {
            assert_int_equal(status, KS_OK);
            assert_int_equal(ks_table_rows(ks_results_table(r)), 1);
        }
        s.calls[0] = '\0';
        ks_results_free(r);
        ks_plan_free(own);
    }
    return NULL;
}

static void two_threads_that_run_are_served_or_refused(void **state) /* C07 */
{
    (void)state;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, run_in_thread, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(atomic_load(&busy_count) < 40);
}

static ks_status fork_a_child(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)e;
    int *status = user;
    KS_ANNOTATE("parent") {
        pid_t child = fork();
        if (child == 0) {
            ks_error told = KS_ERROR_INIT;
            ks_plan *own = NULL;
            ks_results *none = NULL;
            KS_ANNOTATE("child") {
            }
            ks_plan_new(&own, &told);
            ks_status refused = ks_run(own, must_not_run, NULL, &none, &told);
            _exit(refused == KS_ESTATE && strstr(told.message, "forked inside a run") ? 0 : 1);
        }
        waitpid(child, status, 0);
    }
    return KS_OK;
}

static void a_child_forked_by_the_body_is_inert(void **state)
{
    (void)state;
    int status = 1;
    KT_OK(ks_run(plan, fork_a_child, &status, &results, &err));
    assert_int_equal(status, 0);
    assert_int_equal(ks_table_rows(table()), 1);
    assert_string_equal(ks_table_text(table(), 0, 0), "parent");
}

static ks_status return_in_child(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    pid_t *child = user;
    KS_ANNOTATE("a") {
        if (!ks_call_is_warmup(call)) {
            *child = fork();
        }
    }
    return KS_OK;
}

static void a_body_that_returns_in_a_child_ends_the_run_there(void **state)
{
    (void)state;
    pid_t child = -1;
    ks_status status = ks_run(plan, return_in_child, &child, &results, &err);
    if (child == 0) {
        _exit(status == KS_ESTATE && strstr(err.message, "child that it had forked") ? 0 : 1);
    }
    KT_OK(status);
    int exit_status = 1;
    waitpid(child, &exit_status, 0);
    assert_int_equal(exit_status, 0);
}

static ks_status cancel_at_3(const ks_call *call, void *user, ks_error *e)
{
    (void)e;
    KS_ANNOTATE("a") {
        if (ks_call_i64(call, "n") == 3) {
            ks_plan_cancel(user);
            assert_true(ks_call_cancelled(call));
        }
    }
    return KS_OK;
}

static void cancelling_keeps_finished_configs(void **state) /* C28 in kind */
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1..5", &err));
    KT_FAILS(ks_run(plan, cancel_at_3, plan, &results, &err), KS_ECANCELED,
             "cancelled after 2 of 5 configs");
    assert_int_equal(ks_results_finished(results), 2);
    assert_false(ks_table_fact(table(), "complete").as.boolean);
    ks_results_free(results);
    ks_plan_cancel(plan); /* before the next run: it ends before its first call */
    KT_FAILS(ks_run(plan, must_not_run, plan, &results, &err), KS_ECANCELED, "after 0 of 5");
    ks_results_free(results);
    KT_FAILS(ks_run(plan, cancel_at_3, plan, &results, &err), KS_ECANCELED, "after 2 of 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(collectors_that_began_a_run_abort_it_where_another_cannot_begin),
        T(a_collector_with_the_clock_beside_it_has_its_own_passes),
        T(collectors_that_disturb_nobody_share_passes),
        T(rows_keep_the_order_of_the_plan_in_a_shuffle),
        T(a_plan_can_be_run_again),
        T(a_refused_plan_calls_nothing),
        T(runs_do_not_nest),
        T(two_threads_that_run_are_served_or_refused),
        T(a_child_forked_by_the_body_is_inert),
        T(a_body_that_returns_in_a_child_ends_the_run_there),
        T(cancelling_keeps_finished_configs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
