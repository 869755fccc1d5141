#include "output/footnotes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "output/text.h"

/* Different texts that get a letter; the others share a sign and stand in the CSV. */
enum {
    LETTERS = 12
};

void ks_footnotes_init(ks_footnotes *notes)
{
    memset(notes, 0, sizeof *notes);
}

void ks_footnotes_fini(ks_footnotes *notes)
{
    ks_pool_fini(&notes->texts);
}

static ks_status add_letter(ks_footnotes *notes, const char *text, ks_buf *to, ks_error *err)
{
    ks_text_id id = 0;
    if (text != NULL) {
        KS_TRY(ks_pool_add(&notes->texts, text, &id, err));
        ks_buf_add(to, id <= LETTERS ? (const char[]){(char)('a' + id - 1), '\0'} : "+");
    }
    return KS_OK;
}

ks_status ks_footnotes_mark(ks_footnotes *notes, const ks_table *table, size_t row, ks_buf *to,
                            ks_error *err)
{
    size_t stable = ks_table_find(table, "StableMeasurement");
    if (ks_table_valid(table, row, stable) && !ks_table_get(table, row, stable).as.boolean) {
        ks_buf_add_char(to, '~');
        notes->unstable = true;
    }
    if (ks_table_number(table, row, ks_table_find(table, "Outliers")) > 0.0) {
        ks_buf_add_char(to, '*');
        notes->outliers = true;
    }
    KS_TRY(add_letter(notes, ks_table_text(table, row, ks_table_find(table, "Failure")), to, err));
    return add_letter(notes, ks_table_text(table, row, ks_table_find(table, "Warnings")), to, err);
}

void ks_print_wrapped(FILE *to, const char *text, size_t width, size_t indent)
{
    size_t column = 0;
    bool first = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char word[512];
        size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = '\0';
        size_t columns = ks_text_width(word);
        if (!first && width > 0 && column + 1 + columns > width) {
            fprintf(to, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, length, to);
        column += columns;
        first = false;
        text += length;
        text += *text == ' ' ? 1 : 0;
    }
    fputc('\n', to);
}

static ks_status print_note(FILE *to, const char *mark, const char *text, size_t width,
                            ks_error *err)
{
    ks_buf line;
    ks_buf_init(&line, 1u << 20);
    ks_buf_addf(&line, "%s  ", mark);
    ks_text_escape(&line, text);
    ks_status status = ks_buf_status(&line, err);
    if (status == KS_OK) {
        ks_print_wrapped(to, ks_buf_text(&line), width, 3);
    }
    ks_buf_fini(&line);
    return status;
}

ks_status ks_footnotes_print(const ks_footnotes *notes, FILE *to, size_t width, ks_error *err)
{
    if (notes->unstable) {
        KS_TRY(print_note(to, "~", "not stable: the standard deviation is 2 % of the mean or more",
                          width, err));
    }
    if (notes->outliers) {
        KS_TRY(print_note(to, "*", "outliers among the runs; they count in the mean", width, err));
    }
    for (ks_text_id id = 1; id <= notes->texts.count && id <= LETTERS; id++) {
        const char mark[] = {(char)('a' + id - 1), '\0'};
        KS_TRY(print_note(to, mark, ks_pool_text(&notes->texts, id), width, err));
    }
    if (notes->texts.count > LETTERS) {
        KS_TRY(print_note(to, "+", "more remarks: columns Failure and Warnings of the CSV", width,
                          err));
    }
    return KS_OK;
}
