/* Counters in several passes, in batches, segments and contexts, and what is held between runs. */
#include "fakes/nvidia/fixture.h"

#include "collect/nvidia/cuda.h"

/* A run whose body launches what its parameters say. */
typedef struct work {
    unsigned launches; /* of A in each call */
    unsigned calls;
    unsigned warm_up_calls;
    int device_of_odd; /* each second launch is on that device */
} work;

static ks_status launch_all(const ks_call *call, void *user, ks_error *e)
{
    work *w = user;
    w->calls++;
    w->warm_up_calls += ks_call_is_warmup(call);
    KS_ANNOTATE("work") {
        for (unsigned i = 0; i < w->launches; i++) {
            fake_use_device(i % 2 != 0 ? w->device_of_odd : 0);
            KS_TRY(launch("A", e));
        }
    }
    return KS_OK;
}

/* ---- passes and batches -----------------------------------------------------------------------
 */

static void each_run_is_repeated_for_each_pass(void **state)
{
    (void)state;
    work w = {.launches = 3};
    know_kernels();
    KT_OK(ks_plan_runs(plan, 4, &err));
    KT_OK(ks_plan_warmup(plan, 2, &err));
    ask(THROUGHPUT);
    ask(READ);
    measure(launch_all, &w);
    assert_int_equal(w.warm_up_calls, 2);
    assert_int_equal(w.calls, 2 + 4 * (THROUGHPUT_PASSES + 1)); /* READ has a pass of its own */
    KT_F64(mean("work", THROUGHPUT), 80);
    KT_F64(mean("work", READ), 300);
    KT_F64(number("work", READ, "Passes"), THROUGHPUT_PASSES + 1);
    KT_F64(number("work", READ, "NumKernels"), 3);
    /* the first batch has all runs: a start for each pass */
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), THROUGHPUT_PASSES + 1);
}

static void batches_are_cut_to_what_has_slots(void **state)
{
    (void)state;
    work w = {.launches = 5}; /* 10 ranges: 3 runs fit into 32 slots */
    know_kernels();
    KT_OK(ks_plan_runs(plan, 7, &err));
    ask(THROUGHPUT);
    measure(launch_all, &w);
    KT_F64(mean("work", THROUGHPUT), 80);
    KT_F64(number("work", THROUGHPUT, "NumRuns"), 7);
    KT_F64(number("work", THROUGHPUT, "NumKernels"), 5);
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), 3 * THROUGHPUT_PASSES);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
    assert_int_equal(w.calls, 1 + 7 * THROUGHPUT_PASSES);
}

static void slots_grow_to_what_a_call_launches(void **state)
{
    (void)state;
    work w = {.launches = 100};
    know_kernels();
    KT_OK(ks_plan_runs(plan, 2, &err));
    ask(THROUGHPUT);
    measure(launch_all, &w);
    KT_F64(mean("work", THROUGHPUT), 80);
    KT_F64(number("work", THROUGHPUT, "NumKernels"), 100);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
    /* and are found to be too few where no call told before */
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_release(&err));
    w.launches = 300;
    measure(launch_all, &w);
    KT_F64(number("work", THROUGHPUT, "NumKernels"), 300);
}

static void a_call_that_no_memory_is_enough_for_is_refused(void **state)
{
    (void)state;
    work w = {.launches = 100};
    know_kernels();
    fake_script("range_bytes=8000000"); /* 134 ranges to a GiB */
    ask(THROUGHPUT);
    measure_in_vain(launch_all, &w, KS_ELIMIT,
                    "a call launches 100 kernels, and the counters of 4 passes have room for 67 "
                    "in 1 GiB");
    assert_int_equal(w.calls, 1);
    assert_int_equal(profilers(), 0);
    /* what needs one pass has no limit */
    ks_plan_free(plan);
    KT_OK(ks_plan_new(&plan, &err));
    fake_script("range_bytes=100000");
    ask(READ);
    measure(launch_all, &w);
    KT_F64(mean("work", READ), 10000);
}

static void ten_thousand_launches_are_measured_in_segments(void **state)
{
    (void)state;
    work w = {.launches = 10000};
    know_kernels();
    KT_OK(ks_plan_runs(plan, 2, &err));
    ask(READ);
    measure(launch_all, &w);
    KT_F64(mean("work", READ), 1e6);
    KT_F64(number("work", READ, "NumKernels"), 10000);
    KT_F64(number("work", READ, "ClockMHz"), 1500);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), 2 * 10000 * FLUSHED / 32);
}

