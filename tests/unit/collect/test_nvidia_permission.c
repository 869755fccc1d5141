/* Counters that a user may not read (case C12): one message, and what needs no counters works. */
#include "fakes/nvidia/fixture.h"

#include "collect/nvidia/permission.h"
#include "collect/nvidia/tracing/api.h"
#include "fakes/fake_activity.h"

#define TRACED "kernel__time_duration.sum"

/* A launch as both fakes see it. */
static ks_status launch_one(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        fake_gpu_kernel("A", 1500);
    }
    return KS_OK;
}

static int start_refused(void **state)
{
    start(state);
    kt_write(kt_path("params"), "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
    ks_driver_params = kt_path("params");
    fake_activity_reset((fake_activity_script){0});
    know_kernels();
    fake_script("cuptiRangeProfilerEnable=35; cuptiRangeProfilerStart=35");
    return 0;
}

static int stop_refused(void **state)
{
    ks_activity_use(NULL);
    return stop(state);
}

static void plan_for(const char *first, const char *second)
{
    ks_plan_free(plan);
    KT_OK(ks_plan_new(&plan, &err));
    ask(first);
    if (second != NULL) {
        ask(second);
    }
}

static void counters_are_refused_with_name_cause_and_cure(void **state)
{
    (void)state;
    static const char *const metrics[] = {TIME, READ, THROUGHPUT};
    static const char *const parts[] = {
        "cannot have the GPU's counters (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35): this user may "
        "not read GPU counters",
        "give the container the capability (docker run --cap-add SYS_ADMIN)",
        "NVreg_RestrictProfilingToAdminUsers=0", "kernel__time_duration.sum needs no counters",
        "RmProfilingAdminOnly is 1 in the driver's parameters"}; /* the end: nothing was cut */
    for (size_t m = 0; m < 3; m++) {
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            plan_for(metrics[m], NULL);
            measure_in_vain(launch_one, NULL, KS_EPERM, parts[i]);
            assert_int_equal(ks_table_rows(table()), 0);
            assert_false(warned("privileges")); /* it is told once */
        }
    }
}

static void where_the_driver_does_not_tell_nothing_is_said_of_it(void **state)
{
    (void)state;
    plan_for(READ, NULL);
    kt_write(kt_path("params"), "RmProfilingAdminOnly: 0\n");
    measure_in_vain(launch_one, NULL, KS_EPERM, "RmProfilingAdminOnly is 0");
    ks_driver_params = kt_path("nowhere");
    ks_results_free(results);
    results = NULL;
    assert_int_equal(ks_run(plan, launch_one, NULL, &results, &err), KS_EPERM);
    assert_null(strstr(err.message, "RmProfilingAdminOnly"));
    ks_error_clear(&err);
}

static void tracing_works_where_counters_are_refused(void **state)
{
    (void)state;
    plan_for(TRACED, "kernel__count.sum");
    measure(launch_one, NULL);
    KT_F64(mean("work", TRACED), 1500);
    KT_F64(mean("work", "kernel__count.sum"), 1);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 0); /* it did not even ask */
}

static void tracing_never_takes_the_place_of_counters(void **state)
{
    (void)state;
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        plan_for(TIME, TRACED);
        KT_OK(ks_plan_tolerant(plan, tolerant != 0, &err));
        measure_in_vain(launch_one, NULL, KS_EPERM, "may not read GPU counters");
        assert_int_equal(ks_table_rows(table()), 0);
    }
}

int main(void)
{
#define REFUSED(test) cmocka_unit_test_setup_teardown(test, start_refused, stop_refused)
    const struct CMUnitTest tests[] = {
        REFUSED(counters_are_refused_with_name_cause_and_cure),
        REFUSED(where_the_driver_does_not_tell_nothing_is_said_of_it),
        REFUSED(tracing_works_where_counters_are_refused),
        REFUSED(tracing_never_takes_the_place_of_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
