/* Every allocation of a whole measurement fails in turn: nothing leaks, nothing is half done. */
#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/run.h"
#include "base/error.h"
#include "collect/clock/clock.h"
#include "collect/perf/perf.h"
#include "fakes/fake_collector.h"
#include "fakes/fake_perf.h"
#include "output/csv_read.h"

static const ks_collector_ops *const both[] = {&ks_clock_ops, &fake_ops, NULL};

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    KS_ANNOTATE("outer") {
        KS_ANNOTATE("inner") {
            fake_launch("kernel", 1, 2, 3);
        }
    }
    if (ks_call_i64(call, "n") == 2 && !ks_call_is_warmup(call)) {
        return ks_fail(err, KS_EBODY, "user", 0, "boom");
    }
    return KS_OK;
}

static ks_status derive(ks_derivation *d, const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    return ks_derivation_set(d, "derived", 7, "x", err);
}

static ks_status info(const ks_call *call, const char *annotation, ks_value *out, void *user,
                      ks_error *err)
{
    (void)call;
    (void)annotation;
    (void)user;
    (void)err;
    *out = ks_text("some text");
    return KS_OK;
}

static ks_status build(ks_plan **out, ks_error *err)
{
    KS_TRY(ks_plan_new(out, err));
    ks_plan_axis_spec(*out, "n=1,2", err);
    ks_plan_axis_spec(*out, "kind='a, b'", err);
    ks_plan_runs(*out, 2, err);
    ks_plan_metric(*out, "cpu__*", err);
    ks_plan_metric(*out, "fake__*", err);
    ks_plan_derive(*out, "derived", derive, NULL, err);
    ks_plan_info(*out, "note", KS_SCOPE_ANNOTATION, info, NULL, err);
    ks_plan_info(*out, "conf", KS_SCOPE_CONFIG, info, NULL, err);
    ks_plan_fact(*out, "command", "test", err);
    ks_plan_normalize(*out, "outer/inner", err);
    return ks_plan_tolerant(*out, true, err);
}

/* All outputs of a result, to a memory stream that is not the library's. */
static ks_status write_all(const ks_results *results, ks_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    const ks_print_options narrow = {sizeof narrow, 60, true, false};
    ks_status status = ks_results_csv(results, to, err);
    status = status == KS_OK ? ks_results_json(results, to, err) : status;
    status = status == KS_OK ? ks_results_print(results, to, &narrow, err) : status;
    status = status == KS_OK ? ks_table_print(ks_results_table(results), to, &narrow, err) : status;
    ks_table *launches = NULL;
    ks_table *samples = NULL;
    ks_table *kernels = NULL;
    const ks_print_options all = {sizeof all, 80, false, true, true};
    status = status == KS_OK ? ks_results_print(results, to, &all, err) : status;
    status = status == KS_OK ? ks_results_kernels(results, &kernels, err) : status;
    status = status == KS_OK ? ks_results_launches(results, &launches, err) : status;
    status = status == KS_OK ? ks_results_samples(results, &samples, err) : status;
    ks_table_free(launches);
    ks_table_free(samples);
    ks_table_free(kernels);
    fclose(to);
    free(text);
    return status;
}

/* @param arg  the order of the configs */
static ks_status measure(void *arg, ks_error *err)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    fake_reset((fake_script){0});
    ks_status status = build(&plan, err);
    if (status == KS_OK) {
        status = ks_plan_order(plan, *(const ks_order *)arg, 1, err);
    }
    if (status == KS_OK) {
        status = ks_run_with(both, plan, body, NULL, &results, err);
    }
    ks_plan_free(plan);
    if (status == KS_OK) {
        status = write_all(results, err);
    } else if (results != NULL) {
        /* what is there can be read, and does not look like all of it */
        ks_error other = KS_ERROR_INIT;
        assert_false(ks_results_complete(results));
        assert_int_equal(write_all(results, &other), KS_OK);
    }
    ks_results_free(results);
    return status;
}

static void a_measurement_survives_every_failed_allocation(void **state)
{
    (void)state;
    ks_order orders[] = {KS_ORDER_GIVEN, KS_ORDER_INTERLEAVED};
    for (int i = 0; i < 2; i++) {
        size_t allocations = kt_oom_sweep(measure, &orders[i]);
        print_message("%zu allocations\n", allocations);
        assert_true(allocations > 100);
    }
}

/* More launches than anything that keeps them has room for at first, of as many kernels. */
static ks_status launch_often(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    for (int i = 0; i < 40; i++) {
        char kernel[] = "kernel 00, and some more of its name";
        kernel[7] = (char)('0' + i / 10);
        kernel[8] = (char)('0' + i % 10);
        KS_ANNOTATE("region") {
            fake_launch(kernel, 1, 2, 3);
        }
    }
    return KS_OK;
}

static ks_status measure_launches(void *arg, ks_error *err)
{
    (void)arg;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    fake_reset((fake_script){0});
    ks_status status = ks_plan_new(&plan, err);
    if (status == KS_OK) {
        ks_plan_runs(plan, 2, err);
        status = ks_plan_metric(plan, "fake__*", err);
    }
    if (status == KS_OK) {
        status = ks_run_with(fake_collectors, plan, launch_often, NULL, &results, err);
    }
    if (status == KS_OK) {
        status = write_all(results, err);
    }
    ks_plan_free(plan);
    ks_results_free(results);
    return status;
}

