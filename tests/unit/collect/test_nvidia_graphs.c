/* What cannot be measured kernel by kernel: CUDA graphs, and kernels that wait for each other. */
#include "fakes/nvidia/fixture.h"

/* What a config launches: odd ones a graph, in a plan with the axis n. */
typedef struct work {
    void *graph; /* of A and B */
    unsigned calls;
    bool always; /* all configs */
} work;

static work make_work(void)
{
    know_kernels();
    fake_begin_capture(NULL);
    assert_int_equal(fake_launch("A", 8, 256, NULL), 0);
    assert_int_equal(fake_launch("B", 8, 256, NULL), 0);
    return (work){.graph = fake_end_capture(NULL)};
}

static ks_status launch_graph(const ks_call *call, void *user, ks_error *e)
{
    work *w = user;
    w->calls++;
    KS_ANNOTATE("graph") {
        KS_TRY(launch("A", e));
        if (w->always || ks_call_i64(call, "n") % 2 != 0) {
            assert_int_equal(cuGraphLaunch(w->graph, NULL), 0);
        }
    }
    KS_ANNOTATE("kernel") {
        KS_TRY(launch("B", e));
    }
    return KS_OK;
}

/* ---- graphs -----------------------------------------------------------------------------------
 */

static void a_graph_has_no_values_kernel_by_kernel(void **state)
{
    (void)state;
    work w = make_work();
    w.always = true;
    ask(READ);
    for (unsigned i = 0; i < 4; i++) {
        KT_OK(ks_plan_replay(plan, i % 2 == 0 ? KS_REPLAY_USER : KS_REPLAY_KERNEL, &err));
        KT_OK(ks_plan_warmup(plan, i / 2, &err));
        measure_in_vain(launch_graph, &w, KS_UNAVAILABLE, "a CUDA graph was launched");
    }
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    measure(launch_graph, &w);
    KT_F64(mean("graph", READ), 500);
    KT_HAS(text("graph", READ, "Replay"), "range");
}

static kt_key config(const char *annotation, const char *metric, int n)
{
    return (kt_key){annotation, metric, n};
}

static double of_config(const char *annotation, const char *metric, int n, const char *column)
{
    return kt_number(table(), config(annotation, metric, n), column);
}

/* With a warm-up call the graph is known before anything is measured, without one the first config
 * that launches one is measured once more, and so is the first that does not. */
