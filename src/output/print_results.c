#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "output/footnotes.h"
#include "output/grid.h"
#include "output/pivot.h"
#include "output/print.h"
#include "output/scale.h"
#include "output/text.h"

/* Columns of the table that are shown. */
typedef struct shown {
    size_t average, low, high, n, unit, normalized;
} shown;

/* What one metric shows on one line. */
typedef struct entry {
    char mean[KS_NUM_MAX];
    char half[KS_NUM_MAX]; /* "" where there is no interval */
    char n[KS_NUM_MAX];
    char *marks; /* NULL: none */
} entry;

/* One metric: its entries line by line, and how wide their parts are. */
typedef struct block {
    entry *entries;
    size_t mean, half, n, marks;
    ks_scale scale;
    char *title;
} block;

typedef struct printer {
    const ks_table *table;
    FILE *to;
    const ks_print_options *options;
    shown shown;
    ks_pivot pivot;
    ks_footnotes notes;
    block *blocks; /* by metric */
    ks_error *err;
} printer;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t row_of(const printer *p, size_t line, size_t metric)
{
    return p->pivot.rows[line * p->pivot.metric_count + metric];
}

/* A scale for the middle one of a metric's values. */
static ks_status choose_scale(printer *p, size_t metric)
{
    double *sizes = ks_calloc(p->pivot.line_count, sizeof *sizes);
    if (sizes == NULL) {
        return ks_enomem(p->err);
    }
    size_t count = 0;
    const char *unit = NULL;
    for (size_t line = 0; line < p->pivot.line_count; line++) {
        size_t row = row_of(p, line, metric);
        double value = ks_table_number(p->table, row, p->shown.average);
        if (!isnan(value) && value != 0.0) {
            sizes[count++] = value;
        }
        const char *of_row = ks_table_text(p->table, row, p->shown.unit);
        unit = unit != NULL ? unit : of_row;
    }
    p->blocks[metric].scale = ks_scale_for_all(unit, sizes, count, p->options->ascii);
    ks_free(sizes);
    return KS_OK;
}

static ks_status fill_entry(printer *p, block *b, entry *e, size_t row)
{
    double mean = ks_table_number(p->table, row, p->shown.average);
    double low = ks_table_number(p->table, row, p->shown.low);
    double high = ks_table_number(p->table, row, p->shown.high);
    double half = (high - low) / 2.0 / b->scale.divisor;
    if (isnan(mean)) {
        memcpy(e->mean, "-", sizeof "-");
    } else {
        mean /= b->scale.divisor;
        int decimals = ks_decimals(mean, half);
        ks_num_fixed(mean, decimals, e->mean);
        if (!isnan(half)) {
            ks_num_fixed(half, half == 0.0 ? 0 : decimals, e->half);
        }
    }
    ks_value n = ks_table_get(p->table, row, p->shown.n);
    if (n.type == KS_I64) {
        ks_num_i64(n.as.i64, e->n);
    }
    ks_buf marks;
    ks_buf_init(&marks, 64);
    ks_status status = ks_footnotes_mark(&p->notes, p->table, row, &marks, p->err);
    if (status == KS_OK) {
        status = ks_buf_status(&marks, p->err);
    }
    if (status == KS_OK && marks.length > 0) {
        b->marks = larger(b->marks, marks.length);
        e->marks = ks_buf_take(&marks);
        status = e->marks != NULL ? KS_OK : ks_enomem(p->err);
    }
    ks_buf_fini(&marks);
    b->mean = larger(b->mean, strlen(e->mean));
    b->half = larger(b->half, strlen(e->half));
    b->n = larger(b->n, strlen(e->n));
    return status;
}

static ks_status make_title(printer *p, size_t metric)
{
    ks_buf title;
    ks_buf_init(&title, 1u << 18);
    ks_buf_add(&title, p->pivot.metrics[metric]);
    const char *baseline = ks_table_text(p->table, 0, p->shown.normalized);
    if (baseline != NULL) {
        ks_buf_addf(&title, " / %s", baseline);
    }
    p->blocks[metric].title = ks_buf_take(&title);
    return p->blocks[metric].title != NULL ? KS_OK : ks_enomem(p->err);
}

static ks_status fill_block(printer *p, size_t metric)
{
    block *b = &p->blocks[metric];
    b->n = 1;
    b->entries = ks_calloc(p->pivot.line_count, sizeof *b->entries);
    if (b->entries == NULL) {
        return ks_enomem(p->err);
    }
    KS_TRY(choose_scale(p, metric));
    KS_TRY(make_title(p, metric));
    for (size_t line = 0; line < p->pivot.line_count; line++) {
        size_t row = row_of(p, line, metric);
        if (row != KS_NO_ROW) {
            KS_TRY(fill_entry(p, b, &b->entries[line], row));
        }
    }
    return KS_OK;
}

static const char *plus_minus(const printer *p)
{
    return p->options->ascii ? "+-" : "\u00b1";
}

