/* Work on a GPU that does not end: it is waited for with a limit, and told. */
#include "fakes/nvidia/fixture.h"

#include "collect/nvidia/drain.h"

static ks_status work(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        KS_TRY(launch("_Z7wait_onPVi", e));
    }
    return KS_OK;
}

static void know_all(void)
{
    know_kernels();
    fake_kernel("_Z7wait_onPVi", READ, 4);
    fake_kernel("_Z7wait_onPVi", TIME, 4);
}

static const ks_cuda *cuda;

/* A context that is stuck stays so, with the counters of its GPU: each test has its own. */
static ks_cuda_context enter_context(int device)
{
    KT_OK(ks_cuda_get(&cuda, &err));
    ks_cuda_context context = fake_new_context(device);
    assert_int_equal(cuda->push_context(context), 0);
    return context;
}

static void leave_context(void)
{
    ks_cuda_context out = NULL;
    fake_script("");
    assert_int_equal(cuda->pop_context(&out), 0);
}

static void work_that_does_not_end_is_told_and_keeps_what_was_finished(void **state)
{
    (void)state;
    know_all();
    enter_context(0);
    KT_OK(ks_plan_axis_spec(plan, "n=1,2,3", &err));
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_drain_limit(plan, 0.05, &err));
    ask(READ);
    fake_script("endless=4"); /* two waits a config: at the second one's end */
    assert_int_equal(ks_run(plan, work, NULL, &results, &err), KS_ELIMIT);
    KT_HAS(err.message, "n=2");
    KT_HAS(err.message, "did not end within 0.05 s, the last kernel being 'wait_on'");
    KT_F64(kt_number(table(), (kt_key){"work", READ, 1}, "AvgValue"), 104);
    assert_int_equal(ks_table_rows(table()), 1);

    ks_error_clear(&err);
    fake_script("");
    measure_in_vain(work, NULL, KS_ESTATE, "begin anew in another process");
    leave_context();
    gone++; /* what it had is never given back */
    stuck++;
}

/* The wait at the annotation's end, before its range is popped. */
static void a_range_that_does_not_end_is_told(void **state)
{
    (void)state;
    know_all();
    fake_script("devices=2");
    enter_context(1);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_drain_limit(plan, 0.05, &err));
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_NONE, &err));
    ask(READ);
    fake_script("devices=2;endless=2"); /* the first is that before the pass */
    assert_int_equal(ks_run(plan, work, NULL, &results, &err), KS_ELIMIT);
    KT_HAS(err.message, "the last kernel being 'wait_on'");
    assert_int_equal(fake_calls("cuptiRangeProfilerPopRange"), 0);
    ks_error_clear(&err);
    leave_context();
    gone++;
}

static void other_contexts_go_on(void **state)
{
    (void)state;
    ks_cuda_context first = enter_context(0);
    KT_OK(ks_drain_start(0.05, &err));
    fake_script("endless=1");
    assert_int_equal(ks_drain(cuda), KS_DRAIN_NEVER);
    assert_int_equal(ks_drain(cuda), KS_DRAIN_NEVER); /* at once: nothing is asked */
    assert_int_equal(fake_calls("cuCtxSynchronize"), 1);
    leave_context();
    assert_true(ks_drain_is_stuck(cuda, first));
    KT_OK(ks_drain_start(60.0, &err));
    assert_int_equal(ks_drain(cuda), 0);
    KT_OK(ks_drain_start(0.0, &err)); /* the thread that waits is not needed */
    assert_int_equal(ks_drain(cuda), 0);
    ks_drain_stop();
    ks_drain_stop();
    assert_int_equal(ks_drain(cuda), 0);
}

static void the_limit_is_a_time(void **state)
{
    (void)state;
    KT_FAILS(ks_plan_drain_limit(plan, -1.0, &err), KS_EINVAL, "0 (no limit)");
    KT_FAILS(ks_plan_drain_limit(plan, NAN, &err), KS_EINVAL, "0 (no limit)");
}

static void what_ends_is_waited_for(void **state)
{
    (void)state;
    know_all();
    ask(READ);
    for (int i = 0; i < 2; i++) {
        KT_OK(ks_plan_drain_limit(plan, i == 0 ? 0.0 : 60.0, &err));
        measure(work, NULL);
        KT_F64(mean("work", READ), 104);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_ends_is_waited_for),
        T(the_limit_is_a_time),
        T(other_contexts_go_on),
        T(a_range_that_does_not_end_is_told),
        T(work_that_does_not_end_is_told_and_keeps_what_was_finished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
