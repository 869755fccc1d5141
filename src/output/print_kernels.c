/* Kernels for people: which ran, how long, how often, and what they take of a multiprocessor. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/demangle.h"
#include "base/error.h"
#include "base/file.h"
#include "output/grid.h"
#include "output/print.h"
#include "output/scale.h"
#include "table/table.h"

/* How a column of numbers is shown. */
enum form {
    TIME,
    PER_RUN,
    ONE_DECIMAL,
    WHOLE
};

static const struct {
    const char *column, *title, *unit;
    enum form form;
    bool if_any; /* shown only where one of them is not 0 */
} known[] = {
    {"TimeAvg", "mean", "", TIME, false},
    {"SharePct", "share", "%", ONE_DECIMAL, false},
    {"Launches", "count", "/run", PER_RUN, false},
    {"Registers", "regs", "", WHOLE, false},
    {"SharedBytes", "shared", "B", WHOLE, true},
    {"LocalBytes", "local", "B", WHOLE, true},
    {"OccupancyPct", "occ.", "%", ONE_DECIMAL, false},
};

enum {
    KNOWN = sizeof known / sizeof known[0]
};

typedef struct view {
    const ks_table *table;
    const ks_print_options *options;
    size_t most; /* rows of an annotation; 0: all */
    size_t annotation, mangled, runs;
    size_t numbers[KNOWN]; /* columns */
    bool shown[KNOWN];
    ks_scale time;
    ks_grid grid;
    ks_error *err;
} view;

/* ---- which rows and columns -------------------------------------------------------------------
 */

static size_t group_end(const view *v, size_t first)
{
    const char *annotation = ks_table_text(v->table, first, v->annotation);
    size_t end = first;
    while (end < ks_table_rows(v->table) &&
           strcmp(annotation, ks_table_text(v->table, end, v->annotation)) == 0) {
        end++;
    }
    return end;
}

/* In a footer those of one kernel that keeps to its registers tell nothing new. */
static bool is_told(const view *v, size_t first, size_t end)
{
    bool spills = false;
    for (size_t row = first; row < end; row++) {
        spills =
            spills || ks_table_number(v->table, row, ks_table_find(v->table, "LocalBytes")) > 0.0;
    }
    return v->most == 0 || end - first > 1 || spills;
}

/* Rows of an annotation that are shown, of those from `first` on. */
static size_t shown_end(const view *v, size_t first, size_t end)
{
    if (!is_told(v, first, end)) {
        return first;
    }
    return v->most > 0 && end - first > v->most ? first + v->most : end;
}

static void note_row(view *v, size_t row)
{
    for (size_t i = 0; i < KNOWN; i++) {
        double value = ks_table_number(v->table, row, v->numbers[i]);
        v->shown[i] = v->shown[i] || value > 0.0 || (!known[i].if_any && value == 0.0);
    }
}

static size_t note_rows(view *v)
{
    double longest = 0.0;
    size_t count = 0;
    for (size_t first = 0, end = 0; first < ks_table_rows(v->table); first = end) {
        end = group_end(v, first);
        size_t shown = shown_end(v, first, end);
        for (size_t row = first; row < shown; row++, count++) {
            double ns = ks_table_number(v->table, row, v->numbers[0]);
            longest = ns > longest ? ns : longest;
            note_row(v, row);
        }
    }
    v->time = ks_scale_for("ns", longest, v->options->ascii);
    return count;
}

/* ---- cells ------------------------------------------------------------------------------------
 */

static ks_status add_number(view *v, size_t row, size_t i)
{
    char text[KS_NUM_MAX] = "-";
    double value = ks_table_number(v->table, row, v->numbers[i]);
    if (isnan(value)) {
        return ks_grid_add_cell(&v->grid, text, v->err);
    }
    switch (known[i].form) {
    case TIME:
        value /= v->time.divisor;
        ks_num_fixed(value, ks_decimals(value, NAN), text);
        break;
    case PER_RUN:
        ks_number_text(value / ks_table_number(v->table, row, v->runs), text);
        break;
    case ONE_DECIMAL:
        ks_num_fixed(value, 1, text);
        break;
    case WHOLE:
        ks_num_i64((int64_t)value, text);
        break;
    }
    return ks_grid_add_cell(&v->grid, text, v->err);
}

static bool is_key(const view *v, size_t column)
{
    return column == v->annotation || ks_table_role(v->table, column) == KS_ROLE_PARAMETER;
}

static ks_status add_key(view *v, size_t row, size_t column)
{
    char digits[KS_NUM_MAX];
    ks_value value = ks_table_get(v->table, row, column);
    switch (value.type) {
    case KS_BOOL:
        return ks_grid_add_cell(&v->grid, value.as.boolean ? "True" : "False", v->err);
    case KS_I64:
        ks_num_i64(value.as.i64, digits);
        return ks_grid_add_cell(&v->grid, digits, v->err);
    case KS_F64:
        ks_num_f64_plain(value.as.f64, digits);
        return ks_grid_add_cell(&v->grid, digits, v->err);
    default:
        return ks_grid_add_cell(&v->grid, value.type == KS_TEXT ? value.text : "-", v->err);
    }
}

