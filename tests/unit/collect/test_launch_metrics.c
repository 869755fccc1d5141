/* Metrics of launches: expected values are worked out by hand, and agree with what ncu tells of
 * launches like these (to the digits that it shows). */
#include "harness.h"

#include "collect/nvidia/launch_metrics.h"
#include "collect/nvidia/occupancy.h"

static const char *why;

static ks_device_limits device(int major, int minor, int sms, int threads, int blocks, int shared,
                               int reserved)
{
    ks_device_limits limits = {.device = 0};
    const int values[][2] = {
        {KS_ATTRIBUTE_MAJOR, major},          {KS_ATTRIBUTE_MINOR, minor},
        {KS_ATTRIBUTE_SM_COUNT, sms},         {KS_ATTRIBUTE_SM_THREADS, threads},
        {KS_ATTRIBUTE_SM_BLOCKS, blocks},     {KS_ATTRIBUTE_SM_SHARED, shared},
        {KS_ATTRIBUTE_WARP_SIZE, 32},         {KS_ATTRIBUTE_RESERVED_SHARED, reserved},
        {KS_ATTRIBUTE_SM_REGISTERS, 65536},   {KS_ATTRIBUTE_MPS, 0},
        {KS_ATTRIBUTE_BLOCK_REGISTERS, 65536}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        limits.known[values[i][0]] = true;
        limits.values[values[i][0]] = values[i][1];
    }
    return limits;
}

static ks_device_limits h100(void)
{
    return device(9, 0, 132, 2048, 32, 228 * 1024, 1024);
}

static ks_device_limits a100(void)
{
    return device(8, 0, 108, 2048, 32, 164 * 1024, 1024);
}

static ks_device_limits rtx3090(void)
{
    return device(8, 6, 82, 1536, 16, 100 * 1024, 1024);
}

static ks_device_limits t4(void)
{
    return device(7, 5, 40, 1024, 16, 64 * 1024, 0);
}

static ks_launch_shape launch(unsigned grid, unsigned block, int registers, int static_shared,
                              unsigned dynamic_shared)
{
    ks_launch_shape shape;
    ks_launch_shape_init(&shape);
    shape.green = 0;
    shape.grid[0] = grid;
    shape.block[0] = block;
    shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
    shape.registers = registers;
    shape.static_shared = static_shared;
    shape.dynamic_shared = dynamic_shared;
    return shape;
}

static double value(const char *name, const ks_launch_shape *shape, const ks_device_limits *limits)
{
    double out = -1;
    const ks_launch_metric *metric = ks_launch_metric_find(name);
    assert_non_null(metric);
    why = NULL;
    if (!ks_launch_metric_value(metric, shape, limits, &out, &why)) {
        fail_msg("%s is missing: %s", name, why);
    }
    return out;
}

static const char *missing(const char *name, const ks_launch_shape *shape,
                           const ks_device_limits *limits)
{
    double out = -1;
    const ks_launch_metric *metric = ks_launch_metric_find(name);
    assert_non_null(metric);
    why = NULL;
    assert_false(ks_launch_metric_value(metric, shape, limits, &out, &why));
    assert_true(out == -1);
    assert_non_null(why);
    return why;
}

#define IS(name, expected) KT_F64(value(name, &shape, &limits), expected)