/* ---- contexts ---------------------------------------------------------------------------------
 */

static void *launch_with_no_context_before(void *user)
{
    work *w = user;
    KT_OK(ks_plan_warmup(plan, 0, &err));
    ask(READ);
    measure(launch_all, w);
    return NULL;
}

/* Without a warm-up call the context is seen in the measured one: that is repeated, once. */
static void a_context_that_a_measured_call_makes_is_measured(void **state)
{
    (void)state;
    pthread_t thread;
    work w = {.launches = 3};
    know_kernels();
    assert_int_equal(pthread_create(&thread, NULL, launch_with_no_context_before, &w), 0);
    pthread_join(thread, NULL);
    KT_F64(mean("work", READ), 300);
    KT_F64(number("work", READ, "NumKernels"), 3);
    assert_int_equal(w.calls, 2);
}

typedef struct move {
    ks_cuda_context context; /* NULL: not made yet */
    unsigned calls;
    bool both; /* each call launches in both */
} move;

/* The first call makes another context of the device, and all launch there. */
static ks_status launch_in_another(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    move *m = user;
    const ks_cuda *cuda = NULL;
    KS_TRY(ks_cuda_get(&cuda, e));
    m->calls++;
    ks_status status = KS_OK;
    m->context = m->context != NULL ? m->context : fake_new_context(0);
    KS_ANNOTATE("work") {
        status = m->both ? launch("A", e) : KS_OK;
        assert_int_equal(cuda->push_context(m->context), 0);
        status = status == KS_OK ? launch("B", e) : status;
        assert_int_equal(cuda->pop_context(&m->context), 0);
    }
    return status;
}

static void one_context_of_a_device_is_measured(void **state)
{
    (void)state;
    move m = {.calls = 0};
    know_kernels();
    KT_OK(ks_plan_warmup(plan, 0, &err));
    ask(READ);
    measure(launch_in_another, &m); /* the current one in vain, then the other */
    KT_F64(mean("work", READ), 300);
    assert_int_equal(m.calls, 2);
    KT_OK(ks_plan_warmup(plan, 1, &err));
    m.calls = 0;
    measure(launch_in_another, &m); /* known by the warm-up */
    KT_F64(mean("work", READ), 300);
    assert_int_equal(m.calls, 2);
    m.both = true;
    measure_in_vain(launch_in_another, &m, KS_ESTATE, "several CUDA contexts of one GPU");
}

static void two_devices_are_measured_at_once(void **state)
{
    (void)state;
    work w = {.launches = 6, .device_of_odd = 1};
    know_kernels();
    fake_script("devices=2");
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask(THROUGHPUT);
    ask(READ);
    measure(launch_all, &w);
    KT_F64(mean("work", READ), 600);
    KT_F64(mean("work", THROUGHPUT), 80);
    assert_int_equal(profilers(), 2);
}

static void a_context_may_be_destroyed_between_runs(void **state)
{
    (void)state;
    work w = {.launches = 3};
    know_kernels();
    ask(THROUGHPUT);
    measure(launch_all, &w);
    fake_script("context_reset_after=1");
    assert_int_equal(launch("A", &err), KS_OK);
    fake_script("");
    gone++;
    measure(launch_all, &w);
    KT_F64(mean("work", THROUGHPUT), 80);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 2);
}

/* As an H200 does where the counters went with a reset of the device. */
static void a_reset_that_took_the_counters_along_is_told(void **state)
{
    (void)state;
    work w = {.launches = 3};
    know_kernels();
    ask(READ);
    measure(launch_all, &w);
    fake_script("context_reset_after=1");
    assert_int_equal(launch("A", &err), KS_OK);
    fake_script("cuptiRangeProfilerStart=1");
    gone++;
    measure_in_vain(launch_all, &w, KS_ESTATE, "call ks_release() before a reset");
}

static void a_context_may_go_once_in_a_config(void **state)
{
    (void)state;
    work w = {.launches = 3};
    know_kernels();
    ask(THROUGHPUT);
    for (int launch = 5; launch <= 12; launch += 7) { /* in the first pass, and in the third */
        char script[40];
        snprintf(script, sizeof script, "context_reset_after=%d", launch);
        fake_script(script);
        gone++;
        w.calls = 0;
        measure(launch_all, &w); /* the batch is repeated */
        KT_F64(mean("work", THROUGHPUT), 80);
        assert_int_equal(w.calls, 1 + 2 * THROUGHPUT_PASSES);
    }
}

