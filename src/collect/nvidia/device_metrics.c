#include "collect/nvidia/device_metrics.h"

#include <string.h>

#include "base/error.h"

#define PREFIX "device__attribute_"

typedef enum formula {
    TOTAL_MEMORY = 1,
    DEVICE_INDEX,
    TPCS,
    SM_WARPS,
    SCHEDULERS,
    SCHEDULER_WARPS,
    SCHEDULER_IPC,
    SM_IPC,
    THREAD_REGISTERS,
} formula;

static const ks_device_metric metrics[] = {
#define METRIC(upper, number, name, description) {PREFIX name, description ".", number, 0},
    KS_CUDA_DEVICE_ATTRIBUTES(METRIC)
#undef METRIC
    /* other spellings of ncu's */
    {PREFIX "can_use_stream_mem_ops", "1: the first memory operations of streams.", 92, 0},
    {PREFIX "fb_bus_width", "Width of the memory bus in bits.", 37, 0},
    {PREFIX "gpu_pci_sub_system_id", "PCI subsystem and its vendor.", 140, 0},
    {PREFIX "limits_max_cta_per_sm", "Most blocks on an SM.", 106, 0},
    {PREFIX "max_mem_frequency_khz", "Top clock of the memory in kHz.", 36, 0},
    {PREFIX "virtual_address_management_supported", "1: has virtual memory management.", 102, 0},
    /* its own */
    {PREFIX "total_memory", "Bytes of memory.", 0, TOTAL_MEMORY},
    {PREFIX "device_index", "Number of the device in this process.", 0, DEVICE_INDEX},
    {PREFIX "limits_num_tpcs", "TPCs, pairs of SMs.", 0, TPCS},
    {PREFIX "max_warps_per_multiprocessor", "Most warps on an SM.", 0, SM_WARPS},
    {PREFIX "num_schedulers_per_multiprocessor", "Schedulers of an SM.", 0, SCHEDULERS},
    {PREFIX "max_warps_per_scheduler", "Most warps of a scheduler.", 0, SCHEDULER_WARPS},
    {PREFIX "max_ipc_per_scheduler", "Most instructions that a scheduler issues in a cycle.", 0,
     SCHEDULER_IPC},
    {PREFIX "max_ipc_per_multiprocessor", "Most instructions that an SM issues in a cycle.", 0,
     SM_IPC},
    {PREFIX "max_registers_per_thread", "Most registers of a thread.", 0, THREAD_REGISTERS},
};

static const char text[] = "ncu's value is a text, and metrics are numbers";
static const char hidden[] = "the driver's interface does not tell it";

static const struct {
    const char *name;
    const char *why;
} refused[] = {
    {"architecture", hidden},
    {"chip", hidden},
    {"confidential_computing_mode", text},
    {"display_name", text},
    {"fbp_count", hidden},
    {"gpu_pci_ext_device_id", hidden},
    {"gpu_pci_ext_downstream_link_rate", hidden},
    {"gpu_pci_ext_downstream_link_width", hidden},
    {"gpu_pci_ext_gen", hidden},
    {"gpu_pci_ext_gpu_gen", hidden},
    {"gpu_pci_ext_gpu_link_rate", hidden},
    {"gpu_pci_ext_gpu_link_width", hidden},
    {"gpu_pci_revision_id", hidden},
    {"implementation", hidden},
    {"l2s_count", hidden},
    {"max_gpu_frequency_khz",
     "ncu's value changes with the clocks that ncu sets; device__attribute_clock_rate is the top "
     "clock"},
    {"num_l2s_per_fbp", hidden},
    {"num_tex_per_multiprocessor", hidden},
    {"ram_location", hidden},
    {"ram_type", hidden},
    {"sass_level", hidden},
};

