#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

void ks_buf_init(ks_buf *buf, size_t max)
{
    memset(buf, 0, sizeof *buf);
    buf->max = max;
}

void ks_buf_fini(ks_buf *buf)
{
    ks_free(buf->text);
    ks_buf_init(buf, buf->max);
}

void ks_buf_clear(ks_buf *buf)
{
    buf->length = 0;
    buf->failed = buf->too_long = false;
    if (buf->text != NULL) {
        buf->text[0] = '\0';
    }
}

/* Room for `count` more bytes and the terminator. */
static bool reserve(ks_buf *buf, size_t count)
{
    if (buf->failed) {
        return false;
    }
    buf->too_long = count > buf->max || buf->length > buf->max - count;
    buf->failed =
        buf->too_long || !ks_grow((void **)&buf->text, &buf->capacity, buf->length + count + 1, 1);
    return !buf->failed;
}

void ks_buf_add_bytes(ks_buf *buf, const char *bytes, size_t count)
{
    if (reserve(buf, count)) {
        memcpy(buf->text + buf->length, bytes, count);
        buf->length += count;
        buf->text[buf->length] = '\0';
    }
}

void ks_buf_add(ks_buf *buf, const char *text)
{
    ks_buf_add_bytes(buf, text, strlen(text));
}

void ks_buf_add_char(ks_buf *buf, char c)
{
    ks_buf_add_bytes(buf, &c, 1);
}

void ks_buf_add_i64(ks_buf *buf, int64_t number)
{
    if (reserve(buf, KS_NUM_MAX)) {
        buf->length += ks_num_i64(number, buf->text + buf->length);
    }
}

void ks_buf_add_f64(ks_buf *buf, double number)
{
    if (reserve(buf, KS_NUM_MAX)) {
        buf->length += ks_num_f64(number, buf->text + buf->length);
    }
}

void ks_buf_addf(ks_buf *buf, const char *fmt, ...)
{
    va_list args;
    va_list again;
    va_start(args, fmt);
    va_copy(again, args);
    int count = vsnprintf(NULL, 0, fmt, args);
    if (count >= 0 && reserve(buf, (size_t)count)) {
        vsnprintf(buf->text + buf->length, (size_t)count + 1, fmt, again);
        buf->length += (size_t)count;
    }
    va_end(again);
    va_end(args);
}

const char *ks_buf_text(const ks_buf *buf)
{
    return buf->text != NULL ? buf->text : "";
}

ks_status ks_buf_status(const ks_buf *buf, ks_error *err)
{
    if (!buf->failed) {
        return KS_OK;
    }
    if (buf->too_long) {
        return ks_fail(err, KS_ELIMIT, "text", 0, "a text is longer than %zu bytes", buf->max);
    }
    return ks_enomem(err);
}

char *ks_buf_take(ks_buf *buf)
{
    char *text = NULL;
    if (!buf->failed) {
        text = buf->text != NULL ? buf->text : ks_strdup("");
        buf->text = NULL;
    }
    ks_buf_fini(buf);
    return text;
}
