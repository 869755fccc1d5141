#include "collect/nvidia/launches.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "collect/nvidia/refusal.h"

static struct {
    const ks_cuda *cuda;
    const ks_cupti *cupti;
    ks_cupti_subscription subscription;             /* NULL: nobody watches */
    ks_launch_watcher watchers[KS_LAUNCH_WATCHERS]; /* all have the same lock */
    size_t count;
    bool copies;         /* are watched too */
    atomic_bool open;    /* a watcher is there */
    atomic_uint callers; /* that may be using it: launches, from their beginning to their end */
} the;

/* What the calling thread is doing. */
static _Thread_local struct {
    bool ours;
    bool inside; /* a launch that was told at its beginning */
} here __attribute__((tls_model("initial-exec")));

static const uint32_t functions[] = {
    KS_CUPTI_LAUNCH_KERNEL,         KS_CUPTI_LAUNCH_KERNEL_PTSZ, KS_CUPTI_LAUNCH_KERNEL_EX,
    KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ, KS_CUPTI_LAUNCH_COOPERATIVE, KS_CUPTI_LAUNCH_COOPERATIVE_PTSZ,
    KS_CUPTI_GRAPH_LAUNCH,          KS_CUPTI_GRAPH_LAUNCH_PTSZ,
};

#define KS_CUPTI_COPY_SPAN(first, last) {first, last},
static const struct {
    uint32_t first, last;
} copies[] = {KS_CUPTI_COPIES(KS_CUPTI_COPY_SPAN)};
#undef KS_CUPTI_COPY_SPAN

enum {
    COPY_SPANS = sizeof copies / sizeof copies[0]
};

bool ks_launches_is_copy(uint32_t function)
{
    for (size_t i = 0; i < COPY_SPANS; i++) {
        if (function >= copies[i].first && function <= copies[i].last) {
            return true;
        }
    }
    return false;
}

void ks_launches_are_ours(bool ours)
{
    here.ours = ours;
}

static void take_shape(ks_api_launch *to, const unsigned grid[3], const unsigned block[3])
{
    for (int i = 0; i < 3; i++) {
        to->grid[i] = grid[i];
        to->block[i] = block[i];
    }
}

static void read_plain(const ks_cuda_launch_args *args, ks_api_launch *to)
{
    to->function = args->function;
    to->stream = args->stream;
    to->shared_bytes = args->shared_bytes;
    take_shape(to, args->grid, args->block);
}

static void read_extended(const ks_cuda_launch_ex_args *args, ks_api_launch *to)
{
    const ks_cuda_launch_config *config = args->config;
    to->function = args->function;
    to->stream = config->stream;
    to->shared_bytes = config->shared_bytes;
    to->config = config;
    take_shape(to, config->grid, config->block);
    for (unsigned i = 0; i < config->attribute_count; i++) {
        if (config->attributes[i].id == KS_CUDA_CLUSTER_DIMENSION) {
            memcpy(to->cluster, config->attributes[i].value.cluster, sizeof to->cluster);
        }
    }
}

/* The arguments of the function that launches; false for one that we do not know. */
static bool read_arguments(uint32_t function, const void *args, ks_api_launch *to)
{
    bool per_thread = false;
    switch (function) {
    case KS_CUPTI_LAUNCH_KERNEL_PTSZ:
    case KS_CUPTI_LAUNCH_COOPERATIVE_PTSZ:
        per_thread = true;
        read_plain(args, to);
        break;
    case KS_CUPTI_LAUNCH_KERNEL:
    case KS_CUPTI_LAUNCH_COOPERATIVE:
        read_plain(args, to);
        break;
    case KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ:
        per_thread = true;
        read_extended(args, to);
        break;
    case KS_CUPTI_LAUNCH_KERNEL_EX:
        read_extended(args, to);
        break;
    case KS_CUPTI_GRAPH_LAUNCH_PTSZ:
    case KS_CUPTI_GRAPH_LAUNCH:
        per_thread = function == KS_CUPTI_GRAPH_LAUNCH_PTSZ;
        to->stream = ((const ks_cuda_graph_launch_args *)args)->stream;
        break;
    default:
        return false;
    }
    if (per_thread && to->stream == NULL) {
        to->stream = KS_CUDA_STREAM_PER_THREAD;
    }
    return true;
}

static bool is_capturing(ks_cuda_stream stream)
{
    int status = 0;
    return the.cuda->stream_capturing(stream, &status) == 0 && status != 0;
}

/* A callback may come late, on any thread: it counts itself before it looks whether anybody is
 * there still, and at what is there only then. */
static bool come(void)
{
    atomic_fetch_add(&the.callers, 1);
    if (!atomic_load(&the.open)) {
        atomic_fetch_sub(&the.callers, 1);
        return false;
    }
    return true;
}

static void lock_all(void)
{
    the.watchers[0].lock(the.watchers[0].self);
}

static void go(void)
{
    the.watchers[0].unlock(the.watchers[0].self);
    atomic_fetch_sub(&the.callers, 1);
}

static void tell_instead(ks_instead what)
{
    lock_all();
    for (size_t i = 0; i < the.count; i++) {
        the.watchers[i].instead(the.watchers[i].self, what);
    }
    go();
}

static void begin_launch(const ks_api_launch *launch)
{
    if (!come()) {
        return;
    }
    if (is_capturing(launch->stream)) {
        tell_instead(KS_DID_CAPTURE);
        return;
    }
    lock_all();
    here.inside = true;
    for (size_t i = 0; i < the.count; i++) {
        the.watchers[i].enter(the.watchers[i].self, launch);
    }
}

