#include "collect/nvidia/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collect/nvidia/device_metrics.h"
#include "collect/nvidia/refusal.h"

static void write_uuid(const ks_cuda_uuid *id, char *to, size_t size)
{
    int length = snprintf(to, size, "GPU-");
    for (int i = 0; i < 16 && length > 0 && (size_t)length < size; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        length +=
            snprintf(to + length, size - (size_t)length, "%s%02x", dash ? "-" : "", id->bytes[i]);
    }
}

ks_status ks_gpu_uuid(const ks_cuda *cuda, ks_cuda_device device, char to[KS_GPU_UUID_MAX],
                      ks_error *err)
{
    ks_cuda_uuid id = {{0}};
    ks_cuda_result result = cuda->device_uuid(&id, device);
    if (result != 0) {
        return ks_cuda_fail(cuda, result, "cannot ask about a GPU", err);
    }
    write_uuid(&id, to, KS_GPU_UUID_MAX);
    return KS_OK;
}

ks_status ks_gpu_start_profiler(const ks_cupti *cupti, ks_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool started;
    ks_cupti_profiler_init init = {.size = KS_KNOWN(ks_cupti_profiler_init, reserved)};
    pthread_mutex_lock(&lock);
    ks_cupti_result result = started ? 0 : cupti->profiler_init(&init);
    started = result == 0;
    pthread_mutex_unlock(&lock);
    return result == 0 ? KS_OK
                       : ks_counters_fail(cupti, result, "cannot initialise CUPTI's profiler", err);
}

static int64_t told(const ks_cuda *cuda, ks_cuda_device device, int attribute)
{
    int value = 0;
    return cuda->attribute(&value, attribute, device) == 0 && value > 0 ? value : 0;
}

static ks_status read_card(const ks_cuda *cuda, ks_cuda_device device, ks_card *out, ks_error *err)
{
    ks_cuda_result result = cuda->device_name(out->name, sizeof out->name, device);
    if (result != 0) {
        return ks_cuda_fail(cuda, result, "cannot ask about a GPU", err);
    }
    out->compute_khz = told(cuda, device, KS_ATTRIBUTE_CLOCK_RATE);
    out->memory_khz = told(cuda, device, KS_ATTRIBUTE_MEMORY_CLOCK_RATE);
    out->l2_bytes = told(cuda, device, KS_CUDA_L2_BYTES);
    return KS_OK;
}

ks_status ks_gpu_at(const ks_cuda *cuda, const ks_cupti *cupti, ks_cuda_device device, ks_gpu *out,
                    ks_error *err)
{
    *out = (ks_gpu){.cuda = cuda, .cupti = cupti, .device = device};
    KS_TRY(ks_gpu_start_profiler(cupti, err));
    KS_TRY(read_card(cuda, device, &out->card, err));
    KS_TRY(ks_gpu_uuid(cuda, device, out->uuid, err));
    ks_cupti_chip_name chip = {.size = KS_KNOWN(ks_cupti_chip_name, name),
                               .device = (size_t)device};
    ks_cupti_result asked = cupti->chip_name(&chip);
    if (asked != 0 || chip.name == NULL) {
        return ks_cupti_fail(cupti, asked, "cannot tell the chip of a GPU", err);
    }
    snprintf(out->chip, sizeof out->chip, "%s", chip.name);
    return KS_OK;
}

ks_status ks_gpu_device_here(const ks_cuda *cuda, ks_cuda_device *out, ks_error *err)
{
    ks_cuda_context context = NULL;
    ks_cuda_result result = cuda->device(out, 0);
    if (cuda->context(&context) == 0 && context != NULL) {
        result = cuda->context_device(out);
    }
    return result == 0 ? KS_OK : ks_cuda_fail(cuda, result, "cannot tell which GPU is used", err);
}

ks_status ks_gpu_here(ks_gpu *out, ks_error *err)
{
    const ks_cuda *cuda = NULL;
    const ks_cupti *cupti = NULL;
    ks_cuda_device device = 0;
    KS_TRY(ks_cuda_get(&cuda, err));
    KS_TRY(ks_cupti_get(&cupti, err));
    KS_TRY(ks_gpu_device_here(cuda, &device, err));
    return ks_gpu_at(cuda, cupti, device, out, err);
}

ks_status ks_gpu_card(const ks_cuda *cuda, ks_card *out, ks_error *err)
{
    ks_cuda_device device = 0;
    KS_TRY(ks_gpu_device_here(cuda, &device, err));
    return read_card(cuda, device, out, err);
}

/* The chip that was asked for last. */
static ks_chip *open;

void ks_gpu_forget_chip(void)
{
    ks_chip_close(open);
    open = NULL;
}

ks_status ks_gpu_chip(const ks_gpu *gpu, ks_chip **out, ks_error *err)
{
    if (open == NULL || strcmp(ks_chip_name(open), gpu->chip) != 0) {
        ks_chip *chip = NULL;
        KS_TRY(ks_chip_open(gpu->chip, &chip, err));
        ks_chip_close(open);
        open = chip;
    }
    *out = open;
    return KS_OK;
}
