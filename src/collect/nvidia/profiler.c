#include "collect/nvidia/profiler.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/num.h"
#include "collect/nvidia/drain.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/refusal.h"

/* Of an image: one with throughput metrics takes 650 KB for each range. */
static const size_t IMAGE_BYTES_MAX = (size_t)1 << 30;

/* How long to wait for another process: runs take longer, but end with an error that says whom to
 * ask rather than hang. */
static const double TURN_LIMIT_S = 30.0;

/* All profilers of the process: used by one run at a time. */
static ks_profiler *all;

/* ---- contexts ---------------------------------------------------------------------------------
 */

/* Make a profiler's context current. @return whether it has to be put back */
static bool enter_context(const ks_profiler *p)
{
    ks_cuda_context now = NULL;
    p->cuda->context(&now);
    return now != p->context && p->cuda->push_context(p->context) == 0;
}

static void leave_context(const ks_profiler *p, bool entered)
{
    if (entered) {
        ks_cuda_context out = NULL;
        p->cuda->pop_context(&out);
    }
}

bool ks_profiler_is_alive(const ks_profiler *profiler)
{
    unsigned long long id = 0;
    return profiler->cuda->context_id(profiler->context, &id) == 0 && id == profiler->context_id &&
           !ks_drain_is_stuck(profiler->cuda, profiler->context);
}

/* ---- enabling ---------------------------------------------------------------------------------
 */

static void forget_spec(ks_profiler *p)
{
    for (size_t i = 0; p->metrics != NULL && i < p->count; i++) {
        ks_free(p->metrics[i]);
    }
    ks_free(p->metrics);
    ks_free(p->config);
    ks_free(p->fresh);
    ks_free(p->image);
    p->metrics = NULL;
    p->config = p->fresh = p->image = NULL;
    p->count = p->bytes = p->slots = 0;
    p->unfinished = false;
}

static void give_turn(ks_profiler *p)
{
    ks_turn_give(p->turn);
    p->turn = NULL;
}

static void forget_context(ks_profiler *p);

/* With its context current. */
static void disable(ks_profiler *p)
{
    if (ks_drain_is_stuck(p->cuda, p->context)) {
        forget_context(p);
        return;
    }
    if (p->object != NULL) {
        ks_profiler_abandon(p);
        ks_cupti_of_profiler params = {.size = KS_KNOWN(ks_cupti_of_profiler, profiler),
                                       .profiler = p->object};
        p->cupti->disable(&params);
        p->object = NULL;
    }
    give_turn(p);
    forget_spec(p);
}

/* Its context has gone, and with it all that was in it. */
static void forget_context(ks_profiler *p)
{
    forget_spec(p);
    give_turn(p);
    p->object = NULL;
    p->running = false;
    p->flush = (ks_flush){0};
}

static void free_profiler(ks_profiler *p)
{
    if (ks_profiler_is_alive(p)) {
        bool entered = enter_context(p);
        disable(p);
        ks_flush_fini(&p->flush);
        leave_context(p, entered);
    }
    forget_context(p);
    ks_free(p);
}

static bool is_same(const ks_profiler *p, const ks_profile_spec *spec)
{
    if (p->object == NULL || p->count != spec->count || p->range != spec->range ||
        p->replay != spec->replay || p->slots < spec->slots) {
        return false;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->metrics[i], spec->metrics[i]) != 0) {
            return false;
        }
    }
    return true;
}

static ks_status keep_spec(ks_profiler *p, const ks_profile_spec *spec, ks_error *err)
{
    p->metrics = ks_calloc(spec->count, sizeof *p->metrics);
    p->config = ks_alloc(spec->config->bytes);
    if (p->metrics == NULL || p->config == NULL) {
        return ks_enomem(err);
    }
    memcpy(p->config, spec->config->image, spec->config->bytes);
    p->config_bytes = spec->config->bytes;
    p->count = spec->count;
    for (size_t i = 0; i < spec->count; i++) {
        size_t bytes = strlen(spec->metrics[i]) + 1;
        p->metrics[i] = ks_alloc(bytes);
        if (p->metrics[i] == NULL) {
            return ks_enomem(err);
        }
        memcpy(p->metrics[i], spec->metrics[i], bytes);
    }
    p->range = spec->range;
    p->replay = spec->replay;
    p->slots = spec->slots;
    return KS_OK;
}

