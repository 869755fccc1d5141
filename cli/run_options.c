#include "run_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT,
    LIST,
    FLAG
};

/* Keys of options without a letter. */
enum {
    KEY_RUNS = 256,
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
    KEY_FILE
};

/* Usage and help come from here. */
static const struct argp_option known[] = {
    {NULL, 0, NULL, 0, "What to measure:", 1},
    {"param", 'p', "NAME=VALUES", 0, "a parameter's values; several -p are multiplied", 1},
    {"zip", KEY_ZIP, NULL, 0, "pair the parameters' values instead", 1},
    {"metric", 'm', "METRIC,...", 0, "what to measure; times and output by default", 1},
    {"runs", KEY_RUNS, "N", 0, "measured calls per config (default 10)", 1},
    {"warmup", KEY_WARMUP, "N", 0, "unmeasured calls per config, first (default 0)", 1},
    {"order", KEY_ORDER, "ORDER", 0, "order of the configs: given (default) or shuffled", 1},
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
    {NULL, 0, NULL, 0, "Where results go:", 3},
    {"csv", KEY_CSV, "F", 0, "the table as CSV; - is stdout, in place of the table", 3},
    {"json", KEY_JSON, "F", 0, "everything as JSON; - is stdout, in place of the table", 3},
    {"quiet", 'q', NULL, 0, "no progress on stderr", 3},
    {0},
};

static const struct {
    int key;
    int kind;
    size_t offset;
} places[] = {
    {'p', LIST, offsetof(run_options, params)},
    {'m', LIST, offsetof(run_options, metrics)},
    {KEY_ENV, LIST, offsetof(run_options, env)},
    {KEY_RUNS, TEXT, offsetof(run_options, runs)},
    {KEY_WARMUP, TEXT, offsetof(run_options, warmup)},
    {KEY_CSV, TEXT, offsetof(run_options, csv)},
    {KEY_JSON, TEXT, offsetof(run_options, json)},
    {KEY_TIMEOUT, TEXT, offsetof(run_options, timeout)},
    {KEY_PREPARE, TEXT, offsetof(run_options, prepare)},
    {KEY_CWD, TEXT, offsetof(run_options, cwd)},
    {KEY_OUTPUT, TEXT, offsetof(run_options, output)},
    {KEY_MAX_CONFIGS, TEXT, offsetof(run_options, max_configs)},
    {KEY_ORDER, TEXT, offsetof(run_options, order)},
    {KEY_SEED, TEXT, offsetof(run_options, seed)},
    {KEY_FILE, TEXT, offsetof(run_options, file)},
    {KEY_ZIP, FLAG, offsetof(run_options, zip)},
    {KEY_TOLERANT, FLAG, offsetof(run_options, tolerant)},
    {'q', FLAG, offsetof(run_options, quiet)},
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

static void free_list(text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->texts[i]);
    }
    free(list->texts);
    *list = (text_list){0};
}

void free_run_options(run_options *options)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
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

/* Put an option's value where it belongs; false if there is no memory. */
static bool store(run_options *options, size_t place, const char *value)
{
    char *at = (char *)options + places[place].offset;
    if (places[place].kind == FLAG) {
        *(bool *)(void *)at = true;
        return true;
    }
    if (places[place].kind == LIST) {
        return add_text((text_list *)(void *)at, value);
    }
    char **text = (char **)(void *)at;
    free(*text);
    *text = strdup(value);
    return *text != NULL;
}

static size_t find_place(int key)
{
    size_t i = 0;
    while (i < sizeof places / sizeof places[0] && places[i].key != key) {
        i++;
    }
    return i;
}

static ks_status no_memory(ks_error *err)
{
    return ks_fail(err, KS_ENOMEM, "cli", 0, "out of memory");
}

static bool is_false(const char *value)
{
    return strcmp(value, "false") == 0 || strcmp(value, "no") == 0 || strcmp(value, "off") == 0;
}

static bool is_true(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "yes") == 0 || strcmp(value, "on") == 0;
}

ks_status set_run_option(run_options *options, const char *name, const char *value, ks_error *err)
{
    for (const struct argp_option *o = known; o->name != NULL || o->doc != NULL; o++) {
        if (o->name == NULL || strcmp(o->name, name) != 0 || o->key == KEY_FILE) {
            continue;
        }
        size_t place = find_place(o->key);
        if (places[place].kind == FLAG && is_false(value)) {
            return KS_OK;
        }
        if (places[place].kind == FLAG && !is_true(value)) {
            return ks_fail(err, KS_EINVAL, "cli", 0, "%s is true or false, not '%s'", name, value);
        }
        return store(options, place, value) ? KS_OK : no_memory(err);
    }
    return ks_fail(err, KS_ENOTFOUND, "cli", 0,
                   "there is no option '%s'; keys are the long names of `kernsight help run', and "
                   "'program'",
                   name);
}

/* What argp hands through: where options go, and those of a file that they come on top of. */
typedef struct reading {
    run_options *options;
    size_t file_params; /* the first ones are the file's: those of the command line replace them */
} reading;

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
    if (place == sizeof places / sizeof places[0]) {
        return ARGP_ERR_UNKNOWN;
    }
    if (key == 'p') {
        drop_file_param(r, arg);
    }
    if (!store(r->options, place, arg)) {
        argp_failure(state, EXIT_RUN_FAILED, 0, "out of memory");
    }
    return 0;
}

/* Without the note about short options, which says nothing new. */
static char *filter_help(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

static const struct argp parser = {
    .help_filter = filter_help,
    .options = known,
    .parser = parse,
    .args_doc = "-- PROGRAM [ARG...]",
    .doc =
        "Measure a program: its wall, user and system time, the bytes it writes to "
        "stdout.\v"
        "VALUES are separated by commas: numbers, texts, 'quoted texts', and ranges with both ends:\n"
        "  n=1,2,4       n=1..8        n=8..64+8     n=64..8-8\n"
        "  x=0..1+0.25   n=1..4096*2   mode=fast,'a, b'\n"
        "In PROGRAM, ARG, --prepare, --cwd and --env, {NAME} stands for the parameter's value and {{ "
        "for a brace.\n\n"
        "Examples:\n"
        "  kernsight run -- sleep 0.1\n"
        "  kernsight run -p level=1,3,6,9 --runs 5 -- gzip -c -{level} file\n"
        "  kernsight run -p t=1..8*2 --env OMP_NUM_THREADS={t} --csv t.csv -- ./solver\n"
        "  kernsight run --prepare 'sync' --timeout 60 --tolerant -- make -j4\n"
        "  kernsight run -m 'cpu__*' -- ./solver      (its memory too)\n"
        "  kernsight run --file sweep.yaml\n\n"
        "A sweep file:\n"
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
    reading first = {out, 0};
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &first);
    if (out->file == NULL) {
        return KS_OK;
    }
    /* read the file, then the command line once more on top of it */
    run_options merged = {0};
    ks_status status = read_sweep_file(out->file, &merged, err);
    if (status == KS_OK) {
        reading second = {&merged, merged.params.count};
        argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &second);
    }
    free_run_options(out);
    *out = merged;
    return status;
}
