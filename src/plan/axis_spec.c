/* Axes from text: `n=1,2,4`, `n=1..8`, `n=8..64+8`, `n=1..4096*2`, `name='a, b',c`. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "plan/plan.h"

enum {
    MAX_VALUES = 1000000
};

/* One value before the type of the whole axis is known. */
typedef struct item {
    ks_type type; /* KS_I64, KS_F64 or KS_TEXT */
    int64_t i64;
    double f64;
    size_t text; /* offset in parser.texts of how it was written; NO_TEXT for values of ranges */
} item;

static const size_t NO_TEXT = (size_t)-1;

typedef struct parser {
    const char *spec;
    const char *at;
    ks_buf texts; /* NUL-separated */
    item *items;
    size_t count;
    size_t capacity;
    ks_error *err;
} parser;

/* A number as it was written: mantissa * 10^-decimals, if that is exact. */
typedef struct number {
    bool whole; /* no point, no exponent, fits into 64 bits */
    bool exact;
    int64_t mantissa;
    int decimals;
    int64_t i64;
    double f64;
} number;

static ks_status fail_at(const parser *p, const char *at, const char *what)
{
    return ks_fail(p->err, KS_EINVAL, "plan", 0, "parameter '%s': at character %td: %s", p->spec,
                   at - p->spec + 1, what);
}

/* Length of the decimal number at `s`; 0 if there is none. `1..8` holds the number `1`. */
static size_t number_length(const char *s)
{
    size_t at = s[0] == '-' ? 1 : 0;
    size_t digits = strspn(s + at, "0123456789");
    if (digits > 1 && s[at] == '0') {
        return 0; /* 007 is a name more likely than a number */
    }
    at += digits;
    if (s[at] == '.' && isdigit((unsigned char)s[at + 1])) {
        at += 1 + strspn(s + at + 1, "0123456789");
    } else if (digits == 0) {
        return 0;
    }
    if (s[at] == 'e' || s[at] == 'E') {
        size_t sign = s[at + 1] == '-' || s[at + 1] == '+' ? 1 : 0;
        size_t exponent = strspn(s + at + 1 + sign, "0123456789");
        at += exponent > 0 ? 1 + sign + exponent : 0;
    }
    return at;
}

/* Mantissa and decimals of a number's text, for ranges that must not collect rounding errors. */
static bool read_exact(const char *s, size_t length, number *out)
{
    int64_t mantissa = 0;
    int decimals = 0;
    bool fraction = false;
    size_t at = s[0] == '-' ? 1 : 0;
    for (; at < length && s[at] != 'e' && s[at] != 'E'; at++) {
        if (s[at] == '.') {
            fraction = true;
            continue;
        }
        if (mantissa > INT64_MAX / 100) {
            return false;
        }
        mantissa = mantissa * 10 + (s[at] - '0');
        decimals += fraction;
    }
    if (at < length) {
        int64_t exponent = 0;
        size_t sign = s[at + 1] == '+' ? 1 : 0;
        if (!ks_num_read_i64(s + at + 1 + sign, length - at - 1 - sign, &exponent) ||
            exponent < -15 || exponent > 15) {
            return false;
        }
        decimals -= (int)exponent;
    }
    out->mantissa = s[0] == '-' ? -mantissa : mantissa;
    out->decimals = decimals;
    return true;
}

static bool read_number(const char *s, size_t length, number *out)
{
    char padded[64];
    size_t sign = s[0] == '-' ? 1 : 0;
    *out = (number){0};
    out->whole = ks_num_read_i64(s, length, &out->i64);
    if (s[sign] == '.' && length + 1 < sizeof padded) {
        /* .5 for people, 0.5 for the reader */
        memcpy(padded, s, sign);
        padded[sign] = '0';
        memcpy(padded + sign + 1, s + sign, length - sign);
        if (!ks_num_read_f64(padded, length + 1, &out->f64)) {
            return false;
        }
    } else if (!ks_num_read_f64(s, length, &out->f64)) {
        return false;
    }
    out->exact = read_exact(s, length, out);
    return isfinite(out->f64);
}

static ks_status add_item(parser *p, item value)
{
    if (p->count == MAX_VALUES) {
        return ks_fail(p->err, KS_ELIMIT, "plan", 0, "parameter '%s' has over %d values", p->spec,
                       MAX_VALUES);
    }
    KS_TRY(KS_GROW(p->items, p->capacity, p->count + 1, p->err));
    p->items[p->count++] = value;
    return KS_OK;
}

static ks_status add_text(parser *p, const char *text, size_t length, item value)
{
    value.text = p->texts.length;
    ks_buf_add_bytes(&p->texts, text, length);
    ks_buf_add_char(&p->texts, '\0');
    KS_TRY(ks_buf_status(&p->texts, p->err));
    return add_item(p, value);
}

static ks_status add_i64(parser *p, int64_t value)
{
    return add_item(p, (item){.type = KS_I64, .i64 = value, .f64 = (double)value, .text = NO_TEXT});
}

static ks_status add_f64(parser *p, double value)
{
    return add_item(p, (item){.type = KS_F64, .f64 = value, .text = NO_TEXT});
}