ks_status ks_device_limits_read(const ks_cuda *cuda, ks_cuda_device device, ks_device_limits *out,
                                ks_error *err)
{
    ks_device_limits limits = {.device = device};
    ks_cuda_result result = 0;
    for (int number = 1; number <= KS_CUDA_LAST_ATTRIBUTE; number++) {
        int value = 0;
        ks_cuda_result told = cuda->attribute(&value, number, device);
        limits.known[number] = told == 0;
        limits.values[number] = told == 0 ? value : 0;
        result = number == KS_ATTRIBUTE_SM_COUNT ? told : result;
    }
    if (result != 0) {
        const char *name = "unknown error";
        cuda->error_name(result, &name);
        return ks_fail(err, KS_EVENDOR, "cuda", result,
                       "cannot read the attributes of device %d: cuDeviceGetAttribute gave %s (%d)",
                       device, name, result);
    }
    if (cuda->device_memory == NULL || cuda->device_memory(&limits.memory_bytes, device) != 0) {
        limits.memory_bytes = 0;
    }
    *out = limits;
    return KS_OK;
}

bool ks_device_limit(const ks_device_limits *limits, int number, int *out)
{
    if (number < 1 || number > KS_CUDA_LAST_ATTRIBUTE || !limits->known[number]) {
        return false;
    }
    *out = limits->values[number];
    return true;
}

size_t ks_device_metric_count(void)
{
    return sizeof metrics / sizeof metrics[0];
}

const ks_device_metric *ks_device_metric_at(size_t index)
{
    return &metrics[index];
}

const ks_device_metric *ks_device_metric_find(const char *name)
{
    for (size_t i = 0; i < ks_device_metric_count(); i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return &metrics[i];
        }
    }
    return NULL;
}

const char *ks_device_metric_refusal(const char *name)
{
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (strcmp(refused[i].name, name + strlen(PREFIX)) == 0) {
            return refused[i].why;
        }
    }
    return NULL;
}

/** Volta and later, up to those that are known, are alike in what follows. */
static bool known_generation(const ks_device_limits *limits)
{
    int major = 0;
    return ks_device_limit(limits, KS_ATTRIBUTE_MAJOR, &major) && major >= 7 && major <= 12;
}

static bool whole(int64_t value, double *out)
{
    *out = (double)value;
    return true;
}

static bool computed(formula what, const ks_device_limits *limits, double *out)
{
    int threads = 0;
    int warp = 0;
    int sms = 0;
    bool warps = ks_device_limit(limits, KS_ATTRIBUTE_SM_THREADS, &threads) &&
                 ks_device_limit(limits, KS_ATTRIBUTE_WARP_SIZE, &warp) && warp > 0;
    switch (what) {
    case TOTAL_MEMORY:
        return limits->memory_bytes > 0 && whole((int64_t)limits->memory_bytes, out);
    case DEVICE_INDEX:
        return whole(limits->device, out);
    case SM_WARPS:
        return warps && whole(threads / warp, out);
    default:
        break;
    }
    if (!known_generation(limits)) {
        return false;
    }
    switch (what) {
    case TPCS:
        return ks_device_limit(limits, KS_ATTRIBUTE_SM_COUNT, &sms) && sms % 2 == 0 &&
               whole(sms / 2, out);
    case SCHEDULER_WARPS:
        return warps && whole(threads / warp / 4, out);
    case SCHEDULER_IPC:
        return whole(1, out);
    case THREAD_REGISTERS:
        return whole(255, out);
    default: /* SCHEDULERS, SM_IPC */
        return whole(4, out);
    }
}

bool ks_device_metric_value(const ks_device_metric *metric, const ks_device_limits *limits,
                            double *out, const char **why)
{
    if (metric->number == 0) {
        *why = "it does not follow from what the driver tells of this device";
        return computed((formula)metric->formula, limits, out);
    }
    int value = 0;
    if (!ks_device_limit(limits, metric->number, &value)) {
        *why = "this driver does not tell it";
        return false;
    }
    *out = value;
    return true;
}
