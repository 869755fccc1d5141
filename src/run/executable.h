/* Finding the file of a program. */
#ifndef KS_RUN_EXECUTABLE_H
#define KS_RUN_EXECUTABLE_H

#include "base/buf.h"
#include "kernsight/status.h"

/** Room that a folder and a name need: twice what the kernel takes as one argument. */
#define KS_PATH_LENGTH_MAX (2u << 17)

/**
 * Find a program: a name without a slash along PATH, another one from `cwd` (NULL: from here).
 *
 * @param[out] out  its path
 * @return KS_ENOTFOUND, KS_EPERM: there is none, or it cannot be run
 */
ks_status ks_find_executable(const char *name, const char *cwd, ks_buf *out, ks_error *err);

#endif
