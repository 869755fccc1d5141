/* Tables from CSV. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/str.h"
#include "output/csv_read.h"
#include "table/table.h"

typedef struct field {
    const char *text; /* in the reader's text; quotes are taken off */
    size_t length;
    bool missing; /* empty and not quoted */
} field;

typedef struct reader {
    char *at;
    char *end;
    size_t line;
    field *fields;
    size_t count;
    size_t capacity;
    ks_error *err;
} reader;

static ks_status fail(const reader *r, const char *what)
{
    return ks_fail(r->err, KS_EINVAL, "csv", 0, "line %zu: %s", r->line, what);
}

/* A field in quotes: `""` is a quote. It is put together in place. */
static ks_status read_quoted(reader *r, field *out)
{
    char *to = ++r->at;
    out->text = to;
    for (;;) {
        if (r->at == r->end) {
            return fail(r, "a quote is not closed");
        }
        if (*r->at == '"') {
            r->at++;
            if (r->at == r->end || *r->at != '"') {
                break;
            }
        }
        r->line += *r->at == '\n';
        *to++ = *r->at++;
    }
    out->length = (size_t)(to - out->text);
    return KS_OK;
}

/* Read one record; its fields are added. Stands behind its line end afterwards. */
static ks_status read_record(reader *r)
{
    for (;;) {
        field f = {.text = r->at};
        if (r->at < r->end && *r->at == '"') {
            KS_TRY(read_quoted(r, &f));
        } else {
            while (r->at < r->end && strchr(",\r\n\"", *r->at) == NULL) {
                r->at++;
            }
            f.length = (size_t)(r->at - f.text);
            f.missing = f.length == 0;
        }
        KS_TRY(KS_GROW(r->fields, r->capacity, r->count + 1, r->err));
        r->fields[r->count++] = f;
        if (r->at < r->end && *r->at == ',') {
            r->at++;
            continue;
        }
        if (r->at + 1 < r->end && r->at[0] == '\r' && r->at[1] == '\n') {
            r->at++;
        }
        if (r->at < r->end && *r->at != '\n') {
            return fail(r, "a comma or the end of the line is expected here");
        }
        r->at += r->at < r->end;
        r->line++;
        return KS_OK;
    }
}

static ks_status read_records(reader *r, size_t *columns)
{
    KS_TRY(read_record(r));
    *columns = r->count;
    for (size_t before = r->count; r->at < r->end; before = r->count) {
        size_t line = r->line;
        KS_TRY(read_record(r));
        size_t got = r->count - before;
        if (got == 1 && *columns > 1 && r->fields[before].missing) {
            r->count = before; /* an empty line */
        } else if (got != *columns) {
            return ks_fail(r->err, KS_EINVAL, "csv", 0,
                           "line %zu: it has %zu fields, the header has %zu", line, got, *columns);
        }
    }
    return KS_OK;
}

static bool is_word(const field *f, const char *word)
{
    return f->length == strlen(word) && memcmp(f->text, word, f->length) == 0;
}

/* The narrowest type that holds all fields of a column. */
static ks_type type_of(const reader *r, size_t columns, size_t column)
{
    bool whole = true;
    bool number = true;
    bool truth = true;
    bool any = false;
    for (size_t i = columns + column; i < r->count && (number || truth); i += columns) {
        const field *f = &r->fields[i];
        int64_t i64 = 0;
        double f64 = 0.0;
        if (!f->missing) {
            any = true;
            whole = whole && ks_num_read_i64(f->text, f->length, &i64);
            number = number && (whole || ks_num_read_f64(f->text, f->length, &f64));
            truth = truth && (is_word(f, "True") || is_word(f, "False"));
        }
    }
    if (!any) {
        return KS_F64;
    }
    return whole ? KS_I64 : number ? KS_F64 : truth ? KS_BOOL : KS_TEXT;
}

