/* Kernel tracing with an imaginary GPU: whose a kernel is, and when nothing is known of it. */
#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "api/run.h"
#include "collect/clock/clock.h"
#include "collect/nvidia/tracing/buffers.h"
#include "collect/nvidia/tracing/tracing.h"
#include "fakes/fake_activity.h"

static ks_error err;
static ks_plan *plan;
static ks_results *results;

static const ks_collector_ops *const alone[] = {&ks_tracing_ops, NULL};
static const ks_collector_ops *const with_clock[] = {&ks_clock_ops, &ks_tracing_ops, NULL};

static const char TIME[] = "kernel__time_duration.sum";
static const char SPAN[] = "kernel__span.max";
static const char COUNT[] = "kernel__count.sum";

static int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    return 0;
}

/* CUPTI has none of our buffers, wants no records any more, and this thread has no ids left. */
static int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_plan_free(plan);
    assert_int_equal(fake_activity.lent, 0);
    assert_int_equal(fake_activity.enabled, 0);
    assert_int_equal(fake_gpu_ids(), 0);
    ks_activity_use(NULL);
    return 0;
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

static ks_status try_run(ks_body_fn body, fake_activity_script script)
{
    fake_activity_reset(script);
    ks_status status = ks_plan_metric(plan, "kernel__*", &err);
    return status == KS_OK ? ks_run_with(alone, plan, body, NULL, &results, &err) : status;
}

static void run(ks_body_fn body, fake_activity_script script)
{
    KT_OK(try_run(body, script));
}

static double mean(const char *annotation, const char *metric)
{
    return kt_number(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, "AvgValue");
}

static const char *text(const char *annotation, const char *metric, const char *column)
{
    return kt_text(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, column);
}

/* No value of a metric, and why. */
static void is_missing(const char *annotation, const char *metric, const char *why)
{
    assert_true(isnan(mean(annotation, metric)));
    KT_HAS(text(annotation, metric, "Failure"), why);
}

static void all_missing(const char *annotation, const char *why)
{
    is_missing(annotation, TIME, why);
    is_missing(annotation, SPAN, why);
    is_missing(annotation, COUNT, why);
}

/* ---- whose a kernel is ------------------------------------------------------------------------
 */

static ks_status two_kernels(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    fake_gpu_kernel("input", 4000);
    KS_ANNOTATE("work") {
        fake_gpu_kernel("a", 1000);
        fake_gpu_call();
        fake_gpu_think(70000);
        fake_gpu_kernel("b", 500);
    }
    return KS_OK;
}

static void kernels_of_an_annotation_are_timed(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 3, &err));
    run(two_kernels, (fake_activity_script){0});
    KT_F64(mean("work", TIME), 1500);
    KT_F64(mean("work", COUNT), 2);
    /* "a" began when "input" was done: between that and "b", launched 70 us later, the rest */
    double span = mean("work", SPAN);
    assert_true(span > 66000 && span < 72000);
    assert_string_equal(text("work", TIME, "Unit"), "ns");
    assert_null(text("work", COUNT, "Unit"));
    assert_string_equal(text("work", TIME, "Source"), "nvidia-trace");
    assert_string_equal(text("work", TIME, "GPU"), "Imagined GPU");
    assert_string_equal(text("work", TIME, "Device"), "Imagined GPU");
    assert_null(text("work", TIME, "Warnings"));
    assert_int_equal(fake_activity.registered, 1);
    KT_HAS(ks_table_fact(ks_results_table(results), "warnings[]").text,
           "3 launches were made outside any annotation");
}

static void cpu_times_have_a_pass_without_it(void **state)
{
    (void)state;
    fake_activity_reset((fake_activity_script){0});
    KT_OK(ks_plan_metric(plan, TIME, &err));
    KT_OK(ks_plan_metric(plan, "cpu__time_duration.sum", &err));
    KT_OK(ks_run_with(with_clock, plan, two_kernels, NULL, &results, &err));
    KT_F64(mean("work", TIME), 1500);
    assert_int_equal(ks_table_fact(ks_results_table(results), "plan.passes").as.i64, 2);
}

static ks_status nested(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("outer") {
        KS_ANNOTATE("inner") {
            fake_gpu_kernel("a", 1000);
        }
        KS_ANNOTATE("none") {
            fake_gpu_think(100);
        }
        fake_gpu_kernel("b", 300);
        KS_ANNOTATE("inner") {
            fake_gpu_kernel("a", 2000);
            fake_gpu_kernel("a", 2000);
        }
    }
    return KS_OK;
}