static void configs_with_graphs_are_measured_in_ranges(void **state)
{
    (void)state;
    work w = make_work();
    KT_OK(ks_plan_axis_spec(plan, "n=0,1,2,3", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    ask(READ);
    ask(TIME);
    for (uint32_t warmup = 0; warmup < 2; warmup++) {
        w.calls = 0;
        KT_OK(ks_plan_warmup(plan, warmup, &err));
        measure(launch_graph, &w);
        assert_int_equal(w.calls, warmup == 1 ? 4 * (1 + 2) : 4 * 2 + 3 * 2);
        for (int n = 0; n < 4; n++) {
            bool graph = n % 2 != 0;
            KT_F64(of_config("graph", READ, n, "AvgValue"), graph ? 500 : 100);
            KT_F64(of_config("kernel", READ, n, "AvgValue"), 300);
            KT_F64(of_config("kernel", TIME, n, "AvgValue"), graph ? NAN : 3000);
            const char *replay = kt_text(table(), config("graph", READ, n), "Replay");
            assert_string_equal(replay, graph ? "range" : "user");
            const char *warnings = kt_text(table(), config("graph", READ, n), "Warnings");
            assert_true(graph ? strstr(warnings, "measured as a whole") != NULL : warnings == NULL);
        }
        KT_HAS(kt_text(table(), config("graph", TIME, 1), "Failure"), "kernel__time_duration.sum");
    }
}

/* Twice 1 us of A at 80 %, and 3 us of B at 20 %: 44 %. */
static void what_hangs_on_a_spans_time_needs_a_long_one(void **state)
{
    (void)state;
    work w = make_work();
    w.always = true;
    ask(THROUGHPUT);
    ask(INST);
    fake_script("gap=100"); /* 5.1 us of 0.1 us: 51 times */
    measure(launch_graph, &w);
    KT_F64(mean("graph", THROUGHPUT), 44);
    KT_HAS(text("graph", THROUGHPUT, "Warnings"), "relative to the span");
    KT_F64(mean("graph", INST), 40);
    assert_true(isnan(mean("kernel", THROUGHPUT))); /* 31 times */
    fake_script("gap=103");                         /* 5,103 ns of 103 ns: 49.5 times */
    measure(launch_graph, &w);
    assert_true(isnan(mean("graph", THROUGHPUT)));
    KT_HAS(text("graph", THROUGHPUT, "Failure"), "less than 50 times what an empty one does");
    KT_F64(mean("graph", INST), 40);
}

#define FFMAS "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"

static void what_is_not_counted_in_graphs_is_missing_there(void **state)
{
    (void)state;
    work w = make_work();
    w.always = true;
    fake_kernel("A", FFMAS, 7);
    fake_kernel("B", FFMAS, 9);
    ask(FFMAS);
    ask(INST);
    measure(launch_graph, &w);
    assert_true(isnan(mean("graph", FFMAS)));
    KT_HAS(text("graph", FFMAS, "Failure"),
           "CUPTI does not count it in the kernels of CUDA graphs");
    KT_F64(mean("graph", INST), 40);
    KT_F64(mean("kernel", FFMAS), 9);
}

static ks_status enter_often(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)e;
    work *w = user;
    for (int i = 0; i < 50; i++) {
        KS_ANNOTATE("graph") {
            assert_int_equal(cuGraphLaunch(w->graph, NULL), 0);
        }
    }
    return KS_OK;
}

/* 50 visits of several passes, where counters begin with room for 32. */
static void any_number_of_visits_has_room(void **state)
{
    (void)state;
    work w = make_work();
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask(THROUGHPUT);
    ask(READ);
    for (uint32_t warmup = 0; warmup < 2; warmup++) {
        KT_OK(ks_plan_warmup(plan, warmup, &err));
        measure(enter_often, &w);
        KT_F64(mean("graph", READ), 50 * 400);
        KT_F64(number("graph", READ, "Visits"), 50);
        KT_F64(number("graph", READ, "NumRuns"), 3);
    }
}

/* ---- kernels that wait for each other ---------------------------------------------------------
 */

static ks_status reduce_all(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        KS_TRY(launch(user, e));
    }
    return KS_OK;
}

static void kernels_of_nccl_are_measured_in_ranges(void **state)
{
    (void)state;
    static char *const names[] = {
        "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
        "ncclKernel_AllReduce_RING_LL_Sum_float"};
    know_kernels();
    ask(READ);
    for (size_t i = 0; i < 2; i++) {
        fake_kernel(names[i], TIME, 5000);
        fake_kernel(names[i], READ, 1000);
        KT_OK(ks_plan_replay(plan, KS_REPLAY_AUTO, &err));
        measure(reduce_all, names[i]);
        KT_F64(mean("work", READ), 1100);
        assert_string_equal(text("work", READ, "Replay"), "range");
        KT_OK(ks_plan_replay(plan, KS_REPLAY_USER, &err));
        measure_in_vain(reduce_all, names[i], KS_UNAVAILABLE, "a kernel of NCCL was launched");
    }
    static char other[] = "_Z9my_ncclopPf"; /* not NCCL's */
    fake_kernel(other, TIME, 5000);
    fake_kernel(other, READ, 1);
    measure(reduce_all, other);
    KT_F64(mean("work", READ), 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_graph_has_no_values_kernel_by_kernel),
        T(configs_with_graphs_are_measured_in_ranges),
        T(what_hangs_on_a_spans_time_needs_a_long_one),
        T(what_is_not_counted_in_graphs_is_missing_there),
        T(any_number_of_visits_has_room),
        T(kernels_of_nccl_are_measured_in_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
