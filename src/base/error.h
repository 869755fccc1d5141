/* Errors inside the library: early return, and context on the way up. */
#ifndef KS_BASE_ERROR_H
#define KS_BASE_ERROR_H

#include "kernsight/status.h"

/** Return early with a failure. */
#define KS_TRY(expr)                       \
    do {                                   \
        ks_status ks_try_status_ = (expr); \
        if (ks_try_status_ != KS_OK) {     \
            return ks_try_status_;         \
        }                                  \
    } while (0)

/** Plan building does nothing once `err` holds a failure (status.h). */
#define KS_ENTER(err)                                \
    do {                                             \
        if ((err) != NULL && (err)->code != KS_OK) { \
            return (err)->code;                      \
        }                                            \
    } while (0)

/** Put "context: " before the message of a failure. Does nothing to an error without one. */
void ks_error_prefix(ks_error *err, const char *fmt, ...) KS_PRINTF(2, 3);

/** Text of an errno value, in C's own words whatever the locale; thread-safe, static. */
const char *ks_errno_text(int number);

/** KS_EPERM for EACCES and EPERM, KS_ENOTFOUND for ENOENT, KS_ENOMEM, else KS_EIO. */
ks_status ks_errno_status(int number);

#endif
