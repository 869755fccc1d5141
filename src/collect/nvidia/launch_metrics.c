#include "collect/nvidia/launch_metrics.h"

#include <string.h>

#include "collect/nvidia/occupancy.h"

typedef enum fact {
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    BLOCK_SIZE,
    GRID_X,
    GRID_Y,
    GRID_Z,
    GRID_SIZE,
    CLUSTER_X,
    CLUSTER_Y,
    CLUSTER_Z,
    CLUSTER_SIZE,
    PREFERRED_X,
    PREFERRED_Y,
    PREFERRED_Z,
    PREFERRED_SIZE,
    THREADS,
    CLUSTER_ACTIVE,
    CLUSTER_POTENTIAL,
    CLUSTER_PCT,
    CONTEXT,
    STREAM,
    DEVICE,
    SM_COUNT,
    TPC_COUNT,
    STACK,
    PERSISTING_L2,
    GREEN,
    MPS,
    REGISTERS,
    SHARED_STATIC,
    SHARED_DYNAMIC,
    SHARED_DRIVER,
    /* by the rules of occupancy */
    REGISTERS_ALLOCATED,
    SHARED,
    SHARED_ALLOCATED,
    SHARED_CONFIG,
    LIMIT_BLOCKS,
    LIMIT_WARPS,
    LIMIT_REGISTERS,
    LIMIT_SHARED,
    WAVES,
    SM_WARPS,
    SMSP_WARPS,
    OCCUPANCY,
} fact;

#define F KS_LAUNCH_FUNCTION
#define A (KS_LAUNCH_FUNCTION | KS_LAUNCH_ACTIVE)
#define C (KS_LAUNCH_FUNCTION | KS_LAUNCH_CLUSTERS)
#define X KS_LAUNCH_CONTEXT

