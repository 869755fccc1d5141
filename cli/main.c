#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

const command commands[] = {
    {"run", "measure a program across parameter sweeps", cmd_run, &run_argp},
    {"metrics", "list the metrics that can be measured", cmd_metrics, &metrics_argp},
    {"doctor", "say what works on this machine, and what to do about the rest", cmd_doctor,
     &doctor_argp},
    {"help", "explain a command", cmd_help, &help_argp},
    {NULL, NULL, NULL, NULL},
};

const command *find_command(const char *name)
{
    for (const command *c = commands; c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    fprintf(stderr, "kernsight: there is no command '%s'; there are:", name);
    for (const command *c = commands; c->name != NULL; c++) {
        fprintf(stderr, "%s %s", c == commands ? "" : ",", c->name);
    }
    fputs("\n", stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");  /* only to learn whether the terminal takes UTF-8 */
    signal(SIGPIPE, SIG_IGN); /* results are kept when a reader of stdout goes away */
    argp_err_exit_status = EXIT_USAGE;
    atexit(finish_at_exit);
    if (argc < 2) {
        char *help[] = {(char *)"kernsight help", NULL};
        cmd_help(1, help);
        return finish_stdout(EXIT_USAGE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("kernsight %s\n", ks_version());
        return finish_stdout(EXIT_OK);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        char *help[] = {(char *)"kernsight help", NULL};
        return finish_stdout(cmd_help(1, help));
    }
    const command *c = find_command(argv[1]);
    if (c == NULL) {
        return unknown_command(argv[1]);
    }
    char name[64];
    snprintf(name, sizeof name, "kernsight %s", c->name);
    argv[1] = name;
    return finish_stdout(c->run(argc - 1, argv + 1));
}