static void shared_memory_limits_a_launch_on_an_h100(void **state)
{
    (void)state;
    ks_device_limits limits = h100();
    ks_launch_shape shape = launch(896, 128, 63, 1, 30740);
    shape.active_blocks = 7;
    IS("launch__grid_size", 896);
    IS("launch__block_size", 128);
    IS("launch__thread_count", 114688);
    IS("launch__registers_per_thread", 63);
    IS("launch__registers_per_thread_allocated", 64); /* 2016 of a warp, of 256 each: 2048 */
    IS("launch__shared_mem_per_block_static", 1);
    IS("launch__shared_mem_per_block_dynamic", 30740);
    IS("launch__shared_mem_per_block_driver", 1024);
    IS("launch__shared_mem_per_block", 31765);
    IS("launch__shared_mem_per_block_allocated", 31872); /* 249 x 128 */
    IS("launch__occupancy_limit_blocks", 32);
    IS("launch__occupancy_limit_warps", 16);
    IS("launch__occupancy_limit_registers", 8); /* 4 x floor(16384 / 2048) warps, 4 a block */
    IS("launch__occupancy_limit_shared_mem", 7);
    IS("launch__shared_mem_config_size", 233472); /* 7 blocks take 223104, more than 196 KiB */
    IS("launch__sm_count", 132);
    IS("launch__tpc_count", 66);
    KT_NEAR(value("launch__waves_per_multiprocessor", &shape, &limits), 896.0 / 924, 1e-15);
    IS("sm__maximum_warps_avg_per_active_cycle", 28);
    IS("smsp__maximum_warps_avg_per_active_cycle", 7);
    IS("sm__maximum_warps_per_active_cycle_pct", 43.75);
}

static void the_size_of_shared_memory_comes_of_the_record(void **state)
{
    (void)state;
    ks_device_limits limits = h100();
    ks_launch_shape shape = launch(16384, 1024, 32, 12288, 0);
    shape.active_blocks = 2;
    shape.shared_config = 32768;
    IS("launch__shared_mem_config_size", 32768);
    IS("launch__occupancy_limit_shared_mem", 2); /* 13312 a block */
    IS("launch__occupancy_limit_registers", 2);  /* 1024 a warp, 64 warps */
    IS("launch__occupancy_limit_warps", 2);
    IS("sm__maximum_warps_per_active_cycle_pct", 100);
    KT_NEAR(value("launch__waves_per_multiprocessor", &shape, &limits), 62.06, 1e-4);
    shape = launch(4096, 256, 16, 0, 0); /* with the driver's 1 KiB alone */
    shape.shared_config = 32768;
    IS("launch__occupancy_limit_shared_mem", 32);
    IS("launch__occupancy_limit_registers", 16);
}

static void without_a_record_the_size_is_not_guessed(void **state)
{
    (void)state;
    ks_device_limits limits = a100();
    ks_launch_shape shape = launch(512, 256, 106, 0, 49152);
    shape.active_blocks = 2;
    IS("launch__occupancy_limit_registers", 2); /* 3584 a warp: 4 of a partition, 16 of 8 a block */
    IS("launch__shared_mem_per_block_allocated", 50176);
    KT_HAS(missing("launch__occupancy_limit_shared_mem", &shape, &limits), "activity record");
    KT_HAS(missing("launch__shared_mem_config_size", &shape, &limits), "activity record");
    KT_NEAR(value("launch__waves_per_multiprocessor", &shape, &limits), 512.0 / 216, 1e-15);
    shape.shared_config = 102400;
    IS("launch__occupancy_limit_shared_mem", 2);
    /* one block and no more, whatever the size */
    shape = launch(1, 256, 32, 0, 120000);
    shape.active_blocks = 1;
    IS("launch__occupancy_limit_shared_mem", 1);
    KT_HAS(missing("launch__shared_mem_config_size", &shape, &limits), "activity record");
}

static void who_asks_for_a_share_may_get_less_than_all(void **state)
{
    (void)state;
    ks_device_limits limits = rtx3090();
    ks_launch_shape shape = launch(47000, 256, 40, 0, 16384);
    IS("launch__occupancy_limit_registers", 6);
    IS("launch__occupancy_limit_warps", 6);
    IS("launch__occupancy_limit_shared_mem", 5); /* 102400 / 17408 */
    IS("launch__shared_mem_config_size", 102400);
    KT_NEAR(value("launch__waves_per_multiprocessor", &shape, &limits), 114.63, 1e-4);
    KT_NEAR(value("sm__maximum_warps_per_active_cycle_pct", &shape, &limits), 250.0 / 3, 1e-15);
    shape.carveout_asked = true;
    missing("launch__occupancy_limit_shared_mem", &shape, &limits);
    missing("launch__shared_mem_config_size", &shape, &limits);
}