static const ks_launch_metric metrics[] = {
    {"launch__block_dim_x", "block", "x of a block.", 0, BLOCK_X},
    {"launch__block_dim_y", "block", "y of a block.", 0, BLOCK_Y},
    {"launch__block_dim_z", "block", "z of a block.", 0, BLOCK_Z},
    {"launch__block_size", NULL, "Threads of a block.", 0, BLOCK_SIZE},
    {"launch__grid_dim_x", NULL, "x of the grid, in blocks.", 0, GRID_X},
    {"launch__grid_dim_y", NULL, "y of the grid, in blocks.", 0, GRID_Y},
    {"launch__grid_dim_z", NULL, "z of the grid, in blocks.", 0, GRID_Z},
    {"launch__grid_size", NULL, "Blocks of the grid.", 0, GRID_SIZE},
    {"launch__user_grid_dim_x", NULL, "x of the grid, as it was asked for.", 0, GRID_X},
    {"launch__user_grid_dim_y", NULL, "y of the grid, as it was asked for.", 0, GRID_Y},
    {"launch__user_grid_dim_z", NULL, "z of the grid, as it was asked for.", 0, GRID_Z},
    {"launch__user_grid_size", NULL, "Blocks of the grid, as it was asked for.", 0, GRID_SIZE},
    {"launch__cluster_dim_x", NULL, "x of a cluster, in blocks; 0: no clusters.", F, CLUSTER_X},
    {"launch__cluster_dim_y", NULL, "y of a cluster, in blocks; 0: no clusters.", F, CLUSTER_Y},
    {"launch__cluster_dim_z", NULL, "z of a cluster, in blocks; 0: no clusters.", F, CLUSTER_Z},
    {"launch__cluster_size", NULL, "Blocks of a cluster; 0: no clusters.", F, CLUSTER_SIZE},
    {"launch__cluster_max_active", "cluster",
     "Most clusters on the device at the same time; 0: no clusters.", C, CLUSTER_ACTIVE},
    {"launch__cluster_max_potential_size", "block", "Blocks of the largest cluster.", C,
     CLUSTER_POTENTIAL},
    {"launch__preferred_cluster_x", NULL, "x of a preferred cluster; 0: none.", 0, PREFERRED_X},
    {"launch__preferred_cluster_y", NULL, "y of a preferred cluster; 0: none.", 0, PREFERRED_Y},
    {"launch__preferred_cluster_z", NULL, "z of a preferred cluster; 0: none.", 0, PREFERRED_Z},
    {"launch__preferred_cluster_size", NULL, "Blocks of a preferred cluster; 0: none.", 0,
     PREFERRED_SIZE},
    {"launch__thread_count", "thread", "Threads of all blocks.", 0, THREADS},
    {"launch__context_id", NULL, "Number of the context, CUPTI's.", KS_LAUNCH_IDS, CONTEXT},
    {"launch__stream_id", NULL, "Number of the stream, CUPTI's.", KS_LAUNCH_IDS, STREAM},
    {"launch__device_id", NULL, "Number of the device in this process.", 0, DEVICE},
    {"launch__sm_count", "SM", "SMs that the launch may use.", X, SM_COUNT},
    {"launch__tpc_count", NULL, "TPCs, pairs of SMs, that the launch may use.", X, TPC_COUNT},
    {"launch__stack_size", NULL, "Bytes of a thread's stack, the context's limit.", X, STACK},
    {"launch__persisting_l2_cache_size", "byte",
     "Bytes of L2 set aside for persisting accesses, the context's limit.", X, PERSISTING_L2},
    {"launch__uses_green_context", NULL, "1: launched in a green context.", X, GREEN},
    {"launch__uses_mps", NULL, "1: the device is shared by MPS.", 0, MPS},
    {"launch__registers_per_thread", "register/thread", "Registers of a thread.", F, REGISTERS},
    {"launch__registers_per_thread_allocated", "register/thread",
     "Registers of a thread, with what is lost by rounding.", F, REGISTERS_ALLOCATED},
    {"launch__shared_mem_per_block_static", "byte/block",
     "Shared memory of a block that its kernel declares.", F, SHARED_STATIC},
    {"launch__shared_mem_per_block_dynamic", "byte/block",
     "Shared memory of a block that the launch asks for.", 0, SHARED_DYNAMIC},
    {"launch__shared_mem_per_block_driver", "byte/block",
     "Shared memory of a block that the driver takes.", 0, SHARED_DRIVER},
    {"launch__shared_mem_per_block", "byte/block", "Static, dynamic and the driver's together.", F,
     SHARED},
    {"launch__shared_mem_per_block_allocated", "byte/block",
     "Static, dynamic and the driver's, with what is lost by rounding.", F, SHARED_ALLOCATED},
    {"launch__shared_mem_config_size", "byte",
     "Shared memory that an SM was set to; the rest of it is L1 cache.", A, SHARED_CONFIG},
    {"launch__occupancy_limit_blocks", "block", "Most blocks on an SM.", F, LIMIT_BLOCKS},
    {"launch__occupancy_limit_warps", "block", "Most blocks on an SM, by its warps.", F,
     LIMIT_WARPS},
    {"launch__occupancy_limit_registers", "block", "Most blocks on an SM, by its registers.", F,
     LIMIT_REGISTERS},
    {"launch__occupancy_limit_shared_mem", "block",
     "Most blocks on an SM, by the shared memory that it was set to.", A, LIMIT_SHARED},
    {"launch__occupancy_cluster_pct", "%",
     "Blocks of all clusters that fit on the device, of the most blocks that its SMs can hold; 0: "
     "no clusters.",
     C, CLUSTER_PCT},
    {"launch__waves_per_multiprocessor", NULL,
     "Blocks of the grid over those that fit on all SMs at the same time.", A | X, WAVES},
    {"sm__maximum_warps_avg_per_active_cycle", "warp", "Most warps on an SM, of this launch.", A,
     SM_WARPS},
    {"smsp__maximum_warps_avg_per_active_cycle", "warp",
     "Most warps of a scheduler, of this launch.", A, SMSP_WARPS},
    {"sm__maximum_warps_per_active_cycle_pct", "%",
     "Theoretical occupancy: most warps on an SM, of this launch, of those that it can hold.", A,
     OCCUPANCY},
};

static const char text[] = "ncu's value is a text, and metrics are numbers";
static const char table[] = "ncu's value is a table, and metrics are numbers";
static const char hidden[] = "the driver's interface does not tell it";
static const char graph[] = "it is one of graph launches, which are measured as ranges";
static const char queue[] = "it is one of green contexts, of which no more is known than that a "
                            "launch is in one (launch__uses_green_context)";
