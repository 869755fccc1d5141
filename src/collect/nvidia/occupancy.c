#include "collect/nvidia/occupancy.h"

#include <limits.h>

#define KIB            1024u
#define PARTITIONS     4u   /* of an SM; each has its share of the registers */
#define WARP_REGISTERS 256u /* a warp gets a multiple of it */

static const char no_function[] =
    "the driver did not tell the kernel's registers and shared memory";
static const char no_device[] = "the driver does not tell the limits of the device's SMs";
static const char new_device[] = "the rules of this compute capability are not known";
static const char no_config[] =
    "it depends on how much shared memory the driver sets an SM to, which it tells in the kernel's "
    "activity record alone";

/** Sizes that shared memory can be set to, but for 0, the smallest first. */
typedef struct sizes {
    unsigned count;
    unsigned kib[9];
} sizes;

static sizes sizes_of(int major, int minor)
{
    static const sizes volta = {5, {8, 16, 32, 64, 96}};
    static const sizes turing = {2, {32, 64}};
    static const sizes small = {5, {8, 16, 32, 64, 100}};
    static const sizes ampere = {7, {8, 16, 32, 64, 100, 132, 164}};
    static const sizes large = {9, {8, 16, 32, 64, 100, 132, 164, 196, 228}};
    switch (major) {
    case 7:
        return minor == 5 ? turing : volta;
    case 8:
        return minor == 0 || minor == 7 ? ampere : small;
    case 9:
    case 10:
    case 11:
        return large;
    default:
        return small;
    }
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

typedef struct sm_limits {
    int major;
    int minor;
    int warp_size;
    int threads;
    int blocks;
    int registers;
    int block_registers;
    int shared;
    int reserved;
} sm_limits;

static bool sm_of(const ks_device_limits *device, sm_limits *out)
{
    return ks_device_limit(device, KS_ATTRIBUTE_MAJOR, &out->major) &&
           ks_device_limit(device, KS_ATTRIBUTE_MINOR, &out->minor) &&
           ks_device_limit(device, KS_ATTRIBUTE_WARP_SIZE, &out->warp_size) && out->warp_size > 0 &&
           ks_device_limit(device, KS_ATTRIBUTE_SM_THREADS, &out->threads) &&
           ks_device_limit(device, KS_ATTRIBUTE_SM_BLOCKS, &out->blocks) &&
           ks_device_limit(device, KS_ATTRIBUTE_SM_REGISTERS, &out->registers) &&
           ks_device_limit(device, KS_ATTRIBUTE_BLOCK_REGISTERS, &out->block_registers) &&
           ks_device_limit(device, KS_ATTRIBUTE_SM_SHARED, &out->shared) &&
           ks_device_limit(device, KS_ATTRIBUTE_RESERVED_SHARED, &out->reserved);
}

/** Warps of a block may be on any partition, a warp's registers are on one. A block's registers are
 * checked as if it had as many warps on each. */
static unsigned by_registers(const sm_limits *sm, unsigned warps, unsigned per_warp)
{
    if (per_warp * up(warps, PARTITIONS) > (unsigned)sm->block_registers) {
        return 0;
    }
    return (unsigned)sm->registers / PARTITIONS / per_warp * PARTITIONS / warps;
}

bool ks_occupancy_of(const ks_launch_shape *shape, const ks_device_limits *device,
                     ks_occupancy *out, const char **why)
{
    sm_limits sm;
    if (!sm_of(device, &sm)) {
        *why = no_device;
        return false;
    }
    if (sm.major < 7 || sm.major > 12) {
        *why = new_device;
        return false;
    }
    unsigned threads = shape->block[0] * shape->block[1] * shape->block[2];
    if (shape->registers <= 0 || shape->static_shared < 0 || threads == 0) {
        *why = no_function;
        return false;
    }
    unsigned warp = (unsigned)sm.warp_size;
    unsigned per_warp = up((unsigned)shape->registers * warp, WARP_REGISTERS);
    unsigned shared =
        (unsigned)shape->static_shared + shape->dynamic_shared + (unsigned)sm.reserved;
    ks_occupancy o = {
        .warps = (threads + warp - 1) / warp,
        .max_warps = (unsigned)(sm.threads / sm.warp_size),
        .by_blocks = (unsigned)sm.blocks,
        .thread_registers = per_warp / warp,
        .block_shared = shared,
        .block_allocated = up(shared, sm.major == 7 ? 256 : 128),
    };
    o.by_warps = o.max_warps / o.warps;
    o.by_registers = by_registers(&sm, o.warps, per_warp);
    o.by_shared = o.block_allocated > 0 ? (unsigned)sm.shared / o.block_allocated : o.by_blocks;
    *out = o;
    return true;
}

bool ks_occupancy_active(const ks_occupancy *o, const ks_launch_shape *shape,
                         const ks_device_limits *device, unsigned *out, const char **why)
{
    int major = 0;
    if (shape->active_blocks >= 0) {
        *out = (unsigned)shape->active_blocks;
        return true;
    }
    if (!ks_device_limit(device, KS_ATTRIBUTE_MAJOR, &major) || major >= 9) {
        *why = "the driver did not tell how many blocks fit on an SM";
        return false;
    }
    *out = least(least(o->by_blocks, o->by_warps), least(o->by_registers, o->by_shared));
    return true;
}

/** The smallest size of at least so many bytes; 0: there is none, or the sizes are not this
 * device's. */
static unsigned size_for(const ks_device_limits *device, unsigned bytes)
{
    sm_limits sm;
    if (!sm_of(device, &sm)) {
        return 0;
    }
    sizes all = sizes_of(sm.major, sm.minor);
    if (all.kib[all.count - 1] * KIB != (unsigned)sm.shared) {
        return 0;
    }
    for (unsigned i = 0; i < all.count; i++) {
        if (all.kib[i] * KIB >= bytes) {
            return all.kib[i] * KIB;
        }
    }
    return 0;
}

bool ks_occupancy_shared_config(const ks_occupancy *o, const ks_launch_shape *shape,
                                const ks_device_limits *device, unsigned *out, const char **why)
{
    if (shape->shared_config >= 0) {
        *out = (unsigned)shape->shared_config;
        return true;
    }
    unsigned active = 0;
    int most = 0;
    *why = no_config;
    if (shape->carveout_asked || !ks_occupancy_active(o, shape, device, &active, why) ||
        !ks_device_limit(device, KS_ATTRIBUTE_SM_SHARED, &most) || active == 0 ||
        size_for(device, active * o->block_allocated) != (unsigned)most) {
        return false;
    }
    *out = (unsigned)most;
    return true;
}

bool ks_occupancy_shared(const ks_occupancy *o, const ks_launch_shape *shape,
                         const ks_device_limits *device, unsigned *out, const char **why)
{
    if (o->block_allocated == 0) {
        *out = o->by_blocks;
        return true;
    }
    if (shape->shared_config >= 0) {
        *out = (unsigned)shape->shared_config / o->block_allocated;
        return true;
    }
    unsigned active = 0;
    *why = no_config;
    bool limits = !shape->carveout_asked && ks_occupancy_active(o, shape, device, &active, why) &&
                  active == o->by_shared;
    unsigned smallest = size_for(device, o->block_allocated);
    if (!limits && (smallest == 0 || smallest / o->block_allocated != o->by_shared)) {
        return false;
    }
    *out = o->by_shared;
    return true;
}
