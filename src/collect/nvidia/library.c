#include "collect/nvidia/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* The file that a library was loaded from. */
static void note_path(void *handle, const char *asked, char *path, size_t size)
{
    struct link_map *map = NULL;
    bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
    snprintf(path, size, "%s", known ? map->l_name : asked);
}

/* Open and judge one; `mode` adds to RTLD_NOW and RTLD_LOCAL. */
static bool try_one(const ks_library_spec *spec, const char *name, int mode, ks_library *out,
                    ks_buf *tried)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | mode);
    if (handle == NULL) {
        const char *why = dlerror();
        bool named = why != NULL && strncmp(why, name, strlen(name)) == 0;
        if (mode == 0) {
            ks_buf_addf(tried, "%s%s%s\n", named ? "" : name, named ? "" : ": ",
                        why != NULL ? why : "it cannot be opened");
        }
        return false;
    }
    note_path(handle, name, out->path, sizeof out->path);
    ks_buf why;
    ks_buf_init(&why, 4096);
    bool good = spec->accept(handle, spec->self, &why) && !why.failed;
    tried->failed = tried->failed || why.failed;
    if (good) {
        out->handle = handle;
    } else {
        ks_buf_addf(tried, "%s: %s\n", out->path, ks_buf_text(&why));
        dlclose(handle);
    }
    ks_buf_fini(&why);
    return good;
}

static bool try_names(const ks_library_spec *spec, int mode, ks_library *out, ks_buf *tried)
{
    for (const char *const *name = spec->names; *name != NULL; name++) {
        if (try_one(spec, *name, mode, out, tried)) {
            return true;
        }
    }
    return false;
}

/* The newest first, where a pattern has several. */
static bool try_folder(const ks_library_spec *spec, const char *folder, ks_library *out,
                       ks_buf *tried)
{
    bool found = false;
    for (const char *const *name = spec->names; *name != NULL && !found; name++) {
        char pattern[512];
        glob_t paths;
        snprintf(pattern, sizeof pattern, "%s/%s", folder, *name);
        if (glob(pattern, 0, NULL, &paths) != 0) {
            continue;
        }
        for (size_t i = paths.gl_pathc; i-- > 0 && !found;) {
            found = try_one(spec, paths.gl_pathv[i], 0, out, tried);
        }
        globfree(&paths);
    }
    return found;
}

static bool try_folders(const ks_library_spec *spec, ks_library *out, ks_buf *tried)
{
    const char *home = spec->home != NULL ? getenv(spec->home) : NULL;
    if (home != NULL && home[0] != '\0') {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", home, spec->below_home);
        if (try_folder(spec, folder, out, tried)) {
            return true;
        }
    }
    for (const char *const *folder = spec->folders; folder != NULL && *folder != NULL; folder++) {
        if (try_folder(spec, *folder, out, tried)) {
            return true;
        }
    }
    return false;
}

/* Another file than the one that the variable names is loaded: two copies have two states. */
static bool other_is_loaded(const ks_library_spec *spec, const char *wanted, ks_buf *tried)
{
    char real[4096];
    const char *path = realpath(wanted, real) != NULL ? real : wanted;
    for (const char *const *name = spec->names; *name != NULL; name++) {
        char loaded[4096];
        char loaded_real[4096];
        void *handle = dlopen(*name, RTLD_NOW | RTLD_NOLOAD);
        if (handle == NULL) {
            continue;
        }
        note_path(handle, *name, loaded, sizeof loaded);
        dlclose(handle);
        const char *other = realpath(loaded, loaded_real) != NULL ? loaded_real : loaded;
        if (strcmp(other, path) != 0) {
            ks_buf_addf(tried, "%s: %s names it, but %s is loaded already\n", wanted,
                        spec->variable, other);
            return true;
        }
    }
    return false;
}

bool ks_library_find(const ks_library_spec *spec, ks_library *out, ks_buf *tried)
{
    const char *wanted = getenv(spec->variable);
    if (wanted != NULL && wanted[0] != '\0') {
        return !other_is_loaded(spec, wanted, tried) && try_one(spec, wanted, 0, out, tried);
    }
    return try_names(spec, RTLD_NOLOAD, out, tried) || try_names(spec, 0, out, tried) ||
           try_folders(spec, out, tried);
}

ks_status ks_library_open(const ks_library_spec *spec, const char *origin, ks_library *out,
                          ks_error *err)
{
    ks_buf tried;
    ks_buf_init(&tried, 1u << 16);
    bool found = ks_library_find(spec, out, &tried);
    ks_status status = found ? KS_OK : ks_buf_status(&tried, err);
    if (!found && status == KS_OK) {
        const char *text = ks_buf_text(&tried);
        status = ks_fail(err, KS_UNAVAILABLE, origin, 0, "there is no %s here: %.*s", spec->what,
                         (int)strcspn(text, "\n"), text);
    }
    ks_buf_fini(&tried);
    return status;
}

bool ks_library_is_loaded(const char *name)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL) {
        dlclose(handle);
    }
    return handle != NULL;
}
