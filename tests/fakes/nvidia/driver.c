/* libcuda: devices, contexts, modules, memory. */
#include "fakes/nvidia/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DECLARE(member, arguments, name) \
    FAKE_EXPORT ks_cuda_result cu_##member arguments __asm__(name);
KS_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

enum {
    CONTEXTS_MAX = 64,
    STACK_MAX = 16,
    ATTRIBUTES_MAX = 64,
    LAST_ATTRIBUTE = 147,
    LAST_FUNCTION_ATTRIBUTE = 15
};

struct ks_cuda_module_st {
    ks_cuda_context context;
    struct ks_cuda_module_st *next;
};

typedef struct known_function {
    struct ks_cuda_function_st function; /* first: a handle is its address */
    struct known_function *next;
} known_function;

typedef struct allocation {
    ks_cuda_address address;
    size_t bytes;
    ks_cuda_context context;
    struct allocation *next;
} allocation;

typedef struct attribute {
    int device;
    int id;
    int value;
} attribute;

fake_alive fake_now;

static bool initialized;
static bool broken;
static fake_context contexts[CONTEXTS_MAX];
static uint32_t context_count;
static ks_cuda_context primary[DEVICES_MAX];
static ks_cuda_module modules;
static known_function *functions;
static allocation *allocations;
static ks_cuda_address next_address = 0x7f0000000000;
static attribute attributes[ATTRIBUTES_MAX];
static size_t attribute_count;

static _Thread_local ks_cuda_context stack[STACK_MAX];
static _Thread_local size_t stacked;

/* ---- devices ----------------------------------------------------------------------------------
 */

ks_cuda_result cu_init(unsigned flags)
{
    ENTER("cuInit");
    fake_lock();
    ks_cuda_result result = flags != 0             ? CUDA_INVALID_VALUE
                            : fake_set.devices < 1 ? CUDA_NO_DEVICE
                                                   : 0;
    initialized = initialized || result == 0;
    fake_unlock();
    return result;
}

ks_cuda_result cu_version(int *version)
{
    ENTER("cuDriverGetVersion");
    fake_lock();
    *version = (int)fake_set.driver_version;
    fake_unlock();
    return 0;
}

