/* Metrics of launches and devices in a run, patterns and sets, with the fakes of NVIDIA's
 * libraries: an H200, and kernels that say themselves what they count. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "fakes/nvidia/fake_nvidia.h"

#define TIME "gpu__time_duration.sum"

static ks_error err;
static ks_plan *plan;
static ks_results *results;
static unsigned calls;

static int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    fake_reset();
    fake_use_device(0);
    calls = 0;
    results = NULL;
    fake_kernel("vadd", "gpu__time_duration", 5000.0);
    fake_kernel("vadd", "gpc__cycles_elapsed", 9900.0);
    fake_kernel("vadd", "dram__bytes_read", 1024.0);
    fake_kernel("vadd", "dram__bytes_write", 512.0);
    fake_kernel("vadd", "dram__bytes", 1536.0);
    fake_kernel("vadd", "sm__warps_active", 10.0);
    fake_kernel("vadd", "sm__cycles_active", 1000.0);
    fake_kernel_attribute("vadd", 4, 40);
    fake_kernel("gemm", "gpu__time_duration", 50000.0);
    fake_kernel_attribute("gemm", 4, 128);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_warmup(plan, 1, &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    ks_release(&err);
    assert_int_equal(fake_count_alive().profilers, 0);
    assert_int_equal(fake_count_alive().subscribers, 0);
    return 0;
}

static void ask(const char *name)
{
    KT_OK(ks_plan_metric(plan, name, &err));
}

static ks_status small(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("small") {
        fake_launch("small", 4, 256, NULL);
    }
    return KS_OK;
}

static void run(ks_body_fn body)
{
    KT_OK(ks_run(plan, body, NULL, &results, &err));
}

static double value(const char *annotation, const char *metric)
{
    return kt_number(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, "AvgValue");
}

static const char *text(const char *annotation, const char *metric, const char *column)
{
    return kt_text(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, column);
}

static ks_status two_launches(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    calls++;
    KS_ANNOTATE("outer") {
        KS_ANNOTATE("alike") {
            fake_launch("vadd", 64, 256, NULL);
            fake_launch("vadd", 64, 256, NULL);
        }
        KS_ANNOTATE("unlike") {
            fake_launch("vadd", 64, 256, NULL);
            fake_launch("gemm", 64, 128, NULL);
        }
    }
    return KS_OK;
}

/* ---- values -----------------------------------------------------------------------------------
 */

static void launches_that_agree_have_a_value(void **state)
{
    (void)state;
    ask("launch__grid_size");
    ask("launch__block_size");
    ask("launch__registers_per_thread");
    ask("device__attribute_multiprocessor_count");
    run(two_launches);
    KT_F64(value("outer/alike", "launch__grid_size"), 64);
    KT_F64(value("outer/alike", "launch__block_size"), 256);
    KT_F64(value("outer/alike", "launch__registers_per_thread"), 40);
    KT_F64(value("outer/unlike", "launch__grid_size"), 64);
    assert_true(isnan(value("outer/unlike", "launch__block_size")));
    KT_HAS(text("outer/unlike", "launch__registers_per_thread", "Failure"), "do not agree");
    assert_true(isnan(value("outer", "launch__block_size")));
    KT_F64(value("outer", "launch__grid_size"), 64);
    KT_F64(value("outer/unlike", "device__attribute_multiprocessor_count"), 132);
}

static void they_need_one_pass_and_no_counters(void **state)
{
    (void)state;
    ask("launch__grid_size");
    ask("device__attribute_multiprocessor_count");
    ask("sm__maximum_warps_per_active_cycle_pct");
    run(two_launches);
    assert_int_equal(calls, 1 + 2);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 0);
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), 0);
    assert_string_equal(text("outer/alike", "launch__grid_size", "Source"), "nvidia");
    assert_non_null(text("outer/alike", "launch__grid_size", "Device"));
    assert_string_equal(text("outer/alike", "launch__grid_size", "Replay"), "user");
    assert_null(text("outer/alike", "launch__grid_size", "CacheControl"));
    assert_string_equal(text("outer/alike", "sm__maximum_warps_per_active_cycle_pct", "Unit"), "%");
    kt_key key = {"outer/alike", "launch__grid_size", KT_ANY};
    KT_F64(kt_number(ks_results_table(results), key, "Passes"), 1);
    KT_F64(kt_number(ks_results_table(results), key, "NumKernels"), 2);
}

