#include "run_options.h"

#include "option_values.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What an option takes. */
enum kind {
    TEXT,
    LIST,
    FLAG,
    NUMBER, /* a whole one */
    RUNS,   /* a whole number, or auto */
    SECONDS,
    PERCENT,
    ORDER,
    CLOCKS,
    THERMAL
};

/* Keys of options without a letter. */
enum {
    KEY_RUNS = 256,
    KEY_PRECISION,
    KEY_MIN_RUNS,
    KEY_MAX_RUNS,
    KEY_BUDGET,
    KEY_WARMUP,
    KEY_CSV,
    KEY_JSON,
    KEY_TOLERANT,
    KEY_TIMEOUT,
    KEY_PREPARE,
    KEY_CWD,
    KEY_ENV,
    KEY_OUTPUT,
    KEY_MAX_CONFIGS,
    KEY_ZIP,
    KEY_ORDER,
    KEY_SEED,
    KEY_CLOCKS,
    KEY_THERMAL,
    KEY_FILE,
    KEY_PLOT,
    KEY_PLOT_METRIC,
    KEY_PLOT_X,
    KEY_PLOT_PANELS,
    KEY_LAUNCHES
};

/* Usage and help come from here. */
static const struct argp_option known[] = {
    {NULL, 0, NULL, 0, "What to measure:", 1},
    {"param", 'p', "NAME=VALUES", 0, "a parameter's values; several -p are multiplied", 1},
    {"zip", KEY_ZIP, NULL, 0, "pair the parameters' values instead", 1},
    {"metric", 'm', "METRIC,...", 0, "what to measure; times and output by default", 1},
    {"runs", KEY_RUNS, "N|auto", 0,
     "measured calls per config (default 10); auto: as many as the precision needs", 1},
    {"precision", KEY_PRECISION, "PCT", 0,
     "--runs auto: +- in percent of the mean time, or of the first metric (default 1)", 1},
    {"min-runs", KEY_MIN_RUNS, "N", 0, "--runs auto: at least (default 10)", 1},
    {"max-runs", KEY_MAX_RUNS, "N", 0, "--runs auto: at most (default 1000)", 1},
    {"budget", KEY_BUDGET, "S", 0, "--runs auto: no more runs of a config after S seconds", 1},
    {"warmup", KEY_WARMUP, "N", 0, "unmeasured calls per config, first (default 0)", 1},
    {"order", KEY_ORDER, "given|shuffled|interleaved", 0,
     "order of the configs (default given); interleaved: a run of each, then the next", 1},
    {"seed", KEY_SEED, "N", 0, "of the shuffle; drawn by default", 1},
    {"max-configs", KEY_MAX_CONFIGS, "N", 0, "refuse larger sweeps (default 100000)", 1},
    {"file", KEY_FILE, "F", 0, "a sweep file: YAML or JSON with these options as keys", 1},
    {NULL, 0, NULL, 0, "How to run the program:", 2},
    {"prepare", KEY_PREPARE, "CMD", 0, "shell command before each call, not measured", 2},
    {"cwd", KEY_CWD, "D", 0, "folder that the program starts in", 2},
    {"env", KEY_ENV, "K=V", 0, "a variable added to its environment", 2},
    {"timeout", KEY_TIMEOUT, "S", 0, "end a call that takes longer, in seconds; it has failed", 2},
    {"tolerant", KEY_TOLERANT, NULL, 0, "go on after a call that failed", 2},
    {"output", KEY_OUTPUT, "inherit|F", 0,
     "send the program's stdout to stderr, or to a file; else it is only counted", 2},
    {"clock-control", KEY_CLOCKS, "none|base", 0,
     "base: lock the clocks of the first GPU meanwhile; as an administrator (default none)", 2},
    {"thermal", KEY_THERMAL, "off|auto|manual", 0,
     "wait before a call while the first GPU is hot: at 10 degrees below where it slows down, "
     "until there are 20; auto: or as many as help (default off)",
     2},
    {NULL, 0, NULL, 0, "Where results go:", 3},
    {"csv", KEY_CSV, "F", 0, "the table as CSV; - is stdout, in place of the table", 3},
    {"json", KEY_JSON, "F", 0, "everything as JSON; - is stdout, in place of the table", 3},
    {"plot", KEY_PLOT, "F", 0,
     "a plot as PNG, SVG or PDF by the end of F; - is text, after the table; needs gnuplot", 3},
    {"plot-metric", KEY_PLOT_METRIC, "METRIC,...", 0,
     "what to plot; by default what -m names, without -m the time", 3},
    {"plot-x", KEY_PLOT_X, "NAME", 0, "parameter along x; by default the one with most values", 3},
    {"plot-panels", KEY_PLOT_PANELS, "NAME", 0, "parameter with a panel for each value", 3},
    {"launches", KEY_LAUNCHES, NULL, 0,
     "the kernels that were launched, after the table; not seen in programs that run from here", 3},
    {"quiet", 'q', NULL, 0, "no progress on stderr", 3},
    {0},
};

