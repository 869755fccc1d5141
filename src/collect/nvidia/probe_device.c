#include "collect/nvidia/probe_device.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collect/nvidia/clocks.h"
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

/* A lock outlives who set it. */
static ks_status tell_clocks(int index, const char *uuid, const ks_fact_sink *to, ks_error *err)
{
    char text[160];
    char cure[320];
    char holder[KS_TURN_HOLDER_MAX];
    bool left = false;
    if (!ks_clocks_holder(uuid, holder, &left)) {
        return KS_OK;
    }
    if (!left) {
        snprintf(text, sizeof text, "locked to the base clock by process %s, until its run ends",
                 holder);
        return tell(index, "_clocks", text, NULL, to, err);
    }
    snprintf(text, sizeof text, "left locked to the base clock by process %s, which was killed",
             holder);
    snprintf(cure, sizeof cure,
             "as the administrator: `kernsight doctor --restore-clocks`, ks_clock_restore(), or "
             "`nvidia-smi --reset-gpu-clocks -i %s`",
             uuid);
    return tell(index, "_clocks", text, cure, to, err);
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

/* What the driver and NVML say of a device. */
typedef struct found {
    int index;
    ks_cuda_device device;
    int sms;
    ks_mig mig;
    char name[128];
    char uuid[KS_GPU_UUID_MAX]; /* "": not told */
} found;

static found look(const ks_probed *with, int index)
{
    found f = {.index = index, .mig = KS_MIG_UNKNOWN, .name = "unknown"};
    with->cuda->device(&f.device, index);
    with->cuda->device_name(f.name, sizeof f.name, f.device);
    with->cuda->attribute(&f.sms, KS_CUDA_SM_COUNT, f.device);
    if (ks_gpu_uuid(with->cuda, f.device, f.uuid, NULL) != KS_OK) {
        f.uuid[0] = '\0';
    } else if (with->nvml != NULL) {
        f.mig = ks_nvml_mig(with->nvml, f.uuid);
    }
    return f;
}

/* As nvidia-smi writes it, which tells parts from whole GPUs. */
static const char *shown_uuid(const found *f, char to[KS_GPU_UUID_MAX])
{
    if (f->mig != KS_MIG_PART) {
        return f->uuid;
    }
    snprintf(to, KS_GPU_UUID_MAX, "MIG-%.43s", f->uuid + strlen("GPU-"));
    return to;
}

/* "NAME, chip CHIP, SMs, UUID, counters supported", as far as it is known. */
static ks_status tell_what_it_is(const ks_probed *with, const found *f, const ks_fact_sink *to,
                                 ks_error *err)
{
    char text[sizeof err->message + 400];
    char uuid[KS_GPU_UUID_MAX];
    ks_gpu gpu = {0};
    ks_error unknown = KS_ERROR_INIT;
    const char *refused = NULL;
    const char *cure = "kernel__time_duration.sum needs no counters";
    bool asked = with->cupti != NULL;
    bool known = asked && ks_gpu_at(with->cuda, with->cupti, f->device, &gpu, &unknown) == KS_OK;
    if (known) {
        refused = ks_counters_unsupported(with->cupti, f->device);
    } else if (asked) {
        refused = unknown.message;
        cure = "use the CUPTI of the driver's CUDA version, or a newer one; "
               "kernel__time_duration.sum needs no counters";
    }
    snprintf(text, sizeof text, "%s%s%s, %d SMs%s%s%s%s", f->name, known ? ", chip " : "",
             known ? gpu.chip : "", f->sms, f->uuid[0] != '\0' ? ", " : "", shown_uuid(f, uuid),
             !asked            ? ""
             : refused == NULL ? ", counters supported"
                               : ", no counters: ",
             refused != NULL ? refused : "");
    return tell(f->index, "", text, refused != NULL ? cure : NULL, to, err);
}

ks_status ks_probe_device(const ks_probed *with, int index, const ks_fact_sink *to, ks_error *err)
{
    const found f = look(with, index);
    int mps = 0;
    KS_TRY(tell_what_it_is(with, &f, to, err));
    KS_TRY(tell_mig(index, f.mig, to, err));
    bool shared = with->cuda->attribute(&mps, KS_CUDA_MPS_ENABLED, f.device) == 0 && mps != 0;
    KS_TRY(tell_mps(index, shared, to, err));
    if (f.uuid[0] == '\0') {
        return KS_OK;
    }
    KS_TRY(tell_clocks(index, f.uuid, to, err));
    return tell_holder(index, f.uuid, to, err);
}
