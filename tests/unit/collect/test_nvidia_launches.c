/* What counts as a launch on a fake GPU, what is done before one, and runs in other orders. */
#include "fakes/nvidia/fixture.h"

static ks_status launch_one(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

/* ---- functions that launch --------------------------------------------------------------------
 */

static ks_status launch_in_all_ways(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    ks_cuda_function a = fake_function("A");
    ks_cuda_launch_config config = {.grid = {8, 1, 1}, .block = {256, 1, 1}};
    KS_ANNOTATE("work") {
        int failed = cuLaunchKernel(a, 8, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
        failed += cuLaunchKernel_ptsz(a, 8, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL);
        failed += cuLaunchCooperativeKernel(a, 8, 1, 1, 256, 1, 1, 0, NULL, NULL);
        failed += cuLaunchCooperativeKernel_ptsz(a, 8, 1, 1, 256, 1, 1, 0, NULL, NULL);
        failed += cuLaunchKernelEx(&config, a, NULL, NULL);
        failed += cuLaunchKernelEx_ptsz(&config, a, NULL, NULL);
        assert_int_equal(failed, 0);
    }
    return KS_OK;
}

static void every_function_that_launches_counts(void **state)
{
    (void)state;
    ks_table *launches = NULL;
    know_kernels();
    ask(READ);
    measure(launch_in_all_ways, NULL);
    KT_F64(mean("work", READ), 600);
    KT_F64(number("work", READ, "NumKernels"), 6);
    KT_OK(ks_results_launches(results, &launches, &err));
    assert_int_equal(ks_table_rows(launches), 6);
    size_t stream = ks_table_find(launches, "Stream");
    for (size_t i = 0; i < 6; i++) { /* where nothing else is said, each thread has its own */
        KT_F64(ks_table_number(launches, i, stream), i % 2 == 0 ? 0 : 2);
        KT_F64(ks_table_number(launches, i, ks_table_find(launches, "GridX")), 8);
        KT_F64(ks_table_number(launches, i, ks_table_find(launches, "BlockX")), 256);
    }
    ks_table_free(launches);
}

static ks_status launch_and_fail(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        assert_int_not_equal(fake_launch("A", 0, 256, NULL), 0); /* the driver refuses it */
        assert_int_not_equal(fake_launch("A", 1, 4096, NULL), 0);
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

static void launches_that_fail_are_none(void **state)
{
    (void)state;
    know_kernels();
    ask(READ);
    ask(THROUGHPUT);
    measure(launch_and_fail, NULL);
    KT_F64(mean("work", READ), 200);
    KT_F64(number("work", READ, "NumKernels"), 2);
}

static ks_status capture(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    ks_cuda_stream stream = (ks_cuda_stream)(uintptr_t)16;
    KS_ANNOTATE("work") {
        fake_begin_capture(stream);
        int failed = fake_launch("B", 8, 256, stream);
        fake_end_capture(stream);
        assert_int_equal(failed, 0);
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

static void launches_into_a_graph_are_none(void **state)
{
    (void)state;
    know_kernels();
    ask(READ);
    measure(capture, NULL);
    KT_F64(mean("work", READ), 100);
    KT_F64(number("work", READ, "NumKernels"), 1);
}

/* ---- caches -----------------------------------------------------------------------------------
 */

static void caches_are_swept_unless_that_is_unwanted(void **state)
{
    (void)state;
    know_kernels();
    ask(READ);
    measure(launch_one, NULL);
    assert_int_equal(fake_count_alive().allocations, 1);
    assert_int_equal(fake_count_alive().bytes, 2 * 60 * 1024 * 1024);
    KT_OK(ks_release(&err));
    assert_int_equal(fake_count_alive().allocations, 0);
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_NONE, &err));
    measure(launch_one, NULL);
    assert_int_equal(fake_count_alive().allocations, 0);
    assert_string_equal(text("work", READ, "CacheControl"), "none");
    KT_F64(mean("work", READ), 100);
}

#define SWEEP "ks_flush_l2"

enum {
    GAP = 2500 /* what a range takes beside its kernels */
};

static ks_status on_streams(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    int failed = fake_launch("A", 8, 256, NULL); /* in no annotation */
    KS_ANNOTATE("work") {
        failed += fake_launch("A", 8, 256, (ks_cuda_stream)(uintptr_t)16);
        failed += fake_launch("B", 8, 256, (ks_cuda_stream)(uintptr_t)32);
    }
    return failed == 0 ? KS_OK : ks_fail(e, KS_EBODY, "user", 0, "a launch failed");
}

typedef struct order {
    const char *kernel;
    uintptr_t stream;
} order;

/* What ran since the first `from` kernels: `each` again and again. */
static void check_order(unsigned from, const order *each, unsigned count, unsigned times)
{
    ks_cuda_stream stream = NULL;
    assert_int_equal(fake_runs(NULL) - from, count * times);
    for (unsigned i = 0; i < count * times; i++) {
        assert_string_equal(fake_run_at(from + i, &stream), each[i % count].kernel);
        assert_true(each[i % count].stream == 1 || (uintptr_t)stream == each[i % count].stream);
    }
}

/* On the kernel's own stream, before each that is measured, and in no value. */
static void caches_are_swept_before_each_measured_kernel_alone(void **state) /* C25 */
{
    (void)state;
    static const order kernels[] = {{"A", 0}, {SWEEP, 16}, {"A", 16}, {SWEEP, 32}, {"B", 32}};
    static const order ranges[] = {{"A", 0}, {SWEEP, 1}, {"A", 16}, {"B", 32}};
    static const order plain[] = {{"A", 0}, {"A", 16}, {"B", 32}};
    know_kernels();
    fake_kernel(SWEEP, TIME, 37000);
    fake_kernel(SWEEP, READ, 5000);
    KT_OK(ks_plan_runs(plan, 10, &err));
    KT_OK(ks_plan_warmup(plan, 0, &err));
    ask(TIME);
    ask(READ);
    for (int replay = KS_REPLAY_USER; replay <= KS_REPLAY_KERNEL; replay++) {
        for (int cold = 0; cold < 2; cold++) {
            bool by_range = replay == KS_REPLAY_RANGE;
            unsigned before = fake_runs(NULL);
            KT_OK(ks_plan_replay(plan, (ks_replay)replay, &err));
            KT_OK(ks_plan_cache_control(plan, cold ? KS_CACHE_FLUSH : KS_CACHE_NONE, &err));
            measure(on_streams, NULL);
            check_order(before,
                        !cold      ? plain
                        : by_range ? ranges
                                   : kernels,
                        !cold      ? 3
                        : by_range ? 4
                                   : 5,
                        10);
            KT_F64(mean("work", TIME), by_range ? 4000 + GAP : 4000);
            KT_F64(mean("work", READ), 400);
            KT_F64(number("work", READ, "NumRuns"), 10);
            assert_string_equal(text("work", READ, "CacheControl"), cold ? "all" : "none");
            KT_OK(ks_release(&err));
        }
    }
}

/* ---- orders -----------------------------------------------------------------------------------
 */

static ks_status as_many_as_n(const ks_call *call, void *user, ks_error *e)
{
    int64_t n = ks_call_i64(call, "n");
    unsigned *calls = user;
    *calls += 1;
    KS_ANNOTATE("work") {
        for (int64_t i = 0; i < n; i++) {
            KS_TRY(launch(i % 2 == 0 ? "A" : "B", e));
        }
    }
    return KS_OK;
}

static void configs_are_measured_in_any_order(void **state)
{
    (void)state;
    static const int64_t n[] = {2, 50, 4, 90};
    know_kernels();
    KT_OK(ks_plan_axis_i64(plan, "n", n, 4, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask(THROUGHPUT);
    ask(READ);
    for (int order = KS_ORDER_GIVEN; order <= KS_ORDER_INTERLEAVED; order++) {
        unsigned calls = 0;
        KT_OK(ks_plan_order(plan, (ks_order)order, 1, &err));
        measure(as_many_as_n, &calls);
        for (int i = 0; i < 4; i++) {
            kt_key key = {"work", READ, n[i]};
            KT_F64(kt_number(table(), key, "AvgValue"), (double)n[i] * 200);
            KT_F64(kt_number(table(), key, "NumRuns"), 3);
            KT_F64(kt_number(table(), key, "NumKernels"), (double)n[i]);
            key.metric = THROUGHPUT;
            KT_NEAR(kt_number(table(), key, "AvgValue"), 35, 1e-12);
        }
        assert_int_equal(calls, 4 * (1 + 3 * (THROUGHPUT_PASSES + 1)));
    }
}

static void the_number_of_runs_may_be_found_out(void **state)
{
    (void)state;
    unsigned calls = 0;
    know_kernels();
    KT_OK(ks_plan_axis_i64(plan, "n", (int64_t[]){6}, 1, &err));
    KT_OK(ks_plan_auto_runs(plan, NULL, &err));
    ask(THROUGHPUT);
    measure(as_many_as_n, &calls);
    KT_F64(number("work", THROUGHPUT, "NumRuns"), 15); /* 10, and half as many to confirm */
    assert_int_equal(calls, 1 + 15 * THROUGHPUT_PASSES);
    assert_string_equal(text("work", THROUGHPUT, "StopReason"), "precision");
}

/* ---- with others ------------------------------------------------------------------------------
 */

static ks_status count_passes(const ks_call *call, void *user, ks_error *e)
{
    uint32_t *most = user;
    *most = ks_call_pass(call) > *most ? ks_call_pass(call) : *most;
    return launch_one(call, NULL, e);
}

static void times_of_the_cpu_have_a_pass_of_their_own(void **state)
{
    (void)state;
    uint32_t last = 0;
    know_kernels();
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask("cpu__time_duration.sum");
    ask(THROUGHPUT);
    measure(count_passes, &last);
    assert_int_equal(last, THROUGHPUT_PASSES);
    KT_F64(mean("work", THROUGHPUT), 80);
    assert_true(mean("work", "cpu__time_duration.sum") > 0);
    KT_F64(number("work", "cpu__time_duration.sum", "Passes"), 1);
    KT_F64(number("work", "cpu__time_duration.sum", "NumKernels"), 1);
}

static ks_status launch_two(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        KS_TRY(launch("B", e));
    }
    return KS_OK;
}

static void combining_may_be_refused(void **state) /* C01 */
{
    (void)state;
    know_kernels();
    ask(READ);
    KT_OK(ks_plan_combine(plan, KS_COMBINE_REFUSE, &err));
    measure(launch_one, NULL);
    KT_F64(mean("work", READ), 100);
    KT_OK(ks_plan_ignore_kernel(plan, "b", &err)); /* misspelt */
    measure_in_vain(launch_two, NULL, KS_ESTATE,
                    "launched 2 kernels in one run, and the plan refuses to combine them; "
                    "annotate one of them, ignore the others (ks_plan_ignore_kernel()), or let the "
                    "plan combine them (ks_plan_combine()): A 1x, B 1x");
    assert_true(warned("no kernel matched 'b'"));
    KT_OK(ks_plan_ignore_kernel(plan, "B", &err));
    measure(launch_two, NULL);
    KT_F64(mean("work", READ), 100);
    KT_F64(number("work", READ, "NumKernels"), 1);
    assert_false(warned("no kernel matched 'B'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(every_function_that_launches_counts),
        T(launches_that_fail_are_none),
        T(launches_into_a_graph_are_none),
        T(caches_are_swept_unless_that_is_unwanted),
        T(caches_are_swept_before_each_measured_kernel_alone),
        T(configs_are_measured_in_any_order),
        T(the_number_of_runs_may_be_found_out),
        T(times_of_the_cpu_have_a_pass_of_their_own),
        T(combining_may_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