#define PLACE(key, kind, member)                           \
    {                                                      \
        (key), (kind), offsetof(run_options, member), 0, 0 \
    }
#define NUMBER_PLACE(key, member, least, most)                        \
    {                                                                 \
        (key), NUMBER, offsetof(run_options, member), (least), (most) \
    }

static const struct {
    int key;
    enum kind kind;
    size_t offset;
    uint64_t least, most; /* of a number */
} places[] = {
    PLACE('p', LIST, params),
    PLACE('m', LIST, metrics),
    PLACE(KEY_ENV, LIST, env),
    PLACE(KEY_PLOT, LIST, plots),
    PLACE(KEY_PLOT_METRIC, LIST, plot_metrics),
    PLACE(KEY_RUNS, RUNS, runs),
    NUMBER_PLACE(KEY_MIN_RUNS, min_runs, 2, UINT32_MAX),
    NUMBER_PLACE(KEY_MAX_RUNS, max_runs, 2, UINT32_MAX),
    PLACE(KEY_PRECISION, PERCENT, precision_pct),
    PLACE(KEY_BUDGET, SECONDS, budget_s),
    NUMBER_PLACE(KEY_WARMUP, warmup, 0, UINT32_MAX),
    NUMBER_PLACE(KEY_MAX_CONFIGS, max_configs, 1, UINT32_MAX),
    NUMBER_PLACE(KEY_SEED, seed, 1, INT64_MAX),
    PLACE(KEY_TIMEOUT, SECONDS, timeout_s),
    PLACE(KEY_ORDER, ORDER, order),
    PLACE(KEY_CLOCKS, CLOCKS, clocks),
    PLACE(KEY_THERMAL, THERMAL, thermal),
    PLACE(KEY_CSV, TEXT, csv),
    PLACE(KEY_JSON, TEXT, json),
    PLACE(KEY_PLOT_X, TEXT, plot_x),
    PLACE(KEY_PLOT_PANELS, TEXT, plot_panels),
    PLACE(KEY_PREPARE, TEXT, prepare),
    PLACE(KEY_CWD, TEXT, cwd),
    PLACE(KEY_OUTPUT, TEXT, output),
    PLACE(KEY_FILE, TEXT, file),
    PLACE(KEY_ZIP, FLAG, zip),
    PLACE(KEY_TOLERANT, FLAG, tolerant),
    PLACE(KEY_LAUNCHES, FLAG, launches),
    PLACE('q', FLAG, quiet),
};

#undef PLACE
#undef NUMBER_PLACE

enum {
    PLACES = sizeof places / sizeof places[0]
};

bool add_text(text_list *list, const char *text)
{
    char **grown = realloc(list->texts, (list->count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    list->texts = grown;
    list->texts[list->count] = strdup(text);
    if (list->texts[list->count] == NULL) {
        return false;
    }
    list->count++;
    return true;
}

void free_list(text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->texts[i]);
    }
    free(list->texts);
    *list = (text_list){0};
}

void free_run_options(run_options *options)
{
    for (size_t i = 0; i < PLACES; i++) {
        char *at = (char *)options + places[i].offset;
        if (places[i].kind == LIST) {
            free_list((text_list *)(void *)at);
        } else if (places[i].kind == TEXT) {
            free(*(char **)(void *)at);
        }
    }
    free_list(&options->program);
    *options = (run_options){0};
}

/* Whether two specs are of the same parameter. */
static bool same_param(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return length == strcspn(b, "=") && strncmp(a, b, length) == 0;
}

