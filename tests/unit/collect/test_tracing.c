/* Kernel tracing with an imaginary GPU: whose a kernel is. */
#include "fakes/tracing_fixture.h"

#include <pthread.h>

#include "collect/clock/clock.h"

static const ks_collector_ops *const with_clock[] = {&ks_clock_ops, &ks_tracing_ops, NULL};

/* ---- whose a kernel is ------------------------------------------------------------------------
 */

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
    is_missing("outer/none", TIME, "no kernel was launched in it, nor a copy");
    is_missing("outer/none", SPAN, "no kernel was launched in it, nor a copy");
}

/* ---- no kernel, several kernels ---------------------------------------------------------------
 */

typedef enum instead {
    PASS,
    COPIES,
    IGNORED,
    OUTSIDE
} instead;

static ks_status no_kernel(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)e;
    instead what = *(const instead *)user;
    KS_ANNOTATE("idle") {
        if (what == COPIES) {
            fake_gpu_copy();
        } else if (what == IGNORED) {
            fake_gpu_kernel("fill", 100);
        }
    }
    if (what == OUTSIDE) {
        fake_gpu_kernel("a", 100);
        fake_gpu_kernel("a", 100);
    }
    return KS_OK;
}

static void no_kernel_is_an_error_that_says_what_there_was(void **state) /* C02 */
{
    (void)state;
    static const char *const said[] = {
        [PASS] =
            "no kernel was launched in it, nor a copy or memset (what other processes do is not "
            "seen)",
        [COPIES] = "no kernel was launched in it, only copies or memsets",
        [IGNORED] = "the plan leaves out all kernels that were launched in it",
        [OUTSIDE] = "; 2 kernels were launched outside any annotation"};
    KT_OK(ks_plan_axis_spec(plan, "n=7", &err));
    KT_OK(ks_plan_ignore_kernel(plan, "fill", &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_metric(plan, "kernel__*", &err));
    for (instead what = PASS; what <= OUTSIDE; what++) {
        fake_activity_reset((fake_activity_script){0});
        KT_OK(ks_plan_tolerant(plan, false, &err));
        KT_FAILS(ks_run_with(alone, plan, no_kernel, &what, &results, &err), KS_ESTATE, said[what]);
        KT_OK(ks_plan_tolerant(plan, true, &err));
        ks_results_free(results);
        KT_OK(ks_run_with(alone, plan, no_kernel, &what, &results, &err));
        is_missing("idle", TIME, said[what]);
        is_missing("idle", SPAN, said[what]);
        KT_F64(mean("idle", COUNT), 0);
        ks_results_free(results);
        results = NULL;
    }
}

static void a_count_of_none_is_a_value(void **state)
{
    (void)state;
    instead what = PASS;
    KT_OK(ks_plan_metric(plan, COUNT, &err));
    fake_activity_reset((fake_activity_script){0});
    KT_OK(ks_run_with(alone, plan, no_kernel, &what, &results, &err));
    KT_F64(mean("idle", COUNT), 0);
}

static void a_pattern_that_nothing_matched_is_told(void **state) /* C01 */
{
    (void)state;
    KT_OK(ks_plan_ignore_kernel(plan, "b", &err));
    KT_OK(ks_plan_ignore_kernel(plan, "no_such*", &err));
    run(nested, (fake_activity_script){0});
    KT_F64(mean("outer", COUNT), 3);
    /* the only one: "b" would have come before it */
    KT_HAS(ks_table_fact(ks_results_table(results), "warnings[]").text,
           "no kernel matched 'no_such*'");
}

static void refusing_to_combine_counts_kernels_not_visits(void **state) /* C01 */
{
    (void)state;
    KT_OK(ks_plan_combine(plan, KS_COMBINE_REFUSE, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_FAILS(try_run(two_kernels, (fake_activity_script){0}), KS_ESTATE,
             "annotation 'work' launched 2 kernels in one run, and the plan refuses to combine "
             "them; annotate one of them, ignore the others (ks_plan_ignore_kernel()), or let the "
             "plan combine them (ks_plan_combine()): a 1x, b 1x");
    KT_OK(ks_plan_tolerant(plan, true, &err));
    ks_results_free(results);
    run(nested, (fake_activity_script){0});
    is_missing("outer", TIME, "(ks_plan_combine()): a 3x, b 1x");
    is_missing("outer/inner", TIME, "(ks_plan_combine()): a 3x");
    KT_OK(ks_plan_ignore_kernel(plan, "a", &err));
    ks_results_free(results);
    run(two_kernels, (fake_activity_script){0});
    KT_F64(mean("work", TIME), 500);
}

static void a_misspelt_pattern_is_told_where_combining_is_refused(void **state) /* C01 */
{
    (void)state;
    KT_OK(ks_plan_combine(plan, KS_COMBINE_REFUSE, &err));
    KT_OK(ks_plan_ignore_kernel(plan, "A", &err));
    KT_FAILS(try_run(two_kernels, (fake_activity_script){0}), KS_ESTATE, "launched 2 kernels");
    assert_true(warned("no kernel matched 'A'"));
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
        ks_plan_combine(p, KS_COMBINE_REFUSE, e); /* kernels are kept by name then */
        ks_plan_tolerant(p, true, e);
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
        T(no_kernel_is_an_error_that_says_what_there_was),
        T(a_count_of_none_is_a_value),
        T(a_pattern_that_nothing_matched_is_told),
        T(refusing_to_combine_counts_kernels_not_visits),
        T(a_misspelt_pattern_is_told_where_combining_is_refused),
        T(kernels_of_a_graph_are_its_annotations),
        T(kernels_of_tools_and_ignored_ones_do_not_count),
        T(a_thread_without_annotation_works_for_the_bodys),
        T(the_only_open_annotation_gets_the_rest),
        T(of_several_open_ones_none_is_guessed),
        T(an_annotation_that_another_thread_ends_is_over),
        T(annotations_may_end_in_any_order),
        cmocka_unit_test(tracing_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
