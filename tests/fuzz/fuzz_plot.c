/* Scripts for gnuplot: whatever names, texts and numbers a table holds, no name leaves its quotes.
 */
#include "fuzz.h"

#include "output/csv_read.h"
#include "output/plot_script.h"
#include "table/table.h"

/* Outside of quotes stands what we wrote alone: none of it starts a command of the shell, a comment
 * or a string of another kind. */
static void check_script(const char *script)
{
    bool inside = false;
    for (; *script != '\0'; script++) {
        if (*script == '\'') {
            inside = !inside;
        } else if (inside) {
            MUST(*script != '\n' && *script != '\r');
        } else {
            MUST(strchr("`\"%!@?\\#", *script) == NULL);
        }
    }
    MUST(!inside);
}

static void check_plot(const ks_table *table, const ks_plot_options *options)
{
    ks_error err = KS_ERROR_INIT;
    ks_plot plot;
    ks_status status = ks_plot_init(&plot, table, options, &err);
    for (ks_plot_format f = KS_PLOT_PNG; status == KS_OK && f <= KS_PLOT_TEXT; f++) {
        ks_buf script;
        ks_buf_init(&script, 1u << 28);
        MUST(ks_plot_script(&plot, f, options, &script, &err) == KS_OK);
        check_script(ks_buf_text(&script));
        ks_buf_fini(&script);
    }
    ks_plot_fini(&plot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const all[] = {"*"};
    ks_error err = KS_ERROR_INIT;
    ks_table *table = NULL;
    ks_plot_options options = KS_PLOT_OPTIONS_INIT;
    options.metrics = all;
    options.metric_count = 1;
    options.kind = size % 3 == 0 ? KS_PLOT_AUTO : size % 3 == 1 ? KS_PLOT_LINES : KS_PLOT_BARS;
    char *text = text_of(data, size);
    if (ks_table_parse_csv(text, size, &table, &err) == KS_OK) {
        for (size_t c = 0; c < table->column_count; c++) {
            char first = ks_table_name(table, c)[0];
            table->columns[c].role = first >= 'a' ? KS_ROLE_PARAMETER : KS_ROLE_PLAIN;
        }
        check_plot(table, &options);
        ks_table_free(table);
    }
    free(text);
    return 0;
}
