/* kernsight run [OPTION...] -- PROGRAM [ARG...] */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outputs.h"
#include "plots.h"
#include "progress.h"
#include "run_options.h"

/* What the signal handler needs. */
static ks_plan *volatile active_plan;
static volatile sig_atomic_t got_signal;

static void on_signal(int number)
{
    got_signal = number;
    ks_plan_cancel(active_plan);
}

static void watch_signals(ks_plan *plan)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waiting calls wake up */
    active_plan = plan;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void ignore_signals(void)
{
    signal(SIGINT, SIG_IGN); /* results are being written: that is short, and must not be cut */
    signal(SIGTERM, SIG_IGN);
}

/* ---- options to plan and program --------------------------------------------------------------
 */

/* `-m a,b`: the names between the commas. */
static void add_metrics(ks_plan *plan, const char *names, ks_error *err)
{
    char *copy = strdup(names);
    char *rest = copy;
    if (copy == NULL) {
        ks_fail(err, KS_ENOMEM, "cli", 0, "out of memory");
        return;
    }
    for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
        ks_plan_metric(plan, name, err);
    }
    free(copy);
}

static void set_runs(ks_plan *plan, const run_options *o, ks_error *err)
{
    if (o->runs > 0) {
        if (o->min_runs != 0 || o->max_runs != 0 || o->precision_pct > 0.0 || o->budget_s > 0.0) {
            ks_fail(err, KS_EINVAL, "cli", 0,
                    "--precision, --min-runs, --max-runs and --budget have no use without --runs "
                    "auto");
        }
        ks_plan_runs(plan, (uint32_t)o->runs, err);
        return;
    }
    ks_auto_runs until = KS_AUTO_RUNS_INIT;
    until.precision = o->precision_pct > 0.0 ? o->precision_pct / 100.0 : until.precision;
    until.min_runs = o->min_runs > 0 ? (uint32_t)o->min_runs : until.min_runs;
    until.max_runs = o->max_runs > 0 ? (uint32_t)o->max_runs : until.max_runs;
    until.budget_s = o->budget_s;
    ks_plan_auto_runs(plan, &until, err);
}

static void set_order(ks_plan *plan, const run_options *o, ks_error *err)
{
    if (o->seed != 0 && o->order != KS_ORDER_SHUFFLED) {
        ks_fail(err, KS_EINVAL, "cli", 0, "--seed has no use without --order shuffled");
    }
    ks_plan_order(plan, o->order, o->seed, err);
}

/* Quote an argument the way a shell would read it back. */
static void add_quoted(FILE *to, const char *argument)
{
    const char *plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^{}";
    if (argument[0] != '\0' && argument[strspn(argument, plain)] == '\0') {
        fputs(argument, to);
        return;
    }
    fputc('\'', to);
    for (; *argument != '\0'; argument++) {
        fputs(*argument == '\'' ? "'\\''" : (char[]){*argument, '\0'}, to);
    }
    fputc('\'', to);
}

static void note_command(ks_plan *plan, int argc, char **argv, ks_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        ks_fail(err, KS_ENOMEM, "cli", 0, "out of memory");
        return;
    }
    fputs(argv[0], to);
    for (int i = 1; i < argc; i++) {
        fputc(' ', to);
        add_quoted(to, argv[i]);
    }
    fclose(to);
    /* a fact is text; arguments that are not UTF-8 are refused where they are used */
    ks_error ignored = KS_ERROR_INIT;
    ks_plan_fact(plan, "command", text, &ignored);
    free(text);
}

/* Kernels are seen from inside their process alone: nothing is measured for a table of none. */
static ks_status check_launches(const run_options *o, ks_error *err)
{
    return !o->launches
               ? KS_OK
               : ks_fail(err, KS_UNAVAILABLE, "cli", 0,
                         "--launches has nothing to show: a program is measured from outside here, "
                         "and launches of kernels are seen from inside alone; annotate the "
                         "program, and print its results with ks_print_options.launches, or ask "
                         "ks_results_kernels() (docs/gpu.md)");
}

static ks_status make_plan(const run_options *o, ks_plan **out, ks_error *err)
{
    if (ks_plan_new(out, err) != KS_OK) {
        return err->code;
    }
    ks_plan *plan = *out;
    for (size_t i = 0; i < o->params.count; i++) {
        ks_plan_axis_spec(plan, o->params.texts[i], err);
    }
    for (size_t i = 0; i < o->metrics.count; i++) {
        add_metrics(plan, o->metrics.texts[i], err);
    }
    ks_plan_zip(plan, o->zip, err);
    set_runs(plan, o, err);
    ks_plan_warmup(plan, (uint32_t)o->warmup, err);
    if (o->max_configs > 0) {
        ks_plan_max_configs(plan, (size_t)o->max_configs, err);
    }
    set_order(plan, o, err);
    ks_plan_clock_control(plan, o->clocks, err);
    ks_thermal thermal = KS_THERMAL_INIT;
    thermal.mode = o->thermal;
    ks_plan_thermal(plan, &thermal, err);
    return ks_plan_tolerant(plan, o->tolerant, err);
}

static ks_status make_program(const run_options *o, ks_program **out, ks_error *err)
{
    ks_program_options options = KS_PROGRAM_OPTIONS_INIT;
    if (o->program.count == 0) {
        return ks_fail(err, KS_EINVAL, "cli", 0,
                       "there is no program to run: kernsight run [OPTION...] -- PROGRAM [ARG...]");
    }
    options.cwd = o->cwd;
    options.env = (const char *const *)o->env.texts;
    options.env_count = o->env.count;
    options.prepare = o->prepare;
    options.output = o->output;
    options.timeout_s = o->timeout_s;
    return ks_program_new((const char *const *)o->program.texts, o->program.count, &options, out,
                          err);
}

