#include "collect/nvidia/launch_shape.h"

#include <string.h>

void ks_launch_shape_init(ks_launch_shape *shape)
{
    *shape = (ks_launch_shape){
        .registers = -1,
        .static_shared = -1,
        .local = -1,
        .active_blocks = -1,
        .active_clusters = -1,
        .potential_cluster = -1,
        .stack_bytes = -1,
        .persisting_l2_bytes = -1,
        .green = -1,
        .shared_config = -1,
    };
}

void ks_launch_shape_config(ks_launch_shape *shape, const ks_cuda_launch_config *config)
{
    memcpy(shape->grid, config->grid, sizeof shape->grid);
    memcpy(shape->block, config->block, sizeof shape->block);
    shape->dynamic_shared = config->shared_bytes;
    shape->stream = config->stream;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const ks_cuda_launch_attribute *attribute = &config->attributes[i];
        if (attribute->id == KS_CUDA_CLUSTER_DIMENSION) {
            memcpy(shape->cluster, attribute->value.cluster, sizeof shape->cluster);
        } else if (attribute->id == KS_CUDA_PREFERRED_CLUSTER) {
            memcpy(shape->preferred_cluster, attribute->value.cluster,
                   sizeof shape->preferred_cluster);
        } else if (attribute->id == KS_CUDA_LAUNCH_CARVEOUT) {
            shape->carveout_asked = true;
        }
    }
}

void ks_launch_shape_take(ks_launch_shape *shape, const ks_api_launch *launch)
{
    if (launch->config != NULL) {
        ks_launch_shape_config(shape, launch->config);
    } else {
        memcpy(shape->grid, launch->grid, sizeof shape->grid);
        memcpy(shape->block, launch->block, sizeof shape->block);
        shape->dynamic_shared = launch->shared_bytes;
    }
    shape->stream = launch->stream;
}

static bool attribute_of(const ks_cuda *cuda, ks_cuda_function function, int number, int *out)
{
    int value = 0;
    if (cuda->function_attribute(&value, number, function) != 0) {
        return false;
    }
    *out = value;
    return true;
}

/** A kernel may be compiled for clusters of one size; the call does not say so then. */
static void read_required_cluster(const ks_cuda *cuda, ks_cuda_function function,
                                  ks_launch_shape *shape)
{
    int width = 0;
    int height = 0;
    int depth = 0;
    if (shape->cluster[0] == 0 &&
        attribute_of(cuda, function, KS_CUDA_FUNCTION_CLUSTER_WIDTH, &width) && width > 0 &&
        attribute_of(cuda, function, KS_CUDA_FUNCTION_CLUSTER_HEIGHT, &height) &&
        attribute_of(cuda, function, KS_CUDA_FUNCTION_CLUSTER_DEPTH, &depth)) {
        shape->cluster[0] = (unsigned)width;
        shape->cluster[1] = (unsigned)(height > 0 ? height : 1);
        shape->cluster[2] = (unsigned)(depth > 0 ? depth : 1);
    }
}

static void read_clusters(const ks_cuda *cuda, ks_cuda_function function, ks_launch_shape *shape)
{
    int value = 0;
    ks_cuda_launch_attribute cluster = {.id = KS_CUDA_CLUSTER_DIMENSION};
    memcpy(cluster.value.cluster, shape->cluster, sizeof shape->cluster);
    ks_cuda_launch_config config = {.shared_bytes = shape->dynamic_shared, .stream = shape->stream};
    memcpy(config.grid, shape->grid, sizeof config.grid);
    memcpy(config.block, shape->block, sizeof config.block);
    if (cuda->potential_cluster != NULL &&
        cuda->potential_cluster(&value, function, &config) == 0) {
        shape->potential_cluster = value;
    }
    config.attributes = &cluster;
    config.attribute_count = 1;
    if (shape->cluster[0] == 0) {
        shape->active_clusters = 0;
    } else if (cuda->active_clusters != NULL &&
               cuda->active_clusters(&value, function, &config) == 0) {
        shape->active_clusters = value;
    }
}

static void read_context(const ks_cuda *cuda, ks_launch_shape *shape)
{
    size_t bytes = 0;
    if (cuda->context_limit != NULL && cuda->context_limit(&bytes, KS_CUDA_LIMIT_STACK) == 0) {
        shape->stack_bytes = (int64_t)bytes;
    }
    if (cuda->context_limit != NULL &&
        cuda->context_limit(&bytes, KS_CUDA_LIMIT_PERSISTING_L2) == 0) {
        shape->persisting_l2_bytes = (int64_t)bytes;
    }
    void *green = NULL;
    bool is_default = (uintptr_t)shape->stream <= (uintptr_t)KS_CUDA_STREAM_PER_THREAD;
    if (cuda->stream_green == NULL || is_default) {
        shape->green =
            0; /* such a driver has none of them; default streams are of no such context */
    } else if (cuda->stream_green(shape->stream, &green) == 0) {
        shape->green = green != NULL;
    }
}

void ks_launch_shape_read(const ks_cuda *cuda, ks_cuda_function function, unsigned needs,
                          ks_launch_shape *shape)
{
    if ((needs & KS_LAUNCH_CONTEXT) != 0) {
        read_context(cuda, shape);
    }
    if ((needs & (KS_LAUNCH_FUNCTION | KS_LAUNCH_ACTIVE | KS_LAUNCH_CLUSTERS)) == 0) {
        return;
    }
    /* a launch may be given a kernel of a library in a function's place */
    ks_cuda_function of_kernel = NULL;
    int blocks = 0;
    int carveout = 0;
    if (!attribute_of(cuda, function, KS_CUDA_FUNCTION_REGISTERS, &shape->registers) &&
        cuda->kernel_function != NULL && cuda->kernel_function(&of_kernel, function) == 0) {
        function = of_kernel;
        attribute_of(cuda, function, KS_CUDA_FUNCTION_REGISTERS, &shape->registers);
    }
    if (shape->registers >= 0 && shape->registers < KS_LEAST_REGISTERS) {
        shape->registers = KS_LEAST_REGISTERS;
    }
    attribute_of(cuda, function, KS_CUDA_FUNCTION_SHARED, &shape->static_shared);
    attribute_of(cuda, function, KS_CUDA_FUNCTION_LOCAL, &shape->local);
    if (!attribute_of(cuda, function, KS_CUDA_FUNCTION_CARVEOUT, &carveout) || carveout >= 0) {
        shape->carveout_asked = true;
    }
    read_required_cluster(cuda, function, shape);
    unsigned threads = shape->block[0] * shape->block[1] * shape->block[2];
    if ((needs & KS_LAUNCH_ACTIVE) != 0 && cuda->active_blocks != NULL &&
        cuda->active_blocks(&blocks, function, (int)threads, shape->dynamic_shared) == 0) {
        shape->active_blocks = blocks;
    }
    if ((needs & KS_LAUNCH_CLUSTERS) != 0) {
        read_clusters(cuda, function, shape);
    }
}
