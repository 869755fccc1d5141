/* As nvidia.c, for what we declare of NVML. */
#include <nvml.h>

#include "collect/nvidia/abi_nvml.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define SAME_SIZE(ours, theirs)   _Static_assert(sizeof(ours) == sizeof(theirs), #ours)

SAME_SIZE(ks_nvml_result, nvmlReturn_t);
SAME_SIZE(ks_nvml_device, nvmlDevice_t);
SAME_NUMBER(0, NVML_SUCCESS);
SAME_NUMBER(KS_NVML_VERSION_BYTES, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
SAME_NUMBER(KS_NVML_MIG_ON, NVML_DEVICE_MIG_ENABLE);

/* his functions take what ours are declared with */
static inline void call(void)
{
    char version[KS_NVML_VERSION_BYTES];
    unsigned now = 0;
    unsigned later = 0;
    nvmlDevice_t device = 0;
    const char *text = nvmlErrorString(nvmlInit_v2());
    nvmlReturn_t result = nvmlSystemGetDriverVersion(version, sizeof version);
    result = nvmlDeviceGetHandleByUUID(text, &device);
    result = nvmlDeviceGetMigMode(device, &now, &later);
    (void)result;
}
