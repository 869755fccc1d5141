#include "collect/nvidia/cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/dl.h"
#include "base/error.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_cuda cuda;
static bool ready;

#define KS_CUDA_SYMBOL(member, arguments, name)   {name, offsetof(ks_cuda, member), false},
#define KS_CUDA_OPTIONAL(member, arguments, name) {name, offsetof(ks_cuda, member), true},
static const ks_dl_symbol symbols[] = {KS_CUDA_FUNCTIONS(KS_CUDA_SYMBOL)
                                           KS_CUDA_OPTIONAL_FUNCTIONS(KS_CUDA_OPTIONAL)};
#undef KS_CUDA_SYMBOL
#undef KS_CUDA_OPTIONAL

static const char library_name[] = "libcuda.so.1";

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
    static const char *const names[] = {library_name, NULL};
    const ks_library_spec spec = {.what = "NVIDIA driver",
                                  .variable = "KERNSIGHT_CUDA_LIB",
                                  .names = names,
                                  .accept = accept,
                                  .self = &cuda};
    return ks_library_open(&spec, "cuda", &cuda.library, err);
}

static ks_status initialize(ks_error *err)
{
    const char *name = "unknown error";
    int devices = 0;
    ks_cuda_result result = cuda.init(0);
    if (result == 0) {
        result = cuda.device_count(&devices);
    }
    if (result != 0) {
        cuda.error_name(result, &name);
        return ks_fail(err, KS_UNAVAILABLE, "cuda", result, "the driver %s cannot be used: %s (%d)",
                       cuda.library.path, name, result);
    }
    return devices > 0 ? KS_OK
                       : ks_fail(err, KS_UNAVAILABLE, "cuda", KS_CUDA_NO_DEVICE,
                                 "the driver has no device");
}

ks_status ks_cuda_get(const ks_cuda **out, ks_error *err)
{
    pthread_mutex_lock(&lock);
    ks_status status = ready ? KS_OK : find(err);
    if (status == KS_OK && !ready) {
        status = initialize(err);
    }
    ready = status == KS_OK;
    pthread_mutex_unlock(&lock);
    if (status == KS_OK) {
        *out = &cuda;
    }
    return status;
}

/* The driver may be loaded by its first user (modprobe). */
const char *ks_cuda_absent(void)
{
    static const char *const signs[] = {"/dev/nvidiactl", "/proc/driver/nvidia",
                                        "/dev/dxg",       "/dev/nvhost-gpu",
                                        "/dev/nvgpu",     "/usr/bin/nvidia-modprobe"};
    const char *named = getenv("KERNSIGHT_CUDA_LIB");
    bool found = (named != NULL && named[0] != '\0') || ks_library_is_loaded(library_name);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0] && !found; i++) {
        found = access(signs[i], F_OK) == 0;
    }
    return found ? NULL : "no NVIDIA driver is loaded here (there is no /dev/nvidiactl)";
}
