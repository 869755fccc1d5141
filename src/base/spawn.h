/* A helper program: text in, bytes out. */
#ifndef KS_BASE_SPAWN_H
#define KS_BASE_SPAWN_H

#include <stddef.h>

#include "base/buf.h"
#include "kernsight/status.h"

/**
 * Run a program with `input` as its stdin, and wait for its end. No shell; its locale is C.UTF-8.
 *
 * @param[in]  argv    the program, found along PATH, and its arguments; NULL at the end
 * @param[out] output  its stdout is added
 * @return KS_OK; KS_ENOTFOUND, KS_EPERM: it cannot be started; KS_ELIMIT: more output than `output`
 *         takes; KS_EVENDOR: it failed, the message is the last line of its stderr; KS_ESTATE: what
 *         became of it is unknown, because the host collects all child processes; KS_EIO
 */
ks_status ks_spawn_filter(const char *const *argv, const char *input, size_t length, ks_buf *output,
                          ks_error *err);

#endif
