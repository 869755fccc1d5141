/* Text that grows, up to a stated maximum. */
#ifndef KS_BASE_BUF_H
#define KS_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernsight/status.h"

/**
 * A text being built. After a failure (no memory, over the maximum) further additions do nothing,
 * so that a sequence of them is checked once, by ks_buf_status().
 */
typedef struct ks_buf {
    char *text; /**< NUL-terminated; NULL while empty */
    size_t length;
    size_t capacity;
    size_t max; /**< bytes of text at most */
    bool failed;
    bool too_long; /**< that is why */
} ks_buf;

void ks_buf_init(ks_buf *buf, size_t max);
void ks_buf_fini(ks_buf *buf);
void ks_buf_clear(ks_buf *buf); /**< keeps the memory */

void ks_buf_add(ks_buf *buf, const char *text);
void ks_buf_add_bytes(ks_buf *buf, const char *bytes, size_t count);
void ks_buf_add_char(ks_buf *buf, char c);
void ks_buf_add_i64(ks_buf *buf, int64_t number);
void ks_buf_add_f64(ks_buf *buf, double number); /**< shortest form: base/num.h */
void ks_buf_addf(ks_buf *buf, const char *fmt, ...) KS_PRINTF(2, 3);

/** The text, "" while empty. */
const char *ks_buf_text(const ks_buf *buf);

/** KS_OK, KS_ENOMEM, or KS_ELIMIT if the maximum was reached. */
ks_status ks_buf_status(const ks_buf *buf, ks_error *err);

/** Hands the text over (free with ks_free()); NULL after a failure. The buffer is empty then. */
char *ks_buf_take(ks_buf *buf);

#endif
