/* Annotations without a kernel (case C02): never a value, always what there was instead. */
#include "fakes/nvidia/fixture.h"

typedef enum instead {
    PASS,
    COPIES,
    MEMSETS,
    CAPTURED,
    OUTSIDE,
    IGNORED
} instead;

static const ks_cuda_stream other = (ks_cuda_stream)(uintptr_t)16;

/* What the annotation does in place of a launch. */
static ks_status do_instead(instead what, ks_error *e)
{
    switch (what) {
    case COPIES:
        fake_copy(281); /* cuMemcpyDtoDAsync_v2 */
        break;
    case MEMSETS:
        fake_copy(428); /* cuMemsetD8Async_ptsz */
        break;
    case CAPTURED:
        fake_begin_capture(other);
        assert_int_equal(fake_launch("B", 8, 256, other), 0);
        fake_end_capture(other);
        break;
    case IGNORED:
        KS_TRY(launch("fill", e));
        break;
    case PASS:
    case OUTSIDE:
        break;
    }
    return KS_OK;
}

static ks_status no_kernel(const ks_call *call, void *user, ks_error *e)
{
    instead what = *(const instead *)user;
    (void)call;
    KS_ANNOTATE("idle") {
        KS_TRY(do_instead(what, e));
    }
    if (what == OUTSIDE) {
        KS_TRY(launch("A", e));
        KS_TRY(launch("B", e));
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

static const struct {
    instead what;
    const char *said;
} cases[] = {
    {PASS,
     "no kernel was launched in it, nor a copy or memset (what other processes do is not seen)"},
    {COPIES, "no kernel was launched in it, only copies or memsets"},
    {MEMSETS, "no kernel was launched in it, only copies or memsets"},
    {CAPTURED, "went into a CUDA graph that was being captured"},
    {OUTSIDE, "; 3 kernels were launched outside any annotation (A 2x, B 1x)"},
    {IGNORED, "the plan leaves out all kernels that were launched in it"},
};

static void plan_for(const char *metric, ks_replay replay)
{
    ks_plan_free(plan);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_axis_spec(plan, "n=7", &err));
    KT_OK(ks_plan_ignore_kernel(plan, "fill", &err));
    KT_OK(ks_plan_replay(plan, replay, &err));
    ask(metric);
}

static void no_kernel_is_an_error_that_says_what_there_was(void **state) /* C02 */
{
    (void)state;
    static const char *const metrics[] = {READ, THROUGHPUT, TIME, "launch__block_size"};
    static const ks_replay ways[] = {KS_REPLAY_USER, KS_REPLAY_RANGE, KS_REPLAY_KERNEL};
    know_kernels();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t m = 0; m < 4 * 3; m++) {
            const char *metric = metrics[m % 4];
            instead what = cases[i].what;
            plan_for(metric, ways[m / 4]);
            measure_in_vain(no_kernel, &what, KS_ESTATE,
                            "config 1 of 1 (n=7): annotation 'idle': ");
            assert_int_equal(ks_table_rows(table()), 0);
            measure_in_vain(no_kernel, &what, KS_ESTATE, cases[i].said);
            KT_OK(ks_plan_tolerant(plan, true, &err));
            measure(no_kernel, &what);
            assert_true(isnan(mean("idle", metric)));
            KT_HAS(text("idle", metric, "Failure"), cases[i].said);
        }
    }
}

static ks_status some_kernels(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
    }
    KS_ANNOTATE("copies") {
        fake_copy(281);
    }
    return KS_OK;
}

static void where_others_launch_it_is_a_value_that_is_missing(void **state)
{
    (void)state;
    know_kernels();
    for (int replay = KS_REPLAY_USER; replay <= KS_REPLAY_KERNEL; replay++) {
        plan_for(READ, (ks_replay)replay);
        measure(some_kernels, NULL);
        KT_F64(mean("work", READ), 100);
        assert_true(isnan(mean("copies", READ)));
        KT_HAS(text("copies", READ, "Failure"), "no kernel was launched in it (copies and memsets");
    }
}

/* Copies are looked at where a config has launched nothing so far: others pay nothing for it. */
static void copies_are_watched_only_where_nothing_is_launched(void **state)
{
    (void)state;
    enum {
        LAUNCHES = 8 /* functions that launch */
    };
    know_kernels();
    plan_for(READ, KS_REPLAY_USER);
    measure(some_kernels, NULL);
    assert_int_equal(fake_calls("cuptiEnableCallback"), LAUNCHES);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    measure(some_kernels, NULL);
    assert_true(fake_calls("cuptiEnableCallback") > 2 * LAUNCHES);
    KT_HAS(text("copies", READ, "Failure"), "only copies or memsets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(no_kernel_is_an_error_that_says_what_there_was),
        T(where_others_launch_it_is_a_value_that_is_missing),
        T(copies_are_watched_only_where_nothing_is_launched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
