#include "base/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/str.h"

typedef char *(*demangle_fn)(const char *mangled, char *buffer, size_t *length, int *status);

typedef struct name {
    const char *full;
    const char *brief;
} name;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_pool keys; /* mangled names, ... */
static name *names;  /* ... and what they are called, by id - 1 */
static size_t capacity;
static ks_pool texts;

/* Parts of C++ runtimes, which this library does not need otherwise. The first is the one that
 * most programs have; it gives up on names of over 1,024 characters. */
static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1"};
enum {
    RUNTIMES = sizeof runtimes / sizeof runtimes[0]
};

static demangle_fn find_demangler(size_t i)
{
    static demangle_fn found[RUNTIMES];
    static bool looked[RUNTIMES];
    if (!looked[i]) {
        void *library = dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL);
        void *function = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&found[i], &function, sizeof function);
        looked[i] = true;
    }
    return found[i];
}

/* NULL if no runtime reads the name. Of the runtimes' own malloc. */
static char *read_by_any(const char *mangled)
{
    char *full = NULL;
    for (size_t i = 0; i < RUNTIMES && full == NULL; i++) {
        int status = -1;
        demangle_fn function = find_demangler(i);
        full = function != NULL ? function(mangled, NULL, NULL, &status) : NULL;
    }
    return full;
}

/* Where the list of arguments at a name's end begins; its length if there is none. */
static size_t arguments_at(const char *full)
{
    const char *last = strrchr(full, ')');
    int depth = 0;
    for (const char *at = last; at != NULL && at >= full; at--) {
        depth += (*at == ')') - (*at == '(');
        if (depth == 0) {
            return (size_t)(at - full);
        }
    }
    return strlen(full);
}

/* Behind the return type, which function templates have before them. */
static size_t name_at(const char *full, size_t end)
{
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i < end; i++) {
        char c = full[i];
        depth += (c == '<' || c == '(') - (c == '>' || c == ')');
        if (c == ' ' && depth == 0) {
            start = i + 1;
        }
    }
    return start;
}

static const char *keep(const char *text, size_t length)
{
    ks_text_id id = 0;
    char *copy = ks_alloc(length + 1);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    ks_status status = ks_pool_add(&texts, copy, &id, NULL);
    ks_free(copy);
    return status == KS_OK ? ks_pool_text(&texts, id) : NULL;
}

static name demangle(const char *mangled)
{
    name out = {mangled, mangled};
    char *full = read_by_any(mangled);
    if (full != NULL) {
        size_t end = arguments_at(full);
        size_t start = name_at(full, end);
        const char *kept = keep(full, strlen(full));
        const char *brief = keep(full + start, end - start);
        out.full = kept != NULL ? kept : mangled;
        out.brief = brief != NULL && brief[0] != '\0' ? brief : out.full;
    }
    free(full);
    return out;
}

static name look_up(const char *mangled)
{
    name out = {mangled, mangled};
    ks_text_id id = 0;
    if (strncmp(mangled, "_Z", 2) != 0) {
        return out;
    }
    pthread_mutex_lock(&lock);
    size_t known = keys.count;
    if (KS_GROW(names, capacity, keys.count + 1, NULL) == KS_OK &&
        ks_pool_add(&keys, mangled, &id, NULL) == KS_OK) {
        if (keys.count > known) {
            names[id - 1] = demangle(ks_pool_text(&keys, id));
        }
        out = names[id - 1];
    }
    pthread_mutex_unlock(&lock);
    return out;
}

const char *ks_demangle(const char *mangled)
{
    return look_up(mangled).full;
}

const char *ks_demangle_short(const char *mangled)
{
    return look_up(mangled).brief;
}

bool ks_function_matches(const char *pattern, const char *mangled)
{
    return ks_match(pattern, mangled) || ks_match(pattern, ks_demangle(mangled)) ||
           ks_match(pattern, ks_demangle_short(mangled));
}
