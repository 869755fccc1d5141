#include "collect/nvidia/probe.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"
#include "collect/nvidia/nvml.h"
#include "collect/nvidia/permission.h"
#include "collect/nvidia/probe_device.h"
#include "collect/nvidia/turn.h"

static ks_status tell(const ks_fact_sink *to, const char *fact, const char *text, const char *cure,
                      ks_error *err)
{
    return to->add(to->self, fact, ks_text(text), cure, err);
}

/* What to do about a library that cannot be used: `missing` if there is none, `broken` if it was
 * found and then failed. */
static const char *cure_of(const ks_error *why, const char *variable, const char *missing,
                           const char *broken)
{
    static _Thread_local char text[120];
    const char *named = getenv(variable);
    if (why->native != 0) {
        return broken;
    }
    if (named == NULL || named[0] == '\0') {
        return missing;
    }
    snprintf(text, sizeof text, "unset %s, or let it name a library that works", variable);
    return text;
}

static const char *cure_of_cupti(const ks_error *why)
{
    static const char missing[] = "install the CUDA toolkit, or `pip install nvidia-cuda-cupti` "
                                  "and name its libcupti.so.13 in KERNSIGHT_CUPTI_LIB";
    return cure_of(why, "KERNSIGHT_CUPTI_LIB", missing, missing);
}

#define SEE_NVIDIA_SMI                                                                       \
    "see what `nvidia-smi` says; after an update of the driver restart the machine, or the " \
    "container"

static const char *cure_of_driver(const ks_error *why)
{
    return why->native == KS_CUDA_NO_DEVICE
               ? "see whether `nvidia-smi` lists it; CUDA_VISIBLE_DEVICES hides devices, and a "
                 "container has those that it was given (docker run --gpus all)"
               : cure_of(why, "KERNSIGHT_CUDA_LIB",
                         "install the driver of the GPU, if there is one; a container gets that of "
                         "its host (docker run --gpus all)",
                         SEE_NVIDIA_SMI);
}

static const char *cure_of_nvml(const ks_error *why)
{
    return cure_of(
        why, "KERNSIGHT_NVML_LIB",
        "it comes with the driver (in a container NVIDIA_DRIVER_CAPABILITIES must name "
        "utility); clocks, heat and energy are read by it, and whether a GPU is divided (MIG)",
        SEE_NVIDIA_SMI);
}

static ks_status tell_cupti(const ks_cupti *cupti, const ks_error *why, const ks_fact_sink *to,
                            ks_error *err)
{
    char text[600];
    if (cupti == NULL) {
        return tell(to, "cupti", why->message, cure_of_cupti(why), err);
    }
    snprintf(text, sizeof text, "%s, API version %u", cupti->library.path, cupti->api_version);
    return tell(to, "cupti", text, NULL, err);
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

static ks_status tell_nvml(const ks_nvml *nvml, const ks_error *why, const ks_fact_sink *to,
                           ks_error *err)
{
    char version[KS_NVML_VERSION_BYTES] = "unknown";
    char text[600];
    if (nvml == NULL) {
        return tell(to, "nvml", why->message, cure_of_nvml(why), err);
    }
    nvml->driver_version(version, sizeof version);
    snprintf(text, sizeof text, "%s, driver %s", nvml->library.path, version);
    return tell(to, "nvml", text, NULL, err);
}

static ks_status tell_permission(const ks_fact_sink *to, ks_error *err)
{
    switch (ks_counters_permission()) {
    case KS_PERMISSION_ALL:
        return tell(to, "permission", "any user may read counters", NULL, err);
    case KS_PERMISSION_ADMIN:
        return tell(to, "permission", "administrators alone may read counters; this process may",
                    NULL, err);
    case KS_PERMISSION_REFUSED:
        return tell(to, "permission",
                    "administrators alone may read counters; this process may not",
                    "run as root (in a container also with docker run --cap-add SYS_ADMIN), or let "
                    "the administrator write \"options nvidia "
                    "NVreg_RestrictProfilingToAdminUsers=0\" to a file in /etc/modprobe.d/ and "
                    "restart the machine (docs/permissions.md); kernel__time_duration.sum needs no "
                    "permission",
                    err);
    default:
        return KS_OK;
    }
}

static ks_status tell_driver(const ks_probed *with, const ks_error *why, const ks_error *no_nvml,
                             const ks_fact_sink *to, ks_error *err)
{
    char text[600];
    int version = 0;
    int devices = 0;
    if (with->cuda == NULL) {
        return tell(to, "driver", why->message, cure_of_driver(why), err);
    }
    with->cuda->version(&version);
    with->cuda->device_count(&devices);
    snprintf(text, sizeof text, "%s, for CUDA up to %d.%d", with->cuda->library.path,
             version / 1000, version % 1000 / 10);
    KS_TRY(tell(to, "driver", text, NULL, err));
    KS_TRY(tell_nvml(with->nvml, no_nvml, to, err));
    KS_TRY(tell_permission(to, err));
    KS_TRY(tell_turns(to, err));
    for (int i = 0; i < devices; i++) {
        KS_TRY(ks_probe_device(with, i, to, err));
    }
    return KS_OK;
}

/* The driver is for the GPU's owner to install, CUPTI for anybody. */
static ks_status tell_available(const ks_probed *with, const ks_error *no_cuda,
                                const ks_error *no_cupti, const ks_fact_sink *to, ks_error *err)
{
    if (with->cuda != NULL) {
        return with->cupti != NULL
                   ? tell(to, "available", "yes", NULL, err)
                   : tell(to, "available",
                          "no: there is no CUPTI (the library that reads counters) that works",
                          cure_of_cupti(no_cupti), err);
    }
    return tell(to, "available", "no: there is no NVIDIA driver that works",
                with->cupti != NULL && no_cuda->native == 0
                    ? "without a GPU, `kernsight metrics --chip gh100` lists what "
                      "one counts"
                    : cure_of_driver(no_cuda),
                err);
}

ks_status ks_nvidia_probe(const ks_fact_sink *to, ks_error *err)
{
    ks_error no_cuda = KS_ERROR_INIT;
    ks_error no_cupti = KS_ERROR_INIT;
    ks_error no_nvml = KS_ERROR_INIT;
    ks_probed with = {0};
    ks_cuda_get(&with.cuda, &no_cuda);
    ks_cupti_get(&with.cupti, &no_cupti);
    if (with.cuda != NULL) {
        ks_nvml_get(&with.nvml, &no_nvml);
    }
    if (ks_is_enomem(&no_cuda) || ks_is_enomem(&no_cupti) || ks_is_enomem(&no_nvml)) {
        return ks_enomem(err);
    }
    KS_TRY(tell_available(&with, &no_cuda, &no_cupti, to, err));
    KS_TRY(tell_cupti(with.cupti, &no_cupti, to, err));
    return tell_driver(&with, &no_cuda, &no_nvml, to, err);
}
