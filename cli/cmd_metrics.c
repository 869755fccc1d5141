/* kernsight metrics [PATTERN] */
#include <string.h>

#include "command.h"

typedef struct options {
    const char *pattern;
    bool json;
} options;

static const struct argp_option known[] = {
    {"json", 'j', NULL, 0, "print a JSON array with an object per metric", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'j':
        o->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->pattern != NULL) {
            argp_error(state,
                       "only one PATTERN is taken; quote it, so that the shell leaves it alone");
        }
        o->pattern = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp metrics_argp = {
    .options = known,
    .parser = parse,
    .args_doc = "[PATTERN]",
    .doc =
        "List metrics: name, unit, kind, collector, whether they can be measured here.\v"
        "PATTERN has * and ?, as in a shell. Regions are annotated in a program's source, programs "
        "are measured as they are, by `kernsight run'.\n\n"
        "Examples:\n"
        "  kernsight metrics\n"
        "  kernsight metrics 'cpu__*time*'\n"
        "  kernsight metrics --json",
};

static const char *cell(const ks_table *table, size_t row, const char *column)
{
    const char *text = ks_table_text(table, row, ks_table_find(table, column));
    return text != NULL ? text : "-";
}

static int widest(const ks_table *table, const char *column)
{
    size_t width = strlen(column);
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        size_t now = strlen(cell(table, row, column));
        width = now > width ? now : width;
    }
    return (int)width;
}

static void print_list(const ks_table *table)
{
    int name = widest(table, "Metric");
    int unit = widest(table, "Unit");
    int kind = widest(table, "Kind");
    int collector = widest(table, "Collector");
    printf("%-*s  %-*s  %-*s  %-*s  %s\n", name, "metric", unit, "unit", kind, "kind", collector,
           "collector", "measured of");
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        printf("%-*s  %-*s  %-*s  %-*s  %s\n", name, cell(table, row, "Metric"), unit,
               cell(table, row, "Unit"), kind, cell(table, row, "Kind"), collector,
               cell(table, row, "Collector"), cell(table, row, "Target"));
        printf("    %s\n", cell(table, row, "Description"));
        if (!ks_table_get(table, row, ks_table_find(table, "Available")).as.boolean) {
            printf("    not available here: %s\n", cell(table, row, "Reason"));
        }
    }
}

int cmd_metrics(int argc, char **argv)
{
    options o = {0};
    ks_error err = KS_ERROR_INIT;
    ks_table *table = NULL;
    argp_parse(&metrics_argp, argc, argv, 0, NULL, &o);
    if (ks_metrics_table(o.pattern, &table, &err) != KS_OK) {
        return report_error(&err);
    }
    if (o.json) {
        ks_table_json(table, stdout, NULL); /* what stdout did not take, finish_stdout() says */
    } else {
        print_list(table);
    }
    ks_table_free(table);
    return EXIT_OK;
}
