#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

const char *ks_status_name(ks_status status)
{
    switch (status) {
#define CASE_NAME(code, number, text) \
    case code:                        \
        return #code;
        KS_STATUS_MAP(CASE_NAME)
#undef CASE_NAME
    }
    return "KS_UNKNOWN";
}

const char *ks_status_text(ks_status status)
{
    switch (status) {
#define CASE_TEXT(code, number, text) \
    case code:                        \
        return text;
        KS_STATUS_MAP(CASE_TEXT)
#undef CASE_TEXT
    }
    return "unknown status";
}

void ks_error_clear(ks_error *err)
{
    if (err != NULL) {
        memset(err, 0, sizeof *err);
    }
}

/* One line of valid UTF-8 at the end: no control characters, no character cut in two. */
static void tidy(char *text, size_t size, size_t full_length)
{
    if (full_length >= size) {
        size_t length = size - 1 - strlen("...");
        while (length > 0 && ((unsigned char)text[length] & 0xC0u) == 0x80u) {
            length--;
        }
        memcpy(text + length, "...", sizeof "...");
    }
    ks_utf8_clean(text);
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
        bool c1 = c[0] == 0xC2u && c[1] >= 0x80u && c[1] < 0xA0u; /* U+0080 to U+009F */
        if (*c < 0x20u || *c == 0x7Fu || c1) {
            *c = ' ';
        }
        if (c1) {
            *++c = ' ';
        }
    }
}

ks_status ks_fail(ks_error *err, ks_status code, const char *origin, int32_t native,
                  const char *fmt, ...)
{
    if (err == NULL || err->code != KS_OK) {
        return code;
    }
    err->code = code;
    err->native = native;
    snprintf(err->origin, sizeof err->origin, "%s", origin != NULL ? origin : "");
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(err->message, sizeof err->message, fmt, args);
    va_end(args);
    tidy(err->message, sizeof err->message, length < 0 ? 0 : (size_t)length);
    return code;
}

void ks_error_prefix(ks_error *err, const char *fmt, ...)
{
    if (err == NULL || err->code == KS_OK) {
        return;
    }
    char context[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(context, sizeof context, fmt, args);
    va_end(args);
    char message[sizeof err->message];
    memcpy(message, err->message, sizeof message);
    int length = snprintf(err->message, sizeof err->message, "%s: %s", context, message);
    tidy(err->message, sizeof err->message, length < 0 ? 0 : (size_t)length);
}

const char *ks_errno_text(int number)
{
    const char *text = strerrordesc_np(number);
    return text != NULL ? text : "unknown system error";
}

ks_status ks_errno_status(int number)
{
    switch (number) {
    case EACCES:
    case EPERM:
        return KS_EPERM;
    case ENOENT:
        return KS_ENOTFOUND;
    case ENOMEM:
        return KS_ENOMEM;
    default:
        return KS_EIO;
    }
}
