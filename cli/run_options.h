/* The options of `kernsight run`, from the command line and from a sweep file. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "command.h"

/* A list of texts that belong to it. */
typedef struct text_list {
    char **texts;
    size_t count;
} text_list;

typedef struct run_options {
    text_list params;  /* specs: n=1,2,4 */
    text_list metrics; /* names and patterns */
    text_list env;
    text_list program; /* and its arguments */
    text_list plots;   /* files, or - */
    text_list plot_metrics;
    uint64_t runs;     /* 0: auto */
    uint64_t min_runs; /* of auto; 0: the library's default, as in those below */
    uint64_t max_runs;
    double precision_pct;
    double budget_s;
    uint64_t warmup;
    uint64_t max_configs; /* 0: the library's limit */
    uint64_t seed;        /* 0: drawn */
    double timeout_s;     /* 0: none */
    ks_order order;
    ks_clock_control clocks;
    ks_thermal_mode thermal;
    char *csv;
    char *json;
    char *plot_x;
    char *plot_panels;
    char *prepare;
    char *cwd;
    char *output;
    char *file;
    bool zip;
    bool tolerant;
    bool launches;
    bool quiet;
} run_options;

#define RUN_OPTIONS_INIT                    \
    {                                       \
        .runs = 10, .order = KS_ORDER_GIVEN \
    }

/* Read the command line, and the sweep file that it names. Options of the command line win: single
 * ones, and -p for a parameter of the same name; -m and --env add to those of the file. Usage
 * errors end the program, as argp does it; others are told in `err`. */
ks_status read_run_options(int argc, char **argv, run_options *out, ks_error *err);
void free_run_options(run_options *options);

/* Whether a sweep file may have this key: `program`, or the long name of an option other than
 * --file. KS_ENOTFOUND, KS_EINVAL. */
ks_status check_run_option(const char *name, ks_error *err);

/* Set an option by its long name, as a sweep file does. As above; KS_EINVAL for a value that it
 * does not take. */
ks_status set_run_option(run_options *options, const char *name, const char *value, ks_error *err);

/* Add a text to a list; false if there is no memory. */
bool add_text(text_list *list, const char *text);
void free_list(text_list *list);

/* sweep_file.c */
ks_status read_sweep_file(const char *path, run_options *options, ks_error *err);
ks_status parse_sweep(const char *text, size_t length, run_options *options, ks_error *err);

#endif
