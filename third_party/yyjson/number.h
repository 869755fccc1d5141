/* Shortest doubles, by yyjson's own writer and reader: independent of the locale, no allocation. */
#ifndef KS_YYJSON_NUMBER_H
#define KS_YYJSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/** @param[in] number  finite  @param[out] to  40 bytes; terminated  @return length */
size_t ks_yyjson_write_f64(double number, char *to);

/** All of `count` bytes must be one number in JSON's grammar. */
bool ks_yyjson_read_f64(const char *text, size_t count, double *out);

#endif
