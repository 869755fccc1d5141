/* A grid of texts, printed with aligned columns. */
#ifndef KS_OUTPUT_GRID_H
#define KS_OUTPUT_GRID_H

#include <stdio.h>

#include "kernsight/table.h"

typedef struct ks_grid_column {
    bool right;     /**< aligned */
    bool can_elide; /**< may be shortened where the grid is too wide */
    size_t width;   /**< widest text so far */
} ks_grid_column;

typedef struct ks_grid {
    ks_grid_column *columns;
    size_t column_count;
    size_t column_capacity;
    char **cells; /**< row by row; header rows first; NULL: empty */
    size_t cell_count;
    size_t cell_capacity;
    size_t header_rows;
} ks_grid;

void ks_grid_init(ks_grid *grid, size_t header_rows);
void ks_grid_fini(ks_grid *grid);

/** Columns come before the first cell. */
ks_status ks_grid_add_column(ks_grid *grid, bool right, bool can_elide, ks_error *err);

/** The next cell, copied; control characters are shown as escapes. */
ks_status ks_grid_add_cell(ks_grid *grid, const char *text, ks_error *err);

/** Columns of the terminal that it takes. */
size_t ks_grid_width(const ks_grid *grid);

/** Print it; columns that can be elided are, where it is wider than `options->width`. */
ks_status ks_grid_print(ks_grid *grid, FILE *to, const ks_print_options *options, ks_error *err);

#endif
