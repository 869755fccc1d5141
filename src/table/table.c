#include "table/table.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static size_t cell_size(ks_type type)
{
    switch (type) {
    case KS_BOOL:
        return sizeof(uint8_t);
    case KS_I64:
        return sizeof(int64_t);
    case KS_F64:
        return sizeof(double);
    default:
        return sizeof(ks_text_id);
    }
}

ks_status ks_table_new(ks_table **out, ks_error *err)
{
    ks_table *table = ks_calloc(1, sizeof *table);
    if (table == NULL) {
        return ks_enomem(err);
    }
    *out = table;
    return KS_OK;
}

void ks_table_clear(ks_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        ks_free(table->columns[i].cells);
        ks_free(table->columns[i].valid);
    }
    table->column_count = table->rows = table->row_capacity = 0;
}

void ks_table_free(ks_table *table)
{
    if (table == NULL) {
        return;
    }
    ks_table_clear(table);
    ks_free(table->columns);
    ks_free(table->facts);
    ks_pool_fini(&table->pool);
    ks_free(table);
}

/* Bytes of the validity bits of so many rows. */
static size_t valid_size(size_t rows)
{
    return (rows + 7) / 8;
}

/* A block that grows from `had` to `size` bytes, the rest zero. */
static ks_status grow_zeroed(void **block, size_t had, size_t size, ks_error *err)
{
    if (had == 0) {
        ks_free(*block);
        *block = ks_calloc(size, 1); /* columns that stay missing cost no memory */
        return *block != NULL ? KS_OK : ks_enomem(err);
    }
    void *grown = ks_realloc(*block, size);
    if (grown == NULL) {
        return ks_enomem(err);
    }
    memset((char *)grown + had, 0, size - had);
    *block = grown;
    return KS_OK;
}

static ks_status resize_column(ks_column *column, size_t had, size_t rows, ks_error *err)
{
    size_t size = cell_size(column->type);
    KS_TRY(grow_zeroed(&column->cells, had * size, rows * size, err));
    void *valid = column->valid;
    ks_status status = grow_zeroed(&valid, valid_size(had), valid_size(rows), err);
    column->valid = valid;
    return status;
}

ks_status ks_table_add_column(ks_table *table, const char *name, ks_type type, ks_role role,
                              size_t *out, ks_error *err)
{
    KS_TRY(KS_GROW(table->columns, table->column_capacity, table->column_count + 1, err));
    ks_column *column = &table->columns[table->column_count];
    *column = (ks_column){.type = type, .role = role, .missing = table->rows};
    KS_TRY(ks_pool_add(&table->pool, name, &column->name, err));
    table->column_count++;
    ks_status status = resize_column(column, 0, table->row_capacity, err);
    if (status != KS_OK) {
        ks_free(column->cells);
        table->column_count--;
        return status;
    }
    if (out != NULL) {
        *out = table->column_count - 1;
    }
    return KS_OK;
}

ks_status ks_table_add_rows(ks_table *table, size_t count, ks_error *err)
{
    size_t rows = table->rows + count;
    if (rows > table->row_capacity) {
        size_t capacity = table->row_capacity * 2 > rows ? table->row_capacity * 2 : rows;
        for (size_t i = 0; i < table->column_count; i++) {
            KS_TRY(resize_column(&table->columns[i], table->row_capacity, capacity, err));
        }
        table->row_capacity = capacity;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        table->columns[i].missing += count;
    }
    table->rows = rows;
    return KS_OK;
}

ks_status ks_table_set_text(ks_table *table, size_t row, size_t column, const char *text,
                            ks_error *err)
{
    ks_text_id id = 0;
    KS_TRY(ks_pool_add(&table->pool, text, &id, err));
    ks_table_set_id(table, row, column, id);
    return KS_OK;
}

ks_status ks_table_add_fact(ks_table *table, const char *key, ks_value value, ks_error *err)
{
    KS_TRY(KS_GROW(table->facts, table->fact_capacity, table->fact_count + 1, err));
    ks_fact fact = {.value = value};
    ks_text_id text = 0;
    KS_TRY(ks_pool_add(&table->pool, key, &fact.key, err));
    KS_TRY(ks_pool_add(&table->pool, value.text, &text, err));
    fact.value.text = ks_pool_text(&table->pool, text);
    table->facts[table->fact_count++] = fact;
    return KS_OK;
}

