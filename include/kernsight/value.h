/**
 * @file value.h
 * One value of a parameter or of an info collector.
 *
 * A `ks_value` owns nothing: texts are borrowed for the call that takes it, and copied there.
 */
#ifndef KERNSIGHT_VALUE_H
#define KERNSIGHT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Type of a value, and of a table's column. */
typedef enum ks_type {
    KS_MISSING = 0, /**< no value; never shown as 0 */
    KS_BOOL,
    KS_I64,
    KS_F64,
    KS_TEXT,   /**< NUL-terminated UTF-8 */
    KS_OPAQUE, /**< the caller's object, handed on as it is and shown by a text */
} ks_type;

typedef struct ks_value {
    ks_type type;
    const char *text; /**< KS_TEXT: the text; KS_OPAQUE: how the object is shown; otherwise NULL */
    union {
        bool boolean;
        int64_t i64;
        double f64;
        void *object;
    } as;
} ks_value;

static inline ks_value ks_missing(void)
{
    ks_value v;
    v.type = KS_MISSING;
    v.text = NULL;
    v.as.i64 = 0;
    return v;
}

static inline ks_value ks_bool(bool boolean)
{
    ks_value v = ks_missing();
    v.type = KS_BOOL;
    v.as.boolean = boolean;
    return v;
}

static inline ks_value ks_i64(int64_t i64)
{
    ks_value v = ks_missing();
    v.type = KS_I64;
    v.as.i64 = i64;
    return v;
}

static inline ks_value ks_f64(double f64)
{
    ks_value v = ks_missing();
    v.type = KS_F64;
    v.as.f64 = f64;
    return v;
}

/** A text; NULL gives a missing value. */
static inline ks_value ks_text(const char *text)
{
    ks_value v = ks_missing();
    if (text != NULL) {
        v.type = KS_TEXT;
        v.text = text;
    }
    return v;
}

/** Any object, with a text that is the same in every process (no address in it). */
static inline ks_value ks_opaque(void *object, const char *text)
{
    ks_value v = ks_missing();
    v.type = KS_OPAQUE;
    v.text = text;
    v.as.object = object;
    return v;
}

#ifdef __cplusplus
}
#endif

#endif
