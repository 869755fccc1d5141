/* kernsight help [COMMAND] */
#include <string.h>

#include "command.h"

static const struct argp program_argp = {
    .args_doc = "COMMAND [OPTION...]",
    .doc = "Measure programs and annotated regions across parameter sweeps.\v"
           "Examples:\n"
           "  kernsight run -- sleep 0.1\n"
           "  kernsight run -p level=1,3,6,9 --runs 5 -- gzip -c -{level} file\n"
           "  kernsight metrics 'cpu__*'\n"
           "  kernsight help run\n\n"
           "kernsight --version prints the version.\n\n"
           "Environment: NO_COLOR turns colours off, COLUMNS is the width of tables on a\n"
           "terminal.\n\n"
           "Exit status: 0 all went well, 1 a run failed or a result could not be written,\n"
           "2 wrong usage, 3 not available on this machine, 130 or 143 interrupted.",
};

const command whole_program = {"", "measure programs and annotated regions across parameter sweeps",
                               NULL, &program_argp};

typedef struct options {
    const command *about;
    void (*print)(const command *about); /* NULL: the help */
} options;

enum {
    KEY_MAN = 256,
    KEY_LIST
};

static const struct argp_option known[] = {
    {"man", KEY_MAN, NULL, 0, "print the manual page in place of the help", 0},
    {"list", KEY_LIST, NULL, 0, "print commands, or the command's options, one a line", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_MAN:
        o->print = print_manual;
        return 0;
    case KEY_LIST:
        o->print = print_names;
        return 0;
    case ARGP_KEY_ARG:
        if (o->about != &whole_program) {
            return ARGP_ERR_UNKNOWN;
        }
        o->about = find_command(arg);
        if (o->about == NULL) {
            argp_error(state, "there is no command '%s'; try `kernsight help'", arg);
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp help_argp = {
    .options = known,
    .parser = parse,
    .args_doc = "[COMMAND]",
    .doc = "Explain a command, or list all of them.\v"
           "Examples:\n"
           "  kernsight help run\n"
           "  kernsight help --man run | man -l -",
};

static void print_overview(void)
{
    const char *doc = program_argp.doc;
    int first = (int)strcspn(doc, "\v");
    printf("Usage: kernsight %s\n%.*s\n\n", program_argp.args_doc, first, doc);
    for (const command *c = commands; c->name != NULL; c++) {
        printf("  %-9s %s\n", c->name, c->summary);
    }
    printf("\n%s\n", doc + first + 1);
}

int cmd_help(int argc, char **argv)
{
    options o = {.about = &whole_program};
    argp_parse(&help_argp, argc, argv, 0, NULL, &o);
    if (o.print != NULL) {
        o.print(o.about);
    } else if (o.about == &whole_program) {
        print_overview();
    } else {
        char name[64];
        char option[] = "--help";
        snprintf(name, sizeof name, "kernsight %s", o.about->name);
        char *args[] = {name, option, NULL};
        o.about->run(2, args);
    }
    return EXIT_OK;
}