static void many_launches_survive_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(kt_oom_sweep(measure_launches, NULL) > 50);
}

static ks_status run_program(void *arg, ks_error *err)
{
    (void)arg;
    const char *argv[] = {"true", "{n}"};
    const char *env[] = {"KS_TEST={n}"};
    ks_program_options options = KS_PROGRAM_OPTIONS_INIT;
    ks_plan *plan = NULL;
    ks_program *program = NULL;
    ks_results *results = NULL;
    options.env = env;
    options.env_count = 1;
    options.prepare = "true {n}";
    options.cwd = "/";
    ks_status status = ks_plan_new(&plan, err);
    if (status == KS_OK) {
        status = ks_plan_axis_spec(plan, "n=1", err);
    }
    if (status == KS_OK) {
        status = ks_program_new(argv, 2, &options, &program, err);
    }
    if (status == KS_OK) {
        status = ks_run(plan, ks_program_body, program, &results, err);
    }
    ks_results_free(results);
    ks_program_free(program);
    ks_plan_free(plan);
    return status;
}

static void measuring_a_program_survives_every_failed_allocation(void **state)
{
    (void)state;
    if (!kt_has_programs()) {
        skip();
    }
    clearenv(); /* the environment is copied: keep it short */
    setenv("PATH", "/usr/bin:/bin", 1);
    assert_true(kt_oom_sweep(run_program, NULL) > 20);
}

static const ks_collector_ops *const clock_and_perf[] = {&ks_clock_ops, &ks_perf_ops, NULL};

/* Leaves a visit open in its second run. */
static ks_status count(const ks_call *call, void *user, ks_error *err)
{
    ks_token token = KS_TOKEN_INIT;
    (void)user;
    KS_ANNOTATE("work") {
        fake_perf_work(100);
    }
    return ks_call_run(call) == 1 ? ks_annotate_begin("open", &token, err) : KS_OK;
}

static ks_status plan_counting(ks_plan **out, ks_error *err)
{
    KS_TRY(ks_plan_new(out, err));
    ks_plan_runs(*out, 2, err);
    ks_plan_metric(*out, "cpu__c*", err);
    ks_plan_metric(*out, "cpu__ipc.ratio", err);
    ks_plan_metric(*out, "perf::r1c2", err);
    return ks_plan_tolerant(*out, true, err);
}

/* In several passes, multiplexed, so that there is something to remark. */
static ks_status count_regions(void *arg, ks_error *err)
{
    (void)arg;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    fake_perf_reset((fake_perf_script){.counters = 2, .idle_share = 0.5});
    ks_status status = plan_counting(&plan, err);
    if (status == KS_OK) {
        status = ks_run_with(clock_and_perf, plan, count, NULL, &results, err);
    }
    if (status == KS_OK) {
        status = write_all(results, err);
    }
    ks_plan_free(plan);
    ks_results_free(results);
    assert_int_equal(fake_perf.open, 0);
    ks_perf_use(NULL);
    return status;
}

static ks_status count_program(void *arg, ks_error *err)
{
    (void)arg;
    const char *argv[] = {"true"};
    ks_plan *plan = NULL;
    ks_program *program = NULL;
    ks_results *results = NULL;
    fake_perf_reset((fake_perf_script){.counters = 4});
    ks_status status = plan_counting(&plan, err);
    if (status == KS_OK) {
        status = ks_program_new(argv, 1, NULL, &program, err);
    }
    if (status == KS_OK) {
        status = ks_run_with(clock_and_perf, plan, ks_program_body, program, &results, err);
    }
    ks_results_free(results);
    ks_program_free(program);
    ks_plan_free(plan);
    assert_int_equal(fake_perf.open, 0);
    ks_perf_use(NULL);
    return status;
}

static void counting_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(kt_oom_sweep(count_regions, NULL) > 50);
    if (kt_has_programs()) {
        assert_true(kt_oom_sweep(count_program, NULL) > 50);
    }
}

static ks_status read_csv(void *arg, ks_error *err)
{
    (void)arg;
    char text[] = "a,b,c\n1,\"x\"\"y\",2.5\n2,,True\n";
    ks_table *table = NULL;
    ks_status status = ks_table_parse_csv(text, sizeof text - 1, &table, err);
    ks_table_free(table);
    return status;
}

static ks_status list_metrics(void *arg, ks_error *err)
{
    (void)arg;
    ks_table *table = NULL;
    ks_status status = ks_metrics_table(NULL, &table, err);
    ks_table_free(table);
    if (status == KS_OK) {
        table = NULL;
        status = ks_probe_table(&table, err);
        ks_table_free(table);
    }
    return status;
}

static void reading_and_listing_survive_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(kt_oom_sweep(read_csv, NULL) > 5);
    setenv("KERNSIGHT_CUPTI_LIB", "/no/libcupti.so.13", 1); /* as on a machine without one */
    assert_true(kt_oom_sweep(list_metrics, NULL) > 5);
    unsetenv("KERNSIGHT_CUPTI_LIB");
    assert_true(kt_oom_sweep(list_metrics, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measurement_survives_every_failed_allocation),
        cmocka_unit_test(many_launches_survive_every_failed_allocation),
        cmocka_unit_test(reading_and_listing_survive_every_failed_allocation),
        cmocka_unit_test(measuring_a_program_survives_every_failed_allocation),
        cmocka_unit_test(counting_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