static ks_status whole_range(parser *p, int64_t from, int64_t to, int64_t step, bool multiply)
{
    int64_t value = from;
    bool up = multiply ? to > 0 : step > 0;
    while (up ? value <= to : value >= to) {
        KS_TRY(add_i64(p, value));
        bool overflow = multiply ? __builtin_mul_overflow(value, step, &value)
                                 : __builtin_add_overflow(value, step, &value);
        if (overflow) {
            break;
        }
    }
    return KS_OK;
}

/* Scale a number's mantissa to `decimals`; false if it would not stay exact. */
static bool rescale(const number *n, int decimals, int64_t *out)
{
    int64_t value = n->mantissa;
    for (int i = n->decimals; i < decimals; i++) {
        if (__builtin_mul_overflow(value, 10, &value)) {
            return false;
        }
    }
    *out = value;
    return n->exact && value > -(INT64_C(1) << 53) && value < INT64_C(1) << 53;
}

/* from + k step. In decimal where that is exact, so that 0..1+0.1 holds 0.3 and ends with 1. */
static ks_status float_steps(parser *p, const number *from, const number *to, const number *step)
{
    int decimals = 0;
    decimals = from->decimals > decimals ? from->decimals : decimals;
    decimals = to->decimals > decimals ? to->decimals : decimals;
    decimals = step->decimals > decimals ? step->decimals : decimals;
    int64_t first = 0;
    int64_t last = 0;
    int64_t by = 0;
    if (decimals <= 22 && rescale(from, decimals, &first) && rescale(to, decimals, &last) &&
        rescale(step, decimals, &by)) {
        double unit = pow(10.0, decimals);
        for (int64_t value = first; by > 0 ? value <= last : value >= last; value += by) {
            KS_TRY(add_f64(p, (double)value / unit));
        }
        return KS_OK;
    }
    double steps = floor((to->f64 - from->f64) / step->f64 + 1e-9);
    for (int k = 0; (double)k <= steps; k++) {
        KS_TRY(add_f64(p, from->f64 + (double)k * step->f64));
    }
    return KS_OK;
}

/* from * factor^k. Whole numbers stay whole: 1024..1*0.5 is an axis of KS_I64. */
static ks_status float_factors(parser *p, const number *from, const number *to, double factor)
{
    double end = fabs(to->f64);
    for (int k = 0;; k++) { /* add_item() ends it where there are too many */
        double value = from->f64 * pow(factor, (double)k);
        if (fabs(value - to->f64) <= end * 1e-9) {
            value = to->f64;
        }
        if (factor > 1.0 ? fabs(value) > end : fabs(value) < end) {
            return KS_OK;
        }
        bool whole = from->whole && to->whole && value == trunc(value) && fabs(value) < 1e15;
        KS_TRY(whole ? add_i64(p, (int64_t)value) : add_f64(p, value));
    }
}

static ks_status check_range(const parser *p, const char *start, const number *from,
                             const number *to, char op, double step)
{
    if (op == '*') {
        bool same_sign = from->f64 * to->f64 > 0.0;
        if (step <= 0.0 || step == 1.0 || !same_sign) {
            return fail_at(p, start,
                           "a range with '*' needs a factor above 0 that is not 1, and ends of the "
                           "same sign that are not 0");
        }
        bool grows = fabs(to->f64) > fabs(from->f64);
        if (to->f64 != from->f64 && grows != (step > 1.0)) {
            return fail_at(p, start, "this range is empty: the factor leads away from its end");
        }
        return KS_OK;
    }
    if (step == 0.0) {
        return fail_at(p, start, "a step of 0 never arrives");
    }
    if (to->f64 != from->f64 && (to->f64 > from->f64) != (step > 0.0)) {
        return fail_at(p, start,
                       "this range is empty: its step leads away from its end; 8..1-1 counts down");
    }
    return KS_OK;
}

/* `from..to`, `from..to+step`, `from..to-step`, `from..to*factor`; the caller saw `from..`. */
static ks_status parse_range(parser *p, const number *from, const char *start)
{
    number to = {0};
    number step = {.whole = true, .exact = true, .mantissa = 1, .i64 = 1, .f64 = 1.0};
    size_t length = number_length(p->at);
    if (length == 0 || !read_number(p->at, length, &to)) {
        return fail_at(p, p->at, "a number is expected after '..'; quote a text: 'a..b'");
    }
    p->at += length;
    char op = '+';
    if (*p->at == '+' || *p->at == '-' || *p->at == '*') {
        op = *p->at++;
        length = number_length(p->at);
        if (length == 0 || !read_number(p->at, length, &step)) {
            return fail_at(p, p->at, "a number is expected as the range's step");
        }
        if (op == '-') {
            step.i64 = -step.i64;
            step.mantissa = -step.mantissa;
            step.f64 = -step.f64;
        }
        p->at += length;
    }
    KS_TRY(check_range(p, start, from, &to, op, step.f64));
    if (from->whole && to.whole && step.whole) {
        return whole_range(p, from->i64, to.i64, step.i64, op == '*');
    }
    return op == '*' ? float_factors(p, from, &to, step.f64) : float_steps(p, from, &to, &step);
}

