/* kernsight doctor */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noise.h"

static const struct argp_option known[] = {
    {"noise", 'n', NULL, 0,
     "measure a kernel against itself for SECONDS (default 5): how much times vary here, and what "
     "difference can be shown",
     0},
    {"restore-clocks", 'r', NULL, 0,
     "first give back the clocks of GPUs that runs left locked when they were killed", 0},
    {"json", 'j', NULL, 0, "print JSON: an array with an object per fact, or the noise", 0},
    {0},
};

typedef struct doctor_options {
    bool json;
    bool noise;
    bool restore;
    double seconds;
} doctor_options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    doctor_options *o = state->input;
    char *end = NULL;
    switch (key) {
    case 'j':
        o->json = true;
        return 0;
    case 'n':
        o->noise = true;
        return 0;
    case 'r':
        o->restore = true;
        return 0;
    case ARGP_KEY_ARG:
        o->seconds = strtod(arg, &end);
        if (state->arg_num > 0 || *end != '\0' || !(o->seconds > 0.0 && o->seconds <= 3600.0)) {
            argp_error(state, "'%s': only --noise takes an argument, seconds above 0 up to 3600",
                       arg);
        }
        return 0;
    case ARGP_KEY_END:
        if (!o->noise && state->arg_num > 0) {
            argp_error(state, "seconds are of use with --noise only");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp doctor_argp = {
    .options = known,
    .parser = parse,
    .args_doc = "[SECONDS]",
    .doc =
        "Say for each collector, and for plots, whether it works on this machine, with what, and what to "
        "do if it does not; or how much times vary here.\v"
        "Examples:\n"
        "  kernsight doctor\n"
        "  kernsight doctor --json\n"
        "  kernsight doctor --noise 10",
};

enum {
    INDENT = 23, /* of values */
    WIDTH = 80   /* of lines on a terminal */
};

/* A text from column INDENT on, behind a lead; on a terminal its words go on to more lines. */
static void print_value(const char *lead, const char *text, bool wrap)
{
    size_t column = INDENT + strlen(lead);
    fputs(lead, stdout);
    while (wrap && *text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > INDENT && column + 1 + length > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        } else if (column > INDENT) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)length, text);
        column += length;
        text += length + strspn(text + length, " ");
    }
    if (!wrap) {
        fputs(lead[0] != '\0' ? " " : "", stdout);
        fputs(text, stdout);
    }
    putchar('\n');
}

/* What a collector measures, for those who have not heard its name; "": it says so itself. */
static const char *about(const char *collector)
{
    static const struct {
        const char *name, *what;
    } collectors[] = {
        {"clock", "  (times and memory)"},
        {"perf", "  (events of the processor and the kernel)"},
        {"nvidia-trace", "  (times of GPU kernels, kernel__*: needs no permission)"},
        {"nvidia", "  (hardware counters of GPU kernels, as ncu reads them)"},
    };
    for (size_t i = 0; i < sizeof collectors / sizeof collectors[0]; i++) {
        if (strcmp(collectors[i].name, collector) == 0) {
            return collectors[i].what;
        }
    }
    return "";
}

static void print_facts(const ks_table *table)
{
    const char *last = "";
    bool wrap = isatty(STDOUT_FILENO) == 1;
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        const char *collector = ks_table_text(table, row, ks_table_find(table, "Collector"));
        const char *cure = ks_table_text(table, row, ks_table_find(table, "Cure"));
        if (strcmp(collector, last) != 0) {
            printf("%s%s%s\n", row > 0 ? "\n" : "", collector, about(collector));
            last = collector;
        }
        printf("  %-20s ", ks_table_text(table, row, ks_table_find(table, "Fact")));
        print_value("", ks_table_text(table, row, ks_table_find(table, "Value")), wrap);
        if (cure != NULL) {
            printf("%*s", INDENT, "");
            print_value("to do:", cure, wrap);
        }
    }
}

int cmd_doctor(int argc, char **argv)
{
    doctor_options o = {.seconds = 5.0};
    ks_error err = KS_ERROR_INIT;
    ks_table *table = NULL;
    argp_parse(&doctor_argp, argc, argv, 0, NULL, &o);
    if (o.noise) {
        return measure_noise(o.seconds, o.json);
    }
    if (o.restore && ks_clock_restore(&err) != KS_OK) {
        return report_error(&err);
    }
    if (ks_probe_table(&table, &err) != KS_OK) {
        return report_error(&err);
    }
    if (o.json) {
        ks_table_json(table, stdout, NULL);
    } else {
        printf("kernsight %s\n\n", ks_version());
        print_facts(table);
    }
    ks_table_free(table);
    return EXIT_OK;
}