static ks_status reset_in_each_call(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
    }
    fake_script("context_reset_after=1");
    KS_TRY(launch("A", e));
    fake_script("");
    return KS_OK;
}

static void a_body_that_resets_its_device_is_told_so(void **state)
{
    (void)state;
    know_kernels();
    ask(READ);
    measure_in_vain(reset_in_each_call, NULL, KS_ESTATE,
                    "a CUDA context was destroyed while it was measured");
    gone += 2;
}

/* ---- work that differs ------------------------------------------------------------------------
 */

static ks_status differs_for_two(const ks_call *call, void *user, ks_error *e)
{
    bool differs = user == NULL || ks_call_i64(call, "n") == 2;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        KS_TRY(launch(differs && ks_call_pass(call) == 2 ? "B" : "A", e));
    }
    return KS_OK;
}

static void passes_that_launch_different_work_are_refused(void **state)
{
    (void)state;
    know_kernels();
    ask(THROUGHPUT);
    measure_in_vain(differs_for_two, NULL, KS_ESTATE,
                    "launch 2 of run 1 is A grid (8, 1, 1), block (256, 1, 1), stream 0 in pass 1, "
                    "but B grid");
    KT_OK(ks_plan_axis_i64(plan, "n", (int64_t[]){1, 2, 3}, 3, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    measure(differs_for_two, plan);
    KT_F64(kt_number(table(), (kt_key){"work", THROUGHPUT, 1}, "AvgValue"), 80);
    KT_F64(kt_number(table(), (kt_key){"work", THROUGHPUT, 3}, "AvgValue"), 80);
    kt_key two = {"work", THROUGHPUT, 2};
    assert_true(isnan(kt_number(table(), two, "AvgValue")));
    KT_HAS(kt_text(table(), two, "Failure"), "launched different work");
}

/* Fails in the second run: in a pass, or in all (-1), before its second launch. */
static ks_status fails_in_pass(const ks_call *call, void *user, ks_error *e)
{
    const int *pass = user;
    bool here = *pass < 0 || ks_call_pass(call) == (uint32_t)*pass;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        if (ks_call_run(call) == 1 && !ks_call_is_warmup(call) && here) {
            return ks_fail(e, KS_EBODY, "user", 0, "boom");
        }
        KS_TRY(launch("B", e));
    }
    return KS_OK;
}

static void a_run_that_fails_spoils_no_other(void **state)
{
    (void)state;
    static const int passes[] = {-1, 0, 1, THROUGHPUT_PASSES - 1};
    know_kernels();
    KT_OK(ks_plan_runs(plan, 5, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    ask(THROUGHPUT);
    for (int replay = KS_REPLAY_USER; replay <= KS_REPLAY_RANGE; replay++) {
        KT_OK(ks_plan_replay(plan, (ks_replay)replay, &err));
        for (int i = 0; i < 4; i++) {
            int pass = passes[i];
            measure(fails_in_pass, &pass);
            KT_NEAR(mean("work", THROUGHPUT), 35, 1e-12);
            KT_F64(number("work", THROUGHPUT, "NumRuns"), 4);
            KT_F64(number("work", THROUGHPUT, "NumFailed"), 1);
            KT_HAS(text("work", THROUGHPUT, "Failure"), "boom");
        }
    }
}

static ks_status cancel_at_seven(const ks_call *call, void *user, ks_error *e)
{
    work *w = user;
    if (w->calls == 7) {
        ks_plan_cancel(plan);
    }
    return launch_all(call, user, e);
}

static void a_run_may_be_cancelled_in_the_middle(void **state)
{
    (void)state;
    work w = {.launches = 3};
    know_kernels();
    KT_OK(ks_plan_axis_i64(plan, "n", (int64_t[]){1, 2}, 2, &err));
    ask(THROUGHPUT);
    measure_in_vain(cancel_at_seven, &w, KS_ECANCELED,
                    "1 of 2 configs"); /* in the second's pass 2 */
    KT_F64(kt_number(table(), (kt_key){"work", THROUGHPUT, 1}, "AvgValue"), 80);
    measure(launch_all, &w); /* the session that was left in its second pass is gone through */
    KT_F64(kt_number(table(), (kt_key){"work", THROUGHPUT, 2}, "AvgValue"), 80);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
}

/* ---- counters that are held -------------------------------------------------------------------
 */

static void counters_are_held_for_the_same_metrics(void **state)
{
    (void)state;
    work w = {.launches = 1};
    know_kernels();
    ask(READ);
    measure(launch_all, &w);
    measure(launch_all, &w);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
    assert_int_equal(fake_calls("cuptiRangeProfilerDisable"), 0);
    assert_int_equal(profilers(), 1);
    assert_int_equal(fake_count_alive().subscribers, 0);
    ask(INST); /* others: CUPTI ignores them on an enabled profiler */
    measure(launch_all, &w);
    KT_F64(mean("work", INST), 10);
    KT_F64(mean("work", READ), 100);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 2);
    assert_int_equal(fake_calls("cuptiRangeProfilerDisable"), 1);
    KT_OK(ks_release(&err));
    assert_int_equal(profilers(), 0);
    KT_OK(ks_plan_hold_counters(plan, false, &err));
    measure(launch_all, &w);
    assert_int_equal(profilers(), 0);
    KT_F64(mean("work", INST), 10);
}

/* ---- replay -----------------------------------------------------------------------------------
 */

static void kernel_replay_calls_the_body_once(void **state)
{
    (void)state;
    work w = {.launches = 40};
    know_kernels();
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_replay(plan, KS_REPLAY_KERNEL, &err));
    ask(THROUGHPUT);
    measure(launch_all, &w);
    assert_int_equal(w.calls, 3);
    KT_F64(mean("work", THROUGHPUT), 80);
    KT_F64(number("work", THROUGHPUT, "Passes"), THROUGHPUT_PASSES);
    KT_F64(number("work", THROUGHPUT, "NumKernels"), 40);
    assert_string_equal(text("work", THROUGHPUT, "Replay"), "kernel");
}

static ks_status two_regions(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("both") {
        KS_TRY(launch("A", e));
        KS_ANNOTATE("inner") {
            KS_TRY(launch("B", e));
        }
    }
    KS_ANNOTATE("one") {
        KS_TRY(launch("B", e));
    }
    return KS_OK;
}

static void range_replay_gives_a_value_per_visit(void **state)
{
    (void)state;
    know_kernels();
    KT_OK(ks_plan_runs(plan, 20, &err));
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    ask(READ);
    ask(TIME);
    ask(THROUGHPUT);
    measure(two_regions, NULL);
    KT_F64(mean("both", READ), 400);
    KT_F64(mean("both", TIME), 4000 + 2500);
    KT_NEAR(mean("both", THROUGHPUT), 35, 1e-12);
    KT_HAS(text("both", TIME, "Warnings"), "the span of a visit, with the gaps");
    KT_HAS(text("both", THROUGHPUT, "Warnings"), "relative to the span of a visit");
    assert_null(text("both", READ, "Warnings"));
    KT_F64(mean("one", READ), 300);
    KT_F64(number("one", READ, "NumKernels"), 1);
    assert_string_equal(text("one", READ, "Replay"), "range");
    assert_true(isnan(mean("both/inner", READ)));
    KT_HAS(text("both/inner", READ, "Failure"), "the outermost ones are measured");
}

static void a_range_may_launch_any_number_of_kernels(void **state)
{
    (void)state;
    work w = {.launches = 5000};
    know_kernels();
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    fake_script("range_bytes=1000000");
    ask(THROUGHPUT);
    measure(launch_all, &w);
    KT_F64(mean("work", THROUGHPUT), 80);
}

static void a_range_is_in_one_context(void **state)
{
    (void)state;
    work w = {.launches = 4, .device_of_odd = 1};
    know_kernels();
    fake_script("devices=2");
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    ask(READ);
    measure_in_vain(launch_all, &w, KS_ESTATE, "launched in several CUDA contexts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(each_run_is_repeated_for_each_pass),
        T(batches_are_cut_to_what_has_slots),
        T(slots_grow_to_what_a_call_launches),
        T(a_call_that_no_memory_is_enough_for_is_refused),
        T(ten_thousand_launches_are_measured_in_segments),
        T(a_context_that_a_measured_call_makes_is_measured),
        T(one_context_of_a_device_is_measured),
        T(two_devices_are_measured_at_once),
        T(a_context_may_be_destroyed_between_runs),
        T(a_reset_that_took_the_counters_along_is_told),
        T(a_context_may_go_once_in_a_config),
        T(a_body_that_resets_its_device_is_told_so),
        T(passes_that_launch_different_work_are_refused),
        T(a_run_that_fails_spoils_no_other),
        T(a_run_may_be_cancelled_in_the_middle),
        T(counters_are_held_for_the_same_metrics),
        T(kernel_replay_calls_the_body_once),
        T(range_replay_gives_a_value_per_visit),
        T(a_range_may_launch_any_number_of_kernels),
        T(a_range_is_in_one_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