static void they_go_with_counters(void **state)
{
    (void)state;
    ask("launch__grid_size");
    ask("dram__bytes_read.sum");
    ask("sm__warps_active.sum"); /* another pass */
    run(two_launches);
    assert_int_equal(calls, 1 + 2 * 2);
    KT_F64(value("outer/alike", "dram__bytes_read.sum"), 2048);
    KT_F64(value("outer/alike", "launch__grid_size"), 64);
    kt_key key = {"outer/alike", "dram__bytes_read.sum", KT_ANY};
    KT_F64(kt_number(ks_results_table(results), key, "Passes"), 2);
    key.metric = "launch__grid_size";
    KT_F64(kt_number(ks_results_table(results), key, "Passes"), 1);
}

static void in_range_replay_too(void **state)
{
    (void)state;
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    ask("launch__block_size");
    ask(TIME);
    run(two_launches);
    KT_F64(value("outer/alike", "launch__block_size"), 256);
    KT_HAS(text("outer", "launch__block_size", "Failure"), "do not agree");
}

static ks_status nothing(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("empty") {
    }
    return KS_OK;
}

static void without_a_launch_the_device_is_still_known(void **state)
{
    (void)state;
    ask("launch__block_size");
    ask("device__attribute_warp_size");
    run(nothing);
    KT_F64(value("empty", "device__attribute_warp_size"), 32);
    KT_HAS(text("empty", "launch__block_size", "Failure"), "no kernel was launched in it");
}

/* On an H200 host_numa_id is -1, where the host has no such node. */
static void a_value_below_zero_is_one_as_any_other(void **state)
{
    (void)state;
    enum {
        HOST_NUMA_ID = 134
    };
    fake_device_attribute(0, HOST_NUMA_ID, -1);
    ask("device__attribute_host_numa_id");
    run(nothing);
    KT_F64(value("empty", "device__attribute_host_numa_id"), -1);
    assert_null(text("empty", "device__attribute_host_numa_id", "Warnings"));
}

static ks_status graph(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)e;
    KS_ANNOTATE("graph") {
        cuGraphLaunch(user, NULL);
    }
    return KS_OK;
}

static void of_graphs_nothing_is_known(void **state)
{
    (void)state;
    fake_begin_capture((ks_cuda_stream)16);
    fake_launch("vadd", 64, 256, (ks_cuda_stream)16);
    void *captured = fake_end_capture((ks_cuda_stream)16);
    ask("launch__block_size");
    KT_OK(ks_run(plan, graph, captured, &results, &err));
    KT_HAS(text("graph", "launch__block_size", "Failure"), "a CUDA graph was launched");
}

static void contexts_and_streams_have_cuptis_numbers(void **state)
{
    (void)state;
    ask("launch__stream_id");
    ask("launch__context_id");
    run(two_launches);
    KT_F64(value("outer/alike", "launch__stream_id"), 7);
    assert_true(value("outer/alike", "launch__context_id") >= 0);
    results = (ks_results_free(results), NULL);
    fake_script("cuptiGetStreamIdEx=1");
    run(two_launches);
    KT_HAS(text("outer/alike", "launch__stream_id", "Failure"), "CUPTI did not tell it");
}

static ks_status fail_later(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("a") {
        fake_launch("vadd", 64, 256, NULL);
        if (!ks_call_is_warmup(call) && ks_call_run(call) == 1) {
            (void)e;
            return KS_EINVAL;
        }
    }
    return KS_OK;
}