static ks_status parse_quoted(parser *p)
{
    const char *start = p->at++;
    ks_buf text;
    ks_buf_init(&text, 1u << 20);
    while (*p->at != '\0' && (*p->at != '\'' || p->at[1] == '\'')) {
        p->at += *p->at == '\'' ? 1 : 0; /* '' is a quote */
        ks_buf_add_char(&text, *p->at++);
    }
    ks_status status = ks_buf_status(&text, p->err);
    if (status == KS_OK && *p->at != '\'') {
        status = fail_at(p, start, "this quote is not closed");
    }
    if (status == KS_OK) {
        p->at++;
        status = add_text(p, ks_buf_text(&text), text.length, (item){.type = KS_TEXT});
    }
    ks_buf_fini(&text);
    return status;
}

static ks_status parse_plain(parser *p)
{
    const char *start = p->at;
    size_t length = strcspn(start, ",");
    while (length > 0 && isspace((unsigned char)start[length - 1])) {
        length--;
    }
    if (length == 0) {
        return fail_at(p, start, "a value is expected; '' is the empty text");
    }
    number n = {0};
    size_t digits = number_length(start);
    bool numeric = digits > 0 && read_number(start, digits, &n);
    if (numeric && digits < length && strncmp(start + digits, "..", 2) == 0) {
        p->at = start + digits + 2;
        return parse_range(p, &n, start);
    }
    p->at = start + length;
    item value = {.type = KS_TEXT};
    /* a whole number beyond 64 bits would be rounded: keep it as text */
    bool too_large = numeric && !n.whole && strcspn(start, ".eE") >= digits;
    if (numeric && digits == length && !too_large) {
        value = (item){.type = n.whole ? KS_I64 : KS_F64, .i64 = n.i64, .f64 = n.f64};
    }
    return add_text(p, start, length, value);
}

static ks_status parse_values(parser *p)
{
    for (;;) {
        p->at += strspn(p->at, " \t");
        KS_TRY(*p->at == '\'' ? parse_quoted(p) : parse_plain(p));
        p->at += strspn(p->at, " \t");
        if (*p->at == '\0') {
            return KS_OK;
        }
        if (*p->at != ',') {
            return fail_at(p, p->at, "a comma is expected between values");
        }
        p->at++;
    }
}

static ks_type common_type(const parser *p)
{
    ks_type type = KS_I64;
    for (size_t i = 0; i < p->count; i++) {
        if (p->items[i].type == KS_TEXT) {
            return KS_TEXT;
        }
        type = p->items[i].type == KS_F64 ? KS_F64 : type;
    }
    return type;
}

/* The text of an item in an axis of texts. */
static ks_status text_of(parser *p, item *value)
{
    if (value->text != NO_TEXT) {
        return KS_OK;
    }
    char digits[KS_NUM_MAX];
    size_t length = value->type == KS_I64 ? ks_num_i64(value->i64, digits)
                                          : ks_num_f64_plain(value->f64, digits);
    value->text = p->texts.length;
    ks_buf_add_bytes(&p->texts, digits, length + 1);
    return ks_buf_status(&p->texts, p->err);
}

static ks_status build_axis(parser *p, ks_plan *plan, const char *name)
{
    ks_type type = common_type(p);
    for (size_t i = 0; type == KS_TEXT && i < p->count; i++) {
        KS_TRY(text_of(p, &p->items[i]));
    }
    ks_value *values = ks_calloc(p->count, sizeof *values);
    if (values == NULL) {
        return ks_enomem(p->err);
    }
    for (size_t i = 0; i < p->count; i++) {
        const item *value = &p->items[i];
        values[i] = type == KS_TEXT  ? ks_text(p->texts.text + value->text)
                    : type == KS_I64 ? ks_i64(value->i64)
                                     : ks_f64(value->f64);
    }
    ks_status status = ks_plan_axis(plan, name, values, p->count, p->err);
    ks_free(values);
    return status;
}

static bool is_identifier(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool letter = (c | 0x20u) >= 'a' && (c | 0x20u) <= 'z';
        if (!letter && c != '_' && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    return length > 0;
}

ks_status ks_plan_axis_spec(ks_plan *plan, const char *spec, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    const char *equals = spec != NULL ? strchr(spec, '=') : NULL;
    if (equals == NULL || !is_identifier(spec, (size_t)(equals - spec))) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "parameter '%s': name=values is expected, such as n=1,2,4 or n=1..8; a name "
                       "is made of letters, digits and _",
                       spec != NULL ? spec : "");
    }
    char *name = ks_strdup(spec);
    if (name == NULL) {
        return ks_enomem(err);
    }
    name[equals - spec] = '\0';
    parser p = {.spec = spec, .at = equals + 1, .err = err};
    ks_buf_init(&p.texts, 64u << 20);
    ks_status status = parse_values(&p);
    if (status == KS_OK) {
        status = build_axis(&p, plan, name);
    }
    ks_buf_fini(&p.texts);
    ks_free(p.items);
    ks_free(name);
    return status;
}