static void pad_left(ks_buf *to, const char *text, size_t width)
{
    for (size_t used = ks_text_width(text); used < width; used++) {
        ks_buf_add_char(to, ' ');
    }
    ks_buf_add(to, text);
}

static void pad_right(ks_buf *to, const char *text, size_t width)
{
    ks_buf_add(to, text);
    for (size_t used = ks_text_width(text); used < width; used++) {
        ks_buf_add_char(to, ' ');
    }
}

/* Width of "mean ± half" in a block. */
static size_t value_width(const printer *p, const block *b)
{
    return b->mean + (b->half > 0 ? 2 + ks_text_width(plus_minus(p)) + b->half : 0);
}

static void compose_entry(const printer *p, const block *b, const entry *e, ks_buf *to)
{
    if (e->mean[0] == '\0') {
        return; /* no such row: this annotation or metric is not of this config */
    }
    pad_left(to, e->mean, b->mean);
    if (b->half > 0) {
        ks_buf_addf(to, " %s ",
                    e->half[0] != '\0'  ? plus_minus(p)
                    : p->options->ascii ? "  "
                                        : " ");
        pad_right(to, e->half, b->half);
    }
    ks_buf_add(to, "  ");
    pad_left(to, e->n, b->n);
    pad_right(to, e->marks != NULL ? e->marks : "", b->marks);
}

static void compose_unit(const printer *p, const block *b, ks_buf *to)
{
    pad_left(to, b->scale.unit, value_width(p, b));
    ks_buf_add(to, "  ");
    pad_left(to, "n", b->n);
    pad_right(to, "", b->marks);
}

static size_t block_width(const printer *p, const block *b)
{
    size_t unit = larger(ks_text_width(b->scale.unit), value_width(p, b));
    return larger(unit + 2 + b->n + b->marks, ks_text_width(b->title));
}

static ks_status add_composed(printer *p, ks_grid *grid, const block *b, const entry *e)
{
    ks_buf text;
    ks_buf_init(&text, 4096);
    if (e != NULL) {
        compose_entry(p, b, e, &text);
    } else {
        compose_unit(p, b, &text);
    }
    ks_status status = ks_buf_status(&text, p->err);
    if (status == KS_OK) {
        status = ks_grid_add_cell(grid, ks_buf_text(&text), p->err);
    }
    ks_buf_fini(&text);
    return status;
}

static ks_status add_key_cell(printer *p, ks_grid *grid, size_t row, size_t column)
{
    char digits[KS_NUM_MAX];
    ks_value value = ks_table_get(p->table, row, column);
    switch (value.type) {
    case KS_BOOL:
        return ks_grid_add_cell(grid, value.as.boolean ? "True" : "False", p->err);
    case KS_I64:
        ks_num_i64(value.as.i64, digits);
        return ks_grid_add_cell(grid, digits, p->err);
    case KS_F64:
        ks_num_f64_plain(value.as.f64, digits);
        return ks_grid_add_cell(grid, digits, p->err);
    case KS_TEXT:
        return ks_grid_add_cell(grid, value.text[0] != '\0' ? value.text : "\"\"", p->err);
    default:
        return ks_grid_add_cell(grid, column == p->pivot.annotation ? "?" : "-", p->err);
    }
}

static bool is_key(const printer *p, size_t column)
{
    return column == p->pivot.annotation || ks_table_role(p->table, column) == KS_ROLE_PARAMETER;
}

/* Annotation and parameters, in the columns' order; a header of two lines. */
static ks_status add_key_columns(printer *p, ks_grid *grid)
{
    for (size_t c = 0; c < ks_table_columns(p->table); c++) {
        if (is_key(p, c)) {
            KS_TRY(ks_grid_add_column(grid, ks_table_type(p->table, c) != KS_TEXT, true, p->err));
        }
    }
    return KS_OK;
}

static ks_status add_key_cells(printer *p, ks_grid *grid, int header, size_t line)
{
    for (size_t c = 0; c < ks_table_columns(p->table); c++) {
        if (!is_key(p, c)) {
            continue;
        }
        if (header > 0) {
            const char *name = header == 1                ? ""
                               : c == p->pivot.annotation ? "annotation"
                                                          : ks_table_name(p->table, c);
            KS_TRY(ks_grid_add_cell(grid, name, p->err));
        } else {
            KS_TRY(add_key_cell(p, grid, p->pivot.first[line], c));
        }
    }
    return KS_OK;
}

/* The keys and the blocks [first, end). */
static ks_status fill_grid(printer *p, ks_grid *grid, size_t first, size_t end)
{
    KS_TRY(add_key_columns(p, grid));
    for (size_t m = first; m < end; m++) {
        KS_TRY(ks_grid_add_column(grid, true, false, p->err));
    }
    KS_TRY(add_key_cells(p, grid, 1, 0));
    for (size_t m = first; m < end; m++) {
        KS_TRY(ks_grid_add_cell(grid, p->blocks[m].title, p->err));
    }
    KS_TRY(add_key_cells(p, grid, 2, 0));
    for (size_t m = first; m < end; m++) {
        KS_TRY(add_composed(p, grid, &p->blocks[m], NULL));
    }
    for (size_t line = 0; line < p->pivot.line_count; line++) {
        KS_TRY(add_key_cells(p, grid, 0, line));
        for (size_t m = first; m < end; m++) {
            KS_TRY(add_composed(p, grid, &p->blocks[m], &p->blocks[m].entries[line]));
        }
    }
    return KS_OK;
}

