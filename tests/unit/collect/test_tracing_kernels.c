/* Kernels of an annotation, traced: graphs too, and whether the GPU waits for launches. */
#include "fakes/tracing_fixture.h"

static ks_table *kernels;

static double cell(size_t row, const char *column)
{
    return ks_table_number(kernels, row, ks_table_find(kernels, column));
}

static const char *word(size_t row, const char *column)
{
    return ks_table_text(kernels, row, ks_table_find(kernels, column));
}

static void take_kernels(void)
{
    ks_table_free(kernels);
    KT_OK(ks_results_kernels(results, &kernels, &err));
}

static ks_status nested(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("outer") {
        fake_gpu_graph(4, 500);
        KS_ANNOTATE("inner") {
            fake_gpu_kernel("a", 3000);
            fake_gpu_kernel("a", 5000);
        }
    }
    return KS_OK;
}

static void kernels_are_those_of_graphs_and_inner_annotations_too(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 5, &err));
    run(nested, (fake_activity_script){.registers = 96, .shared = {1024, 512}, .local = 16});
    take_kernels();
    assert_int_equal(ks_table_rows(kernels), 3);
    assert_string_equal(word(0, "Annotation"), "outer");
    assert_string_equal(word(0, "Kernel"), "a");
    KT_F64(cell(0, "Launches"), 10);
    KT_F64(cell(0, "Runs"), 5);
    KT_F64(cell(0, "TimeAvg"), 4000);
    KT_F64(cell(0, "TimeMin"), 3000);
    KT_F64(cell(0, "TimeMax"), 5000);
    KT_F64(cell(0, "TimePerRun"), 8000);
    KT_F64(cell(0, "SharePct"), 80); /* 8000 of 10000 ns */
    assert_string_equal(word(1, "Kernel"), "node");
    KT_F64(cell(1, "Launches"), 20);
    KT_F64(cell(1, "SharePct"), 20);
    assert_string_equal(word(2, "Annotation"), "outer/inner");
    KT_F64(cell(2, "SharePct"), 100);
    assert_string_equal(word(2, "TimeSource"), TIME);
    KT_F64(cell(2, "Registers"), 96);
    KT_F64(cell(2, "SharedBytes"), 1536);
    KT_F64(cell(2, "LocalBytes"), 16);
    assert_true(isnan(cell(2, "OccupancyPct"))); /* no record tells it */
}

static void kernels_without_a_time_have_no_share(void **state)
{
    (void)state;
    run(nested, (fake_activity_script){.untimed = true});
    take_kernels();
    assert_int_equal(ks_table_rows(kernels), 3);
    assert_true(isnan(cell(0, "TimeAvg")));
    assert_true(isnan(cell(0, "SharePct")));
    assert_true(isnan(cell(0, "Registers"))); /* a record of 0 registers tells nothing */
}

static ks_status elsewhere(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("work") {
        fake_gpu_kernel("a", 1000);
        fake_gpu_elsewhere("late", 1000);
    }
    return KS_OK;
}

static void runs_that_lost_kernels_are_left_out(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    run(elsewhere, (fake_activity_script){0});
    take_kernels();
    assert_int_equal(ks_table_rows(kernels), 0);
}

/* ---- launch-bound -----------------------------------------------------------------------------
 */

typedef struct shape {
    uint64_t kernel_ns, think_ns;
    bool graph;
} shape;

static ks_status two_with_a_gap(const ks_call *call, void *user, ks_error *e)
{
    const shape *s = user;
    (void)call;
    (void)e;
    KS_ANNOTATE("work") {
        if (s->graph) {
            fake_gpu_graph(2, s->kernel_ns);
        } else {
            fake_gpu_kernel("a", s->kernel_ns);
            fake_gpu_think(s->think_ns);
            fake_gpu_kernel("b", s->kernel_ns);
        }
    }
    return KS_OK;
}

static const char *warning_of(shape s)
{
    ks_results_free(results);
    results = NULL;
    fake_activity_reset((fake_activity_script){0});
    KT_OK(ks_run_with(alone, plan, two_with_a_gap, &s, &results, &err));
    return text("work", TIME, "Warnings");
}

static void a_region_whose_gaps_are_longer_than_its_kernels_is_told(void **state)
{
    (void)state;
    KT_OK(ks_plan_metric(plan, "kernel__*", &err));
    KT_OK(ks_plan_warmup(plan, 0, &err)); /* whose kernels would still run */
    /* of the span 10 us are taken off; 100 of 1100 us are 9 % */
    KT_HAS(warning_of((shape){50000, 1060000, false}),
           "launch-bound: kernels ran in at most 9 % of the time");
    assert_null(warning_of((shape){50000, 100000, false})); /* gap 50 us, kernels 100 us */
    assert_null(warning_of((shape){1000, 10000, false}));   /* tracing may have made the gap */
    assert_null(warning_of((shape){1000, 0, true}));        /* a graph without gaps */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(kernels_are_those_of_graphs_and_inner_annotations_too),
        T(kernels_without_a_time_have_no_share),
        T(runs_that_lost_kernels_are_left_out),
        T(a_region_whose_gaps_are_longer_than_its_kernels_is_told),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ks_table_free(kernels);
    return failed;
}
