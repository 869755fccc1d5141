/* Kernel tracing where nothing is known: lost records, other tools, clocks, failures, no driver. */
#include "fakes/tracing_fixture.h"

#include <stdlib.h>

#include "collect/nvidia/tracing/buffers.h"

/* ---- when nothing is known --------------------------------------------------------------------
 */

static ks_status work(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("work") {
        fake_gpu_kernel("a", 1000);
    }
    return KS_OK;
}

static void lost_records_leave_no_value(void **state)
{
    (void)state;
    run(work, (fake_activity_script){.room = 4});
    all_missing("work", "records were lost");
}

static void a_wrong_clock_is_not_trusted(void **state)
{
    (void)state;
    static const fake_activity_script scripts[] = {
        {.rate = 2.1},             /* ticks all over */
        {.rate = 1.02},            /* a little is too much */
        {.rate = 0.98},            /* */
        {.offset = 1u << 30},      /* records by another clock than the one we ask */
        {.kernels_off = 1u << 30}, /* only kernels */
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        run(work, scripts[i]);
        all_missing("work", "CUPTI's clock does not count nanoseconds");
        stop(NULL);
        start(NULL);
    }
    run(work, (fake_activity_script){.rate = 1.005});
    KT_NEAR(mean("work", TIME), 1000, 0.006);
}

static void another_tool_that_records_is_left_alone(void **state)
{
    (void)state;
    KT_FAILS(try_run(work, (fake_activity_script){.wanted = 3}), KS_EBUSY, "is recording");
    assert_int_equal(fake_activity.registered, 0);
    KT_FAILS(try_run(work, (fake_activity_script){.old = true, .others_listen = true}), KS_EBUSY,
             "does not tell whether it is recording");
    assert_int_equal(fake_activity.registered, 0);
    run(work, (fake_activity_script){.others_listen = true}); /* it listens, and does not record */
    KT_F64(mean("work", COUNT), 1);
}

static ks_status work_until_another_tool_comes(const ks_call *call, void *user, ks_error *e)
{
    fake_activity.script.wanted = ks_call_i64(call, "n") == 1 ? 3 : 0;
    return work(call, user, e);
}

static void one_that_comes_later_costs_its_configs_alone(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=0,1,2", &err));
    KT_OK(ks_plan_warmup(plan, 1, &err));
    run(work_until_another_tool_comes, (fake_activity_script){0});
    const ks_table *t = ks_results_table(results);
    KT_F64(kt_number(t, (kt_key){"work", TIME, 0}, "AvgValue"), 1000);
    assert_true(isnan(kt_number(t, (kt_key){"work", COUNT, 1}, "AvgValue")));
    KT_HAS(kt_text(t, (kt_key){"work", COUNT, 1}, "Failure"), "is recording");
    KT_F64(kt_number(t, (kt_key){"work", TIME, 2}, "AvgValue"), 1000);
}

static void records_that_another_tool_gets_are_no_zero(void **state)
{
    (void)state;
    run(work, (fake_activity_script){.stolen = true});
    all_missing("work", "has CUPTI's records");
}

static void kernels_without_a_time_are_counted(void **state)
{
    (void)state;
    run(two_kernels, (fake_activity_script){.untimed = true});
    KT_F64(mean("work", COUNT), 2);
    is_missing("work", TIME, "CUPTI could not tell the time of 2 of its 2 kernels");
    is_missing("work", SPAN, "CUPTI could not tell the time");
}

static unsigned far_call;

static ks_status far(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    (void)e;
    KS_ANNOTATE("work") {
        fake_gpu_kernel("near", 1000);
        if (ks_call_run(call) == far_call) {
            fake_gpu_elsewhere("far", 1000);
        }
    }
    return KS_OK;
}

/* In the last run too, after which no run is. */
static void a_run_whose_kernels_come_late_has_no_value(void **state)
{
    (void)state;
    for (far_call = 0; far_call < 3; far_call++) {
        KT_OK(ks_plan_runs(plan, 3, &err));
        KT_OK(ks_plan_warmup(plan, 0, &err));
        run(far, (fake_activity_script){0});
        KT_F64(mean("work", COUNT), 1);
        KT_F64(kt_number(ks_results_table(results), (kt_key){"work", COUNT, KT_ANY}, "NumFailed"),
               1);
        KT_HAS(text("work", TIME, "Failure"), "wait for every device");
        stop(NULL);
        start(NULL);
    }
    fake_activity_reset((fake_activity_script){0});
}