/* As many blocks as fit beside the keys, at least one. */
static ks_status print_section(printer *p, size_t first, size_t *end)
{
    ks_grid keys;
    ks_grid_init(&keys, 2);
    ks_status status = fill_grid(p, &keys, first, first);
    size_t width = ks_grid_width(&keys) + 2 + block_width(p, &p->blocks[first]);
    ks_grid_fini(&keys);
    *end = first + 1;
    while (*end < p->pivot.metric_count) {
        width += 2 + block_width(p, &p->blocks[*end]);
        if (p->options->width > 0 && width > p->options->width) {
            break;
        }
        (*end)++;
    }
    ks_grid grid;
    ks_grid_init(&grid, 2);
    if (status == KS_OK) {
        status = fill_grid(p, &grid, first, *end);
    }
    if (status == KS_OK) {
        status = ks_grid_print(&grid, p->to, p->options, p->err);
    }
    ks_grid_fini(&grid);
    return status;
}

static ks_status print_remark(const printer *p, const char *text)
{
    ks_buf line;
    ks_buf_init(&line, 1u << 20);
    ks_buf_add(&line, "note: ");
    ks_text_escape(&line, text);
    ks_status status = ks_buf_status(&line, p->err);
    if (status == KS_OK) {
        ks_print_wrapped(p->to, ks_buf_text(&line), p->options->width, 6);
    }
    ks_buf_fini(&line);
    return status;
}

/* What holds for the results as a whole. */
static ks_status print_remarks(const printer *p)
{
    for (size_t i = 0; ks_table_fact_key(p->table, i) != NULL; i++) {
        if (strcmp(ks_table_fact_key(p->table, i), "warnings[]") == 0) {
            KS_TRY(print_remark(p, ks_table_fact_value(p->table, i).text));
        }
    }
    ks_value complete = ks_table_fact(p->table, "complete");
    if (complete.type == KS_BOOL && !complete.as.boolean) {
        fprintf(p->to, "partial: %lld of %lld configs are finished\n",
                (long long)ks_table_fact(p->table, "finished").as.i64,
                (long long)ks_table_fact(p->table, "plan.configs").as.i64);
    }
    return KS_OK;
}

static ks_status print_all(printer *p)
{
    if (p->pivot.line_count == 0) {
        fputs("no config was measured\n", p->to);
    }
    for (size_t m = 0; m < p->pivot.metric_count; m++) {
        KS_TRY(fill_block(p, m));
    }
    for (size_t m = 0; m < p->pivot.metric_count;) {
        if (m > 0) {
            fputc('\n', p->to);
        }
        KS_TRY(print_section(p, m, &m));
    }
    if (p->notes.unstable || p->notes.outliers || p->notes.texts.count > 0) {
        fputc('\n', p->to);
    }
    KS_TRY(ks_footnotes_print(&p->notes, p->to, p->options->width, p->err));
    KS_TRY(print_remarks(p));
    fflush(p->to);
    return ks_stream_status(p->to, "the table", p->err);
}

ks_status ks_print_results(const ks_table *table, FILE *to, const ks_print_options *options,
                           ks_error *err)
{
    static const ks_print_options plain = KS_PRINT_OPTIONS_INIT;
    printer p = {.table = table,
                 .to = to,
                 .options = options != NULL ? options : &plain,
                 .shown = {.average = ks_table_find(table, "AvgValue"),
                           .low = ks_table_find(table, "CI95_Lower"),
                           .high = ks_table_find(table, "CI95_Upper"),
                           .n = ks_table_find(table, "NumRuns"),
                           .unit = ks_table_find(table, "Unit"),
                           .normalized = ks_table_find(table, "Normalized")},
                 .err = err};
    ks_footnotes_init(&p.notes);
    ks_status status = ks_pivot_init(&p.pivot, table, err);
    if (status == KS_OK) {
        p.blocks = ks_calloc(p.pivot.metric_count, sizeof *p.blocks);
        status = p.blocks != NULL ? print_all(&p) : ks_enomem(err);
    }
    for (size_t m = 0; p.blocks != NULL && m < p.pivot.metric_count; m++) {
        block *b = &p.blocks[m];
        for (size_t line = 0; b->entries != NULL && line < p.pivot.line_count; line++) {
            ks_free(b->entries[line].marks);
        }
        ks_free(b->entries);
        ks_free(b->title);
    }
    ks_free(p.blocks);
    ks_pivot_fini(&p.pivot);
    ks_footnotes_fini(&p.notes);
    return status;
}
