#include "collect/nvidia/probe.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/refusal.h"
#include "collect/nvidia/turn.h"

static ks_status tell(const ks_fact_sink *to, const char *fact, const char *text, const char *cure,
                      ks_error *err)
{
    return to->add(to->self, fact, ks_text(text), cure, err);
}

static ks_status tell_cupti(const ks_cupti *cupti, const char *why, const ks_fact_sink *to,
                            ks_error *err)
{
    char text[600];
    if (cupti == NULL) {
        return tell(to, "cupti", why, NULL, err);
    }
    snprintf(text, sizeof text, "%s, API version %u", cupti->library.path, cupti->api_version);
    return tell(to, "cupti", text, NULL, err);
}

/* Who has the counters of a device, of those who take turns; nothing if nobody has. */
static ks_status tell_holder(int index, const char *uuid, const ks_fact_sink *to, ks_error *err)
{
    char fact[40];
    char text[120];
    char holder[KS_TURN_HOLDER_MAX];
    if (!ks_turn_holder(uuid, holder)) {
        return KS_OK;
    }
    snprintf(fact, sizeof fact, "device_%d_counters", index);
    snprintf(text, sizeof text, "taken by process %s", holder);
    return tell(to, fact, text,
                "they are free after its next run, when it calls ks_release(), or when it ends",
                err);
}

/* Where processes wait for each other. */
static ks_status tell_turns(const ks_fact_sink *to, ks_error *err)
{
    char folder[520];
    char text[600];
    if (ks_turn_folder(folder, sizeof folder)) {
        return tell(to, "turns", folder, NULL, err);
    }
    snprintf(text, sizeof text, "none: %s", folder);
    return tell(to, "turns", text,
                "remove what is there, or set XDG_RUNTIME_DIR to a folder of yours; until then "
                "processes do not wait for each other's counters",
                err);
}

/* Name, chip and UUID: the one that the driver and nvidia-smi agree on whatever the order is; and
 * whether its counters can be read. */
static ks_status tell_device(const ks_cuda *cuda, const ks_cupti *cupti, int index,
                             const ks_fact_sink *to, ks_error *err)
{
    char fact[32];
    char text[600];
    ks_gpu gpu;
    ks_error unknown = KS_ERROR_INIT;
    ks_cuda_device device = 0;
    int sms = 0;
    snprintf(fact, sizeof fact, "device_%d", index);
    cuda->device(&device, index);
    cuda->attribute(&sms, KS_CUDA_SM_COUNT, device);
    if (cupti == NULL || ks_gpu_at(cuda, cupti, device, &gpu, &unknown) != KS_OK) {
        char name[128] = "unknown";
        cuda->device_name(name, sizeof name, device);
        snprintf(text, sizeof text, "%s, %d SMs", name, sms);
        return tell(to, fact, text, NULL, err);
    }
    const char *unsupported = ks_counters_unsupported(cupti, device);
    snprintf(text, sizeof text, "%s, chip %s, %d SMs, %s, %s%s", gpu.card.name, gpu.chip, sms,
             gpu.uuid, unsupported == NULL ? "counters supported" : "no counters: ",
             unsupported == NULL ? "" : unsupported);
    KS_TRY(tell(to, fact, text, NULL, err));
    return tell_holder(index, gpu.uuid, to, err);
}

static ks_status tell_driver(const ks_cuda *cuda, const ks_cupti *cupti, const char *why,
                             const ks_fact_sink *to, ks_error *err)
{
    char text[600];
    int version = 0;
    int devices = 0;
    if (cuda == NULL) {
        return tell(to, "driver", why, NULL, err);
    }
    cuda->version(&version);
    cuda->device_count(&devices);
    snprintf(text, sizeof text, "%s, for CUDA up to %d.%d", cuda->library.path, version / 1000,
             version % 1000 / 10);
    KS_TRY(tell(to, "driver", text, NULL, err));
    KS_TRY(tell_turns(to, err));
    for (int i = 0; i < devices; i++) {
        KS_TRY(tell_device(cuda, cupti, i, to, err));
    }
    return KS_OK;
}

/* The driver is for the GPU's owner to install, CUPTI for anybody. */
static ks_status tell_available(const ks_cuda *cuda, const ks_cupti *cupti, const ks_fact_sink *to,
                                ks_error *err)
{
    if (cuda != NULL && cupti != NULL) {
        return tell(to, "available", "yes", NULL, err);
    }
    return cuda == NULL
               ? tell(to, "available", "no: there is no NVIDIA driver that works",
                      cupti != NULL ? "without a GPU, `kernsight metrics --chip gh100` lists "
                                      "what one counts"
                                    : "install the driver of the GPU, if there is one",
                      err)
               : tell(to, "available", "no: there is no CUPTI",
                      "install the CUDA toolkit, or `pip install nvidia-cuda-cupti`", err);
}

ks_status ks_nvidia_probe(const ks_fact_sink *to, ks_error *err)
{
    ks_error no_cuda = KS_ERROR_INIT;
    ks_error no_cupti = KS_ERROR_INIT;
    const ks_cuda *cuda = NULL;
    const ks_cupti *cupti = NULL;
    ks_cuda_get(&cuda, &no_cuda);
    ks_cupti_get(&cupti, &no_cupti);
    if (ks_is_enomem(&no_cuda) || ks_is_enomem(&no_cupti)) {
        return ks_enomem(err);
    }
    KS_TRY(tell_available(cuda, cupti, to, err));
    KS_TRY(tell_cupti(cupti, no_cupti.message, to, err));
    return tell_driver(cuda, cupti, no_cuda.message, to, err);
}
