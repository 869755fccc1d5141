#include "run/template.h"

#include <string.h>

enum {
    NAME_MAX_BYTES = 256
};

/* One piece of a template. */
typedef struct piece {
    const char *text; /* what to copy, or the name */
    size_t length;
    bool is_name;
} piece;

/* Length of the C identifier at `s`; 0 if there is none. */
static size_t identifier(const char *s)
{
    size_t length = 0;
    for (;; length++) {
        unsigned char c = (unsigned char)s[length];
        bool letter = (c | 0x20u) >= 'a' && (c | 0x20u) <= 'z';
        if (!letter && c != '_' && (length == 0 || c < '0' || c > '9')) {
            return length;
        }
    }
}

/* Take the next piece off a template. */
static bool next_piece(const char **at, piece *out)
{
    const char *s = *at;
    if (*s == '\0') {
        return false;
    }
    if (s[0] == '{' && s[1] == '{') {
        *out = (piece){s, 1, false};
        *at = s + 2;
        return true;
    }
    size_t name = s[0] == '{' ? identifier(s + 1) : 0;
    if (name > 0 && name < NAME_MAX_BYTES && s[1 + name] == '}') {
        *out = (piece){s + 1, name, true};
        *at = s + name + 2;
        return true;
    }
    size_t plain = 1 + strcspn(s + 1, "{");
    *out = (piece){s, plain, false};
    *at = s + plain;
    return true;
}

static void copy_name(const piece *from, char to[NAME_MAX_BYTES])
{
    memcpy(to, from->text, from->length);
    to[from->length] = '\0';
}

bool ks_template_has_names(const char *text)
{
    piece p;
    while (next_piece(&text, &p)) {
        if (p.is_name) {
            return true;
        }
    }
    return false;
}

bool ks_template_names(const char *text, const char *name)
{
    piece p;
    while (next_piece(&text, &p)) {
        if (p.is_name && strlen(name) == p.length && memcmp(p.text, name, p.length) == 0) {
            return true;
        }
    }
    return false;
}

ks_status ks_template_check(const char *text, const ks_plan *plan, ks_error *err)
{
    const char *at = text;
    piece p;
    while (next_piece(&at, &p)) {
        char name[NAME_MAX_BYTES];
        if (!p.is_name) {
            continue;
        }
        copy_name(&p, name);
        if (ks_plan_find_param(plan, name) == plan->param_count) {
            return ks_fail(err, KS_EINVAL, "program", 0,
                           "'%s' names {%s}, but there is no parameter %s: add -p %s=VALUES, or "
                           "write {{%s} for the text itself",
                           text, name, name, name, name);
        }
    }
    return KS_OK;
}

void ks_template_expand(const char *text, const ks_call *call, ks_buf *to)
{
    piece p;
    while (next_piece(&text, &p)) {
        char name[NAME_MAX_BYTES];
        if (!p.is_name) {
            ks_buf_add_bytes(to, p.text, p.length);
            continue;
        }
        copy_name(&p, name);
        const ks_value *value = ks_call_value(call, name);
        if (value != NULL) {
            ks_value_text(value, to);
        }
    }
}
