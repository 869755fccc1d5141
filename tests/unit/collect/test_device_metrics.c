/* Metrics of devices: what a driver tells, and what follows from it. */
#include "harness.h"

#include <ctype.h>

#include "collect/nvidia/device_metrics.h"

static ks_error err;
static int broken; /**< attribute that cannot be read */

/** Of an H100, as ncu shows them; each other attribute is its number. */
static ks_cuda_result tell_attribute(int *value, int number, ks_cuda_device device)
{
    assert_int_equal(device, 2);
    if (number == broken || number == 92 || number > 140) {
        return 1;
    }
    switch (number) {
    case 10:
        *value = 32;
        break;
    case 16:
        *value = 132;
        break;
    case 36:
        *value = 2619000;
        break;
    case 37:
        *value = 5120;
        break;
    case 39:
        *value = 2048;
        break;
    case 75:
        *value = 9;
        break;
    case 106:
        *value = 32;
        break;
    case 134:
        *value = -1;
        break;
    default:
        *value = number;
    }
    return 0;
}

static ks_cuda_result tell_memory(size_t *bytes, ks_cuda_device device)
{
    (void)device;
    *bytes = (size_t)80 << 30;
    return 0;
}

static ks_cuda_result tell_error(ks_cuda_result result, const char **name)
{
    (void)result;
    *name = "CUDA_ERROR_INVALID_VALUE";
    return 0;
}

static const ks_cuda cuda = {
    .attribute = tell_attribute, .device_memory = tell_memory, .error_name = tell_error};

static ks_device_limits read_limits(void)
{
    ks_device_limits limits;
    broken = 0;
    KT_OK(ks_device_limits_read(&cuda, 2, &limits, &err));
    return limits;
}

static double value(const ks_device_limits *limits, const char *name)
{
    double out = -100;
    const char *why = NULL;
    const ks_device_metric *metric = ks_device_metric_find(name);
    assert_non_null(metric);
    if (!ks_device_metric_value(metric, limits, &out, &why)) {
        fail_msg("%s is missing: %s", name, why);
    }
    return out;
}

static const char *missing(const ks_device_limits *limits, const char *name)
{
    double out = -100;
    const char *why = NULL;
    const ks_device_metric *metric = ks_device_metric_find(name);
    assert_non_null(metric);
    assert_false(ks_device_metric_value(metric, limits, &out, &why));
    assert_true(out == -100);
    return why;
}

#define D(name) value(&limits, "device__attribute_" name)

static void attributes_are_told_by_name(void **state)
{
    (void)state;
    ks_device_limits limits = read_limits();
    KT_F64(D("multiprocessor_count"), 132);
    KT_F64(D("max_threads_per_block"), 1);
    KT_F64(D("compute_capability_major"), 9);
    KT_F64(D("host_numa_id"), -1);
    KT_F64(D("gpu_pci_device_id"), 139);
    KT_F64(D("gpu_pci_sub_system_id"), 140);
    KT_F64(D("virtual_address_management_supported"), 102);
    KT_HAS(missing(&limits, "device__attribute_can_use_stream_mem_ops_v1"), "this driver");
    KT_HAS(missing(&limits, "device__attribute_host_memory_pools_supported"), "this driver");
}

static void ncus_own_follow_from_them(void **state)
{
    (void)state;
    ks_device_limits limits = read_limits();
    KT_F64(D("limits_max_cta_per_sm"), 32);
    KT_F64(D("limits_num_tpcs"), 66);
    KT_F64(D("fb_bus_width"), 5120);
    KT_F64(D("max_mem_frequency_khz"), 2619000);
    KT_F64(D("max_warps_per_multiprocessor"), 64);
    KT_F64(D("max_warps_per_scheduler"), 16);
    KT_F64(D("num_schedulers_per_multiprocessor"), 4);
    KT_F64(D("max_ipc_per_multiprocessor"), 4);
    KT_F64(D("max_ipc_per_scheduler"), 1);
    KT_F64(D("max_registers_per_thread"), 255);
    KT_F64(D("device_index"), 2);
    KT_F64(D("total_memory"), 85899345920.0);
    limits.memory_bytes = 0;
    missing(&limits, "device__attribute_total_memory");
    limits.values[KS_ATTRIBUTE_SM_COUNT] = 5;
    missing(&limits, "device__attribute_limits_num_tpcs");
    limits.values[KS_ATTRIBUTE_MAJOR] = 13;
    missing(&limits, "device__attribute_num_schedulers_per_multiprocessor");
    limits.known[KS_ATTRIBUTE_WARP_SIZE] = false;
    missing(&limits, "device__attribute_max_warps_per_multiprocessor");
}

static void a_device_that_tells_nothing_is_an_error(void **state)
{
    (void)state;
    ks_device_limits limits = {.device = 7};
    broken = KS_ATTRIBUTE_SM_COUNT;
    KT_FAILS(ks_device_limits_read(&cuda, 2, &limits, &err), KS_EVENDOR,
             "attributes of device 2: cuDeviceGetAttribute gave CUDA_ERROR_INVALID_VALUE (1)");
    assert_int_equal(limits.device, 7);
}

static void the_limits_of_the_numbers_are_kept(void **state)
{
    (void)state;
    ks_device_limits limits = read_limits();
    int out = 5;
    assert_false(ks_device_limit(&limits, 0, &out));
    assert_false(ks_device_limit(&limits, KS_CUDA_LAST_ATTRIBUTE + 1, &out));
    assert_int_equal(out, 5);
}

/** ncu's names are the driver's in lower case. */
static void check_name(const char *upper, const char *name)
{
    assert_int_equal(strlen(upper), strlen(name));
    for (size_t i = 0; upper[i] != '\0'; i++) {
        assert_int_equal(tolower((unsigned char)upper[i]), name[i]);
    }
}

static void names_are_the_drivers_in_lower_case(void **state)
{
    (void)state;
#define CHECK(upper, number, name, description) check_name(#upper, name);
    KS_CUDA_DEVICE_ATTRIBUTES(CHECK)
#undef CHECK
    for (size_t i = 0; i < ks_device_metric_count(); i++) {
        const ks_device_metric *metric = ks_device_metric_at(i);
        assert_ptr_equal(ks_device_metric_find(metric->name), metric);
        assert_null(ks_device_metric_refusal(metric->name));
    }
}

static void what_is_not_offered_has_a_reason(void **state)
{
    (void)state;
    KT_HAS(ks_device_metric_refusal("device__attribute_display_name"), "a text");
    KT_HAS(ks_device_metric_refusal("device__attribute_fbp_count"), "does not tell it");
    assert_null(ks_device_metric_refusal("device__attribute_nonsense"));
    assert_null(ks_device_metric_refusal("display_name"));
    assert_null(ks_device_metric_find("device__attribute_display_name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_told_by_name),
        cmocka_unit_test(ncus_own_follow_from_them),
        cmocka_unit_test(a_device_that_tells_nothing_is_an_error),
        cmocka_unit_test(the_limits_of_the_numbers_are_kept),
        cmocka_unit_test(names_are_the_drivers_in_lower_case),
        cmocka_unit_test(what_is_not_offered_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
