#include "collect/nvidia/kernel_facts.h"

#include <string.h>

#include "collect/nvidia/launch_shape.h"
#include "collect/nvidia/occupancy.h"

/* Warps of the blocks that fit on a multiprocessor, of those that it can hold; -1: not known. */
static double occupancy(const ks_cuda *cuda, const ks_launch_shape *shape)
{
    ks_cuda_device device = 0;
    int warp = 0;
    int threads = 0;
    if (shape->active_blocks < 0 || cuda->context_device(&device) != 0 ||
        cuda->attribute(&warp, KS_ATTRIBUTE_WARP_SIZE, device) != 0 ||
        cuda->attribute(&threads, KS_ATTRIBUTE_SM_THREADS, device) != 0 || warp <= 0 ||
        threads < warp) {
        return -1.0;
    }
    int most = threads / warp;
    unsigned block = shape->block[0] * shape->block[1] * shape->block[2];
    unsigned warps = (block + (unsigned)warp - 1) / (unsigned)warp;
    return 100.0 * shape->active_blocks * warps / most;
}

static ks_kernel_facts ask(const ks_cuda *cuda, const ks_api_launch *launch)
{
    ks_launch_shape shape;
    ks_launch_shape_init(&shape);
    ks_launch_shape_take(&shape, launch);
    ks_launch_shape_read(cuda, launch->function, KS_LAUNCH_FUNCTION | KS_LAUNCH_ACTIVE, &shape);
    return (ks_kernel_facts){.known = true,
                             .registers = shape.registers,
                             .shared_bytes =
                                 shape.static_shared < 0
                                     ? -1
                                     : (int64_t)shape.static_shared + (int64_t)shape.dynamic_shared,
                             .local_bytes = shape.local,
                             .occupancy = occupancy(cuda, &shape)};
}

enum {
    MEMO = sizeof((ks_kernel_memo *)NULL)->known / sizeof((ks_kernel_memo *)NULL)->known[0]
};

/* Whether what is known of one is true of the other: grids make no difference. */
static bool alike(const ks_api_launch *a, const ks_api_launch *b)
{
    return a->function == b->function && a->context == b->context &&
           a->shared_bytes == b->shared_bytes && memcmp(a->block, b->block, sizeof a->block) == 0;
}

ks_kernel_facts ks_kernel_facts_read(const ks_cuda *cuda, const ks_api_launch *launch,
                                     ks_kernel_memo *memo)
{
    if (launch->function == NULL) {
        return (ks_kernel_facts){0};
    }
    if (launch->config != NULL && launch->config->attribute_count > 0) {
        return ask(cuda, launch); /* some of them change what fits */
    }
    for (size_t i = 0; i < MEMO; i++) {
        if (alike(&memo->known[i].launch, launch)) {
            return memo->known[i].facts;
        }
    }
    size_t place = memo->next++ % MEMO;
    memo->known[place].launch = *launch;
    memo->known[place].facts = ask(cuda, launch);
    return memo->known[place].facts;
}