static ks_status add_row(view *v, size_t row)
{
    for (size_t c = 0; c < ks_table_columns(v->table); c++) {
        if (is_key(v, c)) {
            KS_TRY(add_key(v, row, c));
        }
    }
    const char *kernel = ks_demangle_short(ks_table_text(v->table, row, v->mangled));
    KS_TRY(ks_grid_add_cell(&v->grid, kernel, v->err));
    for (size_t i = 0; i < KNOWN; i++) {
        if (v->shown[i]) {
            KS_TRY(add_number(v, row, i));
        }
    }
    return KS_OK;
}

/* "2 more", and their share. */
static ks_status add_rest(view *v, size_t first, size_t end)
{
    char more[64];
    char share[KS_NUM_MAX] = "";
    double sum = 0.0;
    size_t shares = ks_table_find(v->table, "SharePct");
    for (size_t row = first; row < end; row++) {
        sum += ks_table_number(v->table, row, shares);
    }
    if (!isnan(sum)) {
        ks_num_fixed(sum, 1, share);
    }
    snprintf(more, sizeof more, "%zu more", end - first);
    for (size_t c = 0; c < ks_table_columns(v->table); c++) {
        if (is_key(v, c)) {
            KS_TRY(add_key(v, first, c));
        }
    }
    KS_TRY(ks_grid_add_cell(&v->grid, more, v->err));
    for (size_t i = 0; i < KNOWN; i++) {
        if (v->shown[i]) {
            KS_TRY(ks_grid_add_cell(&v->grid, v->numbers[i] == shares ? share : "", v->err));
        }
    }
    return KS_OK;
}

/* A header of two lines: what it is, and in what. */
static ks_status add_header(view *v, bool units)
{
    for (size_t c = 0; c < ks_table_columns(v->table); c++) {
        if (is_key(v, c)) {
            const char *name = c == v->annotation ? "annotation" : ks_table_name(v->table, c);
            KS_TRY(ks_grid_add_cell(&v->grid, units ? name : "", v->err));
        }
    }
    KS_TRY(ks_grid_add_cell(&v->grid, units ? "kernel" : "", v->err));
    for (size_t i = 0; i < KNOWN; i++) {
        if (v->shown[i]) {
            const char *unit = known[i].form == TIME ? v->time.unit : known[i].unit;
            KS_TRY(ks_grid_add_cell(&v->grid, units ? unit : known[i].title, v->err));
        }
    }
    return KS_OK;
}

static ks_status add_columns(view *v)
{
    for (size_t c = 0; c < ks_table_columns(v->table); c++) {
        if (is_key(v, c)) {
            KS_TRY(
                ks_grid_add_column(&v->grid, ks_table_type(v->table, c) != KS_TEXT, true, v->err));
        }
    }
    KS_TRY(ks_grid_add_column(&v->grid, false, true, v->err));
    for (size_t i = 0; i < KNOWN; i++) {
        if (v->shown[i]) {
            KS_TRY(ks_grid_add_column(&v->grid, true, false, v->err));
        }
    }
    KS_TRY(add_header(v, false));
    return add_header(v, true);
}

static ks_status fill(view *v)
{
    KS_TRY(add_columns(v));
    for (size_t first = 0, end = 0; first < ks_table_rows(v->table); first = end) {
        end = group_end(v, first);
        size_t shown = shown_end(v, first, end);
        for (size_t row = first; row < shown; row++) {
            KS_TRY(add_row(v, row));
        }
        if (shown > first && shown < end) {
            KS_TRY(add_rest(v, shown, end));
        }
    }
    return KS_OK;
}

ks_status ks_print_kernels(const ks_table *table, size_t most, FILE *to,
                           const ks_print_options *options, ks_error *err)
{
    static const ks_print_options plain = KS_PRINT_OPTIONS_INIT;
    view v = {.table = table,
              .options = options != NULL ? options : &plain,
              .most = most,
              .annotation = ks_table_find(table, "Annotation"),
              .mangled = ks_table_find(table, "Mangled"),
              .runs = ks_table_find(table, "Runs"),
              .err = err};
    for (size_t i = 0; i < KNOWN; i++) {
        v.numbers[i] = ks_table_find(table, known[i].column);
    }
    if (note_rows(&v) == 0) {
        if (most == 0) {
            fputs("\nno launch of a kernel was seen: metrics of a GPU see them\n", to);
        }
        return ks_stream_status(to, "the table", err);
    }
    fputs(most == 0 ? "\nkernels\n" : "\nkernels that took most time, of all configs\n", to);
    ks_grid_init(&v.grid, 2);
    ks_status status = fill(&v);
    status = status == KS_OK ? ks_grid_print(&v.grid, to, v.options, err) : status;
    ks_grid_fini(&v.grid);
    return status;
}
