/* Building tables. Reading them: kernsight/table.h. */
#ifndef KS_TABLE_TABLE_H
#define KS_TABLE_TABLE_H

#include <math.h>

#include "base/pool.h"
#include "kernsight/table.h"

typedef struct ks_column {
    ks_text_id name;
    ks_type type; /**< KS_BOOL, KS_I64, KS_F64 or KS_TEXT */
    ks_role role;
    void *cells;    /**< uint8_t, int64_t, double, or ks_text_id in the table's pool */
    uint8_t *valid; /**< a bit per row */
    size_t missing; /**< rows without a value */
} ks_column;

typedef struct ks_fact {
    ks_text_id key;
    ks_value value; /**< its text lies in the table's pool */
} ks_fact;

struct ks_table {
    ks_pool pool; /**< names, texts of cells, facts */
    ks_column *columns;
    size_t column_count;
    size_t column_capacity;
    size_t rows;
    size_t row_capacity;
    ks_fact *facts;
    size_t fact_count;
    size_t fact_capacity;
};

ks_status ks_table_new(ks_table **out, ks_error *err);

/** A new column, all cells missing. @param[out] out  its index; may be NULL */
ks_status ks_table_add_column(ks_table *table, const char *name, ks_type type, ks_role role,
                              size_t *out, ks_error *err);

/** Take all columns and rows out again; facts stay. */
void ks_table_clear(ks_table *table);

/** New rows, all cells missing. */
ks_status ks_table_add_rows(ks_table *table, size_t count, ks_error *err);

/* Give cells their values. A number that is not finite leaves its cell missing, and so does NULL.
 * Inline: a table of results has millions of cells. */
static inline void ks_column_set_valid(ks_column *column, size_t row)
{
    uint8_t bit = (uint8_t)(1u << row % 8);
    column->missing -= (column->valid[row / 8] & bit) == 0;
    column->valid[row / 8] |= bit;
}

static inline void ks_table_set_f64(ks_table *table, size_t row, size_t column, double value)
{
    if (isfinite(value)) {
        ks_column *c = &table->columns[column];
        ((double *)c->cells)[row] = value;
        ks_column_set_valid(c, row);
    }
}

static inline void ks_table_set_i64(ks_table *table, size_t row, size_t column, int64_t value)
{
    ks_column *c = &table->columns[column];
    ((int64_t *)c->cells)[row] = value;
    ks_column_set_valid(c, row);
}

static inline void ks_table_set_bool(ks_table *table, size_t row, size_t column, bool value)
{
    ks_column *c = &table->columns[column];
    ((uint8_t *)c->cells)[row] = value;
    ks_column_set_valid(c, row);
}

static inline void ks_table_set_id(ks_table *table, size_t row, size_t column, ks_text_id text)
{
    if (text != 0) {
        ks_column *c = &table->columns[column];
        ((ks_text_id *)c->cells)[row] = text;
        ks_column_set_valid(c, row);
    }
}

ks_status ks_table_set_text(ks_table *table, size_t row, size_t column, const char *text,
                            ks_error *err);

/** Add a fact; a key that ends in "[]" may come several times and is a list. */
ks_status ks_table_add_fact(ks_table *table, const char *key, ks_value value, ks_error *err);

/** The failure of a function that was given no table. */
ks_status ks_no_table(ks_error *err);

#endif