static ks_status make_images(ks_profiler *p, ks_error *err)
{
    ks_cupti_image_size size = {.size = KS_KNOWN(ks_cupti_image_size, bytes),
                                .profiler = p->object,
                                .names = (const char *const *)p->metrics,
                                .count = p->count,
                                .slots = p->slots,
                                .nodes = (uint32_t)p->slots};
    ks_cupti_result result = p->cupti->image_size(&size);
    if (result != 0) {
        return ks_counters_fail(p->cupti, result, "cannot tell the room for counters", err);
    }
    p->bytes = size.bytes;
    p->most_slots = IMAGE_BYTES_MAX / (size.bytes / p->slots + 1);
    if (p->slots > p->most_slots) {
        return ks_fail(err, KS_ELIMIT, "nvidia", 0, "counters have room for %zu ranges, not %zu",
                       p->most_slots, p->slots);
    }
    p->fresh = ks_calloc(p->bytes, 1);
    p->image = ks_alloc(p->bytes);
    if (p->fresh == NULL || p->image == NULL) {
        return ks_enomem(err);
    }
    ks_cupti_image_init init = {.size = KS_KNOWN(ks_cupti_image_init, image),
                                .profiler = p->object,
                                .bytes = p->bytes,
                                .image = p->fresh};
    result = p->cupti->image_init(&init);
    return result == 0 ? KS_OK
                       : ks_counters_fail(p->cupti, result, "cannot make room for counters", err);
}

static ks_status take_turn(ks_profiler *p, const ks_profile_spec *spec, ks_error *err)
{
    char uuid[KS_GPU_UUID_MAX];
    KS_TRY(ks_gpu_uuid(p->cuda, p->device, uuid, err));
    return ks_turn_take(uuid, TURN_LIMIT_S, spec->cancelled, &p->turn, err);
}

/* With its context current. */
static ks_status enable(ks_profiler *p, const ks_profile_spec *spec, ks_error *err)
{
    KS_TRY(ks_gpu_start_profiler(p->cupti, err));
    const char *unsupported = ks_counters_unsupported(p->cupti, p->device);
    if (unsupported != NULL) {
        return ks_fail(
            err, KS_UNAVAILABLE, "cupti", 0,
            "the counters of GPU %d cannot be read: %s; kernel__time_duration.sum needs none",
            p->device, unsupported);
    }
    KS_TRY(take_turn(p, spec, err));
    ks_cupti_enable params = {.size = KS_KNOWN(ks_cupti_enable, profiler), .context = p->context};
    ks_cupti_result result = p->cupti->enable(&params);
    if (result != 0) {
        return ks_counters_fail(p->cupti, result, "cannot have the GPU's counters", err);
    }
    p->object = params.profiler;
    KS_TRY(keep_spec(p, spec, err));
    return make_images(p, err);
}

/* Of the contexts of a device one has counters. */
static void disable_others(const ks_profiler *p)
{
    for (ks_profiler *other = all; other != NULL; other = other->next) {
        if (other != p && other->device == p->device && other->object != NULL &&
            ks_profiler_is_alive(other)) {
            ks_profiler_disable(other);
        }
    }
}

static ks_status prepare(ks_profiler *p, const ks_profile_spec *spec, ks_error *err)
{
    if (spec->flush && p->flush.kernel == NULL) {
        KS_TRY(ks_flush_init(p->cuda, p->device, &p->flush, err));
    }
    if (is_same(p, spec)) {
        return KS_OK;
    }
    disable_others(p);
    disable(p);
    ks_status status = enable(p, spec, err);
    if (status != KS_OK) {
        disable(p);
    }
    return status;
}

ks_status ks_profiler_prepare(ks_profiler *profiler, const ks_profile_spec *spec, ks_error *err)
{
    bool entered = enter_context(profiler);
    ks_status status = prepare(profiler, spec, err);
    leave_context(profiler, entered);
    return status;
}

static ks_status make_profiler(ks_profiler *p, ks_error *err)
{
    ks_cuda_result result = p->cuda->context_id(p->context, &p->context_id);
    bool entered = enter_context(p);
    result = result != 0 ? result : p->cuda->context_device(&p->device);
    leave_context(p, entered);
    return result == 0 ? KS_OK
                       : ks_cuda_fail(p->cuda, result, "cannot measure in a CUDA context", err);
}

