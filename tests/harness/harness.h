/* What cmocka lacks: statuses with their messages, doubles, table cells, failing allocations. */
#ifndef KT_HARNESS_H
#define KT_HARNESS_H

// cmocka wants these first
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
// clang-format on

#include "kernsight/kernsight.h"

/** A call that must succeed; its error variable is named `err`. */
#define KT_OK(call)                                                                 \
    do {                                                                            \
        ks_status kt_status_ = (call);                                              \
        if (kt_status_ != KS_OK) {                                                  \
            fail_msg("%s: %s: %s", #call, ks_status_name(kt_status_), err.message); \
        }                                                                           \
    } while (0)

/** A call that must fail with a status, and a message with `part` in it. Clears `err`. */
#define KT_FAILS(call, status, part)                                                               \
    do {                                                                                           \
        ks_error_clear(&err);                                                                      \
        ks_status kt_status_ = (call);                                                             \
        if (kt_status_ != (status) || strstr(err.message, (part)) == NULL) {                       \
            fail_msg("%s: expected %s with '%s', got %s: %s", #call, ks_status_name(status), part, \
                     ks_status_name(kt_status_), err.message);                                     \
        }                                                                                          \
        ks_error_clear(&err);                                                                      \
    } while (0)

/** Two doubles that agree to a relative difference. */
void kt_near(double value, double expected, double relative, const char *file, int line);
#define KT_NEAR(value, expected, relative) \
    kt_near((value), (expected), (relative), __FILE__, __LINE__)
#define KT_F64(value, expected) kt_near((value), (expected), 0.0, __FILE__, __LINE__)

/** The row of an annotation and metric where the parameter `n` has a value. */
typedef struct kt_key {
    const char *annotation;
    const char *metric;
    int64_t n; /**< KT_ANY: whatever it is */
} kt_key;
#define KT_ANY INT64_MIN

/** Row number in a table of results; fails the test if there is none. */
size_t kt_row(const ks_table *table, kt_key key);

/** A numeric cell of that row; NaN if it is missing. */
double kt_number(const ks_table *table, kt_key key, const char *column);

/** A text cell of that row; NULL if it is missing. */
const char *kt_text(const ks_table *table, kt_key key, const char *column);

/** Whether a text holds another; both may not be NULL. */
#define KT_HAS(text, part)                                                                   \
    do {                                                                                     \
        const char *kt_text_ = (text);                                                       \
        if (kt_text_ == NULL || strstr(kt_text_, (part)) == NULL) {                          \
            fail_msg("'%s' is not in '%s'", (part), kt_text_ != NULL ? kt_text_ : "(null)"); \
        }                                                                                    \
    } while (0)

/**
 * Run `scene` once with every allocation failing in turn, until it needs no more.
 *
 * The scene must return KS_ENOMEM whenever an allocation failed, KS_OK otherwise, and leave nothing
 * allocated. @return how many allocations the scene makes
 */
size_t kt_oom_sweep(ks_status (*scene)(void *arg, ks_error *err), void *arg);

/** Everything that a function writes to a stream; free with free(). */
char *kt_capture(ks_status (*write)(void *arg, FILE *to, ks_error *err), void *arg);

/** Whether programs can be measured here; valgrind 3.19 knows no pidfd_open. Says so if not. */
bool kt_has_programs(void);

/** A new path in a folder of this test's own; valid until the next call. */
const char *kt_path(const char *name);

/** The content of a file; free with free(). NULL if it cannot be read. */
char *kt_read(const char *path);
void kt_write(const char *path, const char *text);

#endif
