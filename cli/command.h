/* The commands of the kernsight program, and what they share. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "kernsight/kernsight.h"

/* Exit statuses. Those of interruptions are 128 + the signal's number. */
enum exit_status {
    EXIT_OK = 0,
    EXIT_RUN_FAILED = 1, /* a run failed, or results could not be written */
    EXIT_USAGE = 2,      /* unknown name, bad value, bad sweep file */
    EXIT_UNAVAILABLE = 3 /* known, but not available here */
};

typedef struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is "kernsight NAME" */
    const struct argp *argp;           /* its options and texts; `doc` has a \v */
} command;

/* The table of commands, ended by one without a name. */
extern const command commands[];
const command *find_command(const char *name); /* NULL: there is none */

/* What `kernsight help` says; it has no name. */
extern const command whole_program;

int cmd_run(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_help(int argc, char **argv);

extern const struct argp run_argp;
extern const struct argp metrics_argp;
extern const struct argp doctor_argp;
extern const struct argp help_argp;

/* manual.c: a page for man, and lines for completion: of the program a command and its summary in
 * each, of a command an option's letter, name, argument and text, and last its arguments; tabs
 * between them, - for none. */
void print_manual(const command *page);
void print_names(const command *of);

/* Say what went wrong on stderr, and which exit status it is for a command that did nothing yet. */
int report_error(const ks_error *err);

/* How to print on this stdout: width and colour of a terminal, or neither. */
ks_print_options stdout_options(void);

/* Close stdout, and turn what could not be written into the exit status. A reader that has gone
 * away
 * (`| head`) is no failure. */
int finish_stdout(int status);
/* The same for atexit(): argp ends the program itself, after --help. */
void finish_at_exit(void);

#endif
