/*
 * yyjson as a whole, plus the entry to its static number writer. This file is compiled in place of
 * yyjson.c, which stays as it was published.
 */
#include "yyjson.c"

#include "number.h"

size_t ks_yyjson_write_f64(double number, char *to)
{
    u8 *end = write_f64_raw((u8 *)to, f64_to_raw(number), 0);
    *end = '\0';
    return (size_t)(end - (u8 *)to);
}

bool ks_yyjson_read_f64(const char *text, size_t count, double *out)
{
    /* the reader wants a terminator; a longer text is no number that anybody wrote */
    char copy[512];
    if (count == 0 || count >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, count);
    copy[count] = '\0';
    yyjson_val value;
    const char *end = yyjson_read_number(copy, &value, 0, NULL, NULL);
    if (end != copy + count) {
        return false;
    }
    *out = yyjson_get_num(&value);
    return true;
}
