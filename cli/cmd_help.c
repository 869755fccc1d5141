/* kernsight help [COMMAND] */
#include <string.h>

#include "command.h"

static void print_commands(void)
{
    fputs("Usage: kernsight COMMAND [OPTION...]\n"
          "Measure programs and annotated regions across parameter sweeps.\n\n",
          stdout);
    for (const command *c = commands; c->name != NULL; c++) {
        printf("  %-9s %s\n", c->name, c->summary);
    }
    fputs("\nExamples:\n"
          "  kernsight run -- sleep 0.1\n"
          "  kernsight run -p level=1,3,6,9 --runs 5 -- gzip -c -{level} file\n"
          "  kernsight metrics 'cpu__*'\n"
          "  kernsight help run\n\n"
          "kernsight --version prints the version.\n"
          "Exit status: 0 all went well, 1 a run failed or a result could not be written,\n"
          "2 wrong usage, 3 not available on this machine, 130 or 143 interrupted.\n",
          stdout);
}

int cmd_help(int argc, char **argv)
{
    if (argc < 2) {
        print_commands();
        return EXIT_OK;
    }
    for (const command *c = commands; c->name != NULL; c++) {
        if (strcmp(c->name, argv[1]) == 0 && c->run != cmd_help) {
            char name[64];
            char option[] = "--help";
            snprintf(name, sizeof name, "kernsight %s", c->name);
            char *args[] = {name, option, NULL};
            return c->run(2, args);
        }
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) {
        print_commands();
        return EXIT_OK;
    }
    fprintf(stderr, "kernsight help: there is no command '%s'; try `kernsight help'\n", argv[1]);
    return EXIT_USAGE;
}
