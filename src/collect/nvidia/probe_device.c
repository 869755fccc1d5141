#include "collect/nvidia/probe_device.h"

#include <stdio.h>

#include "base/error.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/refusal.h"
#include "collect/nvidia/turn.h"

/* "device_0" and what it is about. */
static ks_status tell(int index, const char *what, const char *text, const char *cure,
                      const ks_fact_sink *to, ks_error *err)
{
    char fact[40];
    snprintf(fact, sizeof fact, "device_%d%s", index, what);
    return to->add(to->self, fact, ks_text(text), cure, err);
}

/* Of those who take turns; nothing if nobody has them. */
static ks_status tell_holder(int index, const char *uuid, const ks_fact_sink *to, ks_error *err)
{
    char text[120];
    char holder[KS_TURN_HOLDER_MAX];
    if (!ks_turn_holder(uuid, holder)) {
        return KS_OK;
    }
    snprintf(text, sizeof text, "taken by process %s", holder);
    return tell(index, "_counters", text,
                "they are free after its next run, when it calls ks_release(), or when it ends", to,
                err);
}

static ks_status tell_mig(int index, ks_mig mig, const ks_fact_sink *to, ks_error *err)
{
    static const char cure[] = "counters of a part may be refused: measure on an undivided GPU, or "
                               "ask for kernel__time_duration.sum, which needs none";
    return mig == KS_MIG_ON
               ? tell(index, "_mig", "on: the GPU is divided into parts", cure, to, err)
           : mig == KS_MIG_PART ? tell(index, "_mig", "this is a part of a GPU", cure, to, err)
                                : KS_OK;
}

static ks_status tell_mps(int index, bool mps, const ks_fact_sink *to, ks_error *err)
{
    return mps ? tell(index, "_mps", "on: processes run on the GPU at the same time, by MPS",
                      "work of others may be in your values: measure while nobody else uses the "
                      "GPU, or end MPS (echo quit | nvidia-cuda-mps-control)",
                      to, err)
               : KS_OK;
}

static ks_status tell_what_it_is(const ks_probed *with, const ks_gpu *gpu, int index, int sms,
                                 const ks_fact_sink *to, ks_error *err)
{
    char text[600];
    const char *unsupported = ks_counters_unsupported(with->cupti, gpu->device);
    snprintf(text, sizeof text, "%s, chip %s, %d SMs, %s, %s%s", gpu->card.name, gpu->chip, sms,
             gpu->uuid, unsupported == NULL ? "counters supported" : "no counters: ",
             unsupported == NULL ? "" : unsupported);
    return tell(index, "", text,
                unsupported == NULL ? NULL : "kernel__time_duration.sum needs no counters", to,
                err);
}

ks_status ks_probe_device(const ks_probed *with, int index, const ks_fact_sink *to, ks_error *err)
{
    ks_gpu gpu;
    ks_error unknown = KS_ERROR_INIT;
    ks_cuda_device device = 0;
    int sms = 0;
    int mps = 0;
    with->cuda->device(&device, index);
    with->cuda->attribute(&sms, KS_CUDA_SM_COUNT, device);
    if (with->cupti == NULL ||
        ks_gpu_at(with->cuda, with->cupti, device, &gpu, &unknown) != KS_OK) {
        char text[160];
        char name[128] = "unknown";
        with->cuda->device_name(name, sizeof name, device);
        snprintf(text, sizeof text, "%s, %d SMs", name, sms);
        return tell(index, "", text, NULL, to, err);
    }
    KS_TRY(tell_what_it_is(with, &gpu, index, sms, to, err));
    if (with->nvml != NULL) {
        KS_TRY(tell_mig(index, ks_nvml_mig(with->nvml, gpu.uuid), to, err));
    }
    bool shared = with->cuda->attribute(&mps, KS_CUDA_MPS_ENABLED, device) == 0 && mps != 0;
    KS_TRY(tell_mps(index, shared, to, err));
    return tell_holder(index, gpu.uuid, to, err);
}
