/* What a GPU's counters can be refused for, and what happens to a measurement then. */
#include "fakes/nvidia/fixture.h"

#include "collect/nvidia/launches.h"

/* Launches A as many times as n; from the run `user` on without end. */
static ks_status launch_n(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    int64_t n = ks_call_i64(call, "n");
    KS_ANNOTATE("work") {
        for (int64_t i = 0; i < n; i++) {
            KS_TRY(launch("A", e));
        }
    }
    return KS_OK;
}

static void plan_n(const char *values, const char *metric)
{
    ks_plan_free(plan);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_axis_spec(plan, values, &err));
    ask(metric);
}

static double mean_n(const char *metric, int64_t n)
{
    return kt_number(table(), (kt_key){"work", metric, n}, "AvgValue");
}

/* Nothing is held, and the next run measures. */
static void works_again(void)
{
    assert_int_equal(profilers(), 0);
    assert_int_equal(fake_count_alive().subscribers, 0);
    fake_script("");
    plan_n("n=3", READ);
    measure(launch_n, NULL);
    KT_F64(mean_n(READ, 3), 300);
    KT_OK(ks_release(&err));
}

/* ---- CUPTI's reasons --------------------------------------------------------------------------
 */

static const struct {
    int result;
    ks_status status;
    const char *part;
} refusals[] = {
    {KS_CUPTI_NO_PRIVILEGES, KS_EPERM, "NVreg_RestrictProfilingToAdminUsers=0"},
    {KS_CUPTI_VIRTUALIZED_NO_PRIVILEGES, KS_EPERM, "enable_profiling of the vGPU"},
    {KS_CUPTI_HARDWARE_BUSY, KS_EBUSY, "another process has the GPU's counters"},
    {KS_CUPTI_VIRTUALIZED, KS_UNAVAILABLE, "this virtual GPU has no counters"},
    {KS_CUPTI_CONFIDENTIAL, KS_UNAVAILABLE, "confidential-computing mode"},
    {KS_CUPTI_CMP, KS_UNAVAILABLE, "mining processors"},
    {KS_CUPTI_MIG, KS_UNAVAILABLE, "divided (MIG)"},
    {KS_CUPTI_SLI, KS_UNAVAILABLE, "joined by SLI"},
    {KS_CUPTI_WSL, KS_UNAVAILABLE, "Windows Subsystem for Linux"},
    {KS_CUPTI_TOO_MANY_SUBSCRIBERS, KS_EBUSY, "another tool in this process listens"},
    {KS_CUPTI_OUT_OF_MEMORY, KS_ENOMEM, "not memory enough for the counters"},
    {7, KS_EVENDOR, "CUPTI_ERROR_INVALID_OPERATION (7)"},
};

static void each_refusal_says_why_and_what_to_do(void **state)
{
    (void)state;
    static const char *const functions[] = {"cuptiRangeProfilerEnable",
                                            "cuptiRangeProfilerStart",
                                            "cuptiRangeProfilerSetConfig",
                                            "cuptiRangeProfilerGetCounterDataSize",
                                            "cuptiSubscribe",
                                            "cuptiEnableCallback"};
    know_kernels();
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
            char script[80];
            snprintf(script, sizeof script, "%s=%d", functions[f], refusals[i].result);
            plan_n("n=3", READ);
            fake_script(script);
            measure_in_vain(launch_n, NULL, refusals[i].status, refusals[i].part);
            works_again();
        }
    }
}

static void who_listens_already_is_named(void **state)
{
    (void)state;
    know_kernels();
    plan_n("n=3", READ);
    fake_script("cuptiSubscribe=39; holder=kineto");
    measure_in_vain(launch_n, NULL, KS_EBUSY, "cannot see what is launched, 'kineto' does (");
    plan_n("n=3", READ);
    fake_script("cuptiSubscribe=39");
    measure_in_vain(launch_n, NULL, KS_EBUSY, "cannot see what is launched (CUPTI");
    plan_n("n=3", READ);
    fake_script("cuptiSubscribe:1=39"); /* it has gone in between */
    measure(launch_n, NULL);
}

static void without_the_function_that_names_the_error_is_the_same(void **state)
{
    (void)state;
    const ks_cuda *cuda = NULL;
    const ks_cupti *cupti = NULL;
    const ks_launch_watcher watcher = {0};
    KT_OK(ks_cuda_get(&cuda, &err));
    KT_OK(ks_cupti_get(&cupti, &err));
    static ks_cupti older; /* the functions are kept */
    older = *cupti;
    older.subscribe_named = NULL;
    fake_script("cuptiSubscribe=39; holder=kineto");
    KT_FAILS(ks_launches_watch(cuda, &older, &watcher, &err), KS_EBUSY,
             "cannot see what is launched (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39)");
    assert_false(ks_launches_watched());
}

