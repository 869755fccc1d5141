/* Machines whose driver or CUPTI cannot be used; the fakes are not linked but named. */
#include "harness.h"

#include <dlfcn.h>
#include <stdlib.h>

static ks_error err;

static ks_status body(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("work") {
    }
    return KS_OK;
}

static void measure_in_vain(const char *part)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_metric(plan, "gpu__time_duration.sum", &err));
    KT_FAILS(ks_run(plan, body, NULL, &results, &err), KS_UNAVAILABLE, part);
    assert_null(results);
    ks_plan_free(plan);
}

static void measure_of_cpu(void)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_run(plan, body, NULL, &results, &err));
    ks_results_free(results);
    ks_plan_free(plan);
}

static void without_a_driver_gpu_metrics_are_refused_and_others_not(void **state)
{
    (void)state;
    setenv("KERNSIGHT_CUPTI_LIB", FAKE_LIBRARIES "/libcupti.so.13", 1);
    setenv("KERNSIGHT_CUDA_LIB", "/no/libcuda.so.1", 1);
    measure_in_vain("there is no NVIDIA driver here: /no/libcuda.so.1");
    measure_of_cpu();
}

static void a_driver_without_a_device_is_told(void **state)
{
    (void)state;
    void (*script)(const char *) = NULL;
    void *driver = dlopen(FAKE_LIBRARIES "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(driver);
    *(void **)&script = dlsym(driver, "fake_script");
    setenv("KERNSIGHT_CUDA_LIB", FAKE_LIBRARIES "/libcuda.so.1", 1);
    script("devices=0");
    measure_in_vain("cannot be used: CUDA_ERROR_NO_DEVICE (100)");
    measure_of_cpu();
    script("");
}

static void an_old_cupti_is_told_with_what_is_needed(void **state)
{
    (void)state;
    setenv("KERNSIGHT_CUDA_LIB", FAKE_LIBRARIES "/libcuda.so.1", 1);
    setenv("KERNSIGHT_CUPTI_LIB", FAKE_LIBRARIES "/old/libcupti.so.13", 1);
    measure_in_vain("(the driver is for CUDA 13.0)"); /* C14 */
    measure_in_vain(
        "/old/libcupti.so.13: its version is 24, and 26 (CUPTI 12.8) or later is needed");
}

static void a_cupti_that_lacks_a_function_is_told_with_its_name(void **state)
{
    (void)state;
    setenv("KERNSIGHT_CUPTI_LIB", FAKE_LIBRARIES "/no_push/libcupti.so.13", 1);
    measure_in_vain("(the driver is for CUDA 13.0)"); /* C14 */
    measure_in_vain("/no_push/libcupti.so.13: it has no function cuptiRangeProfilerPushRange");
    measure_of_cpu();
}

static void a_file_that_is_no_library_and_none_at_all_are_told(void **state) /* C14 */
{
    (void)state;
    const char *empty = kt_path("libcupti.so.13");
    kt_write(empty, "");
    setenv("KERNSIGHT_CUPTI_LIB", empty, 1);
    measure_in_vain(empty);
    measure_in_vain("12.8");
    measure_in_vain("(the driver is for CUDA 13.0)");
    measure_of_cpu();
    setenv("KERNSIGHT_CUPTI_LIB", "/nowhere/libcupti.so.13", 1);
    measure_in_vain("/nowhere/libcupti.so.13");
    measure_in_vain("12.8");
    measure_in_vain("(the driver is for CUDA 13.0)");
    measure_of_cpu();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_driver_gpu_metrics_are_refused_and_others_not),
        cmocka_unit_test(a_driver_without_a_device_is_told),
        cmocka_unit_test(an_old_cupti_is_told_with_what_is_needed),
        cmocka_unit_test(a_file_that_is_no_library_and_none_at_all_are_told),
        cmocka_unit_test(a_cupti_that_lacks_a_function_is_told_with_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
