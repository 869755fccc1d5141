#include "gpu.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What of the driver is called: its own names and types, the handles as plain pointers. */
#define DRIVER(X)                                                                         \
    X(cuInit, (unsigned flags))                                                           \
    X(cuGetErrorString, (int result, const char **text))                                  \
    X(cuDeviceGet, (int *device, int ordinal))                                            \
    X(cuDeviceGetName, (char *name, int size, int device))                                \
    X(cuDeviceGetAttribute, (int *value, int attribute, int device))                      \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                             \
    X(cuCtxSetCurrent, (void *context))                                                   \
    X(cuCtxSynchronize, (void))                                                           \
    X(cuModuleLoadData, (void **module, const void *image))                               \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))             \
    X(cuStreamCreate, (void **stream, unsigned flags))                                    \
    X(cuStreamBeginCapture_v2, (void *stream, int mode))                                  \
    X(cuStreamEndCapture, (void *stream, void **graph))                                   \
    X(cuGraphInstantiateWithFlags, (void **made, void *graph, unsigned long long flags))  \
    X(cuGraphLaunch, (void *graph, void *stream))                                         \
    X(cuMemAlloc_v2, (gt_ptr * memory, size_t bytes))                                     \
    X(cuMemFree_v2, (gt_ptr memory))                                                      \
    X(cuMemcpyHtoD_v2, (gt_ptr to, const void *from, size_t bytes))                       \
    X(cuMemcpyDtoH_v2, (void *to, gt_ptr from, size_t bytes))                             \
    X(cuMemcpyDtoD_v2, (gt_ptr to, gt_ptr from, size_t bytes))                            \
    X(cuMemsetD8_v2, (gt_ptr memory, unsigned char byte, size_t bytes))                   \
    X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                       unsigned block_x, unsigned block_y, unsigned block_z,              \
                       unsigned shared_bytes, void *stream, void **arguments, void **extra))

enum {
    ATTRIBUTE_MULTIPROCESSORS = 16,
    ATTRIBUTE_L2_BYTES = 38,
    ATTRIBUTE_CAPABILITY_MAJOR = 75,
    ATTRIBUTE_CAPABILITY_MINOR = 76,
    STREAM_NON_BLOCKING = 1,
    CAPTURE_THREAD = 1, /* what other threads do is not looked at */
    KERNELS = 16
};

static struct {
#define X(name, args) int(*name) args;
    DRIVER(X)
#undef X
} driver;

static struct {
    int device;
    void *context, *module;
    char name[128];
    struct {
        const char *name;
        void *function;
    } kernels[KERNELS];
} gpu;

static void check(int result, const char *what)
{
    if (result != 0) {
        const char *text = "?";
        driver.cuGetErrorString(result, &text);
        printf("Bail out! %s: %s (%d)\n", what, text, result);
        exit(1);
    }
}

static const char *bind_driver(void)
{
    static char why[256];
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(why, sizeof why, "there is no NVIDIA driver: %s", dlerror());
        return why;
    }
#define X(name, args)                                            \
    *(void **)&driver.name = dlsym(library, #name);              \
    if (driver.name == NULL) {                                   \
        return "the driver is too old: it does not have " #name; \
    }
    DRIVER(X)
#undef X
    return NULL;
}

