#include "base/num.h"

#include <math.h>
#include <string.h>

#include "yyjson/number.h"

size_t ks_num_i64(int64_t number, char *to)
{
    char digits[KS_NUM_MAX];
    size_t count = 0;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    char *end = to;
    if (number < 0) {
        *end++ = '-';
    }
    while (count > 0) {
        *end++ = digits[--count];
    }
    *end = '\0';
    return (size_t)(end - to);
}

size_t ks_num_f64(double number, char *to)
{
    if (!isfinite(number)) {
        const char *text = isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
        memcpy(to, text, strlen(text) + 1);
        return strlen(text);
    }
    return ks_yyjson_write_f64(number, to);
}

size_t ks_num_f64_plain(double number, char *to)
{
    if (fabs(number) < 1e15 && number == trunc(number)) {
        return ks_num_i64((int64_t)number, to);
    }
    return ks_num_f64(number, to);
}

size_t ks_num_fixed(double number, int decimals, char *to)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    double scaled = round(fabs(number) * powers[decimals]);
    if (!(scaled < 1e15)) {
        return ks_num_f64(number, to);
    }
    char digits[KS_NUM_MAX];
    size_t count = ks_num_i64((int64_t)scaled, digits);
    size_t behind = (size_t)decimals;
    char *end = to;
    if (number < 0 && scaled > 0) {
        *end++ = '-';
    }
    size_t zeros = count <= behind ? behind + 1 - count : 0; /* before the first digit */
    for (size_t i = 0; i < count + zeros; i++) {
        if (decimals > 0 && i == count + zeros - behind) {
            *end++ = '.';
        }
        if (i < zeros) {
            *end++ = '0';
        } else {
            *end++ = digits[i - zeros];
        }
    }
    *end = '\0';
    return (size_t)(end - to);
}

bool ks_num_read_i64(const char *text, size_t count, int64_t *out)
{
    bool negative = count > 0 && text[0] == '-';
    size_t at = negative ? 1 : 0;
    if (at == count) {
        return false;
    }
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t number = 0;
    for (; at < count; at++) {
        if (text[at] < '0' || text[at] > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(text[at] - '0');
        if (number > (limit - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

bool ks_num_read_hex(const char *text, size_t count, uint64_t *out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        char c = (char)(text[i] | 0x20); /* in lower case; digits stay */
        bool digit = text[i] >= '0' && text[i] <= '9';
        if ((!digit && (c < 'a' || c > 'f')) || number >> 60 != 0) {
            return false;
        }
        number = number << 4 | (uint64_t)(digit ? text[i] - '0' : c - 'a' + 10);
    }
    *out = number;
    return count > 0;
}

bool ks_num_read_f64(const char *text, size_t count, double *out)
{
    return ks_yyjson_read_f64(text, count, out);
}