ks_status ks_no_table(ks_error *err)
{
    return ks_fail(err, KS_EINVAL, "table", 0, "there is no table (NULL)");
}

size_t ks_table_rows(const ks_table *table)
{
    return table != NULL ? table->rows : 0;
}

size_t ks_table_columns(const ks_table *table)
{
    return table != NULL ? table->column_count : 0;
}

/* A column; NULL if there is none of that number. */
static const ks_column *column_at(const ks_table *table, size_t column)
{
    return column < ks_table_columns(table) ? &table->columns[column] : NULL;
}

const char *ks_table_name(const ks_table *table, size_t column)
{
    const ks_column *c = column_at(table, column);
    return c != NULL ? ks_pool_text(&table->pool, c->name) : NULL;
}

ks_type ks_table_type(const ks_table *table, size_t column)
{
    const ks_column *c = column_at(table, column);
    return c != NULL ? c->type : KS_MISSING;
}

ks_role ks_table_role(const ks_table *table, size_t column)
{
    const ks_column *c = column_at(table, column);
    return c != NULL ? c->role : KS_ROLE_PLAIN;
}

size_t ks_table_find(const ks_table *table, const char *name)
{
    ks_text_id id = table != NULL ? ks_pool_find(&table->pool, name) : 0;
    size_t i = 0;
    while (i < ks_table_columns(table) && (id == 0 || table->columns[i].name != id)) {
        i++;
    }
    return i;
}

bool ks_table_valid(const ks_table *table, size_t row, size_t column)
{
    const ks_column *c = column_at(table, column);
    return c != NULL && row < table->rows && (c->valid[row / 8] >> row % 8 & 1) != 0;
}

ks_value ks_table_get(const ks_table *table, size_t row, size_t column)
{
    if (!ks_table_valid(table, row, column)) {
        return ks_missing();
    }
    const ks_column *c = &table->columns[column];
    switch (c->type) {
    case KS_BOOL:
        return ks_bool(((const uint8_t *)c->cells)[row] != 0);
    case KS_I64:
        return ks_i64(((const int64_t *)c->cells)[row]);
    case KS_F64:
        return ks_f64(((const double *)c->cells)[row]);
    default:
        return ks_text(ks_pool_text(&table->pool, ((const ks_text_id *)c->cells)[row]));
    }
}

double ks_table_number(const ks_table *table, size_t row, size_t column)
{
    ks_value value = ks_table_get(table, row, column);
    switch (value.type) {
    case KS_BOOL:
        return value.as.boolean ? 1.0 : 0.0;
    case KS_I64:
        return (double)value.as.i64;
    case KS_F64:
        return value.as.f64;
    default:
        return NAN;
    }
}

const char *ks_table_text(const ks_table *table, size_t row, size_t column)
{
    return ks_table_get(table, row, column).text;
}

const void *ks_table_data(const ks_table *table, size_t column)
{
    const ks_column *c = column_at(table, column);
    return c != NULL && c->type != KS_TEXT ? c->cells : NULL;
}

const uint8_t *ks_table_validity(const ks_table *table, size_t column)
{
    const ks_column *c = column_at(table, column);
    return c != NULL && c->missing > 0 ? c->valid : NULL;
}

static size_t fact_count(const ks_table *table)
{
    return table != NULL ? table->fact_count : 0;
}

const char *ks_table_fact_key(const ks_table *table, size_t i)
{
    return i < fact_count(table) ? ks_pool_text(&table->pool, table->facts[i].key) : NULL;
}

ks_value ks_table_fact_value(const ks_table *table, size_t i)
{
    return i < fact_count(table) ? table->facts[i].value : ks_missing();
}

ks_value ks_table_fact(const ks_table *table, const char *key)
{
    ks_text_id id = table != NULL ? ks_pool_find(&table->pool, key) : 0;
    for (size_t i = 0; id != 0 && i < fact_count(table); i++) {
        if (table->facts[i].key == id) {
            return table->facts[i].value;
        }
    }
    return ks_missing();
}
