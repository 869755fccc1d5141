/* Where a library of the vendor's is: the order is that of docs/gpu.md. */
#ifndef KS_COLLECT_NVIDIA_LIBRARY_H
#define KS_COLLECT_NVIDIA_LIBRARY_H

#include "base/buf.h"
#include "kernsight/status.h"

/** What to look for, and what makes a file of that name good. */
typedef struct ks_library_spec {
    const char *what;           /**< "CUPTI" */
    const char *variable;       /**< of the environment: a path that must work */
    const char *const *names;   /**< file names, the best first; NULL at the end */
    const char *const *folders; /**< where they may be besides where the loader looks; likewise */
    const char *home;           /**< variable of a folder, and ... */
    const char *below_home;     /**< ... where below it they may be; NULL: none */
    /** Take a library that was opened. @return whether it is good; else `why` gets the reason */
    bool (*accept)(void *library, void *self, ks_buf *why);
    void *self;
} ks_library_spec;

/** A library that is open, for the rest of the process's life: it may have callbacks of ours. */
typedef struct ks_library {
    void *handle;
    char path[512];
} ks_library;

/**
 * Look in this order: the variable; a copy that is loaded; the loader's own places; the folders.
 * What cannot be used is passed over.
 *
 * @param[out] out    the first one that can
 * @param[out] tried  every path that was tried and why it was not good, a line each
 * @return whether there is one
 */
bool ks_library_find(const ks_library_spec *spec, ks_library *out, ks_buf *tried);

/**
 * The same for a library of which the first reason says enough.
 *
 * @param[in] origin  of the error
 * @return KS_UNAVAILABLE: "there is no WHAT here: why"; KS_ENOMEM
 */
ks_status ks_library_open(const ks_library_spec *spec, const char *origin, ks_library *out,
                          ks_error *err);

/** Whether this process has a library of that file name loaded. */
bool ks_library_is_loaded(const char *name);

#endif