static size_t find_place(int key)
{
    size_t i = 0;
    while (i < PLACES && places[i].key != key) {
        i++;
    }
    return i;
}

static ks_status no_memory(ks_error *err)
{
    return ks_fail(err, KS_ENOMEM, "cli", 0, "out of memory");
}

/* Put an option's value where it belongs; `name` is what the user calls it. */
static ks_status store(run_options *options, size_t place, const char *name, const char *value,
                       ks_error *err)
{
    void *at = (char *)options + places[place].offset;
    switch (places[place].kind) {
    case FLAG:
        return read_flag(name, value, at, err);
    case NUMBER:
        return read_number(name, value, places[place].least, places[place].most, at, err);
    case RUNS:
        return read_runs(name, value, at, err);
    case SECONDS:
        return read_seconds(name, value, at, err);
    case PERCENT:
        return read_percent(name, value, at, err);
    case ORDER:
        return read_order(name, value, at, err);
    case CLOCKS:
        return read_clocks(name, value, at, err);
    case THERMAL:
        return read_thermal(name, value, at, err);
    case LIST:
        return add_text(at, value) ? KS_OK : no_memory(err);
    case TEXT:
        break;
    }
    char **text = at;
    free(*text);
    *text = strdup(value);
    return *text != NULL ? KS_OK : no_memory(err);
}

static const struct argp_option *find_option(const char *name)
{
    for (const struct argp_option *o = known; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && strcmp(o->name, name) == 0) {
            return o;
        }
    }
    return NULL;
}

ks_status check_run_option(const char *name, ks_error *err)
{
    char names[512] = "program";
    if (strcmp(name, "program") == 0) {
        return KS_OK;
    }
    const struct argp_option *option = find_option(name);
    if (option != NULL && option->key == KEY_FILE) {
        return ks_fail(err, KS_EINVAL, "cli", 0, "a sweep file cannot name another one");
    }
    if (option != NULL) {
        return KS_OK;
    }
    for (const struct argp_option *o = known; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && o->key != KEY_FILE) {
            strncat(names, ", ", sizeof names - strlen(names) - 1);
            strncat(names, o->name, sizeof names - strlen(names) - 1);
        }
    }
    return ks_fail(err, KS_ENOTFOUND, "cli", 0, "there is no option '%s'; there are %s", name,
                   names);
}

ks_status set_run_option(run_options *options, const char *name, const char *value, ks_error *err)
{
    ks_status status = check_run_option(name, err);
    return status != KS_OK ? status
                           : store(options, find_place(find_option(name)->key), name, value, err);
}

/* What argp hands through: where options go, and those of a file that they come on top of. */
typedef struct reading {
    run_options *options;
    size_t file_params; /* the first ones are the file's: those of the command line replace them */
    bool given[PLACES]; /* on the command line */
    ks_error *err;
} reading;

/* An option that names the one file of its kind: given again, the first file would be lost. */
static bool names_output(int key)
{
    return key == KEY_CSV || key == KEY_JSON || key == KEY_OUTPUT;
}

static bool is_given(const reading *r, int key)
{
    return r->given[find_place(key)];
}

/* What only goes with an option of the file that the command line replaced is gone with it. */
static void drop_what_went_with_it(const reading *r)
{
    run_options *o = r->options;
    if (is_given(r, KEY_RUNS) && o->runs > 0) {
        o->precision_pct = is_given(r, KEY_PRECISION) ? o->precision_pct : 0.0;
        o->min_runs = is_given(r, KEY_MIN_RUNS) ? o->min_runs : 0;
        o->max_runs = is_given(r, KEY_MAX_RUNS) ? o->max_runs : 0;
        o->budget_s = is_given(r, KEY_BUDGET) ? o->budget_s : 0.0;
    }
    if (is_given(r, KEY_ORDER) && o->order != KS_ORDER_SHUFFLED && !is_given(r, KEY_SEED)) {
        o->seed = 0;
    }
}