static void turing_reserves_nothing(void **state)
{
    (void)state;
    ks_device_limits limits = t4();
    ks_launch_shape shape = launch(16384, 256, 39, 2048, 0);
    IS("launch__registers_per_thread_allocated", 40);
    IS("launch__shared_mem_per_block_driver", 0);
    IS("launch__shared_mem_per_block_allocated", 2048);
    IS("launch__occupancy_limit_blocks", 16);
    IS("launch__occupancy_limit_registers", 6);
    IS("launch__occupancy_limit_warps", 4);
    IS("launch__waves_per_multiprocessor", 102.4);
    IS("sm__maximum_warps_per_active_cycle_pct", 100);
    shape.shared_config = 32768;
    IS("launch__occupancy_limit_shared_mem", 16);
    shape = launch(1, 32, 16, 0, 0); /* takes none */
    IS("launch__occupancy_limit_shared_mem", 16);
    shape = launch(1, 32, 16, 1, 0);
    IS("launch__shared_mem_per_block_allocated", 256); /* 128 from 8.0 on */
}

static void too_many_registers_fit_nowhere(void **state)
{
    (void)state;
    ks_device_limits limits = a100();
    ks_launch_shape shape = launch(1, 1024, 128, 0, 0);
    IS("launch__occupancy_limit_registers", 0); /* 4096 a warp, 32 warps, of 65536 */
    KT_HAS(missing("launch__waves_per_multiprocessor", &shape, &limits), "no block fits");
    IS("sm__maximum_warps_per_active_cycle_pct", 0);
}

static void clusters_are_told(void **state)
{
    (void)state;
    ks_device_limits limits = device(12, 0, 36, 1536, 24, 100 * 1024, 1024);
    ks_launch_shape shape = launch(384, 256, 16, 1024, 0);
    IS("launch__cluster_size", 0);
    IS("launch__preferred_cluster_size", 0);
    shape.cluster[0] = 2;
    shape.cluster[1] = shape.cluster[2] = 1;
    shape.active_clusters = 36;
    shape.potential_cluster = 8;
    shape.active_blocks = 6;
    IS("launch__cluster_size", 2);
    IS("launch__cluster_dim_x", 2);
    IS("launch__cluster_dim_z", 1);
    IS("launch__cluster_max_active", 36);
    IS("launch__cluster_max_potential_size", 8);
    KT_NEAR(value("launch__occupancy_cluster_pct", &shape, &limits), 100 * 72.0 / 864, 1e-15);
    shape.active_clusters = 0;
    shape.cluster[0] = 0;
    IS("launch__occupancy_cluster_pct", 0);
}

static void what_is_not_known_is_missing(void **state)
{
    (void)state;
    ks_device_limits limits = h100();
    ks_device_limits unknown = {.device = 3};
    ks_launch_shape shape;
    ks_launch_shape_init(&shape);
    shape.block[0] = shape.block[1] = shape.block[2] = 1;
    size_t values = 0;
    for (size_t i = 0; i < ks_launch_metric_count(); i++) {
        double out = -1;
        why = NULL;
        values += ks_launch_metric_value(ks_launch_metric_at(i), &shape, &unknown, &out, &why);
        assert_true(out != -1 || why != NULL);
    }
    assert_int_equal(values, 23); /* of the call, its dynamic shared memory, the device's number */
    KT_HAS(missing("launch__occupancy_limit_warps", &shape, &limits), "the kernel's registers");
    KT_HAS(missing("launch__sm_count", &shape, &limits), "green");
    KT_HAS(missing("launch__stream_id", &shape, &limits), "CUPTI");
    shape = launch(1, 32, 16, 0, 0);
    KT_HAS(missing("launch__occupancy_limit_warps", &shape, &unknown), "limits of the device");
    KT_HAS(missing("sm__maximum_warps_per_active_cycle_pct", &shape, &limits), "fit on an SM");
    shape.green = 1;
    KT_HAS(missing("launch__sm_count", &shape, &limits), "a green context has some");
    limits.values[KS_ATTRIBUTE_MAJOR] = 13;
    KT_HAS(missing("launch__occupancy_limit_warps", &shape, &limits), "compute capability");
}

