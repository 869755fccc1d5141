#include "compile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What of the two is called: their own names and types, handles as plain pointers. */
#define NVRTC(X)                                                                            \
    X(nvrtcGetErrorString, const char *, (int result))                                      \
    X(nvrtcCreateProgram, int,                                                              \
      (void **program, const char *source, const char *name, int headers,                   \
       const char *const *texts, const char *const *names))                                 \
    X(nvrtcAddNameExpression, int, (void *program, const char *expression))                 \
    X(nvrtcCompileProgram, int, (void *program, int count, const char *const *options))     \
    X(nvrtcGetLoweredName, int, (void *program, const char *expression, const char **name)) \
    X(nvrtcGetPTXSize, int, (void *program, size_t *size))                                  \
    X(nvrtcGetPTX, int, (void *program, char *ptx))                                         \
    X(nvrtcGetProgramLogSize, int, (void *program, size_t *size))                           \
    X(nvrtcGetProgramLog, int, (void *program, char *log))                                  \
    X(nvrtcDestroyProgram, int, (void **program))

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

#define RUNTIME(X)                                                                                \
    X(cudaGetErrorString, const char *, (int result))                                             \
    X(cudaLibraryLoadData, int,                                                                   \
      (void **library, const void *code, int *jit_options, void **jit_values, unsigned jits,      \
       int *options, void **values, unsigned count))                                              \
    X(cudaLibraryGetKernel, int, (void **kernel, void *library, const char *name))                \
    X(cudaLaunchKernel, int,                                                                      \
      (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream)) \
    X(cudaMemcpy, int, (void *to, const void *from, size_t bytes, int kind))                      \
    X(cudaDeviceSynchronize, int, (void))

enum {
    COPY_ON_DEVICE = 3
};

static struct {
#define X(name, type, args) type(*name) args;
    NVRTC(X)
    RUNTIME(X)
#undef X
    void *library; /* of kernels */
} the;

/* The first of the names that can be loaded: where the loader looks, or in a toolkit's folder. */
static void *load_first(const char *const *names)
{
    const char *home = getenv("CUDA_HOME");
    for (; *names != NULL; names++) {
        char path[512];
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL && home != NULL) {
            snprintf(path, sizeof path, "%s/lib64/%s", home, *names);
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
        if (library == NULL) {
            snprintf(path, sizeof path, "/usr/local/cuda/lib64/%s", *names);
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
        if (library != NULL) {
            return library;
        }
    }
    return NULL;
}

#define X(name, type, args)                      \
    *(void **)&the.name = dlsym(library, #name); \
    if (the.name == NULL) {                      \
        return "this version lacks " #name;      \
    }

static const char *bind_nvrtc(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};
    void *library = load_first(names);
    if (library == NULL) {
        return "there is no NVRTC (libnvrtc.so.13 or .12)";
    }
    NVRTC(X)
    return NULL;
}

static const char *bind_runtime(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", NULL};
    void *library = load_first(names);
    if (library == NULL) {
        return "there is no CUDA runtime (libcudart.so.13 or .12)";
    }
    RUNTIME(X)
    return NULL;
}

#undef X

/* ---- NVRTC ------------------------------------------------------------------------------------
 */

static void *need(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        puts("Bail out! out of memory");
        exit(1);
    }
    return memory;
}

/* What the compiler has to say about a source of ours: it should have been right. */
static void print_log(void *program)
{
    size_t size = 0;
    if (the.nvrtcGetProgramLogSize(program, &size) == 0 && size > 1) {
        char *log = need(size + 1);
        the.nvrtcGetProgramLog(program, log);
        for (char *line = strtok(log, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            printf("# nvrtc: %.300s\n", line);
        }
        free(log);
    }
}

static int compile(void *program, int capability, const char *const *expressions, gt_compiled *out)
{
    char arch[64];
    size_t size = 0;
    int result = 0;
    snprintf(arch, sizeof arch, "--gpu-architecture=compute_%d", capability);
    const char *const options[] = {arch};
    for (size_t i = 0; result == 0 && expressions[i] != NULL; i++) {
        result = the.nvrtcAddNameExpression(program, expressions[i]);
    }
    result = result != 0 ? result : the.nvrtcCompileProgram(program, 1, options);
    for (size_t i = 0; result == 0 && i < GT_NAMES && expressions[i] != NULL; i++) {
        const char *name = NULL;
        result = the.nvrtcGetLoweredName(program, expressions[i], &name);
        out->names[i] = result == 0 ? strdup(name) : NULL;
    }
    result = result != 0 ? result : the.nvrtcGetPTXSize(program, &size);
    if (result == 0) {
        out->ptx = need(size + 1);
        result = the.nvrtcGetPTX(program, out->ptx);
    }
    return result;
}

const char *gt_compile(const char *source, int capability, const char *const *expressions,
                       gt_compiled *out)
{
    void *program = NULL;
    const char *why = bind_nvrtc();
    *out = (gt_compiled){.ptx = NULL};
    if (why != NULL) {
        return why;
    }
    int result = the.nvrtcCreateProgram(&program, source, "cases.cu", 0, NULL, NULL);
    if (result == 0) {
        result = compile(program, capability, expressions, out);
        if (result != 0) {
            print_log(program);
        }
        the.nvrtcDestroyProgram(&program);
    }
    if (result != 0) {
        gt_compiled_free(out);
        return the.nvrtcGetErrorString(result);
    }
    return NULL;
}

void gt_compiled_free(gt_compiled *compiled)
{
    free(compiled->ptx);
    for (size_t i = 0; i < GT_NAMES; i++) {
        free(compiled->names[i]);
    }
    *compiled = (gt_compiled){.ptx = NULL};
}

/* ---- the runtime ------------------------------------------------------------------------------
 */

static void check(int result, const char *what)
{
    if (result != 0) {
        printf("Bail out! %s: %s (%d)\n", what, the.cudaGetErrorString(result), result);
        exit(1);
    }
}

const char *gt_runtime_open(const char *ptx)
{
    const char *why = bind_runtime();
    if (why != NULL) {
        return why;
    }
    int result = the.cudaLibraryLoadData(&the.library, ptx, NULL, NULL, 0, NULL, NULL, 0);
    return result != 0 ? the.cudaGetErrorString(result) : NULL;
}

void *gt_runtime_kernel(const char *name)
{
    void *kernel = NULL;
    check(the.cudaLibraryGetKernel(&kernel, the.library, name), name);
    return kernel;
}

void gt_runtime_launch(void *kernel, unsigned blocks, unsigned threads, void **arguments)
{
    const dim3 grid = {blocks, 1, 1};
    const dim3 block = {threads, 1, 1};
    check(the.cudaLaunchKernel(kernel, grid, block, arguments, 0, NULL), "cudaLaunchKernel");
}

void gt_runtime_copy(gt_ptr to, gt_ptr from, size_t bytes)
{
    check(
        the.cudaMemcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, COPY_ON_DEVICE),
        "cudaMemcpy");
}

void gt_runtime_sync(void)
{
    check(the.cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
