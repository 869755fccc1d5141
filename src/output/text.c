#include "output/text.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
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

/* Columns of the character at `*at`, which moves behind it. */
static size_t next_width(const char **at, const char *end)
{
    const char *start = *at;
    char one[8] = {0};
    ks_utf8_next(at, end);
    memcpy(one, start, (size_t)(*at - start));
    return ks_text_width(one);
}

/* Byte offset behind the longest start of a text that takes at most `width` columns. */
static size_t head_bytes(const char *text, size_t width)
{
    const char *at = text;
    const char *end = text + strlen(text);
    size_t used = 0;
    while (at < end) {
        const char *next = at;
        used += next_width(&next, end);
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
    const char *at = text;
    const char *end = text + strlen(text);
    size_t left = ks_text_width(text);
    while (at < end && left > width) {
        left -= next_width(&at, end);
    }
    return (size_t)(at - text);
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

/* Different texts, and their shortened forms. */
typedef struct eliding {
    const ks_pool *texts;
    size_t width;
    const char *mark;
    char **shown; /* by id - 1 */
    ks_error *err;
} eliding;

static void forget_shown(eliding *e)
{
    for (size_t i = 0; i < e->texts->count; i++) {
        ks_free(e->shown[i]);
        e->shown[i] = NULL;
    }
}

/* Shorten all that are too wide, with `head` columns of their start, or numbered at their end. */
static ks_status shorten_all(eliding *e, size_t head, bool numbered)
{
    size_t number = 0;
    forget_shown(e);
    for (size_t i = 0; i < e->texts->count; i++) {
        const char *text = e->texts->texts[i];
        bool fits = ks_text_width(text) <= e->width;
        number += !fits;
        e->shown[i] =
            fits ? ks_strdup(text) : shorten(text, e->width, head, e->mark, numbered ? number : 0);
        if (e->shown[i] == NULL) {
            return ks_enomem(e->err);
        }
    }
    return KS_OK;
}

/* Whether texts that differ are still told apart. */
static ks_status check_apart(const eliding *e, bool *apart)
{
    ks_pool seen;
    ks_pool_init(&seen);
    ks_status status = KS_OK;
    for (size_t i = 0; i < e->texts->count && status == KS_OK; i++) {
        ks_text_id id = 0;
        status = ks_pool_add(&seen, e->shown[i], &id, e->err);
    }
    *apart = seen.count == e->texts->count;
    ks_pool_fini(&seen);
    return status;
}

/* The even split reads best: go out from there until all are told apart, else number them. */
static ks_status find_split(eliding *e)
{
    size_t mark = ks_text_width(e->mark);
    size_t room = e->width > mark ? e->width - mark : 0;
    size_t half = (room + 1) / 2;
    for (size_t step = 0; step <= 2 * half; step++) {
        size_t head = step % 2 == 0 ? half - step / 2 : half + (step + 1) / 2;
        bool apart = false;
        KS_TRY(shorten_all(e, head < room ? head : room, false));
        KS_TRY(check_apart(e, &apart));
        if (apart) {
            return KS_OK;
        }
    }
    return shorten_all(e, half, true);
}

static ks_status replace(char **texts, size_t n, eliding *e)
{
    for (size_t i = 0; i < n; i++) {
        char *copy = ks_strdup(e->shown[ks_pool_find(e->texts, texts[i]) - 1]);
        if (copy == NULL) {
            return ks_enomem(e->err);
        }
        ks_free(texts[i]);
        texts[i] = copy;
    }
    return KS_OK;
}

ks_status ks_text_elide(char **texts, size_t n, size_t width, bool ascii, ks_error *err)
{
    ks_pool different;
    ks_pool_init(&different);
    ks_status status = KS_OK;
    for (size_t i = 0; i < n && status == KS_OK; i++) {
        ks_text_id id = 0;
        status = ks_pool_add(&different, texts[i], &id, err);
    }
    eliding e = {.texts = &different,
                 .width = width,
                 .mark = ascii ? "..." : "\u2026",
                 .shown = ks_calloc(different.count, sizeof *e.shown),
                 .err = err};
    if (status == KS_OK) {
        status = e.shown != NULL ? find_split(&e) : ks_enomem(err);
    }
    if (status == KS_OK) {
        status = replace(texts, n, &e);
    }
    if (e.shown != NULL) {
        forget_shown(&e);
    }
    ks_free(e.shown);
    ks_pool_fini(&different);
    return status;
}
