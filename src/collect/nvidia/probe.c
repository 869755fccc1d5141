#include "collect/nvidia/probe.h"

#include <stdio.h>

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

static ks_status tell_nvml(const ks_nvml *nvml, const char *why, const ks_fact_sink *to,
                           ks_error *err)
{
    char version[KS_NVML_VERSION_BYTES] = "unknown";
    char text[600];
    if (nvml == NULL) {
        return tell(
            to, "nvml", why,
            "it comes with the driver (in a container: NVIDIA_DRIVER_CAPABILITIES must name "
            "utility); without it MIG is not told",
            err);
    }
    nvml->driver_version(version, sizeof version);
    snprintf(text, sizeof text, "%s, driver %s", nvml->library.path, version);
    return tell(to, "nvml", text, NULL, err);
}

static ks_status tell_permission(const ks_fact_sink *to, ks_error *err)
{
    switch (ks_counters_permission(KS_DRIVER_PARAMS)) {
    case KS_PERMISSION_ALL:
        return tell(to, "permission", "any user may read counters", NULL, err);
    case KS_PERMISSION_ADMIN:
        return tell(to, "permission", "administrators may read counters, as this process", NULL,
                    err);
    case KS_PERMISSION_REFUSED:
        return tell(to, "permission", "administrators alone may read counters",
                    "run as root, give the container the capability (docker run --cap-add "
                    "SYS_ADMIN), or let the administrator write \"options nvidia "
                    "NVreg_RestrictProfilingToAdminUsers=0\" to /etc/modprobe.d/ and restart the "
                    "machine; kernel__time_duration.sum needs no permission",
                    err);
    default:
        return KS_OK;
    }
}

static ks_status tell_driver(const ks_probed *with, const char *why, const char *no_nvml,
                             const ks_fact_sink *to, ks_error *err)
{
    char text[600];
    int version = 0;
    int devices = 0;
    if (with->cuda == NULL) {
        return tell(to, "driver", why, NULL, err);
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
    KS_TRY(tell_available(with.cuda, with.cupti, to, err));
    KS_TRY(tell_cupti(with.cupti, no_cupti.message, to, err));
    return tell_driver(&with, no_cuda.message, no_nvml.message, to, err);
}