static const char barrier[] = "the driver does not tell how many barriers a kernel uses";

static const struct {
    const char *name;
    const char *why;
} refused[] = {
    {"barrier_count", barrier},
    {"cluster_scheduling_policy", text},
    {"execution_model", text},
    {"func_cache_config", text},
    {"function_pcs", hidden},
    {"graph_contains_device_launch", graph},
    {"graph_exec_cuda_id", graph},
    {"graph_is_device_launchable", graph},
    {"graph_src_cuda_id", graph},
    {"green_context_id", queue},
    {"kernel_name", text},
    {"occupancy_cluster_gpu_pct", "how ncu computes it is not documented"},
    {"occupancy_limit_barriers", barrier},
    {"occupancy_per_barrier_count", table},
    {"occupancy_per_block_size", table},
    {"occupancy_per_cluster_size", table},
    {"occupancy_per_register_count", table},
    {"occupancy_per_shared_mem_size", table},
    {"sub_launch_name", text},
    {"tpc_enabled", text},
    {"uses_blocks_as_clusters", hidden},
    {"uses_cdp", hidden},
    {"uses_nvlink_centric_scheduling", hidden},
    {"uses_vgpu",
     "counters are refused on a vGPU that does not offer them; kernsight doctor tells"},
    {"work_queue_concurrency_limit", queue},
    {"work_queue_resource_id", queue},
    {"work_queue_sharing_scope", queue},
};

size_t ks_launch_metric_count(void)
{
    return sizeof metrics / sizeof metrics[0];
}

const ks_launch_metric *ks_launch_metric_at(size_t index)
{
    return &metrics[index];
}

const ks_launch_metric *ks_launch_metric_find(const char *name)
{
    for (size_t i = 0; i < ks_launch_metric_count(); i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return &metrics[i];
        }
    }
    return NULL;
}

const char *ks_launch_metric_refusal(const char *name)
{
    static const char prefix[] = "launch__";
    if (strncmp(name, prefix, strlen(prefix)) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (strcmp(refused[i].name, name + strlen(prefix)) == 0) {
            return refused[i].why;
        }
    }
    return NULL;
}

static double product(const unsigned of[3])
{
    return (double)of[0] * of[1] * of[2];
}

/** A number of which -1 means that it is not known. */
static bool told(int64_t value, double *out)
{
    if (value < 0) {
        return false;
    }
    *out = (double)value;
    return true;
}

static double of_call(fact what, const ks_launch_shape *s)
{
    switch (what) {
    case BLOCK_X:
    case BLOCK_Y:
    case BLOCK_Z:
        return s->block[what - BLOCK_X];
    case BLOCK_SIZE:
        return product(s->block);
    case GRID_X:
    case GRID_Y:
    case GRID_Z:
        return s->grid[what - GRID_X];
    case GRID_SIZE:
        return product(s->grid);
    case CLUSTER_X:
    case CLUSTER_Y:
    case CLUSTER_Z:
        return s->cluster[what - CLUSTER_X];
    case CLUSTER_SIZE:
        return product(s->cluster);
    case PREFERRED_X:
    case PREFERRED_Y:
    case PREFERRED_Z:
        return s->preferred_cluster[what - PREFERRED_X];
    case PREFERRED_SIZE:
        return product(s->preferred_cluster);
    default: /* THREADS */
        return product(s->grid) * product(s->block);
    }
}

static bool sm_count(const ks_launch_shape *s, const ks_device_limits *device, int *out,
                     const char **why)
{
    if (s->green != 0) {
        *why = s->green > 0 ? "a green context has some of the device's SMs, not told how many"
                            : "the driver did not tell whether the stream's context is green";
        return false;
    }
    *why = "the driver does not tell how many SMs the device has";
    return ks_device_limit(device, KS_ATTRIBUTE_SM_COUNT, out);
}

static bool cluster_pct(const ks_launch_shape *s, const ks_device_limits *device, double *out,
                        const char **why)
{
    int sms = 0;
    int blocks = 0;
    if (s->active_clusters < 0 || !ks_device_limit(device, KS_ATTRIBUTE_SM_COUNT, &sms) ||
        !ks_device_limit(device, KS_ATTRIBUTE_SM_BLOCKS, &blocks) || sms <= 0 || blocks <= 0) {
        *why = "the driver did not tell how many clusters or blocks fit on the device";
        return false;
    }
    *out = 100.0 * s->active_clusters * product(s->cluster) / ((double)sms * blocks);
    return true;
}