static void on_callback(void *self, int domain, uint32_t function, const void *data)
{
    (void)self;
    const ks_cupti_callback_data *d = data;
    ks_api_launch launch = {.context = d->context, .kernel = d->symbol};
    if (here.ours || domain != KS_CUPTI_DRIVER_API) {
        return;
    }
    if (!read_arguments(function, d->arguments, &launch)) {
        if (d->site == KS_CUPTI_ENTER && ks_launches_is_copy(function) && come()) {
            tell_instead(KS_DID_COPY);
        }
        return;
    }
    if (launch.function == NULL) {
        launch.kernel = NULL;
    }
    if (d->site == KS_CUPTI_ENTER) {
        begin_launch(&launch);
    } else if (here.inside) {
        bool succeeded = d->result == NULL || *(const ks_cuda_result *)d->result == 0;
        for (size_t i = 0; i < the.count; i++) {
            the.watchers[i].leave(the.watchers[i].self, &launch, succeeded);
        }
        here.inside = false;
        go();
    }
}

static ks_cupti_result enable_callbacks(const ks_cupti *cupti, ks_cupti_subscription subscription)
{
    ks_cupti_result result = 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && result == 0; i++) {
        result = cupti->enable_callback(1, subscription, KS_CUPTI_DRIVER_API, functions[i]);
    }
    return result;
}

/* Become the one that CUPTI serves. The function that every CUPTI has comes first: what is measured
 * must not depend on whether there is the one that names others.
 * @param[out] holder  who is it already, where that is told */
static ks_cupti_result subscribe(const ks_cupti *cupti, ks_cupti_subscription *out,
                                 char holder[KS_CUPTI_HOLDER_BYTES])
{
    ks_cupti_result result = cupti->subscribe(out, on_callback, NULL);
    if (result == KS_CUPTI_TOO_MANY_SUBSCRIBERS && cupti->subscribe_named != NULL) {
        ks_cupti_subscriber_params params = {.size =
                                                 KS_KNOWN(ks_cupti_subscriber_params, holder_bytes),
                                             .name = "kernsight",
                                             .holder = holder,
                                             .holder_bytes = KS_CUPTI_HOLDER_BYTES};
        result = cupti->subscribe_named(out, on_callback, NULL, &params);
    }
    return result;
}

static ks_status fail_subscribing(const ks_cupti *cupti, ks_cupti_result result, const char *holder,
                                  ks_error *err)
{
    char what[128] = "cannot see what is launched";
    if (result == KS_CUPTI_TOO_MANY_SUBSCRIBERS && holder[0] != '\0') {
        snprintf(what, sizeof what, "cannot see what is launched, '%.60s' does", holder);
        ks_utf8_clean(what);
    }
    return ks_counters_fail(cupti, result, what, err);
}

/* Beside those that are there, which may be told of launches of other threads just now. */
static ks_status add_watcher(const ks_launch_watcher *watcher, ks_error *err)
{
    if (the.count == KS_LAUNCH_WATCHERS) {
        return ks_fail(err, KS_EBUSY, "nvidia", 0, "launches are watched by %d already",
                       KS_LAUNCH_WATCHERS);
    }
    watcher->lock(watcher->self);
    the.watchers[the.count++] = *watcher;
    watcher->unlock(watcher->self);
    return KS_OK;
}

ks_status ks_launches_watch(const ks_cuda *cuda, const ks_cupti *cupti,
                            const ks_launch_watcher *watcher, ks_error *err)
{
    if (the.subscription != NULL) {
        return add_watcher(watcher, err);
    }
    the.cuda = cuda;
    the.cupti = cupti;
    the.watchers[0] = *watcher;
    the.count = 1;
    ks_cupti_subscription subscription = NULL;
    char holder[KS_CUPTI_HOLDER_BYTES] = "";
    ks_cupti_result result = subscribe(cupti, &subscription, holder);
    if (result != 0) {
        return fail_subscribing(cupti, result, holder, err);
    }
    the.subscription = subscription;
    the.copies = false;
    atomic_store(&the.open, true);
    result = enable_callbacks(cupti, subscription);
    if (result != 0) {
        ks_launches_unwatch(watcher->self);
        return ks_counters_fail(cupti, result, "cannot see what is launched", err);
    }
    return KS_OK;
}

/* Of several. @return whether it was one */
static bool remove_watcher(const void *self)
{
    size_t at = 0;
    while (at < the.count && the.watchers[at].self != self) {
        at++;
    }
    if (the.count < 2 || at == the.count) {
        return false;
    }
    const ks_launch_watcher gone = the.watchers[at];
    gone.lock(gone.self);
    the.watchers[at] = the.watchers[--the.count];
    gone.unlock(gone.self);
    return true;
}

void ks_launches_unwatch(const void *self)
{
    if (the.subscription == NULL || remove_watcher(self) || the.watchers[0].self != self) {
        return;
    }
    atomic_store(&the.open, false);
    while (atomic_load(&the.callers) > 0) { /* launches that other threads are making */
        sched_yield();
    }
    the.cupti->unsubscribe(the.subscription);
    the.subscription = NULL;
}

/* A function that this CUPTI does not know is not called either. */
void ks_launches_watch_copies(void)
{
    for (size_t i = 0; i < COPY_SPANS && !the.copies; i++) {
        for (uint32_t function = copies[i].first; function <= copies[i].last; function++) {
            the.cupti->enable_callback(1, the.subscription, KS_CUPTI_DRIVER_API, function);
        }
    }
    the.copies = true;
}

bool ks_launches_watched(void)
{
    return the.subscription != NULL;
}