static void failing_functions_are_told(void **state)
{
    (void)state;
    static const struct {
        int function;
        const char *why;
    } cases[] = {{FAKE_REGISTER, "kernels cannot be traced: CUPTI_ERROR_UNKNOWN (999)"},
                 {FAKE_ENABLE, "kernels cannot be traced: CUPTI_ERROR_UNKNOWN (999)"},
                 {FAKE_FLUSH, "records of kernels cannot be had: CUPTI_ERROR_UNKNOWN (999)"},
                 {FAKE_NEXT, "records of kernels cannot be read"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(work, (fake_activity_script){.broken = cases[i].function});
        all_missing("work", cases[i].why);
        stop(NULL);
        start(NULL);
    }
    fake_activity_reset((fake_activity_script){0});
}

/* ---- a device that breaks ---------------------------------------------------------------------
 */

static ks_cuda_result breaks_with;
static bool body_tells;
static unsigned calls;

static ks_status break_at_three(const ks_call *call, void *user, ks_error *e)
{
    calls++;
    fake_activity.script.device = ks_call_i64(call, "n") == 3 ? breaks_with : 0;
    work(call, user, e);
    return body_tells && fake_activity.script.device != 0
               ? ks_fail(e, KS_EBODY, "user", 0, "launch failed")
               : KS_OK;
}

/* Whether the body notices or not: in a process whose device broke, no later value is right. */
static void a_broken_device_ends_the_sweep(void **state)
{
    (void)state;
    enum {
        RUNS = 2
    };
    breaks_with = 700;
    for (int i = 0; i < 3; i++) {
        bool tolerant = i > 0;
        body_tells = i == 2;
        calls = 0;
        KT_OK(ks_plan_axis_spec(plan, "n=1,2,3,4", &err));
        KT_OK(ks_plan_runs(plan, RUNS, &err));
        KT_OK(ks_plan_warmup(plan, 0, &err));
        KT_OK(ks_plan_tolerant(plan, tolerant, &err));
        fake_activity_reset((fake_activity_script){0});
        KT_OK(ks_plan_metric(plan, "kernel__*", &err));
        KT_FAILS(ks_run_with(alone, plan, break_at_three, NULL, &results, &err), KS_EVENDOR,
                 "(n=3): the device is broken (700)");
        assert_int_equal(calls, 3 * RUNS);
        assert_int_equal(ks_results_finished(results), 2);
        assert_false(ks_results_complete(results));
        KT_F64(kt_number(ks_results_table(results), (kt_key){"work", TIME, 2}, "AvgValue"), 1000);
        fake_activity.script.device = 0;
        stop(NULL);
        start(NULL);
    }
    fake_activity_reset((fake_activity_script){0});
}

static void a_context_that_the_body_destroyed_costs_its_config_alone(void **state)
{
    (void)state;
    static const ks_cuda_result gone[] = {KS_CUDA_INVALID_CONTEXT, KS_CUDA_CONTEXT_DESTROYED};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        breaks_with = gone[i];
        body_tells = false;
        KT_OK(ks_plan_axis_spec(plan, "n=2,3,4", &err));
        run(break_at_three, (fake_activity_script){0});
        const ks_table *t = ks_results_table(results);
        KT_F64(kt_number(t, (kt_key){"work", TIME, 2}, "AvgValue"), 1000);
        assert_true(isnan(kt_number(t, (kt_key){"work", TIME, 3}, "AvgValue")));
        KT_HAS(kt_text(t, (kt_key){"work", TIME, 3}, "Failure"), "the driver's result");
        KT_F64(kt_number(t, (kt_key){"work", TIME, 4}, "AvgValue"), 1000);
        stop(NULL);
        start(NULL);
    }
    fake_activity_reset((fake_activity_script){0});
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static ks_status fails_once(const ks_call *call, void *user, ks_error *e)
{
    ks_token left_open;
    (void)user;
    if (ks_call_run(call) == 1 && !ks_call_is_warmup(call)) {
        ks_annotate_begin("work", &left_open, e);
        fake_gpu_kernel("a", 50);
        return ks_fail(e, KS_EBODY, "body", 0, "boom");
    }
    return work(call, NULL, e);
}

static void a_run_that_fails_leaves_nothing_to_the_next(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    run(fails_once, (fake_activity_script){0});
    KT_F64(mean("work", TIME), 1000);
    KT_F64(mean("work", COUNT), 1);
    KT_HAS(text("work", TIME, "Failure"), "boom");
}

static void a_strict_run_that_fails_ends_clean(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_FAILS(try_run(fails_once, (fake_activity_script){0}), KS_EBODY, "boom");
}

static ks_status templates(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("work") {
        fake_gpu_kernel("_Z5scaleIfLi4EEvPT_", 100);
        fake_gpu_kernel("_Z5scaleIfLi8EEvPT_", 20);
        fake_gpu_kernel("_Zunreadable", 3);
    }
    return KS_OK;
}

static void patterns_match_each_form_of_a_name(void **state) /* C19 */
{
    (void)state;
    static const struct {
        const char *pattern;
        double left;
    } cases[] = {{"_Z5scaleIfLi4EEvPT_", 23},
                 {"scale<float, 8>", 103},
                 {"void scale<float, 4>(float*)", 23},
                 {"scale*", 3},
                 {"_Zunreadable", 120}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        KT_OK(ks_plan_ignore_kernel(plan, cases[i].pattern, &err));
        run(templates, (fake_activity_script){0});
        KT_F64(mean("work", TIME), cases[i].left);
        assert_null(ks_table_fact(ks_results_table(results), "warnings[]").text);
        stop(NULL);
        start(NULL);
    }
    fake_activity_reset((fake_activity_script){0});
}

static ks_status many(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    for (int i = 0; i < 200; i++) {
        KS_ANNOTATE("many") {
            for (int k = 0; k < 50; k++) {
                fake_gpu_kernel("k", 3);
            }
        }
    }
    return KS_OK;
}

static void more_records_than_a_buffer_holds_are_read(void **state)
{
    (void)state;
    run(many, (fake_activity_script){0});
    size_t bytes = 10000 * (sizeof(ks_activity_kernel) + sizeof(ks_activity_call));
    assert_true(bytes > KS_BUFFER_BYTES);
    KT_F64(mean("many", COUNT), 10000);
    KT_F64(mean("many", TIME), 30000);
}

static void a_buffer_of_somebody_else_is_left_alone(void **state)
{
    (void)state;
    static uint8_t theirs[64];
    fake_activity_reset((fake_activity_script){0});
    ks_buffers_complete(NULL, 0, theirs, sizeof theirs, 32);
    assert_null(ks_buffers_take());
}

static void what_is_not_here_is_told(void **state)
{
    (void)state;
    KT_FAILS(try_run(work, (fake_activity_script){.absent = "no GPU"}), KS_UNAVAILABLE,
             "is not available here: no GPU");
    KT_FAILS(try_run(work, (fake_activity_script){.no_library = true}), KS_UNAVAILABLE,
             "no CUPTI that can be used");
}

/* The real table; a driver that is named must work, and this one does not. */
static void a_driver_that_cannot_be_loaded_is_told(void **state)
{
    (void)state;
    fake_activity_reset((fake_activity_script){0});
    ks_activity_use(NULL);
    ks_activity_api *real = ks_activity_system();
    setenv("KERNSIGHT_CUDA_LIB", "/nowhere/libcuda.so.1", 1);
    assert_null(real->absent());
    KT_FAILS(real->connect(real, &err), KS_UNAVAILABLE, "there is no NVIDIA driver here");
    unsetenv("KERNSIGHT_CUDA_LIB");
    assert_true(real->now_ns() > 0);
}

static ks_status keep_fact(void *self, const char *fact, ks_value value, const char *cure,
                           ks_error *e)
{
    (void)fact;
    (void)cure;
    (void)e;
    snprintf(self, 200, "%s", value.text);
    return KS_OK;
}

static const char *probed(fake_activity_script script)
{
    static char told[200];
    const ks_fact_sink sink = {told, keep_fact};
    fake_activity_reset(script);
    KT_OK(ks_tracing_ops.probe(&sink, &err));
    return told;
}

static void the_doctor_is_told(void **state)
{
    (void)state;
    assert_string_equal(probed((fake_activity_script){0}), "yes");
    assert_string_equal(probed((fake_activity_script){.absent = "none"}), "no: none");
    KT_HAS(probed((fake_activity_script){.no_library = true}), "no: no CUPTI");
    KT_HAS(probed((fake_activity_script){.wanted = 1}), "is recording");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(lost_records_leave_no_value),
        T(a_wrong_clock_is_not_trusted),
        T(another_tool_that_records_is_left_alone),
        T(one_that_comes_later_costs_its_configs_alone),
        T(records_that_another_tool_gets_are_no_zero),
        T(kernels_without_a_time_are_counted),
        T(a_run_whose_kernels_come_late_has_no_value),
        T(failing_functions_are_told),
        T(a_broken_device_ends_the_sweep),
        T(a_context_that_the_body_destroyed_costs_its_config_alone),
        T(a_run_that_fails_leaves_nothing_to_the_next),
        T(a_strict_run_that_fails_ends_clean),
        T(patterns_match_each_form_of_a_name),
        T(more_records_than_a_buffer_holds_are_read),
        T(a_buffer_of_somebody_else_is_left_alone),
        T(what_is_not_here_is_told),
        T(a_driver_that_cannot_be_loaded_is_told),
        T(the_doctor_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
