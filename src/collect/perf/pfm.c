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
typedef int (*encode_fn)(const char *name, int modes, int os, void *arg);

static const char LIBRARY[] = "libpfm.so.4";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static encode_fn encode;

/* It stays loaded: a library that was initialised has state that others may share. */
static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return;
    }
    initialize_fn initialize = NULL;
    encode_fn found = NULL;
    *(void **)&initialize = dlsym(library, "pfm_initialize"); /* as dlsym(3) has it */
    *(void **)&found = dlsym(library, "pfm_get_os_event_encoding");
    if (initialize != NULL && found != NULL && initialize() == PFM_SUCCESS) {
        encode = found;
    } else {
        dlclose(library);
    }
}

const char *ks_pfm_name(void)
{
    pthread_once(&once, load);
    return encode != NULL ? LIBRARY : NULL;
}

bool ks_pfm_encode(const char *name, struct perf_event_attr *out)
{
    if (ks_pfm_name() == NULL) {
        return false;
    }
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    pfm_perf_encode_arg arg = {.attr = out, .size = sizeof arg};
    pthread_mutex_lock(&lock); /* it does not say that threads may share it */
    int result = encode(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
    pthread_mutex_unlock(&lock);
    return result == PFM_SUCCESS;
}
