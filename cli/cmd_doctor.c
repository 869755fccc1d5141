/* kernsight doctor */
#include <string.h>

#include "command.h"

static const struct argp_option known[] = {
    {"json", 'j', NULL, 0, "print a JSON array with an object per fact", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    bool *json = state->input;
    (void)arg;
    if (key == 'j') {
        *json = true;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

const struct argp doctor_argp = {
    .options = known,
    .parser = parse,
    .doc =
        "Say for each collector whether it works on this machine, with what, and what to do if it "
        "does not.\v"
        "Examples:\n"
        "  kernsight doctor\n"
        "  kernsight doctor --json",
};

static void print_facts(const ks_table *table)
{
    const char *last = "";
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        const char *collector = ks_table_text(table, row, ks_table_find(table, "Collector"));
        const char *cure = ks_table_text(table, row, ks_table_find(table, "Cure"));
        if (strcmp(collector, last) != 0) {
            printf("%s%s\n", row > 0 ? "\n" : "", collector);
            last = collector;
        }
        printf("  %-20s %s\n", ks_table_text(table, row, ks_table_find(table, "Fact")),
               ks_table_text(table, row, ks_table_find(table, "Value")));
        if (cure != NULL) {
            printf("  %-20s to do: %s\n", "", cure);
        }
    }
}

int cmd_doctor(int argc, char **argv)
{
    bool json = false;
    ks_error err = KS_ERROR_INIT;
    ks_table *table = NULL;
    argp_parse(&doctor_argp, argc, argv, 0, NULL, &json);
    if (ks_probe_table(&table, &err) != KS_OK) {
        return report_error(&err);
    }
    if (json) {
        ks_table_json(table, stdout, NULL);
    } else {
        printf("kernsight %s\n\n", ks_version());
        print_facts(table);
    }
    ks_table_free(table);
    return EXIT_OK;
}
