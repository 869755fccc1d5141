/* kernsight metrics [PATTERN] */
#include <stdlib.h>
#include <string.h>

#include "command.h"

typedef struct options {
    const char *pattern;
    const char *chip;
    const char *passes; /* metrics, separated by commas */
    bool json;
} options;

enum {
    KEY_CHIP = 256,
    KEY_PASSES
};

static const struct argp_option known[] = {
    {"chip", KEY_CHIP, "CHIP", 0, "what a GPU's chip can count, such as gh100; needs CUPTI, no GPU",
     0},
    {"passes", KEY_PASSES, "METRIC,...", 0,
     "how often a run must be repeated to measure these of --chip", 0},
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
    case KEY_CHIP:
        o->chip = arg;
        return 0;
    case KEY_PASSES:
        o->passes = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->passes != NULL && (o->chip == NULL || o->pattern != NULL || o->json)) {
            argp_error(state, "--passes takes --chip beside it, and nothing else");
        }
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
        "  kernsight metrics --chip gh100 'dram__bytes*'\n"
        "  kernsight metrics --chip gh100 'dram__bytes_read.*'\n"
        "  kernsight metrics --chip gh100 --passes sm__warps_active.sum\n"
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

/* Words between blanks, wrapped behind an indent; `skip` leaves some out. */
static void print_words(const char *words, bool (*skip)(const char *word, size_t length))
{
    size_t column = 0;
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        if (skip == NULL || !skip(words, length)) {
            bool fits = column > 0 && column + 2 + length <= 78;
            printf("%s.%.*s", fits ? " " : column > 0 ? "\n    " : "    ", (int)length, words);
            column = (fits ? column : 3) + 2 + length;
        }
        words += length + (words[length] == ' ');
    }
    putchar('\n');
}

static bool has_point(const char *word, size_t length)
{
    return memchr(word, '.', length) != NULL;
}

/* What does not follow "sum.": the same follows the others. */
static bool is_not_of_sum(const char *word, size_t length)
{
    return length < 5 || memcmp(word, "sum.", 4) != 0;
}

/* Counters have avg, max, min and sum, and the same behind each of them. */
static void print_submetrics(const char *all)
{
    if (strstr(all, "sum.per_second") == NULL) {
        print_words(all, NULL);
        return;
    }
    print_words(all, has_point);
    print_words(all, is_not_of_sum);
}

static void print_chip(const ks_table *table)
{
    int name = widest(table, "Metric");
    int unit = widest(table, "Unit");
    printf("%-*s  %-*s  %s\n", name, "metric", unit, "unit", "kind");
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        printf("%-*s  %-*s  %s\n", name, cell(table, row, "Metric"), unit, cell(table, row, "Unit"),
               cell(table, row, "Kind"));
        printf("    %s\n", cell(table, row, "Description"));
        if (ks_table_valid(table, row, ks_table_find(table, "Submetrics"))) {
            print_submetrics(cell(table, row, "Submetrics"));
        }
    }
}

/* Names between commas, in a copy that is changed. */
static int print_passes(const options *o)
{
    ks_error err = KS_ERROR_INIT;
    char *copy = strdup(o->passes);
    const char *names[256];
    size_t count = 0;
    size_t passes = 0;
    char *rest = copy;
    for (char *name; rest != NULL && (name = strsep(&rest, ",")) != NULL;) {
        if (count < sizeof names / sizeof names[0]) {
            names[count] = name;
        }
        count++;
    }
    ks_status status = KS_OK;
    if (copy == NULL) {
        status = ks_fail(&err, KS_ENOMEM, "cli", 0, "out of memory");
    } else if (count > sizeof names / sizeof names[0]) {
        status = ks_fail(&err, KS_ELIMIT, "cli", 0, "more than %zu metrics at once",
                         sizeof names / sizeof names[0]);
    } else {
        status = ks_chip_passes(o->chip, names, count, &passes, &err);
    }
    free(copy);
    if (status != KS_OK) {
        return report_error(&err);
    }
    printf("%zu pass%s: each run calls the body %zu time%s\n", passes, passes == 1 ? "" : "es",
           passes, passes == 1 ? "" : "s");
    return EXIT_OK;
}

int cmd_metrics(int argc, char **argv)
{
    options o = {0};
    ks_error err = KS_ERROR_INIT;
    ks_table *table = NULL;
    argp_parse(&metrics_argp, argc, argv, 0, NULL, &o);
    if (o.passes != NULL) {
        return print_passes(&o);
    }
    ks_status status = o.chip != NULL ? ks_chip_metrics_table(o.chip, o.pattern, &table, &err)
                                      : ks_metrics_table(o.pattern, &table, &err);
    if (status != KS_OK) {
        return report_error(&err);
    }
    if (o.json) {
        ks_table_json(table, stdout, NULL); /* what stdout did not take, finish_stdout() says */
    } else if (o.chip != NULL) {
        print_chip(table);
    } else {
        print_list(table);
    }
    ks_table_free(table);
    return EXIT_OK;
}