static void a_refusal_of_counters_names_what_needs_none(void **state)
{
    (void)state;
    know_kernels();
    plan_n("n=3", READ);
    fake_script("cuptiRangeProfilerStart=26");
    measure_in_vain(launch_n, NULL, KS_EBUSY, "kernel__time_duration.sum needs no counters");
    assert_non_null(results); /* the plan was accepted */
    assert_false(ks_results_complete(results));
}

static void counters_that_become_busy_leave_finished_configs(void **state)
{
    (void)state;
    know_kernels();
    plan_n("n=1,2,3", READ);
    fake_script("cuptiRangeProfilerStart:3+=26");
    measure_in_vain(launch_n, NULL, KS_EBUSY, "another process has the GPU's counters");
    assert_int_equal(ks_results_finished(results), 2);
    KT_F64(mean_n(READ, 1), 100);
    KT_F64(mean_n(READ, 2), 200);
    works_again();
}

static void a_device_without_counters_is_told_before_it_is_tried(void **state)
{
    (void)state;
    static const char *const scripts[][2] = {
        {"supported.architecture=1", "its architecture is too old"},
        {"supported.confidential=1", "confidential-computing mode"},
        {"supported.vgpu=1", "this kind of virtual GPU has no counters"},
        {"supported.vgpu=2", "counters of this virtual GPU are not enabled"},
        {"supported.sli=1", "joined by SLI"},
        {"supported.cmp=1", "mining processors"},
        {"supported.wsl=1", "Windows Subsystem for Linux"},
    };
    know_kernels();
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        plan_n("n=3", READ);
        fake_script(scripts[i][0]);
        measure_in_vain(launch_n, NULL, KS_UNAVAILABLE, scripts[i][1]);
        assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), i);
        works_again();
    }
}

/* Whatever CUPTI or the driver cannot do, the run ends with its name, and the next one works. */
static void no_failing_function_is_overlooked(void **state)
{
    (void)state;
    static const char *const functions[] = {"cuptiRangeProfilerEnable",
                                            "cuptiRangeProfilerGetCounterDataSize",
                                            "cuptiRangeProfilerCounterDataImageInitialize",
                                            "cuptiRangeProfilerSetConfig",
                                            "cuptiRangeProfilerStart",
                                            "cuptiRangeProfilerStop",
                                            "cuptiRangeProfilerDecodeData",
                                            "cuptiRangeProfilerGetCounterDataInfo",
                                            "cuptiProfilerHostEvaluateToGpuValues",
                                            "cuptiSubscribe",
                                            "cuptiEnableCallback",
                                            "cuptiDeviceGetChipName",
                                            "cuptiProfilerHostInitialize",
                                            "cuptiProfilerHostConfigAddMetrics",
                                            "cuptiProfilerHostGetConfigImageSize",
                                            "cuptiProfilerHostGetConfigImage",
                                            "cuptiProfilerHostGetNumOfPasses",
                                            "cuModuleLoadData",
                                            "cuModuleGetFunction",
                                            "cuMemAlloc_v2",
                                            "cuMemsetD8_v2",
                                            "cuDeviceGetName",
                                            "cuDeviceGetUuid_v2",
                                            "cuCtxSynchronize"};
    know_kernels();
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        char script[80];
        plan_n("n=20", THROUGHPUT);
        snprintf(script, sizeof script, "%s:1+=7", functions[i]);
        fake_script(script);
        unsigned before = fake_calls(functions[i]);
        ks_results_free(results);
        results = NULL;
        ks_status status = ks_run(plan, launch_n, NULL, &results, &err);
        assert_true(fake_calls(functions[i]) > before);
        if (status == KS_OK || strstr(err.message, "(7)") == NULL) {
            fail_msg("%s: %s: %s", functions[i], ks_status_name(status), err.message);
        }
        ks_error_clear(&err);
        fake_script("");
        KT_OK(ks_release(&err));
        works_again();
    }
}

static void a_range_that_cannot_begin_is_told(void **state)
{
    (void)state;
    know_kernels();
    plan_n("n=3", READ);
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    fake_script("cuptiRangeProfilerPushRange=7");
    measure_in_vain(launch_n, NULL, KS_EVENDOR, "cannot begin a range");
    KT_OK(ks_release(&err));
    works_again();
}

/* ---- launches that are not captured -----------------------------------------------------------
 */

static void launches_that_were_dropped_are_repeated_once(void **state)
{
    (void)state;
    know_kernels();
    plan_n("n=3", READ);
    fake_script("drop=5"); /* the second of the measured ones, after three of the warm-up */
    measure(launch_n, NULL);
    KT_F64(mean_n(READ, 3), 300);
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), 2);
}

