#include "base/str.h"

#include <string.h>

#include "base/alloc.h"

/* Length of the valid UTF-8 sequence at `s` of `count` bytes; 0 if there is none. */
static size_t sequence(const unsigned char *s, size_t count)
{
    if (s[0] < 0x80u) {
        return 1;
    }
    size_t length = s[0] >= 0xF0u ? 4 : s[0] >= 0xE0u ? 3 : 2;
    if (s[0] < 0xC2u || s[0] > 0xF4u || length > count) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0u) != 0x80u) {
            return 0;
        }
    }
    bool overlong = (s[0] == 0xE0u && s[1] < 0xA0u) || (s[0] == 0xF0u && s[1] < 0x90u);
    bool surrogate = s[0] == 0xEDu && s[1] > 0x9Fu;
    bool too_large = s[0] == 0xF4u && s[1] > 0x8Fu;
    return overlong || surrogate || too_large ? 0 : length;
}

size_t ks_utf8_check(const char *text, size_t count)
{
    size_t at = 0;
    while (at < count) {
        size_t length = sequence((const unsigned char *)text + at, count - at);
        if (length == 0) {
            break;
        }
        at += length;
    }
    return at;
}

void ks_utf8_clean(char *text)
{
    size_t count = strlen(text);
    for (size_t at = ks_utf8_check(text, count); at < count;
         at += ks_utf8_check(text + at, count - at)) {
        text[at] = '?';
    }
}

uint32_t ks_utf8_next(const char **at, const char *end)
{
    const unsigned char *s = (const unsigned char *)*at;
    size_t length = sequence(s, (size_t)(end - *at));
    *at += length != 0 ? length : 1;
    switch (length) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    case 3:
        return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    default:
        return 0xFFFDu;
    }
}

bool ks_has_control(const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        bool c1 = c == 0xC2u && i + 1 < count && (unsigned char)text[i + 1] < 0xA0u;
        if (c < 0x20u || c == 0x7Fu || c1) {
            return true;
        }
    }
    return false;
}

bool ks_is_pattern(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

bool ks_match(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *resume = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            /* let the last star take one character more */
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Whether two bytes are the same letter, large or small (ASCII). */
static bool same(char a, char b)
{
    return lower(a) == lower(b);
}

size_t ks_distance(const char *a, const char *b)
{
    enum {
        MAX = 128
    };
    size_t m = strlen(a);
    size_t n = strlen(b);
    if (m > MAX || n > MAX) {
        return m > n ? m : n;
    }
    /* optimal string alignment: three rows of the edit matrix */
    size_t rows[3][MAX + 1];
    for (size_t j = 0; j <= n; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        size_t *now = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = above[j - 1] + !same(a[i - 1], b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                size_t swap = rows[(i - 2) % 3][j - 2] + 1;
                best = swap < best ? swap : best;
            }
            now[j] = best;
        }
    }
    return rows[m % 3][n];
}

void ks_near_init(ks_near *near, const char *wanted)
{
    memset(near, 0, sizeof *near);
    near->wanted = wanted;
}

void ks_near_offer(ks_near *near, const char *name)
{
    size_t length = strlen(near->wanted);
    size_t distance = ks_distance(near->wanted, name);
    if (length >= 3 && strcasestr(name, near->wanted) != NULL) {
        /* a name without its prefix or suffix is a common slip, however long the rest */
        distance = 1;
    }
    if (distance > 2 + length / 3) {
        return;
    }
    for (size_t i = 0; i < near->count; i++) {
        if (strcmp(near->names[i], name) == 0) {
            return; /* offered before */
        }
    }
    size_t at = near->count;
    while (at > 0 && distance < near->distances[at - 1]) {
        at--;
    }
    if (at == KS_NEAR_MAX) {
        return;
    }
    if (near->count < KS_NEAR_MAX) {
        near->count++;
    }
    for (size_t i = near->count - 1; i > at; i--) {
        near->names[i] = near->names[i - 1];
        near->distances[i] = near->distances[i - 1];
    }
    near->names[at] = name;
    near->distances[at] = distance;
}

uint64_t ks_hash(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * 0x100000001B3u;
    }
    return hash;
}

const char *ks_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}
