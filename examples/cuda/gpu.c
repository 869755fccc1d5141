#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* What is called of libcuda, declared here so that no toolkit is needed. */
#define DRIVER(X)                                                                         \
    X(cuInit, (unsigned flags))                                                           \
    X(cuGetErrorString, (int result, const char **text))                                  \
    X(cuDeviceGetCount, (int *count))                                                     \
    X(cuStreamCreate, (void **stream, unsigned flags))                                    \
    X(cuStreamBeginCapture_v2, (void *stream, int mode))                                  \
    X(cuStreamEndCapture, (void *stream, void **graph))                                   \
    X(cuGraphInstantiateWithFlags, (void **runnable, void *graph, uint64_t flags))        \
    X(cuGraphLaunch, (void *runnable, void *stream))                                      \
    X(cuDeviceGet, (int *device, int ordinal))                                            \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                             \
    X(cuCtxSetCurrent, (void *context))                                                   \
    X(cuCtxSynchronize, (void))                                                           \
    X(cuModuleLoadData, (void **module, const void *image))                               \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))             \
    X(cuMemAlloc_v2, (gpu_ptr * memory, size_t bytes))                                    \
    X(cuMemcpyHtoD_v2, (gpu_ptr to, const void *from, size_t bytes))                      \
    X(cuMemcpyDtoH_v2, (void *to, gpu_ptr from, size_t bytes))                            \
    X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                       unsigned block_x, unsigned block_y, unsigned block_z,              \
                       unsigned shared_bytes, void *stream, void **arguments, void **extra))

static struct {
#define X(name, args) int(*name) args;
    DRIVER(X)
#undef X
} driver;

static void *module;

static ks_status check(int result, const char *what, ks_error *err)
{
    if (result == 0) {
        return KS_OK;
    }
    const char *text = "?";
    driver.cuGetErrorString(result, &text);
    return ks_fail(err, KS_EVENDOR, "cuda", result, "%s: %s", what, text);
}

ks_status gpu_open(ks_error *err)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return ks_fail(err, KS_UNAVAILABLE, "cuda", 0, "there is no NVIDIA driver: %s", dlerror());
    }
#define X(name, args)                                                                         \
    *(void **)&driver.name = dlsym(library, #name);                                           \
    if (driver.name == NULL) {                                                                \
        return ks_fail(err, KS_UNAVAILABLE, "cuda", 0, "the driver does not have %s", #name); \
    }
    DRIVER(X)
#undef X
    int result = driver.cuInit(0);
    if (result != 0 || gpu_count() == 0) {
        return ks_fail(err, KS_UNAVAILABLE, "cuda", result, "there is no GPU");
    }
    return gpu_use(0, err);
}

int gpu_count(void)
{
    int count = 0;
    return driver.cuDeviceGetCount(&count) == 0 ? count : 0;
}

ks_status gpu_use(int device, ks_error *err)
{
    int handle = 0;
    void *context = NULL;
    int result = driver.cuDeviceGet(&handle, device);
    result = result != 0 ? result : driver.cuDevicePrimaryCtxRetain(&context, handle);
    return check(result != 0 ? result : driver.cuCtxSetCurrent(context), "no context", err);
}

ks_status gpu_load(const char *ptx, ks_error *err)
{
    enum {
        ROOM = 1 << 20
    };
    FILE *file = fopen(ptx, "rb");
    char *text = calloc(1, ROOM);
    ks_status status = KS_OK;
    if (file == NULL || text == NULL || fread(text, 1, ROOM - 1, file) == 0) {
        status = ks_fail(err, KS_EIO, "cuda", 0, "cannot read %s", ptx);
    } else {
        status = check(driver.cuModuleLoadData(&module, text), ptx, err);
    }
    free(text);
    if (file != NULL) {
        fclose(file);
    }
    return status;
}

ks_status gpu_alloc(gpu_ptr *out, size_t bytes, ks_error *err)
{
    return check(driver.cuMemAlloc_v2(out, bytes), "no memory on the GPU", err);
}

ks_status gpu_copy_in(gpu_ptr to, const void *from, size_t bytes, ks_error *err)
{
    return check(driver.cuMemcpyHtoD_v2(to, from, bytes), "cannot copy to the GPU", err);
}

ks_status gpu_copy_out(void *to, gpu_ptr from, size_t bytes, ks_error *err)
{
    return check(driver.cuMemcpyDtoH_v2(to, from, bytes), "cannot copy from the GPU", err);
}

ks_status gpu_start(const char *kernel, gpu_shape shape, gpu_ptr to, gpu_ptr from, unsigned n,
                    void *stream, ks_error *err)
{
    void *arguments[] = {&to, &from, &n};
    void *function = NULL;
    int result = driver.cuModuleGetFunction(&function, module, kernel);
    if (result == 0) {
        result = driver.cuLaunchKernel(function, shape.grid_x, shape.grid_y, 1, shape.block_x,
                                       shape.block_y, 1, 0, stream, arguments, NULL);
    }
    return check(result, kernel, err);
}

ks_status gpu_wait(ks_error *err)
{
    return check(driver.cuCtxSynchronize(), "the GPU failed", err);
}

ks_status gpu_launch(const char *kernel, gpu_shape shape, gpu_ptr to, gpu_ptr from, unsigned n,
                     ks_error *err)
{
    ks_status status = gpu_start(kernel, shape, to, from, n, NULL, err);
    return status != KS_OK ? status : gpu_wait(err);
}

ks_status gpu_stream(void **stream, ks_error *err)
{
    const unsigned beside_the_default_one = 1;
    return check(driver.cuStreamCreate(stream, beside_the_default_one), "no stream", err);
}

ks_status gpu_capture(void *stream, ks_error *err)
{
    const int of_this_thread = 1;
    return check(driver.cuStreamBeginCapture_v2(stream, of_this_thread), "no capture", err);
}

ks_status gpu_captured(void *stream, void **graph, ks_error *err)
{
    void *captured = NULL;
    int result = driver.cuStreamEndCapture(stream, &captured);
    result = result != 0 ? result : driver.cuGraphInstantiateWithFlags(graph, captured, 0);
    return check(result, "no graph", err);
}

ks_status gpu_start_graph(void *graph, void *stream, ks_error *err)
{
    return check(driver.cuGraphLaunch(graph, stream), "the graph does not start", err);
}