char *gt_read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t room = (size_t)4 << 20;
    char *text = malloc(room);
    if (file == NULL || text == NULL) {
        printf("Bail out! cannot read %s\n", path);
        exit(1);
    }
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Where a program crashed, on stderr: a machine with a GPU may have no debugger. */
static void on_crash(int signal_number)
{
    void *frames[64];
    int count = backtrace(frames, 64);
    backtrace_symbols_fd(frames, count, STDERR_FILENO);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

const char *gt_open(const char *ptx)
{
    signal(SIGSEGV, on_crash);
    static char why[256];
    const char *reason = bind_driver();
    if (reason != NULL) {
        return reason;
    }
    int result = driver.cuInit(0);
    if (result != 0 || driver.cuDeviceGet(&gpu.device, 0) != 0) {
        const char *text = "there is no device";
        driver.cuGetErrorString(result, &text);
        snprintf(why, sizeof why, "there is no GPU: %s (%d)", text, result);
        return why;
    }
    check(driver.cuDeviceGetName(gpu.name, sizeof gpu.name, gpu.device), "cuDeviceGetName");
    check(driver.cuDevicePrimaryCtxRetain(&gpu.context, gpu.device), "cuDevicePrimaryCtxRetain");
    gt_use();
    char *image = gt_read_all(ptx);
    check(driver.cuModuleLoadData(&gpu.module, image), ptx);
    free(image);
    return NULL;
}

void gt_use(void)
{
    check(driver.cuCtxSetCurrent(gpu.context), "cuCtxSetCurrent");
}

const char *gt_name(void)
{
    return gpu.name;
}

static int attribute(int which)
{
    int value = 0;
    check(driver.cuDeviceGetAttribute(&value, which, gpu.device), "cuDeviceGetAttribute");
    return value;
}

int gt_l2_bytes(void)
{
    return attribute(ATTRIBUTE_L2_BYTES);
}

int gt_multiprocessors(void)
{
    return attribute(ATTRIBUTE_MULTIPROCESSORS);
}

int gt_compute_capability(void)
{
    return 10 * attribute(ATTRIBUTE_CAPABILITY_MAJOR) + attribute(ATTRIBUTE_CAPABILITY_MINOR);
}

gt_ptr gt_alloc(size_t bytes)
{
    gt_ptr memory = 0;
    check(driver.cuMemAlloc_v2(&memory, bytes), "cuMemAlloc");
    return memory;
}

void gt_free(gt_ptr memory)
{
    check(driver.cuMemFree_v2(memory), "cuMemFree");
}

void gt_copy_in(gt_ptr to, const void *from, size_t bytes)
{
    check(driver.cuMemcpyHtoD_v2(to, from, bytes), "cuMemcpyHtoD");
}

void gt_copy_out(void *to, gt_ptr from, size_t bytes)
{
    check(driver.cuMemcpyDtoH_v2(to, from, bytes), "cuMemcpyDtoH");
}

void gt_copy_within(gt_ptr to, gt_ptr from, size_t bytes)
{
    check(driver.cuMemcpyDtoD_v2(to, from, bytes), "cuMemcpyDtoD");
}

void gt_clear(gt_ptr memory, size_t bytes)
{
    check(driver.cuMemsetD8_v2(memory, 0, bytes), "cuMemsetD8");
}

gt_ptr gt_floats(size_t n)
{
    float *values = malloc(n * sizeof *values);
    if (values == NULL) {
        puts("Bail out! out of memory");
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        values[i] = (float)((int)(i % 7) - 3);
    }
    gt_ptr memory = gt_alloc(n * sizeof *values);
    gt_copy_in(memory, values, n * sizeof *values);
    free(values);
    return memory;
}

void *gt_stream(void)
{
    void *stream = NULL;
    check(driver.cuStreamCreate(&stream, STREAM_NON_BLOCKING), "cuStreamCreate");
    return stream;
}

void gt_sync(void)
{
    check(driver.cuCtxSynchronize(), "cuCtxSynchronize");
}

void gt_capture(void *stream)
{
    check(driver.cuStreamBeginCapture_v2(stream, CAPTURE_THREAD), "cuStreamBeginCapture");
}

void *gt_captured(void *stream)
{
    void *graph = NULL;
    void *made = NULL;
    check(driver.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    check(driver.cuGraphInstantiateWithFlags(&made, graph, 0), "cuGraphInstantiate");
    return made;
}

void gt_launch_graph(void *graph, void *stream)
{
    check(driver.cuGraphLaunch(graph, stream), "cuGraphLaunch");
}

/* Looked up once; by the thread that opened the GPU first, so that others only read. */
static void *function_of(const char *kernel)
{
    size_t i = 0;
    while (i < KERNELS && gpu.kernels[i].name != NULL) {
        if (strcmp(gpu.kernels[i].name, kernel) == 0) {
            return gpu.kernels[i].function;
        }
        i++;
    }
    void *function = NULL;
    check(driver.cuModuleGetFunction(&function, gpu.module, kernel), kernel);
    if (i < KERNELS) {
        gpu.kernels[i].name = kernel;
        gpu.kernels[i].function = function;
    }
    return function;
}

static void launch(void *function, const char *what, gt_shape shape, void *stream, void **arguments)
{
    check(driver.cuLaunchKernel(function, shape.grid_x, shape.grid_y, 1, shape.block_x,
                                shape.block_y, 1, 0, stream, arguments, NULL),
          what);
}

void gt_launch(const char *kernel, gt_shape shape, void *stream, void **arguments)
{
    launch(function_of(kernel), kernel, shape, stream, arguments);
}

const char *gt_load(const char *ptx, void **module)
{
    const char *text = "?";
    int result = driver.cuModuleLoadData(module, ptx);
    if (result == 0) {
        return NULL;
    }
    driver.cuGetErrorString(result, &text);
    return text;
}

void *gt_function(void *module, const char *name)
{
    void *function = NULL;
    check(driver.cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
    return function;
}

void gt_launch_function(void *function, gt_shape shape, void *stream, void **arguments)
{
    launch(function, "cuLaunchKernel", shape, stream, arguments);
}

/* ---- our kernels ---------------------------------------------------------------------------- */

void gt_nothing(void)
{
    gt_launch("nothing", (gt_shape){1, 1, 32, 1}, NULL, NULL);
}

void gt_copy(gt_ptr to, gt_ptr from, size_t bytes)
{
    unsigned n = (unsigned)(bytes / 16);
    void *arguments[] = {&to, &from, &n};
    gt_launch("copy16", (gt_shape){(n + 255) / 256, 1, 256, 1}, NULL, arguments);
}

void gt_vadd(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n)
{
    void *arguments[] = {&c, &a, &b, &n};
    gt_launch("vadd", (gt_shape){(n + 255) / 256, 1, 256, 1}, NULL, arguments);
}

void gt_fma_chain(gt_ptr out, unsigned blocks, unsigned threads, unsigned n)
{
    float a = 0.5f;
    float b = 1.0f;
    void *arguments[] = {&out, &a, &b, &n};
    gt_launch("fma_chain", (gt_shape){blocks, 1, threads, 1}, NULL, arguments);
}

void gt_shared_loads(gt_ptr out, unsigned blocks, unsigned threads, unsigned n)
{
    void *arguments[] = {&out, &n};
    gt_launch("shared_loads", (gt_shape){blocks, 1, threads, 1}, NULL, arguments);
}

void gt_spin_on(void *stream, gt_ptr out, int64_t cycles)
{
    void *arguments[] = {&out, &cycles};
    gt_launch("spin", (gt_shape){1, 1, 32, 1}, stream, arguments);
}

void gt_spin(gt_ptr out, int64_t cycles)
{
    gt_spin_on(NULL, out, cycles);
}

static void multiply(const char *kernel, gt_shape shape, gt_ptr c, gt_ptr a, gt_ptr b, unsigned n)
{
    void *arguments[] = {&c, &a, &b, &n};
    gt_launch(kernel, shape, NULL, arguments);
}

void gt_matmul_naive(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n)
{
    multiply("matmul_naive", (gt_shape){n / 32, n / 8, 32, 8}, c, a, b, n);
}

void gt_matmul_tiled(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n)
{
    multiply("matmul_tiled", (gt_shape){n / 32, n / 32, 32, 32}, c, a, b, n);
}

void gt_matmul_fast(gt_ptr c, gt_ptr a, gt_ptr b, unsigned n)
{
    multiply("matmul_fast", (gt_shape){n / 128, n / 128, 256, 1}, c, a, b, n);
}

void gt_reduce(gt_ptr sums, gt_ptr from, unsigned blocks, unsigned n)
{
    void *arguments[] = {&sums, &from, &n};
    gt_launch("reduce", (gt_shape){blocks, 1, 256, 1}, NULL, arguments);
}

void gt_sweep(gt_ptr sink, gt_ptr from, unsigned n)
{
    void *arguments[] = {&sink, &from, &n};
    gt_launch("sweep", (gt_shape){528, 1, 512, 1}, NULL, arguments);
}

void gt_transpose(const char *kernel, gt_ptr to, gt_ptr from, unsigned n)
{
    void *arguments[] = {&to, &from, &n};
    gt_launch(kernel, (gt_shape){n / 32, n / 32, 32, 32}, NULL, arguments);
}