static void a_launch_belongs_to_the_innermost_annotation_and_those_around_it(void **state)
{
    (void)state;
    run(nested, (fake_activity_script){0});
    KT_F64(mean("outer", TIME), 5300); /* what is inside it is its work too */
    KT_F64(mean("outer", COUNT), 4);
    KT_F64(mean("outer/inner", TIME), 5000);
    KT_F64(mean("outer/inner", COUNT), 3);
    /* the second visit's two kernels are the longer span; between the visits nothing counts */
    KT_F64(mean("outer/inner", SPAN), 4000);
    KT_F64(mean("outer/none", COUNT), 0);
    is_missing("outer/none", TIME, "it launched no kernel");
    is_missing("outer/none", SPAN, "it launched no kernel");
}

static ks_status graph(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("graph") {
        fake_gpu_graph(5, 200);
    }
    KS_ANNOTATE("capture") {
        fake_gpu_capture();
    }
    return KS_OK;
}

static void kernels_of_a_graph_are_its_annotations(void **state)
{
    (void)state;
    run(graph, (fake_activity_script){0});
    KT_F64(mean("graph", TIME), 1000);
    KT_F64(mean("graph", SPAN), 1000);
    KT_F64(mean("graph", COUNT), 5);
    all_missing("capture", "it was captured into a graph");
}

static ks_status tools_kernels(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("work") {
        fake_gpu_kernel("WaitNs", 900);
        fake_gpu_kernel("_Z6WaitNsy", 900);
        fake_gpu_kernel("ks_flush_l2", 900);
        fake_gpu_kernel("myWaitNs", 100);
        fake_gpu_kernel("fill_7", 900);
    }
    return KS_OK;
}

static void kernels_of_tools_and_ignored_ones_do_not_count(void **state)
{
    (void)state;
    KT_OK(ks_plan_ignore_kernel(plan, "fill_*", &err));
    run(tools_kernels, (fake_activity_script){0});
    KT_F64(mean("work", TIME), 100);
    KT_F64(mean("work", COUNT), 1);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static void *launch(void *kernels)
{
    for (int i = 0; i < *(const int *)kernels; i++) {
        fake_gpu_kernel("t", 100);
    }
    return NULL;
}

static void launch_on_a_thread(int kernels)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, launch, &kernels), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static ks_status helped(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    launch_on_a_thread(1);
    KS_ANNOTATE("outer") {
        launch_on_a_thread(2);
        KS_ANNOTATE("inner") {
            launch_on_a_thread(3);
        }
        launch_on_a_thread(4);
    }
    launch_on_a_thread(5);
    return KS_OK;
}

static void a_thread_without_annotation_works_for_the_bodys(void **state)
{
    (void)state;
    run(helped, (fake_activity_script){0});
    KT_F64(mean("outer", COUNT), 9);
    KT_F64(mean("outer/inner", COUNT), 3);
    KT_HAS(ks_table_fact(ks_results_table(results), "warnings[]").text, "6 launches were made");
}

static pthread_barrier_t in_step;

static void *annotate(void *name)
{
    KS_ANNOTATE(name) {
        fake_gpu_kernel("own", 1000);
        pthread_barrier_wait(&in_step);
        pthread_barrier_wait(&in_step);
    }
    return NULL;
}

static void annotate_on_threads(const char *const *names, unsigned count, int kernels)
{
    pthread_t threads[2];
    pthread_barrier_init(&in_step, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, annotate, (void *)names[i]), 0);
    }
    pthread_barrier_wait(&in_step);
    launch(&kernels);
    pthread_barrier_wait(&in_step);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&in_step);
}

static ks_status one_open(const ks_call *call, void *user, ks_error *e)
{
    static const char *const names[] = {"a"};
    (void)call;
    (void)user;
    (void)e;
    annotate_on_threads(names, 1, 2);
    return KS_OK;
}

static void the_only_open_annotation_gets_the_rest(void **state)
{
    (void)state;
    run(one_open, (fake_activity_script){0});
    KT_F64(mean("a", COUNT), 3);
    KT_F64(mean("a", TIME), 1200);
}

static ks_status two_open(const ks_call *call, void *user, ks_error *e)
{
    static const char *const names[] = {"a", "b"};
    (void)call;
    (void)user;
    (void)e;
    annotate_on_threads(names, 2, 2);
    return KS_OK;
}

