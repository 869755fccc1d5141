/* libnvidia-ml: what manages devices. */
#include "collect/nvidia/abi_nvml.h"

#include <stdio.h>
#include <string.h>

#include "fakes/nvidia/internal.h"

#define DECLARE(type, member, arguments, name) \
    FAKE_EXPORT type nvml_##member arguments __asm__(#name);
KS_NVML_FUNCTIONS(DECLARE)
#undef DECLARE

enum {
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    MISMATCH = 18,
    WHOLE_DIVIDED = 1, /* of `mig` in the script */
    PART = 2,
    CANNOT = 3
};

struct ks_nvml_device_st {
    int unused;
};

static struct ks_nvml_device_st any;

ks_nvml_result nvml_init(void)
{
    ENTER("nvmlInit_v2");
    return 0;
}

const char *nvml_error_string(ks_nvml_result result)
{
    return result == MISMATCH ? "Driver/library version mismatch" : "Some Error";
}

ks_nvml_result nvml_driver_version(char *to, unsigned size)
{
    ENTER("nvmlSystemGetDriverVersion");
    fake_lock();
    snprintf(to, size, "%s", fake_set.driver);
    fake_unlock();
    return 0;
}

ks_nvml_result nvml_device(const char *uuid, ks_nvml_device *out)
{
    ENTER("nvmlDeviceGetHandleByUUID");
    fake_lock();
    const char *prefix = fake_set.mig == PART ? "MIG-" : "GPU-";
    fake_unlock();
    *out = &any;
    return strncmp(uuid, prefix, 4) == 0 ? 0 : NOT_FOUND;
}

ks_nvml_result nvml_mig_mode(ks_nvml_device device, unsigned *now, unsigned *after_reset)
{
    ENTER("nvmlDeviceGetMigMode");
    fake_lock();
    bool cannot = device != &any || fake_set.mig == CANNOT;
    *now = *after_reset = fake_set.mig == WHOLE_DIVIDED;
    fake_unlock();
    return cannot ? NOT_SUPPORTED : 0;
}