ks_status ks_profiler_of(const ks_cuda *cuda, const ks_cupti *cupti, ks_cuda_context context,
                         ks_profiler **out, ks_error *err)
{
    if (ks_drain_is_stuck(cuda, context)) {
        return ks_fail(err, KS_ESTATE, "nvidia", 0,
                       "the work of this CUDA context did not end in a run before; begin anew in "
                       "another process");
    }
    for (ks_profiler *p = all; p != NULL; p = p->next) {
        if (p->context != context) {
            continue;
        }
        *out = p;
        if (ks_profiler_is_alive(p)) {
            return KS_OK;
        }
        p->orphaned = p->object != NULL;
        forget_context(p); /* this is a later one at the same address */
        return make_profiler(p, err);
    }
    ks_profiler *p = ks_calloc(1, sizeof *p);
    if (p == NULL) {
        return ks_enomem(err);
    }
    p->cuda = cuda;
    p->cupti = cupti;
    p->context = context;
    ks_status status = make_profiler(p, err);
    if (status != KS_OK) {
        ks_free(p);
        return status;
    }
    p->next = all;
    all = p;
    *out = p;
    return KS_OK;
}

void ks_profiler_disable(ks_profiler *profiler)
{
    bool entered = enter_context(profiler);
    disable(profiler);
    leave_context(profiler, entered);
}

void ks_profilers_give_back(void)
{
    while (all != NULL) {
        ks_profiler *p = all;
        all = p->next;
        free_profiler(p);
    }
}

bool ks_profilers_held(void)
{
    bool held = false;
    for (const ks_profiler *p = all; p != NULL; p = p->next) {
        held = held || p->object != NULL;
    }
    return held;
}

bool ks_profilers_wanted(void)
{
    bool wanted = false;
    for (const ks_profiler *p = all; p != NULL; p = p->next) {
        wanted = wanted || ks_turn_wanted(p->turn);
    }
    return wanted;
}

/* ---- passes -----------------------------------------------------------------------------------
 */

/* Go through what is left of a session that was not finished: until its last pass CUPTI ignores
 * what it is told about the next one. */
static ks_status finish_session(ks_profiler *p, ks_error *err)
{
    ks_profiler_abandon(p);
    while (p->unfinished) {
        bool complete = false;
        KS_TRY(ks_profiler_start(p, err));
        KS_TRY(ks_profiler_stop(p, &complete, err));
    }
    return KS_OK;
}

ks_status ks_profiler_begin(ks_profiler *profiler, ks_error *err)
{
    KS_TRY(finish_session(profiler, err));
    memcpy(profiler->image, profiler->fresh, profiler->bytes);
    ks_cupti_set_config params = {.size = KS_KNOWN(ks_cupti_set_config, target_level),
                                  .profiler = profiler->object,
                                  .config_bytes = profiler->config_bytes,
                                  .config = profiler->config,
                                  .image_bytes = profiler->bytes,
                                  .image = profiler->image,
                                  .range = profiler->range,
                                  .replay = profiler->replay,
                                  .slots = profiler->slots,
                                  .levels = 1,
                                  .least_level = 1,
                                  .target_level = 1};
    bool entered = enter_context(profiler);
    ks_cupti_result result = profiler->cupti->set_config(&params);
    leave_context(profiler, entered);
    return result == 0 ? KS_OK
                       : ks_counters_fail(profiler->cupti, result, "cannot set the counters", err);
}

static ks_cupti_of_profiler of(const ks_profiler *p)
{
    return (ks_cupti_of_profiler){.size = KS_KNOWN(ks_cupti_of_profiler, profiler),
                                  .profiler = p->object};
}

/* Whether a context of a device went with its counters. */
static bool was_reset(ks_cuda_device device)
{
    bool lost = false;
    for (const ks_profiler *p = all; p != NULL; p = p->next) {
        bool gone = p->object != NULL && !ks_profiler_is_alive(p);
        lost = lost || (p->device == device && (gone || p->orphaned));
    }
    return lost;
}

/* CUPTI does not get over a reset of the device that took its counters along, and crashes when it
 * is told to give them up after that: seen on an H200. */
static ks_status fail_start(const ks_profiler *p, ks_cupti_result result, ks_error *err)
{
    if (was_reset(p->device)) {
        return ks_fail(
            err, KS_ESTATE, "cupti", result,
            "cannot start the counters: the device was reset (cudaDeviceReset) while they "
            "were held, after which CUPTI starts them no more in this process; call "
            "ks_release() before a reset, or hold no counters "
            "(ks_plan_hold_counters())");
    }
    return ks_counters_fail(p->cupti, result, "cannot start the counters", err);
}

