#include "collect/nvidia/tracing/api.h"

#include "base/clock.h"
#include "base/dl.h"
#include "base/error.h"
#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"
#include "collect/nvidia/drain.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/launches.h"
#include "collect/nvidia/refusal.h"

static const ks_cuda *cuda;
static const ks_cupti *cupti;

#define KS_ACTIVITY_SYMBOL(member, arguments, name) \
    {name, offsetof(ks_activity_api, member), false},
#define KS_ACTIVITY_NEW_SYMBOL(member, arguments, name) \
    {name, offsetof(ks_activity_api, member), true},
static const ks_dl_symbol symbols[] = {KS_ACTIVITY_FUNCTIONS(KS_ACTIVITY_SYMBOL)
                                           KS_ACTIVITY_NEW_FUNCTIONS(KS_ACTIVITY_NEW_SYMBOL)};
#undef KS_ACTIVITY_SYMBOL
#undef KS_ACTIVITY_NEW_SYMBOL

static ks_status real_connect(ks_activity_api *self, ks_error *err)
{
    KS_TRY(ks_cuda_get(&cuda, err));
    KS_TRY(ks_cupti_get(&cupti, err));
    const char *missing =
        ks_dl_bind(cupti->library.handle, symbols, sizeof symbols / sizeof symbols[0], self);
    return missing == NULL ? KS_OK
                           : ks_fail(err, KS_UNAVAILABLE, "cupti", 0,
                                     "kernels cannot be traced: %s has no function %s; use CUPTI "
                                     "12.8 or later",
                                     cupti->library.path, missing);
}

static ks_status real_card(ks_card *out, ks_error *err)
{
    return ks_gpu_card(cuda, out, err);
}

static void ignore_callback(void *self, int domain, uint32_t function, const void *data)
{
    (void)self;
    (void)domain;
    (void)function;
    (void)data;
}

/* CUPTI serves one listener, so that who becomes one is alone. */
static bool real_others_listen(void)
{
    ks_cupti_subscription subscription = NULL;
    if (ks_launches_watched()) {
        return false; /* it is us */
    }
    if (cupti->subscribe(&subscription, ignore_callback, NULL) != 0) {
        return true;
    }
    cupti->unsubscribe(subscription);
    return false;
}

static ks_cuda_result real_synchronize(void)
{
    ks_cuda_context context = NULL;
    ks_cuda_result result = cuda->context(&context);
    return result == 0 && context != NULL ? ks_drain(cuda) : result;
}

static ks_status real_device_fail(ks_cuda_result result, ks_error *err)
{
    return result == KS_DRAIN_NEVER ? ks_drain_fail(NULL, err) : ks_device_fail(cuda, result, err);
}

static const char *real_result_name(ks_cupti_result result)
{
    const char *name = NULL;
    return cupti->result_string(result, &name) == 0 && name != NULL ? name : "unknown result";
}

static ks_activity_api real = {
    .absent = ks_cuda_absent,
    .connect = real_connect,
    .card = real_card,
    .others_listen = real_others_listen,
    .synchronize = real_synchronize,
    .device_fail = real_device_fail,
    .result_name = real_result_name,
    .now_ns = ks_now_ns,
};

static ks_activity_api *in_use = &real;

ks_activity_api *ks_activity_system(void)
{
    return in_use;
}

void ks_activity_use(ks_activity_api *api)
{
    in_use = api != NULL ? api : &real;
}
