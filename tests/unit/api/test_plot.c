/* Plots through the public functions, and their check before a run. */
#include "harness.h"

#include <stdlib.h>

static ks_error err;

static ks_status body(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("a") {
    }
    return KS_OK;
}

static ks_status derive(ks_derivation *d, const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    double value = (double)ks_call_i64(call, "n");
    ks_derivation_set(d, NULL, value, "x", e);
    return ks_derivation_set(d, "other", 2.0 * value, "x", e);
}

static ks_plan *make_plan(bool derived)
{
    ks_plan *plan = NULL;
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_axis_spec(plan, "n=1..4", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    if (derived) {
        KT_OK(ks_plan_derive(plan, "twice", derive, NULL, &err));
    }
    return plan;
}

static void a_plot_is_checked_before_the_run(void **state)
{
    (void)state;
    ks_plot_options options = KS_PLOT_OPTIONS_INIT;
    ks_plan *plan = make_plan(false);
    KT_OK(ks_plot_check(plan, body, kt_path("x.svg"), NULL, &err));
    KT_OK(ks_plot_check(plan, body, NULL, NULL, &err));
    KT_FAILS(ks_plot_check(plan, ks_program_body, NULL, NULL, &err), KS_EINVAL,
             "there are 4 metrics: name those to plot");
    KT_FAILS(ks_plot_check(plan, body, "x.jpg", NULL, &err), KS_EINVAL, ".png, .svg or .pdf");
    KT_FAILS(ks_plot_check(plan, body, "/nowhere/x.svg", NULL, &err), KS_EIO, "/nowhere/");
    KT_FAILS(ks_plot_check(NULL, body, NULL, NULL, &err), KS_EINVAL, "plan");
    options.x = "m";
    KT_FAILS(ks_plot_check(plan, body, NULL, &options, &err), KS_ENOTFOUND, "no parameter 'm'");
    options.x = "n";
    KT_OK(ks_plot_check(plan, body, NULL, &options, &err));
    options.inverse = true;
    KT_FAILS(ks_plot_check(plan, body, NULL, &options, &err), KS_EINVAL, "needs a baseline");
    KT_OK(ks_plan_normalize(plan, "a", &err));
    KT_OK(ks_plot_check(plan, body, NULL, &options, &err));
    options.struct_size = 0;
    KT_FAILS(ks_plot_check(plan, body, NULL, &options, &err), KS_EINVAL, "KS_PLOT_OPTIONS_INIT");
    ks_plan_free(plan);
}

static void derived_metrics_can_be_plotted_whatever_they_are_called(void **state)
{
    (void)state;
    const char *const other[] = {"other"};
    ks_plot_options options = KS_PLOT_OPTIONS_INIT;
    ks_results *results = NULL;
    ks_plan *plan = make_plan(true);
    KT_FAILS(ks_plot_check(plan, body, NULL, NULL, &err), KS_EINVAL,
             "among cpu__time_duration.sum, twice");
    options.metrics = other;
    options.metric_count = 1;
    KT_OK(ks_plot_check(plan, body, NULL, &options, &err)); /* it may come */
    KT_OK(ks_run(plan, body, NULL, &results, &err));
    const char *path = kt_path("x.svg");
    KT_OK(ks_results_plot(results, path, &options, &err));
    char *picture = kt_read(path);
    KT_HAS(picture, ">other (x)<");
    assert_null(strstr(picture, "twice"));
    free(picture);
    const char *const wrong[] = {"neither"};
    options.metrics = wrong;
    KT_FAILS(
        ks_results_plot(results, path, &options, &err), KS_ENOTFOUND,
        "there is no metric 'neither' to plot; measured: cpu__time_duration.sum, twice, other");
    picture = kt_read(path); /* the good one is still there */
    KT_HAS(picture, ">other (x)<");
    free(picture);
    ks_results_free(results);
    ks_plan_free(plan);
}

static void wrong_calls_are_told(void **state)
{
    (void)state;
    KT_FAILS(ks_results_plot(NULL, "x.svg", NULL, &err), KS_EINVAL, "no results (NULL)");
    KT_FAILS(ks_results_plot_text(NULL, stdout, NULL, &err), KS_EINVAL, "no results (NULL)");
    ks_results *results = NULL;
    ks_plan *plan = make_plan(false);
    ks_plot_options options = KS_PLOT_OPTIONS_INIT;
    KT_OK(ks_run(plan, body, NULL, &results, &err));
    KT_FAILS(ks_results_plot(results, NULL, NULL, &err), KS_EINVAL, "without a name");
    KT_FAILS(ks_results_plot(results, "x", NULL, &err), KS_EINVAL, "cannot plot into x");
    options.metric_count = 1;
    KT_FAILS(ks_results_plot_text(results, stdout, &options, &err), KS_EINVAL, "no metrics (NULL)");
    ks_results_free(results);
    ks_plan_free(plan);
}

/* A plan, its check, its run and a plot. */
static ks_status scene(void *arg, ks_error *e)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_plan_new(&plan, e);
    ks_plan_axis_spec(plan, "n=1", e);
    ks_plan_runs(plan, 2, e);
    if (e->code == KS_OK) {
        ks_plot_check(plan, body, arg, NULL, e);
    }
    ks_run(plan, body, NULL, &results, e);
    if (e->code == KS_OK) {
        ks_results_plot(results, arg, NULL, e);
    }
    ks_results_free(results);
    ks_plan_free(plan);
    return e->code;
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", kt_path("x.svg"));
    assert_true(kt_oom_sweep(scene, path) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plot_is_checked_before_the_run),
        cmocka_unit_test(derived_metrics_can_be_plotted_whatever_they_are_called),
        cmocka_unit_test(wrong_calls_are_told),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