ks_cuda_result cu_error_name(ks_cuda_result result, const char **name)
{
    static const struct {
        int result;
        const char *name;
    } names[] = {{0, "CUDA_SUCCESS"},
                 {1, "CUDA_ERROR_INVALID_VALUE"},
                 {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {3, "CUDA_ERROR_NOT_INITIALIZED"},
                 {100, "CUDA_ERROR_NO_DEVICE"},
                 {101, "CUDA_ERROR_INVALID_DEVICE"},
                 {201, "CUDA_ERROR_INVALID_CONTEXT"},
                 {218, "CUDA_ERROR_INVALID_PTX"},
                 {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                 {400, "CUDA_ERROR_INVALID_HANDLE"},
                 {500, "CUDA_ERROR_NOT_FOUND"},
                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {719, "CUDA_ERROR_LAUNCH_FAILED"},
                 {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
                 {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                 {999, "CUDA_ERROR_UNKNOWN"}};
    ENTER("cuGetErrorName");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].result == result) {
            *name = names[i].name;
            return 0;
        }
    }
    *name = NULL;
    return CUDA_INVALID_VALUE;
}

static ks_cuda_result check_device_locked(int device)
{
    if (!initialized) {
        return CUDA_NOT_INITIALIZED;
    }
    return device >= 0 && device < fake_set.devices ? 0 : CUDA_INVALID_DEVICE;
}

static ks_cuda_result check_device(int device)
{
    fake_lock();
    ks_cuda_result result = check_device_locked(device);
    fake_unlock();
    return result;
}

ks_cuda_result cu_device_count(int *count)
{
    ENTER("cuDeviceGetCount");
    fake_lock();
    ks_cuda_result result = initialized ? 0 : CUDA_NOT_INITIALIZED;
    *count = (int)fake_set.devices;
    fake_unlock();
    return result;
}

ks_cuda_result cu_device(ks_cuda_device *device, int ordinal)
{
    ENTER("cuDeviceGet");
    *device = ordinal;
    return check_device(ordinal);
}

ks_cuda_result cu_device_name(char *name, int bytes, ks_cuda_device device)
{
    ENTER("cuDeviceGetName");
    ks_cuda_result result = check_device(device);
    if (result == 0) {
        snprintf(name, (size_t)bytes, "Fake GPU");
    }
    return result;
}

ks_cuda_result cu_device_uuid(ks_cuda_uuid *uuid, ks_cuda_device device)
{
    ENTER("cuDeviceGetUuid_v2");
    ks_cuda_result result = check_device(device);
    if (result == 0) {
        memset(uuid, 0xfa, sizeof *uuid);
        uuid->bytes[15] = (unsigned char)device;
    }
    return result;
}

/* As an H200 says; the others are 0. */
static int usual_attribute(int id)
{
    static const int usual[][2] = {
        {1, 1024},     {2, 1024},   {3, 1024},     {4, 64},    {5, 2147483647},  {6, 65535},
        {7, 65535},    {8, 49152},  {9, 65536},    {10, 32},   {11, 2147483647}, {12, 65536},
        {13, 1980000}, {14, 512},   {15, 1},       {16, 132},  {19, 1},          {31, 1},
        {32, 1},       {33, 1},     {36, 3201000}, {37, 6144}, {38, 62914560},   {39, 2048},
        {40, 3},       {41, 1},     {75, 9},       {78, 1},    {79, 1},          {80, 1},
        {81, 233472},  {82, 65536}, {83, 1},       {87, 2},    {89, 1},          {90, 1},
        {91, 1},       {95, 1},     {97, 232448},  {99, 1},    {106, 32},        {111, 1024},
        {115, 1},      {120, 1}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (usual[i][0] == id) {
            return usual[i][1];
        }
    }
    return 0;
}

static attribute *find_attribute_locked(int device, int id)
{
    for (size_t i = 0; i < attribute_count; i++) {
        if (attributes[i].device == device && attributes[i].id == id) {
            return &attributes[i];
        }
    }
    return NULL;
}

void fake_device_attribute(int device, int id, int value)
{
    fake_lock();
    attribute *a = find_attribute_locked(device, id);
    if (a == NULL && attribute_count < ATTRIBUTES_MAX) {
        a = &attributes[attribute_count++];
    }
    if (a != NULL) {
        *a = (attribute){device, id, value};
    }
    fake_unlock();
}

ks_cuda_result cu_attribute(int *value, int id, ks_cuda_device device)
{
    ENTER("cuDeviceGetAttribute");
    fake_lock();
    ks_cuda_result result = check_device_locked(device);
    if (result == 0 && (id < 1 || id > LAST_ATTRIBUTE)) {
        result = CUDA_INVALID_VALUE;
    }
    const attribute *told = find_attribute_locked(device, id);
    if (result == 0 && told != NULL) {
        *value = told->value;
    } else if (result == 0 && (id == 75 || id == 76)) {
        int capability = (int)fake_set.compute_capability;
        *value = id == 75 ? capability / 10 : capability % 10;
    } else if (result == 0 && id == KS_CUDA_MPS_ENABLED) {
        *value = (int)fake_set.mps;
    } else if (result == 0) {
        *value = id == 33 ? 1 + device : usual_attribute(id);
    }
    fake_unlock();
    return result;
}

/* ---- contexts ---------------------------------------------------------------------------------
 */

bool fake_context_is_good_locked(ks_cuda_context context)
{
    bool ours = false;
    for (uint32_t i = 0; i < context_count; i++) {
        ours = ours || context == &contexts[i];
    }
    return ours && context->alive;
}

static ks_cuda_context new_context_locked(int device)
{
    if (context_count == CONTEXTS_MAX) {
        fprintf(stderr, "fake libcuda: there is room for %d contexts\n", CONTEXTS_MAX);
        abort();
    }
    ks_cuda_context context = &contexts[context_count];
    *context = (fake_context){.device = device, .id = ++context_count, .alive = true};
    return context;
}

/* The one that stands for it now, after resets. */
static ks_cuda_context newest(ks_cuda_context context)
{
    while (context != NULL && !context->alive) {
        context = context->next;
    }
    return context;
}

ks_cuda_context fake_current_locked(void)
{
    return stacked > 0 ? newest(stack[stacked - 1]) : NULL;
}

ks_cuda_context fake_use_device(int device)
{
    fake_lock();
    initialized = true;
    if (check_device_locked(device) != 0) {
        fprintf(stderr, "fake_use_device: there is no device %d\n", device);
        abort();
    }
    if (primary[device] == NULL) {
        primary[device] = new_context_locked(device);
    }
    primary[device] = newest(primary[device]);
    stacked = stacked > 0 ? stacked : 1;
    stack[stacked - 1] = primary[device];
    ks_cuda_context context = primary[device];
    fake_unlock();
    return context;
}

ks_cuda_context fake_new_context(int device)
{
    fake_lock();
    initialized = true;
    ks_cuda_context context = new_context_locked(device);
    fake_unlock();
    return context;
}

ks_cuda_result cu_context(ks_cuda_context *context)
{
    ENTER("cuCtxGetCurrent");
    fake_lock();
    ks_cuda_result result = initialized ? 0 : CUDA_NOT_INITIALIZED;
    *context = fake_current_locked();
    fake_unlock();
    return result;
}

ks_cuda_result cu_push_context(ks_cuda_context context)
{
    ENTER("cuCtxPushCurrent_v2");
    fake_lock();
    bool good = fake_context_is_good_locked(context) && stacked < STACK_MAX;
    if (good) {
        stack[stacked++] = context;
    }
    fake_unlock();
    return good ? 0 : CUDA_INVALID_CONTEXT;
}

ks_cuda_result cu_pop_context(ks_cuda_context *context)
{
    ENTER("cuCtxPopCurrent_v2");
    fake_lock();
    bool good = stacked > 0;
    if (good && context != NULL) {
        *context = fake_current_locked();
    }
    stacked -= good ? 1 : 0;
    fake_unlock();
    return good ? 0 : CUDA_INVALID_CONTEXT;
}

ks_cuda_result cu_context_device(ks_cuda_device *device)
{
    ENTER("cuCtxGetDevice");
    fake_lock();
    ks_cuda_context current = fake_current_locked();
    if (current != NULL) {
        *device = current->device;
    }
    fake_unlock();
    return current != NULL ? 0 : CUDA_INVALID_CONTEXT;
}

ks_cuda_result cu_context_id(ks_cuda_context context, unsigned long long *id)
{
    ENTER("cuCtxGetId");
    fake_lock();
    bool alive = context != NULL && context->alive;
    if (alive) {
        *id = context->id;
    }
    fake_unlock();
    return alive ? 0 : CUDA_INVALID_CONTEXT;
}

void fake_break_device_locked(bool now)
{
    broken = now;
}

bool fake_device_is_broken_locked(void)
{
    return broken;
}

ks_cuda_result fake_can_work_locked(ks_cuda_context *current)
{
    *current = fake_current_locked();
    if (!initialized) {
        return CUDA_NOT_INITIALIZED;
    }
    if (*current == NULL) {
        return CUDA_INVALID_CONTEXT;
    }
    return broken ? CUDA_ILLEGAL_ADDRESS : 0;
}

ks_cuda_result cu_synchronize(void)
{
    ks_cuda_context current = NULL;
    ENTER("cuCtxSynchronize");
    long waits = (long)fake_calls("cuCtxSynchronize");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    while (fake_set.endless > 0 && waits >= fake_set.endless) {
        fake_unlock();
        usleep(1000);
        fake_lock();
    }
    fake_unlock();
    return result;
}

/* ---- modules ----------------------------------------------------------------------------------
 */

static ks_cuda_module *find_module_locked(ks_cuda_module module)
{
    ks_cuda_module *at = &modules;
    while (*at != NULL && *at != module) {
        at = &(*at)->next;
    }
    return *at != NULL ? at : NULL;
}

ks_cuda_result cu_module_load(ks_cuda_module *out, const void *image)
{
    ks_cuda_context current = NULL;
    ENTER("cuModuleLoadData");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    result = result == 0 && image == NULL ? CUDA_INVALID_VALUE : result;
    ks_cuda_module module = result == 0 ? calloc(1, sizeof *module) : NULL;
    if (module != NULL) {
        module->context = current;
        module->next = modules;
        modules = module;
        fake_now.modules++;
        *out = module;
    }
    fake_unlock();
    return result == 0 && module == NULL ? CUDA_OUT_OF_MEMORY : result;
}

static void remove_module_locked(ks_cuda_module *at)
{
    ks_cuda_module module = *at;
    known_function **f = &functions;
    while (*f != NULL) {
        known_function *function = *f;
        if (function->function.module == module) {
            *f = function->next;
            free(function);
        } else {
            f = &function->next;
        }
    }
    *at = module->next;
    free(module);
    fake_now.modules--;
}

ks_cuda_result cu_module_unload(ks_cuda_module module)
{
    ks_cuda_context current = NULL;
    ENTER("cuModuleUnload");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    ks_cuda_module *at = find_module_locked(module);
    result = result == 0 && at == NULL ? CUDA_INVALID_HANDLE : result;
    if (result == 0) {
        remove_module_locked(at);
    }
    fake_unlock();
    return result;
}

/* The handle of a kernel in a module; made at its first use. */
static ks_cuda_function get_function_locked(ks_cuda_module module, const char *name)
{
    for (known_function *f = functions; f != NULL; f = f->next) {
        if (f->function.module == module && strcmp(f->function.name, name) == 0) {
            return &f->function;
        }
    }
    known_function *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    snprintf(f->function.name, sizeof f->function.name, "%s", name);
    f->function.module = module;
    f->next = functions;
    functions = f;
    return &f->function;
}

ks_cuda_result cu_module_function(ks_cuda_function *out, ks_cuda_module module, const char *name)
{
    ks_cuda_context current = NULL;
    ENTER("cuModuleGetFunction");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    if (result == 0 && find_module_locked(module) == NULL) {
        result = CUDA_INVALID_HANDLE;
    }
    if (result == 0) {
        *out = get_function_locked(module, name);
        result = *out != NULL ? 0 : CUDA_OUT_OF_MEMORY;
    }
    fake_unlock();
    return result;
}

ks_cuda_function fake_function(const char *kernel)
{
    fake_lock();
    ks_cuda_function function = get_function_locked(NULL, kernel);
    fake_unlock();
    return function;
}

ks_cuda_result fake_check_function_locked(ks_cuda_function function, ks_cuda_context current)
{
    for (const known_function *f = functions; f != NULL; f = f->next) {
        if (&f->function == function) {
            bool here = function->module == NULL || function->module->context == current;
            return here ? 0 : CUDA_INVALID_HANDLE;
        }
    }
    return CUDA_INVALID_HANDLE;
}

ks_cuda_result cu_function_attribute(int *value, int id, ks_cuda_function function)
{
    ks_cuda_context current = NULL;
    ENTER("cuFuncGetAttribute");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    result = result == 0 ? fake_check_function_locked(function, current) : result;
    if (result == 0 && (id < 0 || id > LAST_FUNCTION_ATTRIBUTE)) {
        result = CUDA_INVALID_VALUE;
    }
    if (result == 0) {
        *value = fake_function_attribute_locked(function->name, id);
    }
    fake_unlock();
    return result;
}

FAKE_EXPORT ks_cuda_result
cu_active_blocks(int *blocks, ks_cuda_function function, int threads,
                 size_t shared) __asm__("cuOccupancyMaxActiveBlocksPerMultiprocessor");

ks_cuda_result cu_active_blocks(int *blocks, ks_cuda_function function, int threads, size_t shared)
{
    ks_cuda_context current = NULL;
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    (void)threads;
    (void)shared;
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    result = result == 0 ? fake_check_function_locked(function, current) : result;
    int told = result == 0 ? fake_function_attribute_locked(function->name, FAKE_ACTIVE_BLOCKS) : 0;
    if (told > 0) {
        *blocks = told;
    }
    fake_unlock();
    return result != 0 ? result : told > 0 ? 0 : CUDA_NOT_SUPPORTED;
}

/* ---- memory -----------------------------------------------------------------------------------
 */

ks_cuda_result cu_alloc(ks_cuda_address *out, size_t bytes)
{
    static const size_t memory = (size_t)140 << 30;
    ks_cuda_context current = NULL;
    ENTER("cuMemAlloc_v2");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    if (result == 0) {
        result = bytes == 0                                          ? CUDA_INVALID_VALUE
                 : bytes > memory || fake_now.bytes > memory - bytes ? CUDA_OUT_OF_MEMORY
                                                                     : 0;
    }
    allocation *a = result == 0 ? calloc(1, sizeof *a) : NULL;
    if (a != NULL) {
        *a = (allocation){next_address, bytes, current, allocations};
        allocations = a;
        next_address += (bytes + 511) / 512 * 512 + 512;
        fake_now.allocations++;
        fake_now.bytes += bytes;
        *out = a->address;
    }
    fake_unlock();
    return result == 0 && a == NULL ? CUDA_OUT_OF_MEMORY : result;
}

static void remove_allocation_locked(allocation **at)
{
    allocation *a = *at;
    fake_now.allocations--;
    fake_now.bytes -= a->bytes;
    *at = a->next;
    free(a);
}

ks_cuda_result cu_free(ks_cuda_address address)
{
    ks_cuda_context current = NULL;
    ENTER("cuMemFree_v2");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    allocation **at = &allocations;
    while (*at != NULL && (*at)->address != address) {
        at = &(*at)->next;
    }
    if (result == 0 && *at != NULL) {
        remove_allocation_locked(at);
    } else if (result == 0) {
        result = CUDA_INVALID_VALUE;
    }
    fake_unlock();
    return result;
}

ks_cuda_result cu_memset(ks_cuda_address address, unsigned char value, size_t bytes)
{
    ks_cuda_context current = NULL;
    bool inside = false;
    (void)value;
    ENTER("cuMemsetD8_v2");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    for (const allocation *a = allocations; a != NULL; a = a->next) {
        inside = inside || (address >= a->address && address - a->address <= a->bytes &&
                            bytes <= a->bytes - (size_t)(address - a->address));
    }
    fake_unlock();
    return result == 0 && !inside ? CUDA_INVALID_VALUE : result;
}

ks_cuda_result cu_stream_capturing(ks_cuda_stream stream, int *capturing)
{
    ks_cuda_context current = NULL;
    ENTER("cuStreamIsCapturing");
    fake_lock();
    ks_cuda_result result = fake_can_work_locked(&current);
    *capturing = fake_is_capturing_locked(stream) ? 1 : 0;
    fake_unlock();
    return result;
}

/* ---- over and out -----------------------------------------------------------------------------
 */

void fake_reset_context_locked(ks_cuda_context context)
{
    ks_cuda_module *m = &modules;
    while (*m != NULL) {
        if ((*m)->context == context) {
            remove_module_locked(m);
        } else {
            m = &(*m)->next;
        }
    }
    allocation **a = &allocations;
    while (*a != NULL) {
        if ((*a)->context == context) {
            remove_allocation_locked(a);
        } else {
            a = &(*a)->next;
        }
    }
    context->alive = false;
    context->next = new_context_locked(context->device);
}

void fake_forget_devices_locked(void)
{
    attribute_count = 0;
}