static void every_metric_is_found_by_its_name_and_none_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ks_launch_metric_count(); i++) {
        const ks_launch_metric *metric = ks_launch_metric_at(i);
        assert_ptr_equal(ks_launch_metric_find(metric->name), metric);
        assert_null(ks_launch_metric_refusal(metric->name));
    }
    assert_null(ks_launch_metric_find("launch__nonsense"));
    assert_null(ks_launch_metric_refusal("launch__nonsense"));
    assert_null(ks_launch_metric_refusal("kernel_name"));
    KT_HAS(ks_launch_metric_refusal("launch__kernel_name"), "a text");
    KT_HAS(ks_launch_metric_refusal("launch__occupancy_per_block_size"), "a table");
    KT_HAS(ks_launch_metric_refusal("launch__barrier_count"), "barriers");
}

/* ---- a driver ---- */

static int asked;

static ks_cuda_result tell_attribute(int *value, int number, ks_cuda_function function)
{
    asked++;
    if (function != (ks_cuda_function)0x2) {
        return 400; /* invalid handle */
    }
    *value = number == KS_CUDA_FUNCTION_REGISTERS       ? 40
             : number == KS_CUDA_FUNCTION_SHARED        ? 2048
             : number == KS_CUDA_FUNCTION_CARVEOUT      ? -1
             : number == KS_CUDA_FUNCTION_CLUSTER_WIDTH ? 4
                                                        : 0;
    return 0;
}

static ks_cuda_result tell_function(ks_cuda_function *out, ks_cuda_function kernel)
{
    *out = kernel == (ks_cuda_function)0x1 ? (ks_cuda_function)0x2 : NULL;
    return *out == NULL ? 400 : 0;
}

static ks_cuda_result tell_active(int *blocks, ks_cuda_function function, int threads, size_t bytes)
{
    *blocks = function == (ks_cuda_function)0x2 && threads == 128 && bytes == 512 ? 12 : 0;
    return 0;
}

static ks_cuda_result tell_clusters(int *out, ks_cuda_function function,
                                    const ks_cuda_launch_config *config)
{
    assert_ptr_equal(function, (ks_cuda_function)0x2);
    assert_int_equal(config->grid[0], 8);
    assert_int_equal(config->block[1], 2);
    assert_int_equal(config->shared_bytes, 512);
    assert_int_equal(config->attribute_count, 1);
    assert_int_equal(config->attributes[0].id, KS_CUDA_CLUSTER_DIMENSION);
    *out = (int)(100 + config->attributes[0].value.cluster[0]);
    return 0;
}

static ks_cuda_result tell_potential(int *out, ks_cuda_function function,
                                     const ks_cuda_launch_config *config)
{
    (void)function;
    *out = config->attribute_count == 0 ? 8 : 0;
    return 0;
}

static ks_cuda_result tell_limit(size_t *out, int limit)
{
    *out = limit == KS_CUDA_LIMIT_STACK ? 1024 : 0;
    return 0;
}

static ks_cuda_result tell_green(ks_cuda_stream stream, void **out)
{
    *out = stream == (ks_cuda_stream)0x77 ? &asked : NULL;
    return 0;
}