static ks_status set_cell(ks_table *table, size_t row, size_t column, const field *f, ks_buf *text,
                          ks_error *err)
{
    int64_t i64 = 0;
    double f64 = 0.0;
    switch (ks_table_type(table, column)) {
    case KS_I64:
        ks_num_read_i64(f->text, f->length, &i64);
        ks_table_set_i64(table, row, column, i64);
        return KS_OK;
    case KS_F64:
        ks_num_read_f64(f->text, f->length, &f64);
        ks_table_set_f64(table, row, column, f64);
        return KS_OK;
    case KS_BOOL:
        ks_table_set_bool(table, row, column, is_word(f, "True"));
        return KS_OK;
    default:
        ks_buf_clear(text);
        ks_buf_add_bytes(text, f->text, f->length);
        KS_TRY(ks_buf_status(text, err));
        return ks_table_set_text(table, row, column, ks_buf_text(text), err);
    }
}

static ks_status fill(const reader *r, size_t columns, ks_table *table, ks_buf *text)
{
    for (size_t c = 0; c < columns; c++) {
        ks_buf_clear(text);
        ks_buf_add_bytes(text, r->fields[c].text, r->fields[c].length);
        KS_TRY(ks_buf_status(text, r->err));
        KS_TRY(ks_table_add_column(table, ks_buf_text(text), type_of(r, columns, c), KS_ROLE_PLAIN,
                                   NULL, r->err));
    }
    size_t rows = columns > 0 ? r->count / columns - 1 : 0; /* a record has a field at least */
    KS_TRY(ks_table_add_rows(table, rows, r->err));
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < columns; c++) {
            const field *f = &r->fields[(row + 1) * columns + c];
            if (!f->missing) {
                KS_TRY(set_cell(table, row, c, f, text, r->err));
            }
        }
    }
    return KS_OK;
}

static ks_status check_text(char *text, size_t length, ks_error *err)
{
    size_t bad = ks_utf8_check(text, length);
    const char *nul = memchr(text, '\0', length);
    if (nul != NULL && (size_t)(nul - text) < bad) {
        bad = (size_t)(nul - text);
    }
    if (bad == length) {
        return KS_OK;
    }
    size_t line = 1;
    for (size_t i = 0; i < bad; i++) {
        line += text[i] == '\n';
    }
    return ks_fail(err, KS_EINVAL, "csv", 0, "line %zu: byte 0x%02X is not UTF-8 text", line,
                   (unsigned char)text[bad]);
}

ks_status ks_table_parse_csv(char *text, size_t length, ks_table **out, ks_error *err)
{
    KS_TRY(check_text(text, length, err));
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (length == 0) {
        return ks_fail(err, KS_EINVAL, "csv", 0, "line 1: there is no header, the file is empty");
    }
    reader r = {.at = text, .end = text + length, .line = 1, .err = err};
    size_t columns = 0;
    ks_table *table = NULL;
    ks_buf cell;
    ks_buf_init(&cell, length + 1);
    ks_status status = read_records(&r, &columns);
    if (status == KS_OK) {
        status = ks_table_new(&table, err);
    }
    if (status == KS_OK) {
        status = fill(&r, columns, table, &cell);
    }
    ks_buf_fini(&cell);
    ks_free(r.fields);
    if (status != KS_OK) {
        ks_table_free(table);
        return status;
    }
    *out = table;
    return KS_OK;
}

static ks_status read_all(const char *path, ks_buf *to, ks_error *err)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return ks_fail(err, KS_EIO, "csv", errno, "cannot read it: %s", ks_errno_text(errno));
    }
    char block[1 << 16];
    size_t got = 0;
    while ((got = fread(block, 1, sizeof block, file)) > 0) {
        ks_buf_add_bytes(to, block, got);
    }
    int number = errno;
    bool bad = ferror(file) != 0;
    fclose(file);
    if (bad) {
        return ks_fail(err, KS_EIO, "csv", number, "cannot read it: %s", ks_errno_text(number));
    }
    return ks_buf_status(to, err);
}

ks_status ks_table_read_csv(const char *path, ks_table **out, ks_error *err)
{
    ks_buf text;
    ks_buf_init(&text, (size_t)1 << 34);
    ks_status status = read_all(path, &text, err);
    if (status == KS_OK) {
        status = text.length > 0 ? ks_table_parse_csv(text.text, text.length, out, err)
                                 : ks_table_parse_csv((char[]){""}, 0, out, err);
    }
    if (status != KS_OK) {
        ks_error_prefix(err, "%s", path);
    }
    ks_buf_fini(&text);
    return status;
}
