/* Tables as CSV. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "table/table.h"

enum {
    FLUSH_BYTES = 1 << 16
};

static void add_text(ks_buf *to, const char *text)
{
    size_t plain = strcspn(text, ",\"\r\n");
    bool mark = strncmp(text, "\xEF\xBB\xBF", 3) == 0; /* readers take it off a file's start */
    if (text[plain] == '\0' && plain > 0 && !mark) {
        ks_buf_add_bytes(to, text, plain);
        return;
    }
    /* an empty text is quoted, so that it is not taken for a missing one */
    ks_buf_add_char(to, '"');
    for (const char *quote; (quote = strchr(text, '"')) != NULL; text = quote + 1) {
        ks_buf_add_bytes(to, text, (size_t)(quote - text) + 1);
        ks_buf_add_char(to, '"');
    }
    ks_buf_add(to, text);
    ks_buf_add_char(to, '"');
}

static void add_cell(ks_buf *to, const ks_table *table, size_t row, const ks_column *column)
{
    if ((column->valid[row / 8] >> row % 8 & 1) == 0) {
        return;
    }
    switch (column->type) {
    case KS_BOOL:
        ks_buf_add(to, ((const uint8_t *)column->cells)[row] ? "True" : "False");
        break;
    case KS_I64:
        ks_buf_add_i64(to, ((const int64_t *)column->cells)[row]);
        break;
    case KS_F64:
        ks_buf_add_f64(to, ((const double *)column->cells)[row]);
        break;
    default:
        add_text(to, ks_pool_text(&table->pool, ((const ks_text_id *)column->cells)[row]));
        break;
    }
}

static ks_status flush(ks_buf *buf, FILE *to, ks_error *err)
{
    KS_TRY(ks_buf_status(buf, err));
    fwrite(ks_buf_text(buf), 1, buf->length, to);
    ks_buf_clear(buf);
    return ks_stream_status(to, "CSV", err);
}

static ks_status write_rows(const ks_table *table, FILE *to, ks_buf *buf, ks_error *err)
{
    for (size_t c = 0; c < table->column_count; c++) {
        ks_buf_add(buf, c > 0 ? "," : "");
        add_text(buf, ks_table_name(table, c));
    }
    ks_buf_add_char(buf, '\n');
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t c = 0; c < table->column_count; c++) {
            if (c > 0) {
                ks_buf_add_char(buf, ',');
            }
            add_cell(buf, table, row, &table->columns[c]);
        }
        ks_buf_add_char(buf, '\n');
        if (buf->length > FLUSH_BYTES) {
            KS_TRY(flush(buf, to, err));
        }
    }
    return flush(buf, to, err);
}

ks_status ks_table_csv(const ks_table *table, FILE *to, ks_error *err)
{
    if (table == NULL) {
        return ks_no_table(err);
    }
    ks_buf buf;
    ks_buf_init(&buf, SIZE_MAX / 4);
    ks_status status = write_rows(table, to, &buf, err);
    ks_buf_fini(&buf);
    return status;
}

ks_status ks_table_write_csv(const ks_table *table, const char *path, ks_error *err)
{
    if (table == NULL) {
        return ks_no_table(err);
    }
    ks_file file;
    KS_TRY(ks_file_open(&file, path, err));
    return ks_file_close(&file, ks_table_csv(table, file.stream, err), err);
}