static void drop_file_param(reading *r, const char *spec)
{
    text_list *params = &r->options->params;
    for (size_t i = 0; i < r->file_params; i++) {
        if (same_param(params->texts[i], spec)) {
            free(params->texts[i]);
            memmove(params->texts + i, params->texts + i + 1,
                    (params->count - i - 1) * sizeof *params->texts);
            params->count--;
            r->file_params--;
            return;
        }
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    reading *r = state->input;
    char name[32] = "--";
    size_t place = find_place(key);
    if (key == ARGP_KEY_ARG) {
        free_list(&r->options->program); /* the command line's program wins */
        state->next--;
        for (; state->next < state->argc; state->next++) {
            if (!add_text(&r->options->program, state->argv[state->next])) {
                argp_failure(state, EXIT_RUN_FAILED, 0, "out of memory");
            }
        }
        return 0;
    }
    if (place == PLACES) {
        return ARGP_ERR_UNKNOWN;
    }
    if (key == 'p') {
        drop_file_param(r, arg);
    }
    const struct argp_option *option = known;
    while (option->key != key) {
        option++;
    }
    strncat(name, option->name, sizeof name - sizeof "--");
    if (names_output(key) && r->given[place]) {
        ks_fail(r->err, KS_EINVAL, "cli", 0, "%s is given twice; it names one file", name);
        return EINVAL;
    }
    r->given[place] = true;
    return store(r->options, place, name, arg, r->err) == KS_OK ? 0 : EINVAL;
}

const struct argp run_argp = {
    .options = known,
    .parser = parse,
    .args_doc = "-- PROGRAM [ARG...]",
    .doc =
        "Measure a program: its wall, user and system time, the bytes it writes to "
        "stdout.\v"
        "VALUES are separated by commas: numbers, texts, 'quoted texts', and ranges. The end of a range "
        "is a value too if a step meets it:\n"
        "  n=1,2,4       n=1..8        n=8..64+8     n=64..8-8\n"
        "  x=0..1+0.25   n=1..4096*2   mode=fast,'a, b'\n"
        "In PROGRAM, ARG, --prepare, --cwd and --env, {NAME} stands for the parameter's value and {{ "
        "for a brace.\n\n"
        "Given twice, -p, -m, --env, --plot and --plot-metric add up, --csv, --json and --output are "
        "refused; of other options the last counts.\n\n"
        "Examples:\n"
        "  kernsight run -- sleep 0.1\n"
        "  kernsight run -p level=1,3,6,9 --runs 5 -- gzip -c -{level} file\n"
        "  kernsight run -p t=1..8*2 --env OMP_NUM_THREADS={t} -- ./solver\n"
        "  kernsight run -p n=8,16 --csv n.csv --json n.json -- ./solver {n}\n"
        "  kernsight run --prepare 'sync' --timeout 60 --tolerant -- make -j4\n"
        "  kernsight run --runs auto --precision 0.5 -- ./solver\n"
        "  kernsight run -m 'cpu__*' -- ./solver      (its memory too)\n"
        "  kernsight run -p n=1..8*2 --plot n.png --plot - -- ./solver {n}\n"
        "  kernsight run --file sweep.yaml\n\n"
        "A sweep file (the command line wins; -m, --env and --plot add to the file's):\n"
        "  param:\n"
        "    level: [1, 3, 6, 9]\n"
        "    threads: 1..8*2\n"
        "  env: {OMP_NUM_THREADS: '{threads}'}\n"
        "  runs: 5\n"
        "  program: [gzip, -c, '-{level}', file]\n\n"
        "Exit status: 0 all went well, 1 a run failed or a result could not be written, 2 wrong "
        "usage, 3 not available on this machine, 130 or 143 interrupted.",
};

ks_status read_run_options(int argc, char **argv, run_options *out, ks_error *err)
{
    reading first = {.options = out, .err = err};
    if (argp_parse(&run_argp, argc, argv, ARGP_IN_ORDER, NULL, &first) != 0) {
        return err->code;
    }
    if (out->file == NULL) {
        return KS_OK;
    }
    /* read the file, then the command line once more on top of it */
    run_options merged = RUN_OPTIONS_INIT;
    ks_status status = read_sweep_file(out->file, &merged, err);
    if (status == KS_OK) {
        reading second = {.options = &merged, .file_params = merged.params.count, .err = err};
        argp_parse(&run_argp, argc, argv, ARGP_IN_ORDER, NULL, &second);
        drop_what_went_with_it(&second);
        status = err->code;
    }
    free_run_options(out);
    *out = merged;
    return status;
}