static void of_several_open_ones_none_is_guessed(void **state)
{
    (void)state;
    run(two_open, (fake_activity_script){0});
    KT_F64(mean("a", COUNT), 1);
    KT_F64(mean("b", COUNT), 1);
    KT_HAS(text("a", COUNT, "Warnings"),
           "2 kernels were launched by threads without an annotation");
}

/* ---- ends out of turn -------------------------------------------------------------------------
 */

static void *end_it(void *token)
{
    ks_annotate_end(*(const ks_token *)token, NULL);
    return NULL;
}

static ks_status ended_elsewhere(const ks_call *call, void *user, ks_error *e)
{
    ks_token token;
    pthread_t thread;
    (void)call;
    (void)user;
    ks_annotate_begin("around", &token, e);
    fake_gpu_kernel("a", 100);
    assert_int_equal(pthread_create(&thread, NULL, end_it, &token), 0);
    pthread_join(thread, NULL);
    fake_gpu_kernel("nobody's", 1000);
    KS_ANNOTATE("next") {
        fake_gpu_kernel("b", 10);
    }
    return KS_OK;
}

static void an_annotation_that_another_thread_ends_is_over(void **state)
{
    (void)state;
    KT_OK(ks_plan_runs(plan, 2, &err));
    run(ended_elsewhere, (fake_activity_script){0});
    KT_F64(mean("around", TIME), 100);
    KT_F64(mean("next", TIME), 10);
}

static ks_status crossed(const ks_call *call, void *user, ks_error *e)
{
    ks_token a;
    ks_token b;
    (void)call;
    (void)user;
    ks_annotate_begin("a", &a, e);
    ks_annotate_begin("b", &b, e);
    ks_annotate_end(a, e);
    fake_gpu_kernel("in b", 100);
    ks_annotate_end(b, e);
    fake_gpu_kernel("nobody's", 1000);
    return KS_OK;
}

static void annotations_may_end_in_any_order(void **state)
{
    (void)state;
    run(crossed, (fake_activity_script){0});
    KT_F64(mean("a", COUNT), 1); /* by the path, though it is over */
    KT_F64(mean("a/b", TIME), 100);
}

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
                 {FAKE_NEXT, "records of kernels cannot be read"},
                 {FAKE_SYNCHRONIZE, "the driver's result 700"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(work, (fake_activity_script){.broken = cases[i].function});
        all_missing("work", cases[i].why);
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

/* ---- no memory --------------------------------------------------------------------------------
 */

static ks_status measure(void *arg, ks_error *e)
{
    (void)arg;
    ks_plan *p = NULL;
    ks_results *r = NULL;
    fake_activity_reset((fake_activity_script){0});
    ks_status status = ks_plan_new(&p, e);
    if (status == KS_OK) {
        ks_plan_metric(p, "kernel__*", e);
        status = ks_run_with(alone, p, nested, NULL, &r, e);
    }
    ks_results_free(r);
    ks_plan_free(p);
    assert_int_equal(fake_activity.enabled, 0);
    return status;
}

static void tracing_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(kt_oom_sweep(measure, NULL) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(kernels_of_an_annotation_are_timed),
        T(cpu_times_have_a_pass_without_it),
        T(a_launch_belongs_to_the_innermost_annotation_and_those_around_it),
        T(kernels_of_a_graph_are_its_annotations),
        T(kernels_of_tools_and_ignored_ones_do_not_count),
        T(a_thread_without_annotation_works_for_the_bodys),
        T(the_only_open_annotation_gets_the_rest),
        T(of_several_open_ones_none_is_guessed),
        T(an_annotation_that_another_thread_ends_is_over),
        T(annotations_may_end_in_any_order),
        T(lost_records_leave_no_value),
        T(a_wrong_clock_is_not_trusted),
        T(another_tool_that_records_is_left_alone),
        T(one_that_comes_later_costs_its_configs_alone),
        T(records_that_another_tool_gets_are_no_zero),
        T(kernels_without_a_time_are_counted),
        T(a_run_whose_kernels_come_late_has_no_value),
        T(failing_functions_are_told),
        T(a_run_that_fails_leaves_nothing_to_the_next),
        T(a_strict_run_that_fails_ends_clean),
        T(more_records_than_a_buffer_holds_are_read),
        T(a_buffer_of_somebody_else_is_left_alone),
        T(what_is_not_here_is_told),
        T(a_driver_that_cannot_be_loaded_is_told),
        T(the_doctor_is_told),
        cmocka_unit_test(tracing_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
