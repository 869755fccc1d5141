#include "output/grid.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "output/text.h"

enum {
    GAP = 2,
    NARROWEST = 8,
    CELL_MAX = 1 << 20
};

void ks_grid_init(ks_grid *grid, size_t header_rows)
{
    memset(grid, 0, sizeof *grid);
    grid->header_rows = header_rows;
}

void ks_grid_fini(ks_grid *grid)
{
    for (size_t i = 0; i < grid->cell_count; i++) {
        ks_free(grid->cells[i]);
    }
    ks_free(grid->cells);
    ks_free(grid->columns);
    memset(grid, 0, sizeof *grid);
}

ks_status ks_grid_add_column(ks_grid *grid, bool right, bool can_elide, ks_error *err)
{
    KS_TRY(KS_GROW(grid->columns, grid->column_capacity, grid->column_count + 1, err));
    grid->columns[grid->column_count++] = (ks_grid_column){right, can_elide, 0};
    return KS_OK;
}

ks_status ks_grid_add_cell(ks_grid *grid, const char *text, ks_error *err)
{
    KS_TRY(KS_GROW(grid->cells, grid->cell_capacity, grid->cell_count + 1, err));
    ks_buf shown;
    ks_buf_init(&shown, CELL_MAX);
    ks_text_escape(&shown, text);
    ks_status status = ks_buf_status(&shown, err);
    char *cell = ks_buf_take(&shown);
    if (cell == NULL) {
        return status != KS_OK ? status : ks_enomem(err);
    }
    ks_grid_column *column = &grid->columns[grid->cell_count % grid->column_count];
    size_t width = ks_text_width(cell);
    column->width = width > column->width ? width : column->width;
    grid->cells[grid->cell_count++] = cell;
    return KS_OK;
}

size_t ks_grid_width(const ks_grid *grid)
{
    size_t width = 0;
    for (size_t i = 0; i < grid->column_count; i++) {
        width += grid->columns[i].width + (i > 0 ? GAP : 0);
    }
    return width;
}

/* Shorten the texts of a column to `width`. */
static ks_status elide_column(ks_grid *grid, size_t column, size_t width, bool ascii, ks_error *err)
{
    size_t rows = grid->cell_count / grid->column_count;
    char **texts = ks_calloc(rows, sizeof *texts);
    if (texts == NULL) {
        return ks_enomem(err);
    }
    for (size_t row = 0; row < rows; row++) {
        texts[row] = grid->cells[row * grid->column_count + column];
    }
    ks_status status = ks_text_elide(texts, rows, width, ascii, err);
    grid->columns[column].width = 0;
    for (size_t row = 0; row < rows; row++) {
        grid->cells[row * grid->column_count + column] = texts[row];
        size_t now = ks_text_width(texts[row]);
        grid->columns[column].width =
            now > grid->columns[column].width ? now : grid->columns[column].width;
    }
    ks_free(texts);
    return status;
}

/* The widest column that can give way; column_count if none can. */
static size_t widest_elidable(const ks_grid *grid, const size_t *widths)
{
    size_t widest = grid->column_count;
    for (size_t i = 0; i < grid->column_count; i++) {
        if (grid->columns[i].can_elide && widths[i] > NARROWEST &&
            (widest == grid->column_count || widths[i] > widths[widest])) {
            widest = i;
        }
    }
    return widest;
}

/* Find the widths first, so that each text is shortened once, from its whole. */
static ks_status fit(ks_grid *grid, size_t width, bool ascii, ks_error *err)
{
    size_t total = ks_grid_width(grid);
    if (width == 0 || total <= width) {
        return KS_OK;
    }
    size_t *widths = ks_calloc(grid->column_count, sizeof *widths);
    if (widths == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < grid->column_count; i++) {
        widths[i] = grid->columns[i].width;
    }
    for (; total > width; total--) {
        size_t widest = widest_elidable(grid, widths);
        if (widest == grid->column_count) {
            break; /* nothing more can give way: longer lines are the lesser evil */
        }
        widths[widest]--;
    }
    ks_status status = KS_OK;
    for (size_t i = 0; i < grid->column_count && status == KS_OK; i++) {
        if (widths[i] < grid->columns[i].width) {
            status = elide_column(grid, i, widths[i], ascii, err);
        }
    }
    ks_free(widths);
    return status;
}

static void add_blanks(ks_buf *line, size_t count)
{
    while (count-- > 0) {
        ks_buf_add_char(line, ' ');
    }
}

static ks_status print_row(const ks_grid *grid, size_t row, FILE *to, bool bold, ks_error *err)
{
    ks_buf line;
    ks_buf_init(&line, (size_t)CELL_MAX * (grid->column_count + 1));
    size_t blanks = 0; /* owed: none are printed at the end of a line */
    for (size_t i = 0; i < grid->column_count; i++) {
        const char *cell = grid->cells[row * grid->column_count + i];
        size_t pad = grid->columns[i].width - ks_text_width(cell);
        blanks += (i > 0 ? GAP : 0) + (grid->columns[i].right ? pad : 0);
        if (*cell != '\0') {
            add_blanks(&line, blanks);
            ks_buf_add(&line, cell);
            blanks = 0;
        }
        blanks += grid->columns[i].right ? 0 : pad;
    }
    ks_status status = ks_buf_status(&line, err);
    if (status == KS_OK) {
        const char *text = ks_buf_text(&line);
        size_t length = line.length;
        while (length > 0 && text[length - 1] == ' ') {
            length--;
        }
        fprintf(to, bold ? "\033[1m%.*s\033[0m\n" : "%.*s\n", (int)length, text);
        status = ks_stream_status(to, "the table", err);
    }
    ks_buf_fini(&line);
    return status;
}

ks_status ks_grid_print(ks_grid *grid, FILE *to, const ks_print_options *options, ks_error *err)
{
    KS_TRY(fit(grid, options->width, options->ascii, err));
    size_t rows = grid->column_count > 0 ? grid->cell_count / grid->column_count : 0;
    for (size_t row = 0; row < rows; row++) {
        KS_TRY(print_row(grid, row, to, options->color && row < grid->header_rows, err));
    }
    return KS_OK;
}
