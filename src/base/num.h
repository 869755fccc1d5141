/* Numbers as text and back, the same in every locale. */
#ifndef KS_BASE_NUM_H
#define KS_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Room that the functions below need, terminator included. */
#define KS_NUM_MAX 40

/** Decimal form. @return its length, without the terminator that is written too */
size_t ks_num_i64(int64_t number, char *to);

/**
 * Shortest form that reads back as the same double, with a point or an exponent ("1.0", "1e22");
 * "nan", "inf", "-inf" otherwise. @return as above
 */
size_t ks_num_f64(double number, char *to);

/** As ks_num_f64(), but whole numbers below 1e15 without a point ("1"): for people and arguments.
 */
size_t ks_num_f64_plain(double number, char *to);

/** With so many digits (0 to 9) behind the point; ks_num_f64() where that is too large to be exact.
 */
size_t ks_num_fixed(double number, int decimals, char *to);

/** Read all of `count` bytes as a decimal whole number: an optional `-`, digits. */
bool ks_num_read_i64(const char *text, size_t count, int64_t *out);

/** Read all of `count` bytes as a hexadecimal number of 64 bits: digits alone. */
bool ks_num_read_hex(const char *text, size_t count, uint64_t *out);

/** Read all of `count` bytes as a finite decimal number: `-12`, `1.5`, `2e-3`. */
bool ks_num_read_f64(const char *text, size_t count, double *out);

#endif
