/* Any table for people. */
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "output/grid.h"
#include "output/scale.h"
#include "table/table.h"

static ks_status add_cell(ks_grid *grid, ks_value value, ks_error *err)
{
    char digits[KS_NUM_MAX];
    switch (value.type) {
    case KS_BOOL:
        return ks_grid_add_cell(grid, value.as.boolean ? "yes" : "no", err);
    case KS_I64:
        ks_num_i64(value.as.i64, digits);
        return ks_grid_add_cell(grid, digits, err);
    case KS_F64:
        ks_number_text(value.as.f64, digits);
        return ks_grid_add_cell(grid, digits, err);
    case KS_TEXT:
        return ks_grid_add_cell(grid, value.text, err);
    default:
        return ks_grid_add_cell(grid, "", err);
    }
}

static ks_status fill(ks_grid *grid, const ks_table *table, ks_error *err)
{
    for (size_t c = 0; c < table->column_count; c++) {
        ks_type type = ks_table_type(table, c);
        bool text = type == KS_TEXT || type == KS_BOOL;
        KS_TRY(ks_grid_add_column(grid, !text, type == KS_TEXT, err));
    }
    for (size_t c = 0; c < table->column_count; c++) {
        KS_TRY(ks_grid_add_cell(grid, ks_table_name(table, c), err));
    }
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t c = 0; c < table->column_count; c++) {
            KS_TRY(add_cell(grid, ks_table_get(table, row, c), err));
        }
    }
    return KS_OK;
}

ks_status ks_table_print(const ks_table *table, FILE *to, const ks_print_options *options,
                         ks_error *err)
{
    static const ks_print_options plain = KS_PRINT_OPTIONS_INIT;
    if (table == NULL) {
        return ks_no_table(err);
    }
    ks_grid grid;
    ks_grid_init(&grid, 1);
    ks_status status = fill(&grid, table, err);
    if (status == KS_OK) {
        status = ks_grid_print(&grid, to, options != NULL ? options : &plain, err);
    }
    ks_grid_fini(&grid);
    return status;
}