static void runs_that_fail_have_no_values(void **state)
{
    (void)state;
    KT_OK(ks_plan_tolerant(plan, true, &err));
    ask("launch__grid_size");
    run(fail_later);
    kt_key key = {"a", "launch__grid_size", KT_ANY};
    KT_F64(kt_number(ks_results_table(results), key, "NumFailed"), 1);
    KT_F64(value("a", "launch__grid_size"), 64);
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void refused(const char *name, const char *why)
{
    ks_results_free(results);
    results = NULL;
    ks_plan_free(plan);
    KT_OK(ks_plan_new(&plan, &err));
    ask(name);
    KT_FAILS(ks_run(plan, nothing, NULL, &results, &err), KS_ENOTFOUND, why);
}

static void names_that_are_none_are_refused_with_what_is_near(void **state)
{
    (void)state;
    refused("launch__grid_sice", "did you mean launch__grid_size");
    refused("launch__kernel_name", "one of ncu's that is not offered: ncu's value is a text");
    refused("device__attribute_chip", "the driver's interface does not tell it");
    refused("launch__nothing*", "launch__nothing* matches no metric of launches");
    refused("dram__bytes_reed.sum", "did you mean dram__bytes_read.sum");
}

static void a_counter_without_its_sub_metric_is_told_what_belongs_behind_it(void **state)
{
    (void)state;
    refused("dram__bytes*", "as in dram__bytes*.sum");
    refused("dram__bytes_read", "as in dram__bytes_read.sum");
    refused("sm__throughput", "as in sm__throughput.avg.pct_of_peak_sustained_elapsed");
    refused("lts__t_sector_hit_rat?", "as in lts__t_sector_hit_rat?.ratio");
    refused("dram__nothing*.sum", "chip GH100 has no metric 'dram__nothing*.sum'");
}

static void patterns_take_what_the_chip_has_once_each(void **state)
{
    (void)state;
    ask("dram__bytes_read.sum");
    ask("dram__bytes*.sum");
    ask("launch__grid_dim_*");
    run(two_launches);
    const ks_table *t = ks_results_table(results);
    assert_int_equal(ks_table_rows(t), 3 * (3 + 3));
    KT_F64(value("outer/alike", "dram__bytes_write.sum"), 1024);
    KT_F64(value("outer/alike", "dram__bytes.sum"), 3072);
    KT_F64(value("outer/alike", "launch__grid_dim_y"), 1);
}

static void a_set_is_measured_by_its_name(void **state)
{
    (void)state;
    ask("@occupancy");
    ask("launch__grid_size"); /* is one of them */
    run(two_launches);
    KT_F64(value("outer/alike", "launch__grid_size"), 64);
    KT_F64(value("outer/alike", "launch__registers_per_thread"), 40);
    KT_F64(value("outer/alike", "sm__warps_active.avg.per_cycle_active"), 10);
    KT_F64(value("outer/alike", "launch__occupancy_limit_warps"), 8); /* of 8 warps, 64 fit */
    assert_int_equal(ks_table_rows(ks_results_table(results)), 3 * 14);
    refused("@nothing", "@nothing is no set of metrics; there are @speed-of-light @memory");
}

/* A plan that measures the CPU alone has no use for the vendor's libraries. */
static void patterns_of_the_cpu_ask_no_gpu(void **state)
{
    (void)state;
    ask("cpu__*time*");
    unsigned before = fake_calls("cuptiProfilerHostInitialize") + fake_calls("cuInit") +
                      fake_calls("cuCtxGetDevice") + fake_calls("cuDeviceGet");
    run(nothing);
    unsigned after = fake_calls("cuptiProfilerHostInitialize") + fake_calls("cuInit") +
                     fake_calls("cuCtxGetDevice") + fake_calls("cuDeviceGet");
    assert_int_equal(before, after);
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* ncu on an H200: 16 for kernels compiled for 9, 12 and 14; 25 and 127 as they are. */
static void a_thread_has_no_fewer_registers_than_ncu_counts(void **state)
{
    (void)state;
    fake_kernel("small", "gpu__time_duration", 5000.0);
    fake_kernel_attribute("small", 4, 9);
    ask("launch__registers_per_thread");
    run(small);
    KT_F64(value("small", "launch__registers_per_thread"), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(launches_that_agree_have_a_value),
        T(a_thread_has_no_fewer_registers_than_ncu_counts),
        T(they_need_one_pass_and_no_counters),
        T(they_go_with_counters),
        T(in_range_replay_too),
        T(without_a_launch_the_device_is_still_known),
        T(a_value_below_zero_is_one_as_any_other),
        T(of_graphs_nothing_is_known),
        T(contexts_and_streams_have_cuptis_numbers),
        T(runs_that_fail_have_no_values),
        T(names_that_are_none_are_refused_with_what_is_near),
        T(a_counter_without_its_sub_metric_is_told_what_belongs_behind_it),
        T(patterns_take_what_the_chip_has_once_each),
        T(a_set_is_measured_by_its_name),
        T(patterns_of_the_cpu_ask_no_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