static ks_status launch_and_drop(const ks_call *call, void *user, ks_error *e)
{
    if (user != NULL && ks_call_i64(call, "n") == 40) {
        fake_script(user);
    }
    return launch_n(call, NULL, e);
}

static void launches_that_are_dropped_again_are_counted(void **state)
{
    (void)state;
    char drop[] = "drop=2";
    know_kernels();
    plan_n("n=5,40,6", READ); /* 40: in several segments */
    measure_in_vain(launch_and_drop, drop, KS_ESTATE, "79 of 80 launches were captured");
    KT_F64(mean_n(READ, 5), 500);
    KT_OK(ks_plan_tolerant(plan, true, &err));
    measure(launch_and_drop, drop);
    assert_true(isnan(mean_n(READ, 40)));
    KT_HAS(kt_text(table(), (kt_key){"work", READ, 40}, "Failure"),
           "79 of 80 launches were captured");
    KT_F64(mean_n(READ, 6), 600);
}

static void launches_on_the_device_are_named_as_the_likely_cause(void **state)
{
    (void)state;
    know_kernels();
    plan_n("n=3", READ);
    fake_script("extra_ranges=2");
    measure_in_vain(launch_n, NULL, KS_ESTATE, "8 of 6 launches were captured: work that kernels");
}

/* ---- a device that breaks ---------------------------------------------------------------------
 */

static ks_status break_at_three(const ks_call *call, void *user, ks_error *e)
{
    const char *const *script = user;
    if (ks_call_i64(call, "n") == 3 && ks_call_is_warmup(call) == (script[1] != NULL)) {
        fake_script(script[0]);
    }
    launch_n(call, NULL, e);
    ks_error_clear(e); /* a body that does not check */
    return KS_OK;
}

static void a_broken_device_ends_the_sweep(void **state)
{
    (void)state;
    static const char *const scripts[][2] = {
        {"device_error=3", NULL}, {"device_error=1", NULL}, {"device_error=3", "in the warm-up"}};
    for (int i = 0; i < 6 * 3; i++) {
        know_kernels();
        plan_n("n=1,2,3,4", THROUGHPUT);
        KT_OK(ks_plan_tolerant(plan, i % 2 != 0, &err));
        KT_OK(ks_plan_replay(plan, (ks_replay)(KS_REPLAY_USER + i / 6), &err));
        measure_in_vain(break_at_three, (void *)(uintptr_t)scripts[i / 2 % 3], KS_EVENDOR,
                        "(n=3): the GPU cannot go on after what was launched in this config: "
                        "CUDA_ERROR_ILLEGAL_ADDRESS (700); the configs before it are kept, but "
                        "CUDA works no more in this process: compute-sanitizer finds the cause");
        assert_int_equal(ks_results_finished(results), 2);
        KT_F64(mean_n(THROUGHPUT, 2), 80);
        KT_OK(ks_release(&err));
        fake_reset();
        stuck++;
    }
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void all_unknown_metrics_are_named_at_once(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    ask(READ);
    ask("dram__bytes_red.sum");
    ask("smsp__inst_executed.sun");
    ask("sm__nothing_like_it_at_all.avg");
    ks_status status = ks_run(plan, launch_n, NULL, &results, &err);
    assert_int_equal(status, KS_ENOTFOUND);
    assert_null(results);
    KT_HAS(err.message, "dram__bytes_red.sum");
    KT_HAS(err.message, "dram__bytes_read.sum"); /* a near name */
    KT_HAS(err.message, "smsp__inst_executed.sun");
    KT_HAS(err.message, "smsp__inst_executed.sum");
    KT_HAS(err.message, "sm__nothing_like_it_at_all.avg");
    assert_null(strstr(err.message, "'" READ "'"));
    ks_error_clear(&err);
}

static void a_metric_of_another_chip_is_told_so(void **state)
{
    (void)state;
    fake_script("chip=GA100");
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    ask("sm__inst_executed_pipe_tensor_op_gmma.sum");
    measure_in_vain(launch_n, NULL, KS_ENOTFOUND, "exists on GH100");
    KT_OK(ks_release(&err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(each_refusal_says_why_and_what_to_do),
        T(who_listens_already_is_named),
        T(without_the_function_that_names_the_error_is_the_same),
        T(a_refusal_of_counters_names_what_needs_none),
        T(counters_that_become_busy_leave_finished_configs),
        T(a_device_without_counters_is_told_before_it_is_tried),
        T(no_failing_function_is_overlooked),
        T(a_range_that_cannot_begin_is_told),
        T(launches_that_were_dropped_are_repeated_once),
        T(launches_that_are_dropped_again_are_counted),
        T(launches_on_the_device_are_named_as_the_likely_cause),
        T(a_broken_device_ends_the_sweep),
        T(all_unknown_metrics_are_named_at_once),
        T(a_metric_of_another_chip_is_told_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
