#include "collect/nvidia/refusal.h"

#include "base/error.h"
#include "collect/nvidia/permission.h"

/* What remains possible where counters are refused. */
#define TRACING_WORKS "; kernel__time_duration.sum needs no counters"

typedef struct refusal {
    ks_cupti_result result;
    ks_status status;
    const char *cause;
} refusal;

static const refusal refusals[] = {
    {KS_CUPTI_NO_PRIVILEGES, KS_EPERM,
     "this user may not read GPU counters; run as root, give the container the capability (docker "
     "run --cap-add SYS_ADMIN), or let the administrator load the driver with "
     "NVreg_RestrictProfilingToAdminUsers=0 (docs/permissions.md)" TRACING_WORKS},
    {KS_CUPTI_VIRTUALIZED_NO_PRIVILEGES, KS_EPERM,
     "this virtual GPU may not read counters; the host's administrator can allow it "
     "(enable_profiling of the vGPU)" TRACING_WORKS},
    {KS_CUPTI_HARDWARE_BUSY, KS_EBUSY,
     "another process has the GPU's counters (ncu, DCGM's profiling metrics, or a program that uses "
     "CUPTI); stop it, or pause DCGM with `dcgmi profiling --pause`" TRACING_WORKS},
    {KS_CUPTI_VIRTUALIZED, KS_UNAVAILABLE, "this virtual GPU has no counters" TRACING_WORKS},
    {KS_CUPTI_CONFIDENTIAL, KS_UNAVAILABLE,
     "the GPU is in confidential-computing mode, in which it has no counters" TRACING_WORKS},
    {KS_CUPTI_CMP, KS_UNAVAILABLE, "mining processors have no counters" TRACING_WORKS},
    {KS_CUPTI_MIG, KS_UNAVAILABLE,
     "the GPU is divided (MIG), and this CUPTI cannot read counters of a part; measure on an "
     "undivided GPU" TRACING_WORKS},
    {KS_CUPTI_SLI, KS_UNAVAILABLE, "GPUs that are joined by SLI have no counters" TRACING_WORKS},
    {KS_CUPTI_WSL, KS_UNAVAILABLE,
     "Windows Subsystem for Linux lets no counters through here; measure on native "
     "Linux" TRACING_WORKS},
    {KS_CUPTI_TOO_MANY_SUBSCRIBERS, KS_EBUSY,
     "another tool in this process listens to CUPTI (torch.profiler once it has recorded, nsys, a "
     "debugger), and CUPTI serves one; measure in a process in which it was not used"},
    {KS_CUPTI_OUT_OF_MEMORY, KS_ENOMEM, "there is not memory enough for the counters"},
};

/* What the driver was told about who may read counters, where it can be read. */
static const char *tell_permission(ks_cupti_result result)
{
    if (result != KS_CUPTI_NO_PRIVILEGES) {
        return "";
    }
    switch (ks_counters_permission()) {
    case KS_PERMISSION_ALL:
        return "; RmProfilingAdminOnly is 0 in the driver's parameters";
    case KS_PERMISSION_ADMIN:
    case KS_PERMISSION_REFUSED:
        return "; RmProfilingAdminOnly is 1 in the driver's parameters";
    default:
        return "";
    }
}

/* Its name and number come first: what to do may be long. */
ks_status ks_counters_fail(const ks_cupti *cupti, ks_cupti_result result, const char *what,
                           ks_error *err)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (refusals[i].result == result) {
            const char *name = NULL;
            cupti->result_string(result, &name);
            return ks_fail(err, refusals[i].status, "cupti", result, "%s (%s, %d): %s%s", what,
                           name != NULL ? name : "unknown result", result, refusals[i].cause,
                           tell_permission(result));
        }
    }
    return ks_cupti_fail(cupti, result, what, err);
}

ks_status ks_cuda_fail(const ks_cuda *cuda, ks_cuda_result result, const char *what, ks_error *err)
{
    const char *name = NULL;
    if (cuda->error_name(result, &name) != 0 || name == NULL) {
        name = "unknown result";
    }
    return ks_fail(err, KS_EVENDOR, "cuda", result, "%s: %s (%d)", what, name, result);
}

ks_status ks_device_fail(const ks_cuda *cuda, ks_cuda_result result, ks_error *err)
{
    ks_error told = KS_ERROR_INIT;
    ks_cuda_fail(cuda, result, "the GPU cannot go on after what was launched in this config",
                 &told);
    return ks_fail(err, told.code, told.origin, told.native,
                   "%s; the configs before it are kept, but CUDA works no more in this process: "
                   "compute-sanitizer finds the cause",
                   told.message);
}

const char *ks_counters_unsupported(const ks_cupti *cupti, ks_cuda_device device)
{
    ks_cupti_device_supported s = {.size = KS_KNOWN(ks_cupti_device_supported, api),
                                   .device = device,
                                   .api = KS_CUPTI_RANGE_PROFILING};
    if (cupti->device_supported(&s) != 0 || s.supported == KS_CUPTI_SUPPORTED ||
        s.supported == KS_CUPTI_SUPPORT_UNKNOWN) {
        return NULL;
    }
    return s.architecture == KS_CUPTI_UNSUPPORTED ? "its architecture is too old for this CUPTI"
           : s.confidential == KS_CUPTI_UNSUPPORTED
               ? "it is in confidential-computing mode, in which it has no counters"
           : s.vgpu == KS_CUPTI_UNSUPPORTED ? "this kind of virtual GPU has no counters"
           : s.vgpu == KS_CUPTI_DISABLED
               ? "counters of this virtual GPU are not enabled; the host's administrator can"
           : s.sli == KS_CUPTI_UNSUPPORTED ? "GPUs that are joined by SLI have no counters"
           : s.cmp == KS_CUPTI_UNSUPPORTED ? "mining processors have no counters"
           : s.wsl == KS_CUPTI_UNSUPPORTED
               ? "Windows Subsystem for Linux lets no counters through here"
               : "CUPTI says that it has no counters, and not why";
}
