/**
 * @file table.h
 * Tables: typed, named columns. Results, samples, launches and lists of metrics all come as one.
 *
 * Columns are stored one after another, so a numeric column can be read as an array. A cell may be
 * missing; ask ks_table_valid() first, or look at the validity bits.
 *
 * Threads: a table never changes once it was handed out; reading it is safe from any thread.
 */
#ifndef KERNSIGHT_TABLE_H
#define KERNSIGHT_TABLE_H

#include <stdio.h>

#include "status.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ks_table ks_table;

/** What a column means to those who print or plot it. */
typedef enum ks_role {
    KS_ROLE_PLAIN = 0,
    KS_ROLE_PARAMETER, /**< a parameter of the plan */
    KS_ROLE_INFO,      /**< a value of an info collector */
} ks_role;

/** Accepts NULL. */
KS_API void ks_table_free(ks_table *table);

KS_API size_t ks_table_rows(const ks_table *table);
KS_API size_t ks_table_columns(const ks_table *table);

/** Name of a column, borrowed; NULL if there is no such column. */
KS_API const char *ks_table_name(const ks_table *table, size_t column);

/** KS_BOOL, KS_I64, KS_F64 or KS_TEXT; KS_MISSING if there is no such column. */
KS_API ks_type ks_table_type(const ks_table *table, size_t column);

KS_API ks_role ks_table_role(const ks_table *table, size_t column);

/** Index of a column by its name; `ks_table_columns()` if there is none. */
KS_API size_t ks_table_find(const ks_table *table, const char *name);

/** Whether a cell has a value. False outside the table. */
KS_API bool ks_table_valid(const ks_table *table, size_t row, size_t column);

/**
 * The cell as a value; texts are borrowed from the table. KS_MISSING for a missing cell and outside
 * the table.
 */
KS_API ks_value ks_table_get(const ks_table *table, size_t row, size_t column);

/**
 * A cell as a number: KS_F64, KS_I64 or KS_BOOL columns; NaN for a missing cell or a text.
 */
KS_API double ks_table_number(const ks_table *table, size_t row, size_t column);

/** A cell of a text column, borrowed; NULL for a missing cell or a column of another type. */
KS_API const char *ks_table_text(const ks_table *table, size_t row, size_t column);

/**
 * The cells of a column as an array, borrowed: `const double *` for KS_F64, `const int64_t *` for
 * KS_I64, `const uint8_t *` (0 or 1 a cell) for KS_BOOL; NULL for KS_TEXT. What a missing cell's
 * place holds is not defined.
 *
 * Shape: ks_table_rows() elements.
 */
KS_API const void *ks_table_data(const ks_table *table, size_t column);

/**
 * Validity bits of a column, borrowed, or NULL if no cell of it is missing. Cell i has a value if
 * `bits[i / 8] >> (i % 8) & 1`; the layout is that of Apache Arrow.
 */
KS_API const uint8_t *ks_table_validity(const ks_table *table, size_t column);

/** A fact that travels with the table, borrowed; KS_MISSING if there is none of that key. */
KS_API ks_value ks_table_fact(const ks_table *table, const char *key);

/** Key of fact number i in the order they were stored, borrowed; NULL past the last. */
KS_API const char *ks_table_fact_key(const ks_table *table, size_t i);

/** Fact number i, borrowed; KS_MISSING past the last. A key that ends in `[]` may come several
 * times, and is a list. */
KS_API ks_value ks_table_fact_value(const ks_table *table, size_t i);

/**
 * Write a table as CSV: RFC 4180 quoting, LF, UTF-8, a header line; missing = empty field, empty
 * text = `""`, numbers in their shortest form that reads back the same. Independent of the locale.
 *
 * @return KS_OK, KS_EIO (path and reason in the message)
 */
KS_API ks_status ks_table_csv(const ks_table *table, FILE *to, ks_error *err);

/**
 * As ks_table_csv(), to a file: written beside it under another name and then renamed, so that the
 * file of that name is always whole.
 *
 * @param[in] path  a regular file, new or to be replaced; links are followed; devices, pipes,
 *                  /dev/stdout and the like are written in place
 */
KS_API ks_status ks_table_write_csv(const ks_table *table, const char *path, ks_error *err);

/** A table as JSON: an array with an object per row; missing = null. */
KS_API ks_status ks_table_json(const ks_table *table, FILE *to, ks_error *err);

/**
 * Read a CSV file with a header line, as ks_table_write_csv() makes it or any RFC 4180 program
 * does.
 *
 * A column's type is that of all its fields: KS_I64, else KS_F64, else KS_BOOL (`True`, `False`),
 * else KS_TEXT. An empty field is missing; `""` is an empty text. CRLF and a leading byte order
 * mark are accepted.
 *
 * @param[out] out  new table, free with ks_table_free(); untouched on failure
 * @return KS_OK, KS_EIO (cannot be read), KS_EINVAL (line number in the message), KS_ENOMEM
 */
KS_API ks_status ks_table_read_csv(const char *path, ks_table **out, ks_error *err);

/** How a table is printed for people. */
typedef struct ks_print_options {
    size_t struct_size;
    size_t width; /**< columns of the terminal; 0: as wide as it needs to be, nothing shortened */
    bool color;   /**< ANSI colours */
    bool ascii; /**< no character outside ASCII of our own making ("+-" for the plus-minus sign) */
    bool launches; /**< results: all kernels of each config behind them, not the longest alone */
} ks_print_options;

// clang-format off
#define KS_PRINT_OPTIONS_INIT {sizeof(ks_print_options), 0, false, false, false}
// clang-format on

/**
 * Print a table for people: a header and a line per row, columns aligned. Control characters in
 * texts are shown as escapes.
 *
 * @param[in] options  NULL: no limit of width, no colour
 * @return KS_OK, KS_EIO, KS_ENOMEM
 */
KS_API ks_status ks_table_print(const ks_table *table, FILE *to, const ks_print_options *options,
                                ks_error *err);

/**
 * Whether a file could be written at that path, before any work is spent: its folder exists and can
 * be written, the path is not a folder.
 *
 * @return KS_OK, KS_EIO or KS_EPERM with the reason
 */
KS_API ks_status ks_check_output(const char *path, ks_error *err);

#ifdef __cplusplus
}
#endif

#endif
