#include "collect/nvidia/nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/dl.h"
#include "base/error.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_nvml nvml;
static bool ready;

#define KS_NVML_SYMBOL(type, member, arguments, name) {#name, offsetof(ks_nvml, member), false},
static const ks_dl_symbol symbols[] = {KS_NVML_FUNCTIONS(KS_NVML_SYMBOL)};
#undef KS_NVML_SYMBOL

static bool accept(void *library, void *self, ks_buf *why)
{
    const char *missing = ks_dl_bind(library, symbols, sizeof symbols / sizeof symbols[0], self);
    if (missing != NULL) {
        ks_buf_addf(why, "it has no function %s", missing);
    }
    return missing == NULL;
}

static ks_status find(ks_error *err)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    const ks_library_spec spec = {.what = "NVML",
                                  .variable = "KERNSIGHT_NVML_LIB",
                                  .names = names,
                                  .accept = accept,
                                  .self = &nvml};
    return ks_library_open(&spec, "nvml", &nvml.library, err);
}

static ks_status initialize(ks_error *err)
{
    ks_nvml_result result = nvml.init();
    if (result == 0) {
        return KS_OK;
    }
    const char *text = nvml.error_string(result);
    return ks_fail(err, KS_UNAVAILABLE, "nvml", result, "%s cannot be used: %s (%d)",
                   nvml.library.path, text != NULL ? text : "unknown error", result);
}

ks_status ks_nvml_get(const ks_nvml **out, ks_error *err)
{
    pthread_mutex_lock(&lock);
    ks_status status = ready ? KS_OK : find(err);
    if (status == KS_OK && !ready) {
        status = initialize(err);
    }
    ready = status == KS_OK;
    pthread_mutex_unlock(&lock);
    if (status == KS_OK) {
        *out = &nvml;
    }
    return status;
}

/* The driver gives a part its own UUID, and does not say which of both it is. */
ks_mig ks_nvml_mig(const ks_nvml *n, const char *uuid)
{
    char part[64];
    unsigned now = 0;
    unsigned after_reset = 0;
    ks_nvml_device device = NULL;
    if (n->device(uuid, &device) == 0) {
        /* a device that cannot be divided does not know the mode */
        bool known = n->mig_mode(device, &now, &after_reset) == 0;
        return known && now == KS_NVML_MIG_ON ? KS_MIG_ON : KS_MIG_OFF;
    }
    snprintf(part, sizeof part, "MIG-%s", strncmp(uuid, "GPU-", 4) == 0 ? uuid + 4 : uuid);
    return n->device(part, &device) == 0 ? KS_MIG_PART : KS_MIG_UNKNOWN;
}
