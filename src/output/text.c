#include "output/text.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

static bool is_ascii(const char *text)
{
    while (*text != '\0' && (unsigned char)*text < 0x80u) {
        text++;
    }
    return *text == '\0';
}

size_t ks_text_width(const char *text)
{
    if (is_ascii(text)) {
        return strlen(text);
    }
    /* wcwidth() asks the thread's locale: lend it one that knows UTF-8, for this call alone */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 != (locale_t)0 ? uselocale(utf8) : (locale_t)0;
    size_t width = 0;
    const char *end = text + strlen(text);
    while (text < end) {
        int columns = wcwidth((wchar_t)ks_utf8_next(&text, end));
        width += columns < 0 ? 1 : (size_t)columns;
    }
    if (utf8 != (locale_t)0) {
        uselocale(before);
        freelocale(utf8);
    }
    return width;
}

void ks_text_escape(ks_buf *to, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        const char *start = text;
        uint32_t c = ks_utf8_next(&text, end);
        if (c == '\n' || c == '\t' || c == '\r') {
            ks_buf_add(to, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
        } else if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
            ks_buf_addf(to, "\\x%02x", c);
        } else {
            ks_buf_add_bytes(to, start, (size_t)(text - start));
        }
    }
}

/* Byte offset behind the longest start of a text that takes at most `width` columns. */
static size_t head_bytes(const char *text, size_t width)
{
    const char *at = text;
    const char *end = text + strlen(text);
    size_t used = 0;
    while (at < end) {
        const char *next = at;
        ks_utf8_next(&next, end);
        char one[8] = {0};
        memcpy(one, at, (size_t)(next - at));
        used += ks_text_width(one);
        if (used > width) {
            break;
        }
        at = next;
    }
    return (size_t)(at - text);
}

/* Byte offset where the longest end of a text starts that takes at most `width` columns. */
static size_t tail_start(const char *text, size_t width)
{
    size_t at = 0;
    size_t length = strlen(text);
    const char *end = text + length;
    while (at < length && ks_text_width(text + at) > width) {
        const char *next = text + at;
        ks_utf8_next(&next, end);
        at = (size_t)(next - text);
    }
    return at;
}

/* A text of at most `width` columns: `head` columns of its start, a mark, the rest of its end. */
static char *shorten(const char *text, size_t width, size_t head, const char *mark, size_t number)
{
    ks_buf out;
    ks_buf_init(&out, strlen(text) + 64);
    char suffix[32] = "";
    if (number > 0) {
        snprintf(suffix, sizeof suffix, "#%zu", number);
    }
    size_t fixed = ks_text_width(mark) + strlen(suffix);
    size_t room = width > fixed ? width - fixed : 0;
    head = head < room ? head : room;
    ks_buf_add_bytes(&out, text, head_bytes(text, head));
    ks_buf_add(&out, mark);
    ks_buf_add(&out, text + tail_start(text, room - head));
    ks_buf_add(&out, suffix);
    return ks_buf_take(&out);
}

/* Try one split between start and end for all texts. */
static ks_status try_split(char *const *texts, size_t n, size_t width, size_t head,
                           const char *mark, char **out, ks_error *err)
{
    for (size_t i = 0; i < n; i++) {
        bool fits = ks_text_width(texts[i]) <= width;
        out[i] = fits ? ks_strdup(texts[i]) : shorten(texts[i], width, head, mark, 0);
        if (out[i] == NULL) {
            return ks_enomem(err);
        }
    }
    return KS_OK;
}

/* Whether texts that differ became the same. */
static bool collide(char *const *texts, char *const *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(out[i], out[j]) == 0 && strcmp(texts[i], texts[j]) != 0) {
                return true;
            }
        }
    }
    return false;
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ks_free(texts[i]);
        texts[i] = NULL;
    }
}

/* Where no split keeps them apart: number those that look the same. */
static ks_status number_texts(char *const *texts, size_t n, size_t width, size_t head,
                              const char *mark, char **out, ks_error *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t number = 0; /* different texts before this one that look like it */
        size_t twin = n;
        for (size_t j = 0; j < i; j++) {
            twin = twin == n && strcmp(texts[j], texts[i]) == 0 ? j : twin;
        }
        if (twin < n) {
            ks_free(out[i]);
            out[i] = ks_strdup(out[twin]);
        } else if (ks_text_width(texts[i]) > width) {
            for (size_t j = 0; j < n; j++) {
                number += j <= i && ks_text_width(texts[j]) > width;
            }
            ks_free(out[i]);
            out[i] = shorten(texts[i], width, head, mark, number);
        }
        if (out[i] == NULL) {
            return ks_enomem(err);
        }
    }
    return KS_OK;
}

ks_status ks_text_elide(char **texts, size_t n, size_t width, bool ascii, ks_error *err)
{
    enum {
        MANY = 2000
    }; /* comparing all pairs costs too much beyond: number them at once */
    const char *mark = ascii ? "..." : "\u2026";
    bool all_fit = true;
    for (size_t i = 0; i < n; i++) {
        all_fit = all_fit && ks_text_width(texts[i]) <= width;
    }
    if (all_fit) {
        return KS_OK;
    }
    char **out = ks_calloc(n, sizeof *out);
    if (out == NULL) {
        return ks_enomem(err);
    }
    /* names differ at their ends more often than in their middle: start with the even split */
    size_t half = (width + 1) / 2;
    ks_status status = try_split(texts, n, width, half, mark, out, err);
    for (size_t head = width;
         status == KS_OK && n <= MANY && head-- > 0 && collide(texts, out, n);) {
        free_texts(out, n);
        status = try_split(texts, n, width, head, mark, out, err);
    }
    if (status == KS_OK && (n > MANY || collide(texts, out, n))) {
        status = number_texts(texts, n, width, half, mark, out, err);
    }
    for (size_t i = 0; i < n && status == KS_OK; i++) {
        ks_free(texts[i]);
        texts[i] = out[i];
        out[i] = NULL;
    }
    free_texts(out, n);
    ks_free(out);
    return status;
}
