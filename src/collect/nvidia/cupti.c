#include "collect/nvidia/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/dl.h"
#include "base/error.h"
#include "base/str.h"
#include "collect/nvidia/cuda.h"

enum {
    OLDEST_API = 26 /* what 12.8 answers to cuptiGetVersion */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_cupti cupti;
static bool ready;

#define KS_CUPTI_SYMBOL(member, arguments, name)   {name, offsetof(ks_cupti, member), false},
#define KS_CUPTI_OPTIONAL(member, arguments, name) {name, offsetof(ks_cupti, member), true},
static const ks_dl_symbol symbols[] = {KS_CUPTI_FUNCTIONS(KS_CUPTI_SYMBOL)
                                           KS_CUPTI_OPTIONAL_FUNCTIONS(KS_CUPTI_OPTIONAL)};
#undef KS_CUPTI_SYMBOL
#undef KS_CUPTI_OPTIONAL

/* From 13.2 on the library looks for the driver in every call, and without one crashes (13.2) or
 * fails (13.3 and later); a function that came with 13.2 tells before anything is called. */
static bool needs_driver(void *library)
{
    return dlsym(library, "cuptiActivityEnable_v2") != NULL;
}

static bool read_version(void *library, uint32_t *version)
{
    ks_cupti_result (*get)(uint32_t *) = NULL;
    const ks_dl_symbol symbol = {"cuptiGetVersion", 0, false};
    return ks_dl_bind(library, &symbol, 1, &get) == NULL && get(version) == 0;
}

/* CUPTI opens its parts by their names alone, and the loader does not look in its folder: that of a
 * Python package is in no search path. Once they are open from there, it finds them. */
static void open_parts(void *library)
{
    static const char *const parts[] = {"libnvperf_host.so", "libnvperf_target.so"};
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        return;
    }
    int folder = (int)(ks_basename(map->l_name) - map->l_name);
    for (size_t i = 0; folder > 0 && i < sizeof parts / sizeof parts[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s%s", folder, map->l_name, parts[i]);
        dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays; without it CUPTI looks by itself */
    }
}

static bool accept(void *library, void *self, ks_buf *why)
{
    ks_cupti *c = self;
    c->api_version = 0;
    const ks_cuda *cuda = NULL;
    if (needs_driver(library) && ks_cuda_get(&cuda, NULL) != KS_OK) {
        ks_buf_add(why, "CUPTI 13.2 and later can be asked nothing where there is no driver "
                        "(libcuda.so.1); 12.8 to 13.1 can");
        return false;
    }
    if (!read_version(library, &c->api_version)) {
        ks_buf_add(why, "it does not tell its version (cuptiGetVersion)");
        return false;
    }
    if (c->api_version < OLDEST_API) {
        ks_buf_addf(why, "its version is %u, and %d (CUPTI 12.8) or later is needed",
                    c->api_version, OLDEST_API);
        return false;
    }
    const char *missing = ks_dl_bind(library, symbols, sizeof symbols / sizeof symbols[0], c);
    if (missing != NULL) {
        ks_buf_addf(why, "it has no function %s, though its version is %u", missing,
                    c->api_version);
    }
    if (missing == NULL) {
        open_parts(library);
    }
    return missing == NULL;
}

/* " (the driver is for CUDA 13.0)", where there is one: what CUPTI has to go with. */
static ks_status tell_driver(char *to, size_t size, ks_error *err)
{
    const ks_cuda *cuda = NULL;
    ks_error none = KS_ERROR_INIT;
    int version = 0;
    to[0] = '\0';
    if (ks_cuda_get(&cuda, &none) == KS_OK && cuda->version(&version) == 0) {
        snprintf(to, size, " (the driver is for CUDA %d.%d)", version / 1000, version % 1000 / 10);
    }
    return ks_is_enomem(&none) ? ks_enomem(err) : KS_OK;
}

static ks_status fail_finding(const ks_buf *tried, ks_error *err)
{
    char driver[48];
    KS_TRY(tell_driver(driver, sizeof driver, err));
    return ks_fail(
        err, KS_UNAVAILABLE, "cupti", 0,
        "no CUPTI that can be used was found%s; install the CUDA toolkit, 12.8 or later, or the Python "
        "package nvidia-cuda-cupti, or name its path in KERNSIGHT_CUPTI_LIB. Tried: %s",
        driver, ks_buf_text(tried));
}

static ks_status find(ks_error *err)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", NULL};
    static const char *const folders[] = {
        "/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda-1[23].*/extras/CUPTI/lib64",
        "/opt/cuda/extras/CUPTI/lib64", "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/extras/CUPTI/lib64",
        NULL};
    const ks_library_spec spec = {.variable = "KERNSIGHT_CUPTI_LIB",
                                  .names = names,
                                  .folders = folders,
                                  .home = "CUDA_HOME",
                                  .below_home = "extras/CUPTI/lib64",
                                  .accept = accept,
                                  .self = &cupti};
    ks_buf tried;
    ks_buf_init(&tried, 1u << 16);
    bool found = ks_library_find(&spec, &cupti.library, &tried);
    ks_status status = found ? KS_OK : ks_buf_status(&tried, err);
    if (!found && status == KS_OK) {
        status = fail_finding(&tried, err);
    }
    ks_buf_fini(&tried);
    return status;
}

ks_status ks_cupti_get(const ks_cupti **out, ks_error *err)
{
    pthread_mutex_lock(&lock);
    ks_status status = ready ? KS_OK : find(err);
    ready = status == KS_OK;
    pthread_mutex_unlock(&lock);
    if (status == KS_OK) {
        *out = &cupti;
    }
    return status;
}

ks_status ks_cupti_fail(const ks_cupti *c, ks_cupti_result result, const char *what, ks_error *err)
{
    const char *name = NULL;
    if (c->result_string(result, &name) != 0 || name == NULL) {
        name = "unknown result";
    }
    return ks_fail(err, KS_EVENDOR, "cupti", result, "%s: %s (%d)", what, name, result);
}
