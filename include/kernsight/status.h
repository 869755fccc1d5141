/**
 * @file status.h
 * Status codes and errors: every fallible function of kernsight returns a `ks_status` and takes a
 * `ks_error *` as its last argument.
 *
 * The caller owns the error, usually on the stack, initialised with `KS_ERROR_INIT`. It may be
 * NULL.
 * **The first failure wins**: a function never overwrites an error that already holds one, and the
 * functions that build a plan (`ks_plan_*`) as well as `ks_run()` do nothing and return that
 * failure when they are handed one. So a plan can be built without looking at every return value:
 * the one error at the end names the first thing that went wrong, and nothing was measured.
 *
 * Threads: everything here is safe from any thread, on distinct `ks_error` objects.
 */
#ifndef KERNSIGHT_STATUS_H
#define KERNSIGHT_STATUS_H

#include <stddef.h>
#include <stdint.h>

#define KS_API              __attribute__((visibility("default")))
#define KS_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))

#ifdef __cplusplus
extern "C" {
#endif

/** The one list of status codes: X(code, number, text). Enum, names and texts come from it. */
#define KS_STATUS_MAP(X)                                  \
    X(KS_OK, 0, "ok")                                     \
    X(KS_EINVAL, 1, "invalid argument")                   \
    X(KS_ENOMEM, 2, "no memory")                          \
    X(KS_UNAVAILABLE, 3, "not available on this machine") \
    X(KS_EPERM, 4, "not permitted")                       \
    X(KS_EVENDOR, 5, "vendor library error")              \
    X(KS_ENOTFOUND, 6, "not found")                       \
    X(KS_EBUSY, 7, "busy")                                \
    X(KS_EIO, 8, "input or output failed")                \
    X(KS_ECANCELED, 9, "cancelled")                       \
    X(KS_EBODY, 10, "the measured body failed")           \
    X(KS_ELIMIT, 11, "a limit was reached")               \
    X(KS_ESTATE, 12, "wrong state for this call")

typedef enum ks_status {
#define KS_STATUS_ENUM(code, number, text) code = number,
    KS_STATUS_MAP(KS_STATUS_ENUM)
#undef KS_STATUS_ENUM
} ks_status;

/** What failed. `message` is one line: what failed, why, and what to do about it. */
typedef struct ks_error {
    ks_status code;    /**< KS_OK until a failure was stored */
    int32_t native;    /**< errno, or a vendor's code; 0 if there is none */
    char origin[16];   /**< the part that failed: "plan", "clock", "program", "csv", ... */
    char message[488]; /**< UTF-8, no newline, always terminated */
} ks_error;

// clang-format off
#define KS_ERROR_INIT {KS_OK, 0, {0}, {0}}
// clang-format on

/** Name of a code, such as "KS_EINVAL"; "KS_UNKNOWN" for a number that is none. Static text. */
KS_API const char *ks_status_name(ks_status status);

/** Text of a code, such as "invalid argument". Static text. */
KS_API const char *ks_status_text(ks_status status);

/** Makes `err` usable for the next call. Accepts NULL. */
KS_API void ks_error_clear(ks_error *err);

/**
 * Store a failure, unless `err` is NULL or already holds one. For bodies and callbacks too.
 *
 * @param[out] err     may be NULL
 * @param[in]  code    what to return; anything but KS_OK
 * @param[in]  origin  who failed, at most 15 bytes
 * @param[in]  native  errno or a vendor's code; 0 if there is none
 * @param[in]  fmt     printf format of the message; control characters are replaced by blanks, and
 *                     a message that is too long is cut at a character boundary, ending in "..."
 * @return `code`, so that a function can end with `return ks_fail(...)`.
 */
KS_API ks_status ks_fail(ks_error *err, ks_status code, const char *origin, int32_t native,
                         const char *fmt, ...) KS_PRINTF(5, 6);

#ifdef __cplusplus
}
#endif

#endif
