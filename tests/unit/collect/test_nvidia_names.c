/* Names that a run is asked for, before anything runs: case C15, and chips that nobody knows. */
#include "fakes/nvidia/fixture.h"

static unsigned calls;

static ks_status count_calls(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    calls++;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

/* The names of the case, and one of another chip: all in one error, and no kernel ran. */
static void bad_names_come_in_one_error_before_anything_runs(void **state)
{
    (void)state;
    know_kernels();
    fake_script("chip=GA100");
    KT_OK(ks_plan_axis_spec(plan, "n=1,2,3", &err));
    ask("gpu__time_durations.sum");
    ask(TIME);
    ask("sm__cycles_active");
    ask("foo");
    ask("achieved_occupancy");
    ask("sm__inst_executed_pipe_tensor_op_gmma.sum");
    calls = 0;
    assert_int_equal(ks_run(plan, count_calls, NULL, &results, &err), KS_ENOTFOUND);
    KT_HAS(err.message, "unknown metrics gpu__time_durations.sum, sm__cycles_active, foo, "
                        "achieved_occupancy, sm__inst_executed_pipe_tensor_op_gmma.sum");
    KT_HAS(err.message, "did you mean gpu__time_duration.sum");
    KT_HAS(err.message, "as in sm__cycles_active.sum"); /* what does not fit is told one by one */
    ks_error_clear(&err);
    assert_null(results);
    assert_int_equal(calls, 0);
    assert_int_equal(fake_runs(NULL), 0);
}

static void is_told(const char *name, const char *part)
{
    KT_OK(ks_release(&err));
    ks_plan_free(plan);
    KT_OK(ks_plan_new(&plan, &err));
    fake_script("chip=GA100");
    ask(name);
    calls = 0;
    measure_in_vain(count_calls, NULL, KS_ENOTFOUND, name);
    measure_in_vain(count_calls, NULL, KS_ENOTFOUND, part);
    assert_int_equal(calls, 0);
}

static void each_bad_name_has_near_ones_or_its_chips(void **state)
{
    (void)state;
    is_told("gpu__time_durations.sum", "gpu__time_duration.sum");
    is_told("sm__cycles_active", "sm__cycles_active."); /* what belongs behind it */
    is_told("foo", "unknown metric foo");
    is_told("achieved_occupancy", "unknown metric achieved_occupancy");
    is_told("sm__inst_executed_pipe_tensor_op_gmma.sum", "exists on GH100");
}

/* Where a metric has no pass, as some toolkits said of valid ones, nothing would be read. */
static void a_metric_without_a_pass_is_refused(void **state)
{
    (void)state;
    know_kernels();
    fake_script("no_passes=1");
    ask(READ);
    calls = 0;
    measure_in_vain(count_calls, NULL, KS_UNAVAILABLE,
                    "CUPTI knows '" READ "' on chip GH100, and no pass that measures it");
    assert_int_equal(calls, 0);
    fake_script("cuptiProfilerHostConfigAddMetrics=27");
    measure_in_vain(count_calls, NULL, KS_EVENDOR, "chip GH100 cannot measure '" READ "'");
    assert_int_equal(calls, 0);
}

static void a_chip_that_cupti_does_not_know_is_told_with_those_it_knows(void **state)
{
    (void)state;
    fake_script("chip=GX999");
    ask(TIME);
    calls = 0;
    measure_in_vain(count_calls, NULL, KS_UNAVAILABLE, "this CUPTI knows no chip 'GX999'");
    measure_in_vain(count_calls, NULL, KS_UNAVAILABLE, "it knows GA100 GH100 GB100");
    measure_in_vain(count_calls, NULL, KS_UNAVAILABLE, "a newer CUPTI may know the GPU's chip");
    measure_in_vain(count_calls, NULL, KS_UNAVAILABLE,
                    "kernel__time_duration.sum needs no counters");
    assert_int_equal(calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(bad_names_come_in_one_error_before_anything_runs),
        T(each_bad_name_has_near_ones_or_its_chips),
        T(a_metric_without_a_pass_is_refused),
        T(a_chip_that_cupti_does_not_know_is_told_with_those_it_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
