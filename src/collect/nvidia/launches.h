/*
 * Seeing launches: CUPTI calls back at the beginning and the end of each driver function that
 * launches. Between the two the watcher's lock is held, so that what it notes is in the order in
 * which the device gets the work (docs/gpu.md). CUPTI serves one listener in a process.
 */
#ifndef KS_COLLECT_NVIDIA_LAUNCHES_H
#define KS_COLLECT_NVIDIA_LAUNCHES_H

#include <stdbool.h>

#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"
#include "collect/nvidia/nothing.h"

/** A launch, as the call of the driver tells it. Borrowed for the callback. */
typedef struct ks_api_launch {
    ks_cuda_context context;
    ks_cuda_function function; /**< NULL: of a graph */
    ks_cuda_stream stream;     /**< in which the driver puts it */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3]; /**< 0: none */
    uint32_t shared_bytes;
    const ks_cuda_launch_config *config; /**< of a launch that has one: all that it asks for */
    const char *kernel;                  /**< mangled; of a graph NULL */
} ks_api_launch;

/** Who is told. All are called with `lock` taken, on the thread that launches. */
typedef struct ks_launch_watcher {
    void *self;
    void (*lock)(void *self);
    void (*unlock)(void *self);
    void (*enter)(void *self, const ks_api_launch *launch);
    void (*leave)(void *self, const ks_api_launch *launch, bool succeeded);
    /** Something that is no launch: KS_DID_CAPTURE, and KS_DID_COPY once copies are watched. */
    void (*instead)(void *self, ks_instead what);
} ks_launch_watcher;

enum {
    KS_LAUNCH_WATCHERS = 2
};

/**
 * Watch launches until ks_launches_unwatch(), beside others with the same lock. Those into a graph
 * that is being captured are no launches yet and are not told.
 *
 * @param[in] watcher  copied
 * @return KS_EBUSY: another tool listens, or there are so many
 */
ks_status ks_launches_watch(const ks_cuda *cuda, const ks_cupti *cupti,
                            const ks_launch_watcher *watcher, ks_error *err);
/** ... after which it is told no more, whatever other threads launch. @param[in] self  its own */
void ks_launches_unwatch(const void *self);
/** Watch copies and memsets too, which costs each of them a little. */
void ks_launches_watch_copies(void);
/** Whether a function of the driver copies or sets memory. */
bool ks_launches_is_copy(uint32_t function);
/** Whether they are watched: then the one listener that CUPTI serves is ours. */
bool ks_launches_watched(void);

/** What the calling thread launches now is our own, and is not told. */
void ks_launches_are_ours(bool ours);

#endif