ks_status ks_profiler_start(ks_profiler *profiler, ks_error *err)
{
    ks_cupti_of_profiler params = of(profiler);
    bool entered = enter_context(profiler);
    ks_cupti_result result = profiler->cupti->start(&params);
    leave_context(profiler, entered);
    profiler->running = result == 0;
    profiler->unfinished = profiler->unfinished || result == 0;
    return result == 0 ? KS_OK : fail_start(profiler, result, err);
}

ks_status ks_profiler_stop(ks_profiler *profiler, bool *complete, ks_error *err)
{
    ks_cupti_stop params = {.size = KS_KNOWN(ks_cupti_stop, complete),
                            .profiler = profiler->object};
    bool entered = enter_context(profiler);
    ks_cupti_result result = profiler->cupti->stop(&params);
    leave_context(profiler, entered);
    profiler->running = false;
    *complete = params.complete != 0;
    profiler->unfinished = profiler->unfinished && result == 0 && !*complete;
    return result == 0 ? KS_OK
                       : ks_counters_fail(profiler->cupti, result, "cannot stop the counters", err);
}

void ks_profiler_abandon(ks_profiler *profiler)
{
    bool complete = false;
    if (profiler->running && !ks_drain_is_stuck(profiler->cuda, profiler->context)) {
        ks_profiler_stop(profiler, &complete, NULL);
    }
}

ks_status ks_profiler_decode(ks_profiler *profiler, size_t *ranges, size_t *dropped, ks_error *err)
{
    ks_cupti_decode decode = {.size = KS_KNOWN(ks_cupti_decode, dropped),
                              .profiler = profiler->object};
    ks_cupti_image_info info = {.size = KS_KNOWN(ks_cupti_image_info, ranges),
                                .image = profiler->image,
                                .bytes = profiler->bytes};
    bool entered = enter_context(profiler);
    ks_cupti_result result = profiler->cupti->decode(&decode);
    leave_context(profiler, entered);
    result = result != 0 ? result : profiler->cupti->image_info(&info);
    *ranges = info.ranges;
    *dropped = decode.dropped;
    return result == 0 ? KS_OK
                       : ks_counters_fail(profiler->cupti, result, "cannot read the counters", err);
}

ks_status ks_profiler_evaluate(const ks_profiler *profiler, const ks_profile_spec *spec,
                               size_t range, double *values, ks_error *err)
{
    ks_cupti_evaluate params = {.size = KS_KNOWN(ks_cupti_evaluate, values),
                                .host = spec->config->host,
                                .image = profiler->image,
                                .bytes = profiler->bytes,
                                .range = range,
                                .names = (const char *const *)profiler->metrics,
                                .count = profiler->count,
                                .values = values};
    ks_cupti_result result = profiler->cupti->evaluate(&params);
    return result == 0 ? KS_OK
                       : ks_counters_fail(profiler->cupti, result, "cannot read the counters", err);
}

ks_status ks_profiler_number(const ks_profiler *profiler, size_t range, size_t *number,
                             ks_error *err)
{
    ks_cupti_range_info params = {.size = KS_KNOWN(ks_cupti_range_info, name),
                                  .image = profiler->image,
                                  .bytes = profiler->bytes,
                                  .range = range,
                                  .delimiter = "/"};
    int64_t value = 0;
    ks_cupti_result result = profiler->cupti->range_info(&params);
    if (result != 0 || params.name == NULL) {
        return ks_counters_fail(profiler->cupti, result, "cannot tell a range", err);
    }
    if (!ks_num_read_i64(params.name, strlen(params.name), &value) || value < 0) {
        return ks_fail(err, KS_EVENDOR, "cupti", 0, "there is a range '%.60s', which is not ours",
                       params.name);
    }
    *number = (size_t)value;
    return KS_OK;
}

ks_cupti_result ks_profiler_push(ks_profiler *profiler, size_t number)
{
    char name[24];
    snprintf(name, sizeof name, "%zu", number);
    ks_cupti_push params = {
        .size = KS_KNOWN(ks_cupti_push, name), .profiler = profiler->object, .name = name};
    return profiler->cupti->push(&params);
}

ks_cupti_result ks_profiler_pop(ks_profiler *profiler)
{
    ks_cupti_of_profiler params = of(profiler);
    return profiler->cupti->pop(&params);
}