/* ---- results ----------------------------------------------------------------------------------
 */

/* Say a failure and go on: the other outputs must not be lost with it. */
static int note_failure(ks_status status, ks_error *err)
{
    if (status == KS_OK) {
        return EXIT_OK;
    }
    fprintf(stderr, "kernsight: %s\n", err->message);
    ks_error_clear(err);
    return EXIT_RUN_FAILED;
}

/* Say that a file could not be written, or where its name is another one. */
static int note_file(const ks_results *results, const char *path, ks_status written, ks_error *err)
{
    struct stat st;
    int status = note_failure(written, err);
    bool device = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    if (status == EXIT_OK && !ks_results_complete(results) && !device) {
        fprintf(stderr, "kernsight: what was measured is in %s.partial\n", path);
    }
    return status;
}

static int write_files(const run_options *o, const plots *p, const ks_results *results)
{
    ks_error err = KS_ERROR_INIT;
    int status = EXIT_OK;
    if (o->csv != NULL && !is_stdout(o->csv)) {
        status |= note_file(results, o->csv, ks_results_write_csv(results, o->csv, &err), &err);
    }
    if (o->json != NULL && !is_stdout(o->json)) {
        status |= note_file(results, o->json, ks_results_write_json(results, o->json, &err), &err);
    }
    for (size_t i = 0; i < o->plots.count && ks_table_rows(ks_results_table(results)) > 0; i++) {
        const char *path = o->plots.texts[i];
        if (!is_stdout(path)) {
            status |=
                note_file(results, path, ks_results_plot(results, path, &p->options, &err), &err);
        }
    }
    return status;
}

/* The table, and the plots that are text. */
static ks_status print_results(const run_options *o, const plots *p, const ks_results *results,
                               ks_error *err)
{
    ks_print_options options = stdout_options();
    if (ks_table_rows(ks_results_table(results)) == 0) {
        return KS_OK;
    }
    ks_status status = ks_results_print(results, stdout, &options, err);
    for (size_t i = 0; i < o->plots.count && status == KS_OK; i++) {
        if (is_stdout(o->plots.texts[i])) {
            putchar('\n');
            status = ks_results_plot_text(results, stdout, &p->options, err);
        }
    }
    return status;
}

/* Files first: a reader of stdout that goes away must not cost them. What stdout does not take,
 * finish_stdout() tells. */
static int write_results(const run_options *o, const plots *p, const ks_results *results)
{
    ks_error err = KS_ERROR_INIT;
    int status = write_files(o, p, results);
    ks_status printed = is_stdout(o->csv)    ? ks_results_csv(results, stdout, &err)
                        : is_stdout(o->json) ? ks_results_json(results, stdout, &err)
                                             : print_results(o, p, results, &err);
    return printed == KS_OK || printed == KS_EIO ? status : status | note_failure(printed, &err);
}

static int run_status(ks_status status, const ks_results *results, const ks_error *err)
{
    if (results == NULL) {
        return report_error(err);
    }
    size_t failed = ks_results_finished(results) - ks_results_succeeded(results);
    if (got_signal != 0 && status == KS_ECANCELED) {
        fprintf(stderr, "kernsight: %s\n", err->message);
        return 128 + (int)got_signal;
    }
    if (status != KS_OK) {
        fprintf(stderr, "kernsight: %s\n", err->message);
        return EXIT_RUN_FAILED;
    }
    if (failed > 0) {
        fprintf(stderr, "kernsight: %zu of %zu configs succeeded\n", ks_results_succeeded(results),
                ks_results_planned(results));
        return EXIT_RUN_FAILED;
    }
    return EXIT_OK;
}

static int measure(const run_options *o, const plots *p, ks_plan *plan, ks_program *program)
{
    ks_error err = KS_ERROR_INIT;
    ks_results *results = NULL;
    const char *slash = strrchr(o->program.texts[0], '/');
    const char *term = getenv("TERM");
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    progress shown = {.terminal = isatty(STDERR_FILENO) == 1 && !dumb,
                      .program = slash != NULL ? slash + 1 : o->program.texts[0],
                      .budget_s = o->budget_s};
    if (!o->quiet) {
        ks_plan_progress(plan, show_progress, &shown, &err);
    }
    watch_signals(plan);
    ks_status status = ks_run(plan, ks_program_body, program, &results, &err);
    ignore_signals();
    int written = results != NULL ? write_results(o, p, results) : EXIT_OK;
    fflush(stdout); /* the table before the message about it */
    int exit_status = run_status(status, results, &err);
    ks_results_free(results);
    return exit_status != EXIT_OK ? exit_status : written;
}

int cmd_run(int argc, char **argv)
{
    run_options o = RUN_OPTIONS_INIT;
    ks_error err = KS_ERROR_INIT;
    ks_plan *plan = NULL;
    ks_program *program = NULL;
    plots p = {.metrics = {0}};
    ks_status status = read_run_options(argc, argv, &o, &err);
    if (status == KS_OK) {
        status = check_launches(&o, &err);
    }
    if (status == KS_OK) {
        status = make_plan(&o, &plan, &err);
    }
    if (status == KS_OK) {
        note_command(plan, argc, argv, &err);
        status = check_outputs(&o, &err);
    }
    if (status == KS_OK) {
        status = make_plots(&o, &p, &err);
    }
    if (status == KS_OK) {
        status = make_program(&o, &program, &err);
    }
    if (status == KS_OK) {
        status = check_plots(&o, &p, plan, &err);
    }
    int exit_status = status == KS_OK ? measure(&o, &p, plan, program) : report_error(&err);
    free_plots(&p);
    ks_program_free(program);
    ks_plan_free(plan);
    free_run_options(&o);
    return exit_status;
}
