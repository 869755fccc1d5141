/* libcupti: what it is, what the device is, and the subscriber of launches. */
#include "fakes/nvidia/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAKE_CUPTI_VERSION
#define FAKE_CUPTI_VERSION 130001
#endif

enum {
    CALLBACKS_MAX = 1024,
    INVALID_DEVICE = 2
};

struct ks_cupti_subscriber {
    ks_cupti_callback callback;
    void *self;
    bool enabled[CALLBACKS_MAX];
};

static ks_cupti_subscription subscriber; /* under the lock */

/* ---- what it is -------------------------------------------------------------------------------
 */

ks_cupti_result cupti_version(uint32_t *version)
{
    ENTER("cuptiGetVersion");
    fake_lock();
    *version = fake_set.cupti_version != 0 ? (uint32_t)fake_set.cupti_version : FAKE_CUPTI_VERSION;
    fake_unlock();
    return 0;
}

ks_cupti_result cupti_result_string(ks_cupti_result result, const char **text)
{
    static const struct {
        int result;
        const char *text;
    } texts[] = {{0, "CUPTI_SUCCESS"},
                 {1, "CUPTI_ERROR_INVALID_PARAMETER"},
                 {2, "CUPTI_ERROR_INVALID_DEVICE"},
                 {3, "CUPTI_ERROR_INVALID_CONTEXT"},
                 {7, "CUPTI_ERROR_INVALID_OPERATION"},
                 {8, "CUPTI_ERROR_OUT_OF_MEMORY"},
                 {9, "CUPTI_ERROR_HARDWARE"},
                 {12, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
                 {15, "CUPTI_ERROR_NOT_INITIALIZED"},
                 {17, "CUPTI_ERROR_INVALID_METRIC_NAME"},
                 {26, "CUPTI_ERROR_HARDWARE_BUSY"},
                 {27, "CUPTI_ERROR_NOT_SUPPORTED"},
                 {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED"},
                 {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
                 {38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED"},
                 {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
                 {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES"},
                 {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED"},
                 {42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED"},
                 {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED"},
                 {44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED"},
                 {45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED"},
                 {46, "CUPTI_ERROR_INVALID_CHIP_NAME"},
                 {999, "CUPTI_ERROR_UNKNOWN"}};
    ENTER("cuptiGetResultString");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].result == result) {
            *text = texts[i].text;
            return 0;
        }
    }
    *text = "<unknown>";
    return KS_CUPTI_INVALID_PARAMETER;
}

ks_cupti_result cupti_chips(ks_cupti_chips *p)
{
    ENTER_WITH("cuptiProfilerHostGetSupportedChips", p, ks_cupti_chips, names);
    p->names = fake_chip_names(&p->count);
    return 0;
}

ks_cupti_result cupti_chip_name(ks_cupti_chip_name *p)
{
    static _Thread_local char name[sizeof fake_set.chip];
    ENTER_WITH("cuptiDeviceGetChipName", p, ks_cupti_chip_name, name);
    fake_lock();
    bool good = p->device < (size_t)fake_set.devices;
    memcpy(name, fake_set.chip, sizeof name);
    fake_unlock();
    p->name = good ? name : NULL;
    return good ? 0 : KS_CUPTI_INVALID_PARAMETER;
}

ks_cupti_result cupti_device_supported(ks_cupti_device_supported *p)
{
    ENTER_WITH("cuptiProfilerDeviceSupported", p, ks_cupti_device_supported, api);
    fake_lock();
    bool good = p->device >= 0 && p->device < fake_set.devices;
    p->architecture = (int)fake_set.architecture;
    p->sli = (int)fake_set.sli;
    p->vgpu = (int)fake_set.vgpu;
    p->confidential = (int)fake_set.confidential;
    p->cmp = (int)fake_set.cmp;
    p->wsl = (int)fake_set.wsl;
    fake_unlock();
    bool all = p->architecture == KS_CUPTI_SUPPORTED && p->sli == KS_CUPTI_SUPPORTED &&
               p->vgpu == KS_CUPTI_SUPPORTED && p->confidential == KS_CUPTI_SUPPORTED &&
               p->cmp == KS_CUPTI_SUPPORTED && p->wsl == KS_CUPTI_SUPPORTED;
    p->supported = all ? KS_CUPTI_SUPPORTED : KS_CUPTI_UNSUPPORTED;
    return good ? 0 : INVALID_DEVICE;
}

/* ---- the subscriber ---------------------------------------------------------------------------
 */

ks_cupti_result cupti_subscribe(ks_cupti_subscription *out, ks_cupti_callback callback, void *self)
{
    ENTER("cuptiSubscribe");
    if (out == NULL || callback == NULL) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    fake_lock();
    ks_cupti_result result = subscriber != NULL ? KS_CUPTI_TOO_MANY_SUBSCRIBERS : 0;
    if (result == 0) {
        subscriber = calloc(1, sizeof *subscriber);
        result = subscriber != NULL ? 0 : KS_CUPTI_OUT_OF_MEMORY;
    }
    if (result == 0) {
        subscriber->callback = callback;
        subscriber->self = self;
        fake_now.subscribers++;
        *out = subscriber;
    }
    fake_unlock();
    return result;
}

#ifndef FAKE_WITHOUT_PUSH /* the older one */
ks_cupti_result cupti_subscribe_named(ks_cupti_subscription *out, ks_cupti_callback callback,
                                      void *self, ks_cupti_subscriber_params *p)
{
    if (p != NULL && p->holder != NULL) {
        fake_lock();
        snprintf(p->holder, p->holder_bytes, "%s", fake_set.holder);
        fake_unlock();
    }
    ENTER_WITH("cuptiSubscribe_v2", p, ks_cupti_subscriber_params, holder_bytes);
    return cupti_subscribe(out, callback, self);
}
#endif

ks_cupti_result cupti_unsubscribe(ks_cupti_subscription which)
{
    ENTER("cuptiUnsubscribe");
    fake_lock();
    bool good = which != NULL && which == subscriber;
    if (good) {
        free(subscriber);
        subscriber = NULL;
        fake_now.subscribers--;
    }
    fake_unlock();
    return good ? 0 : KS_CUPTI_INVALID_PARAMETER;
}

ks_cupti_result cupti_enable_callback(uint32_t enable, ks_cupti_subscription which, int domain,
                                      uint32_t function)
{
    ENTER("cuptiEnableCallback");
    fake_lock();
    bool good = which != NULL && which == subscriber && domain == KS_CUPTI_DRIVER_API &&
                function > 0 && function < CALLBACKS_MAX;
    if (good) {
        subscriber->enabled[function] = enable != 0;
    }
    fake_unlock();
    return good ? 0 : KS_CUPTI_INVALID_PARAMETER;
}

/* ---- numbers of contexts and streams ----------------------------------------------------------
 */

ks_cupti_result cupti_context_id(ks_cuda_context context, uint32_t *out)
{
    ENTER("cuptiGetContextId");
    fake_lock();
    bool good = fake_context_is_good_locked(context);
    if (good) {
        *out = context->id;
    }
    fake_unlock();
    return good ? 0 : CUPTI_INVALID_CONTEXT;
}

/* The numbers are imaginary. */
ks_cupti_result cupti_stream_id(ks_cuda_context context, ks_cuda_stream stream, uint8_t per_thread,
                                uint32_t *out)
{
    ENTER("cuptiGetStreamIdEx");
    fake_lock();
    bool good = fake_context_is_good_locked(context);
    fake_unlock();
    *out = stream == NULL ? 7u + per_thread : 13;
    return good ? 0 : CUPTI_INVALID_CONTEXT;
}

static void tell_subscriber(uint32_t function, ks_cupti_callback_data *data)
{
    fake_lock();
    bool wanted = subscriber != NULL && subscriber->enabled[function];
    ks_cupti_callback callback = wanted ? subscriber->callback : NULL;
    void *self = wanted ? subscriber->self : NULL;
    fake_unlock();
    if (wanted) {
        callback(self, KS_CUPTI_DRIVER_API, function, data);
    }
}

/* ---- with the driver --------------------------------------------------------------------------
 */

static const fake_hooks hooks = {tell_subscriber, fake_ranges_run_locked};

__attribute__((constructor)) static void meet_driver(void)
{
    fake_set_hooks(&hooks);
}

__attribute__((destructor)) static void leave_driver(void)
{
    fake_clear_hooks(&hooks);
}
