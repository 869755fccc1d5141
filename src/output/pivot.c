#include "output/pivot.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

/* Lines by annotation and parameters. Equal configs are kept apart: each has a line of its own. */
typedef struct line_index {
    size_t *buckets; /* line + 1; 0: none */
    size_t count;    /* a power of two */
    size_t *next;    /* by line: an earlier line in the same bucket, + 1 */
} line_index;

static bool is_key(const ks_pivot *p, size_t column)
{
    return column == p->annotation || ks_table_role(p->table, column) == KS_ROLE_PARAMETER;
}

/* The bits of a cell; texts of a table are equal if their addresses are. */
static uint64_t cell_bits(const ks_table *table, size_t row, size_t column)
{
    ks_value value = ks_table_get(table, row, column);
    switch (value.type) {
    case KS_TEXT:
        return (uint64_t)(uintptr_t)value.text;
    case KS_BOOL:
        return value.as.boolean ? 1 : 2;
    case KS_MISSING:
        return 0;
    default:
        return (uint64_t)value.as.i64;
    }
}

static uint64_t hash_key(const ks_pivot *p, size_t row)
{
    uint64_t hash = 0;
    for (size_t c = 0; c < ks_table_columns(p->table); c++) {
        if (is_key(p, c)) {
            uint64_t bits = cell_bits(p->table, row, c);
            hash = hash * 31 + ks_hash(&bits, sizeof bits);
        }
    }
    return hash;
}

static bool same_key(const ks_pivot *p, size_t a, size_t b)
{
    for (size_t c = 0; c < ks_table_columns(p->table); c++) {
        if (is_key(p, c) && (cell_bits(p->table, a, c) != cell_bits(p->table, b, c) ||
                             ks_table_valid(p->table, a, c) != ks_table_valid(p->table, b, c))) {
            return false;
        }
    }
    return true;
}

static ks_status find_metrics(ks_pivot *p, ks_error *err)
{
    for (size_t row = 0; row < ks_table_rows(p->table); row++) {
        const char *name = ks_table_text(p->table, row, p->metric);
        size_t i = 0;
        while (i < p->metric_count && p->metrics[i] != name) {
            i++;
        }
        if (i == p->metric_count && name != NULL) {
            KS_TRY(KS_GROW(p->metrics, p->metric_capacity, p->metric_count + 1, err));
            p->metrics[p->metric_count++] = name;
        }
    }
    return KS_OK;
}

static size_t metric_of(const ks_pivot *p, size_t row)
{
    const char *name = ks_table_text(p->table, row, p->metric);
    size_t i = 0;
    while (p->metrics[i] != name) {
        i++;
    }
    return i;
}

/* Put a row on the first line of its key that has no value of its metric yet. */
static ks_status place(ks_pivot *p, line_index *lines, size_t row, ks_error *err)
{
    size_t metric = metric_of(p, row);
    size_t *bucket = &lines->buckets[hash_key(p, row) & (lines->count - 1)];
    size_t found = KS_NO_ROW;
    for (size_t line = *bucket; line != 0; line = lines->next[line - 1]) {
        size_t at = line - 1;
        if (p->rows[at * p->metric_count + metric] == KS_NO_ROW && same_key(p, p->first[at], row)) {
            found = at;
        }
    }
    if (found == KS_NO_ROW) {
        KS_TRY(KS_GROW(p->first, p->line_capacity, p->line_count + 1, err));
        found = p->line_count++;
        p->first[found] = row;
        lines->next[found] = *bucket;
        *bucket = found + 1;
    }
    p->rows[found * p->metric_count + metric] = row;
    return KS_OK;
}

ks_status ks_pivot_init(ks_pivot *pivot, const ks_table *table, ks_error *err)
{
    *pivot = (ks_pivot){.table = table,
                        .annotation = ks_table_find(table, "Annotation"),
                        .metric = ks_table_find(table, "Metric")};
    KS_TRY(find_metrics(pivot, err));
    size_t rows = ks_table_rows(table);
    line_index lines = {.count = 64};
    while (lines.count < rows) {
        lines.count *= 2;
    }
    lines.buckets = ks_calloc(lines.count, sizeof *lines.buckets);
    lines.next = ks_calloc(rows, sizeof *lines.next);
    size_t places = rows * pivot->metric_count; /* there are no more lines than rows */
    pivot->rows = ks_alloc(places * sizeof *pivot->rows);
    ks_status status = KS_OK;
    if (lines.buckets == NULL || lines.next == NULL || pivot->rows == NULL) {
        status = ks_enomem(err);
    } else {
        memset(pivot->rows, 0xFF, places * sizeof *pivot->rows);
    }
    for (size_t row = 0; row < rows && status == KS_OK; row++) {
        status = ks_table_text(table, row, pivot->metric) != NULL ? place(pivot, &lines, row, err)
                                                                  : KS_OK;
    }
    ks_free(lines.buckets);
    ks_free(lines.next);
    return status;
}

void ks_pivot_fini(ks_pivot *pivot)
{
    ks_free(pivot->metrics);
    ks_free(pivot->first);
    ks_free(pivot->rows);
    memset(pivot, 0, sizeof *pivot);
}