static bool of_driver(fact what, const ks_launch_shape *s, const ks_device_limits *device,
                      double *out, const char **why)
{
    int value = 0;
    *why = "the driver did not tell it";
    switch (what) {
    case CLUSTER_ACTIVE:
        return told(s->active_clusters, out);
    case CLUSTER_POTENTIAL:
        return told(s->potential_cluster, out);
    case CLUSTER_PCT:
        return cluster_pct(s, device, out, why);
    case CONTEXT:
        *why = "CUPTI did not tell it";
        return told(s->context_id != 0 ? (int64_t)s->context_id : -1, out);
    case STREAM:
        *why = "CUPTI did not tell it";
        return told(s->stream_id != 0 ? (int64_t)s->stream_id : -1, out);
    case DEVICE:
        return told(device->device, out);
    case SM_COUNT:
        return sm_count(s, device, &value, why) && told(value, out);
    case TPC_COUNT:
        return sm_count(s, device, &value, why) &&
               ks_device_metric_value(ks_device_metric_find("device__attribute_limits_num_tpcs"),
                                      device, out, why);
    case STACK:
        return told(s->stack_bytes, out);
    case PERSISTING_L2:
        return told(s->persisting_l2_bytes, out);
    case GREEN:
        return told(s->green, out);
    case MPS:
        return ks_device_limit(device, KS_ATTRIBUTE_MPS, &value) && told(value, out);
    case REGISTERS:
        return told(s->registers, out);
    case SHARED_STATIC:
        return told(s->static_shared, out);
    case SHARED_DYNAMIC:
        return told(s->dynamic_shared, out);
    default: /* SHARED_DRIVER */
        return ks_device_limit(device, KS_ATTRIBUTE_RESERVED_SHARED, &value) && told(value, out);
    }
}

static double of_rules(fact what, const ks_occupancy *o)
{
    switch (what) {
    case REGISTERS_ALLOCATED:
        return o->thread_registers;
    case SHARED:
        return o->block_shared;
    case SHARED_ALLOCATED:
        return o->block_allocated;
    case LIMIT_BLOCKS:
        return o->by_blocks;
    case LIMIT_WARPS:
        return o->by_warps;
    default: /* LIMIT_REGISTERS */
        return o->by_registers;
    }
}

static bool of_active(fact what, const ks_occupancy *o, const ks_launch_shape *s,
                      const ks_device_limits *device, double *out, const char **why)
{
    unsigned active = 0;
    int sms = 0;
    if (!ks_occupancy_active(o, s, device, &active, why)) {
        return false;
    }
    double warps = (double)active * o->warps;
    switch (what) {
    case WAVES:
        if (!sm_count(s, device, &sms, why)) {
            return false;
        }
        *why = "no block fits on an SM";
        if (active == 0) {
            return false;
        }
        *out = product(s->grid) / ((double)sms * active);
        return true;
    case SM_WARPS:
        *out = warps;
        return true;
    case SMSP_WARPS:
        *out = warps / 4;
        return true;
    default: /* OCCUPANCY */
        *out = 100.0 * warps / o->max_warps;
        return true;
    }
}

bool ks_launch_metric_value(const ks_launch_metric *metric, const ks_launch_shape *shape,
                            const ks_device_limits *device, double *out, const char **why)
{
    fact what = (fact)metric->what;
    ks_occupancy o;
    unsigned value = 0;
    if (what <= THREADS) {
        *out = of_call(what, shape);
        return true;
    }
    if (what <= SHARED_DRIVER) {
        return of_driver(what, shape, device, out, why);
    }
    if (!ks_occupancy_of(shape, device, &o, why)) {
        return false;
    }
    if (what >= WAVES) {
        return of_active(what, &o, shape, device, out, why);
    }
    if (what == SHARED_CONFIG) {
        return ks_occupancy_shared_config(&o, shape, device, &value, why) && told(value, out);
    }
    if (what == LIMIT_SHARED) {
        return ks_occupancy_shared(&o, shape, device, &value, why) && told(value, out);
    }
    *out = of_rules(what, &o);
    return true;
}
