#include "collect/perf/pfm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* The part of libpfm4's interface that is used, declared here so that no build needs its headers.
 */
enum {
    PFM_SUCCESS = 0,
    PFM_PLM3 = 8, /* user mode */
    PFM_OS_PERF_EVENT = 1
};

typedef struct pfm_perf_encode_arg {
    struct perf_event_attr *attr;
    char **fstr;
    size_t size; /* of this struct */
    int idx;
    int cpu;
    int flags;
    int pad0;
} pfm_perf_encode_arg;

typedef int (*initialize_fn)(void);
typedef void (*terminate_fn)(void);
typedef int (*encode_fn)(const char *name, int modes, int os, void *arg);

static const char LIBRARY[] = "libpfm.so.4";

typedef struct library {
    void *handle; /* NULL: there is none */
    encode_fn encode;
    terminate_fn terminate; /* NULL: it is not ours to end */
} library;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static library load(void)
{
    library pfm = {NULL, NULL, NULL};
    void *shared = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    pfm.handle = shared != NULL ? shared : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (pfm.handle == NULL) {
        return pfm;
    }
    initialize_fn initialize = NULL;
    *(void **)&initialize = dlsym(pfm.handle, "pfm_initialize"); /* as dlsym(3) has it */
    *(void **)&pfm.encode = dlsym(pfm.handle, "pfm_get_os_event_encoding");
    if (initialize == NULL || pfm.encode == NULL || initialize() != PFM_SUCCESS) {
        dlclose(pfm.handle);
        return (library){NULL, NULL, NULL};
    }
    if (shared == NULL) {
        *(void **)&pfm.terminate = dlsym(pfm.handle, "pfm_terminate");
    }
    return pfm;
}

/* It does not stay loaded: programs start with a copy of what it keeps in memory, 1 MB, and
 * `cpu__max_rss.max` is known of larger ones only. Loading takes 2 ms a name. */
static void unload(const library *pfm)
{
    if (pfm->handle != NULL && pfm->terminate != NULL) {
        pfm->terminate();
    }
    if (pfm->handle != NULL) {
        dlclose(pfm->handle);
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_there;

static void look(void)
{
    pthread_mutex_lock(&lock);
    library pfm = load();
    is_there = pfm.handle != NULL;
    unload(&pfm);
    pthread_mutex_unlock(&lock);
}

const char *ks_pfm_name(void)
{
    pthread_once(&once, look);
    return is_there ? LIBRARY : NULL;
}

bool ks_pfm_encode(const char *name, struct perf_event_attr *out)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    pfm_perf_encode_arg arg = {.attr = out, .size = sizeof arg};
    pthread_mutex_lock(&lock); /* it does not say that threads may share it */
    library pfm = load();
    bool known =
        pfm.handle != NULL && pfm.encode(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) == PFM_SUCCESS;
    unload(&pfm);
    pthread_mutex_unlock(&lock);
    return known;
}
