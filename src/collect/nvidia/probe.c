#include "collect/nvidia/probe.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"

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

/* Name, chip and UUID: the one that the driver and nvidia-smi agree on whatever the order is. */
static void describe_device(const ks_cuda *cuda, const ks_cupti *cupti, int index, char *to,
                            size_t size)
{
    ks_cuda_device device = 0;
    char name[128] = "unknown";
    ks_cuda_uuid id = {{0}};
    int sms = 0;
    ks_cupti_chip_name chip = {.size = KS_KNOWN(ks_cupti_chip_name, name), .device = (size_t)index};
    bool known = cupti != NULL && cupti->chip_name(&chip) == 0 && chip.name != NULL;
    cuda->device(&device, index);
    cuda->device_name(name, sizeof name, device);
    cuda->device_uuid(&id, device);
    cuda->attribute(&sms, KS_CUDA_SM_COUNT, device);
    int length =
        snprintf(to, size, "%s, chip %s, %d SMs, GPU-", name, known ? chip.name : "not told", sms);
    for (int i = 0; i < 16 && length > 0 && (size_t)length < size; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        length +=
            snprintf(to + length, size - (size_t)length, "%s%02x", dash ? "-" : "", id.bytes[i]);
    }
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
    for (int i = 0; i < devices; i++) {
        char fact[32];
        snprintf(fact, sizeof fact, "device_%d", i);
        describe_device(cuda, cupti, i, text, sizeof text);
        KS_TRY(tell(to, fact, text, NULL, err));
    }
    return KS_OK;
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
    KS_TRY(tell(to, "available", "no: GPU metrics can be listed, and are not measured yet",
                cupti != NULL ? "kernsight metrics --chip gh100" : NULL, err));
    KS_TRY(tell_cupti(cupti, no_cupti.message, to, err));
    return tell_driver(cuda, cupti, no_cuda.message, to, err);
}
