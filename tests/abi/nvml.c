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

/* Each of our functions has the type of his of that name, once our types are his. */
#define ks_nvml_result nvmlReturn_t
#define ks_nvml_device nvmlDevice_t
#define SAME_FUNCTION(type, member, arguments, name) \
    static inline void same_##member(void)           \
    {                                                \
        type(*ours) arguments = name;                \
        (void)ours;                                  \
    }
KS_NVML_FUNCTIONS(SAME_FUNCTION)