static void the_driver_is_asked_for_what_is_needed(void **state)
{
    (void)state;
    const ks_cuda cuda = {.function_attribute = tell_attribute,
                          .kernel_function = tell_function,
                          .active_blocks = tell_active,
                          .active_clusters = tell_clusters,
                          .potential_cluster = tell_potential,
                          .context_limit = tell_limit,
                          .stream_green = tell_green};
    ks_cuda_function function = (ks_cuda_function)0x1;
    const ks_cuda_launch_config config = {.grid = {8, 1, 1},
                                          .block = {64, 2, 1},
                                          .shared_bytes = 512,
                                          .stream = (ks_cuda_stream)0x77};
    ks_launch_shape shape;
    ks_launch_shape_init(&shape);
    ks_launch_shape_config(&shape, &config);
    asked = 0;
    ks_launch_shape_read(&cuda, function, 0, &shape);
    assert_int_equal(asked, 0);
    assert_int_equal(shape.registers, -1);
    ks_launch_shape_read(
        &cuda, function,
        KS_LAUNCH_FUNCTION | KS_LAUNCH_ACTIVE | KS_LAUNCH_CLUSTERS | KS_LAUNCH_CONTEXT, &shape);
    assert_int_equal(shape.registers, 40);
    assert_int_equal(shape.static_shared, 2048);
    assert_false(shape.carveout_asked);
    assert_int_equal(shape.active_blocks, 12);
    assert_int_equal(shape.cluster[0], 4); /* compiled for */
    assert_int_equal(shape.cluster[2], 1);
    assert_int_equal(shape.active_clusters, 104);
    assert_int_equal(shape.potential_cluster, 8);
    assert_int_equal(shape.stack_bytes, 1024);
    assert_int_equal(shape.persisting_l2_bytes, 0);
    assert_int_equal(shape.green, 1);
}

static void a_driver_that_lacks_functions_leaves_things_unknown(void **state)
{
    (void)state;
    const ks_cuda cuda = {.function_attribute = tell_attribute};
    ks_launch_shape shape;
    ks_launch_shape_init(&shape);
    ks_launch_shape_read(&cuda, (ks_cuda_function)0x3, ~0u, &shape);
    assert_int_equal(shape.registers, -1);
    assert_int_equal(shape.active_blocks, -1);
    assert_int_equal(shape.potential_cluster, -1);
    assert_int_equal(shape.active_clusters, 0); /* of a launch without clusters */
    assert_int_equal(shape.stack_bytes, -1);
    assert_int_equal(shape.green, 0); /* it has no green contexts */
    assert_true(shape.carveout_asked);
}

static void attributes_of_a_launch_are_read(void **state)
{
    (void)state;
    ks_cuda_launch_attribute attributes[] = {
        {.id = 1},
        {.id = KS_CUDA_CLUSTER_DIMENSION, .value.cluster = {2, 3, 4}},
        {.id = KS_CUDA_PREFERRED_CLUSTER, .value.cluster = {4, 6, 8}},
        {.id = KS_CUDA_LAUNCH_CARVEOUT}};
    const ks_cuda_launch_config config = {.grid = {12, 12, 12},
                                          .block = {32, 1, 1},
                                          .shared_bytes = 7,
                                          .attributes = attributes,
                                          .attribute_count = 4};
    ks_device_limits limits = h100();
    ks_launch_shape shape;
    ks_launch_shape_init(&shape);
    ks_launch_shape_config(&shape, &config);
    IS("launch__grid_size", 1728);
    IS("launch__grid_dim_z", 12);
    IS("launch__block_dim_x", 32);
    IS("launch__cluster_size", 24);
    IS("launch__preferred_cluster_size", 192);
    IS("launch__preferred_cluster_y", 6);
    IS("launch__shared_mem_per_block_dynamic", 7);
    assert_true(shape.carveout_asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_limits_a_launch_on_an_h100),
        cmocka_unit_test(the_size_of_shared_memory_comes_of_the_record),
        cmocka_unit_test(without_a_record_the_size_is_not_guessed),
        cmocka_unit_test(who_asks_for_a_share_may_get_less_than_all),
        cmocka_unit_test(turing_reserves_nothing),
        cmocka_unit_test(too_many_registers_fit_nowhere),
        cmocka_unit_test(clusters_are_told),
        cmocka_unit_test(what_is_not_known_is_missing),
        cmocka_unit_test(every_metric_is_found_by_its_name_and_none_is_refused),
        cmocka_unit_test(the_driver_is_asked_for_what_is_needed),
        cmocka_unit_test(a_driver_that_lacks_functions_leaves_things_unknown),
        cmocka_unit_test(attributes_of_a_launch_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
