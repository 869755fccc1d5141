/* kernsight metrics [PATTERN] */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

typedef struct options {
    const char *pattern;
    const char *chip;
    const char *passes; /* metrics, separated by commas */
    bool sets;
    bool json;
} options;

enum {
    KEY_CHIP = 256,
    KEY_PASSES,
    KEY_SETS
};

static const struct argp_option known[] = {
    {"chip", KEY_CHIP, "CHIP", 0, "what a GPU's chip can count, such as gh100; needs CUPTI, no GPU",
     0},
    {"passes", KEY_PASSES, "METRIC,...", 0,
     "how often a run must be repeated to measure these of --chip, and about what it costs", 0},
    {"sets", KEY_SETS, NULL, 0, "sets of a GPU's metrics, such as @memory, and what is in them", 0},
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
    case KEY_SETS:
        o->sets = true;
        return 0;
    case ARGP_KEY_END:
        if (o->passes != NULL && (o->chip == NULL || o->pattern != NULL || o->json)) {
            argp_error(state, "--passes takes --chip beside it, and nothing else");
        }
        if (o->sets && (o->chip != NULL || o->pattern != NULL || o->passes != NULL)) {
            argp_error(state, "--sets takes --json beside it, and nothing else; --chip CHIP @SET "
                              "lists what a chip has of one");
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
        "PATTERN has * and ?, as in a shell; with --chip it may be a set, as @memory. Regions are annotated in a program's source, programs "
        "are measured as they are, by `kernsight run'.\n\n"
        "Examples:\n"
        "  kernsight metrics\n"
        "  kernsight metrics 'cpu__*time*'\n"
        "  kernsight metrics --chip gh100 'dram__bytes*'\n"
        "  kernsight metrics --chip gh100 'dram__bytes_read.*'\n"
        "  kernsight metrics --sets\n"
        "  kernsight metrics --chip gh100 @memory\n"
        "  kernsight metrics --chip gh100 --passes @memory,sm__warps_active.sum\n"
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

enum {
    COLUMNS = 80
};

/* A text whose lines begin with an indent and end where the terminal does. */
static void print_text(const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        bool fits = column > 0 && column + 1 + length <= COLUMNS;
        printf("%s%.*s", fits ? " " : column > 0 ? "\n    " : "    ", (int)length, text);
        column = (fits ? column + 1 : 4) + length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* A name, and what stands beside it in a table: below it, if it is too long for its column. */
static void print_name(const char *name, int width)
{
    if ((int)strlen(name) > width) {
        printf("%s\n%*s", name, width, "");
    } else {
        printf("%-*s", width, name);
    }
}

static int at_most(int number, int most)
{
    return number < most ? number : most;
}

static void print_list(const ks_table *table)
{
    int unit = at_most(widest(table, "Unit"), 10); /* longer ones are those of launches: they fit */
    int kind = widest(table, "Kind");
    int collector = widest(table, "Collector");
    int target = widest(table, "Target") > 11 ? widest(table, "Target") : 11; /* "measured of" */
    int name = at_most(widest(table, "Metric"), COLUMNS - 8 - unit - kind - collector - target);
    printf("%-*s  %-*s  %-*s  %-*s  %s\n", name, "metric", unit, "unit", kind, "kind", collector,
           "collector", "measured of");
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        print_name(cell(table, row, "Metric"), name);
        printf("  %-*s  %-*s  %-*s  %s\n", unit, cell(table, row, "Unit"), kind,
               cell(table, row, "Kind"), collector, cell(table, row, "Collector"),
               cell(table, row, "Target"));
        print_text(cell(table, row, "Description"));
        if (!ks_table_get(table, row, ks_table_find(table, "Available")).as.boolean) {
            printf("    not available here: %s\n", cell(table, row, "Reason"));
        }
    }
}

static void print_sets(const ks_table *table)
{
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        printf("%s: %s\n", cell(table, row, "Set"), cell(table, row, "Description"));
        print_text(cell(table, row, "Metrics"));
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

/* How a name is put together, for those who see such a list for the first time. */
static void print_example(const char *metric, const char *endings)
{
    bool sum = strstr(endings, " sum ") != NULL;
    printf("\nask for a metric with one of its endings, such as %s.%.*s\n", metric,
           sum ? 3 : (int)strcspn(endings, " "), sum ? "sum" : endings);
}

static void print_chip(const ks_table *table)
{
    size_t shown = ks_table_rows(table); /* the first with endings */
    int unit = at_most(widest(table, "Unit"), 20);
    int name = at_most(widest(table, "Metric"), COLUMNS - 4 - unit - widest(table, "Kind"));
    printf("%-*s  %-*s  %s\n", name, "metric", unit, "unit", "kind");
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        print_name(cell(table, row, "Metric"), name);
        printf("  %-*s  %s\n", unit, cell(table, row, "Unit"), cell(table, row, "Kind"));
        print_text(cell(table, row, "Description"));
        if (ks_table_valid(table, row, ks_table_find(table, "Submetrics"))) {
            print_submetrics(cell(table, row, "Submetrics"));
            shown = shown == ks_table_rows(table) ? row : shown;
        }
    }
    if (shown < ks_table_rows(table) && isatty(STDOUT_FILENO) == 1) {
        print_example(cell(table, shown, "Metric"), cell(table, shown, "Submetrics"));
    }
}

/* Names between commas, in a copy that is changed. */
static int print_passes(const options *o)
{
    ks_error err = KS_ERROR_INIT;
    char *copy = strdup(o->passes);
    const char *names[256];
    size_t count = 0;
    ks_chip_estimate cost = {0};
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
        status = ks_chip_cost(o->chip, names, count, &cost, &err);
    }
    free(copy);
    if (status != KS_OK) {
        return report_error(&err);
    }
    bool one = cost.passes == 1;
    printf("%zu pass%s: each run calls the body %zu time%s\n", cost.passes, one ? "" : "es",
           cost.passes, one ? "" : "s");
    if (cost.metrics == 0) {
        puts("no counter is read: they tell of launches and devices");
    } else {
        printf(
            "about %.2g ms more for each config, and %.2g ms for each kernel that a run launches,\n"
            "an estimate from what it cost on an H200\n",
            cost.config_ms, cost.launch_ms);
    }
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
    ks_status status = o.sets           ? ks_metric_sets_table(&table, &err)
                       : o.chip != NULL ? ks_chip_metrics_table(o.chip, o.pattern, &table, &err)
                                        : ks_metrics_table(o.pattern, &table, &err);
    if (status != KS_OK) {
        return report_error(&err);
    }
    if (o.json) {
        ks_table_json(table, stdout, NULL); /* what stdout did not take, finish_stdout() says */
    } else if (o.sets) {
        print_sets(table);
    } else if (o.chip != NULL) {
        print_chip(table);
    } else {
        print_list(table);
    }
    ks_table_free(table);
    return EXIT_OK;
}
