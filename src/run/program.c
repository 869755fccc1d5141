#include "run/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/num.h"
#include "base/str.h"
#include "run/child.h"
#include "run/executable.h"
#include "run/template.h"

enum {
    ARGUMENT_MAX = 1 << 17 /* the kernel takes no longer one (MAX_ARG_STRLEN) */
};

/* Texts that belong to us; count of them, then NULL. */
typedef struct text_list {
    char **texts;
    size_t count;
} text_list;

struct ks_program {
    text_list argv; /* templates, as all that follow */
    text_list env;
    char *cwd;
    char *prepare;
    double timeout_s;
    int stdout_fd;
    bool close_stdout;
};

extern char **environ;

/* ---- making one -------------------------------------------------------------------------------
 */

static void free_list(text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ks_free(list->texts[i]);
    }
    ks_free(list->texts);
    *list = (text_list){0};
}

static ks_status start_list(text_list *list, size_t room, ks_error *err)
{
    *list = (text_list){.texts = ks_calloc(room + 1, sizeof *list->texts)};
    return list->texts != NULL ? KS_OK : ks_enomem(err);
}

/* Add a text that is ours already; NULL means that there was no memory for it. */
static ks_status add_to_list(text_list *list, char *text, ks_error *err)
{
    if (text == NULL) {
        return ks_enomem(err);
    }
    list->texts[list->count++] = text;
    return KS_OK;
}

static ks_status copy_list(text_list *to, const char *const *from, size_t count, const char *what,
                           ks_error *err)
{
    KS_TRY(start_list(to, count, err));
    for (size_t i = 0; i < count; i++) {
        if (from[i] == NULL) {
            return ks_fail(err, KS_EINVAL, "program", 0, "%s %zu is missing (NULL)", what, i + 1);
        }
        KS_TRY(add_to_list(to, ks_strdup(from[i]), err));
    }
    return KS_OK;
}

static ks_status copy_text(char **to, const char *from, ks_error *err)
{
    if (from != NULL) {
        *to = ks_strdup(from);
        return *to != NULL ? KS_OK : ks_enomem(err);
    }
    return KS_OK;
}

static ks_status expand(const char *template, const ks_call *call, char **out, ks_error *err)
{
    ks_buf text;
    ks_buf_init(&text, ARGUMENT_MAX);
    ks_template_expand(template, call, &text);
    ks_status status = ks_buf_status(&text, err);
    *out = ks_buf_take(&text);
    return status == KS_OK && *out == NULL ? ks_enomem(err) : status;
}

/* What a template without names becomes. */
static ks_status expand_fixed(const char *template, char **out, ks_error *err)
{
    return template != NULL ? expand(template, NULL, out, err) : KS_OK;
}

/* Whether the folder and the program are there, as far as their names are known by now. */
static ks_status check_paths(const ks_program *p, ks_error *err)
{
    if (p->cwd != NULL && ks_template_has_names(p->cwd)) {
        return KS_OK;
    }
    char *cwd = NULL;
    char *name = NULL;
    struct stat st;
    ks_buf path;
    ks_buf_init(&path, KS_PATH_LENGTH_MAX);
    ks_status status = expand_fixed(p->cwd, &cwd, err);
    if (status == KS_OK && cwd != NULL && (stat(cwd, &st) != 0 || !S_ISDIR(st.st_mode))) {
        status = ks_fail(err, KS_ENOTFOUND, "program", 0,
                         "cannot run in '%s': there is no such folder", cwd);
    }
    if (status == KS_OK && !ks_template_has_names(p->argv.texts[0])) {
        status = expand_fixed(p->argv.texts[0], &name, err);
        status = status == KS_OK ? ks_find_executable(name, cwd, &path, err) : status;
    }
    ks_buf_fini(&path);
    ks_free(name);
    ks_free(cwd);
    return status;
}

/* Everything that can be said before the first call. */
static ks_status check_now(const ks_program *p, ks_error *err)
{
    for (size_t i = 0; i < p->env.count; i++) {
        const char *equals = strchr(p->env.texts[i], '=');
        if (equals == NULL || equals == p->env.texts[i]) {
            return ks_fail(err, KS_EINVAL, "program", 0, "environment '%s': NAME=VALUE is expected",
                           p->env.texts[i]);
        }
    }
    return check_paths(p, err);
}

static ks_status open_output(ks_program *p, const char *output, ks_error *err)
{
    p->stdout_fd = -1;
    if (output == NULL) {
        return KS_OK;
    }
    if (strcmp(output, "inherit") == 0) {
        p->stdout_fd = 2;
        return KS_OK;
    }
    if (ks_template_has_names(output)) {
        return ks_fail(err, KS_EINVAL, "program", 0,
                       "output '%s': all calls append to one file; {name} is not replaced in it",
                       output);
    }
    KS_TRY(ks_check_output(output, err));
    p->stdout_fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (p->stdout_fd < 0) {
        return ks_fail(err, KS_EIO, "program", errno, "cannot write %s: %s", output,
                       ks_errno_text(errno));
    }
    p->close_stdout = true;
    return KS_OK;
}

static ks_status fill(ks_program *p, const char *const *argv, size_t argc,
                      const ks_program_options *options, ks_error *err)
{
    KS_TRY(copy_list(&p->argv, argv, argc, "argument", err));
    KS_TRY(copy_list(&p->env, options->env, options->env_count, "environment entry", err));
    KS_TRY(copy_text(&p->cwd, options->cwd, err));
    KS_TRY(copy_text(&p->prepare, options->prepare, err));
    p->timeout_s = options->timeout_s;
    KS_TRY(check_now(p, err));
    return open_output(p, options->output, err);
}

ks_status ks_program_new(const char *const *argv, size_t argc, const ks_program_options *options,
                         ks_program **out, ks_error *err)
{
    static const ks_program_options defaults = KS_PROGRAM_OPTIONS_INIT;
    options = options != NULL ? options : &defaults;
    if (argc == 0 || argv == NULL) {
        return ks_fail(err, KS_EINVAL, "program", 0, "there is no program to run");
    }
    if (options->struct_size < sizeof defaults) {
        return ks_fail(err, KS_EINVAL, "program", 0,
                       "the options are not initialised; start from KS_PROGRAM_OPTIONS_INIT");
    }
    if (!(options->timeout_s >= 0.0 && options->timeout_s <= 1e9)) {
        return ks_fail(err, KS_EINVAL, "program", 0,
                       "the timeout must be from 0 (none) to 1e9 seconds");
    }
    ks_program *p = ks_calloc(1, sizeof *p);
    if (p == NULL) {
        return ks_enomem(err);
    }
    p->stdout_fd = -1;
    ks_status status = fill(p, argv, argc, options, err);
    if (status != KS_OK) {
        ks_program_free(p);
        return status;
    }
    *out = p;
    return KS_OK;
}

void ks_program_free(ks_program *program)
{
    if (program == NULL) {
        return;
    }
    free_list(&program->argv);
    free_list(&program->env);
    ks_free(program->cwd);
    ks_free(program->prepare);
    if (program->close_stdout) {
        close(program->stdout_fd);
    }
    ks_free(program);
}

static ks_status check_template(const char *text, const ks_plan *plan, ks_error *err)
{
    return text != NULL ? ks_template_check(text, plan, err) : KS_OK;
}

static bool any_names(const text_list *templates, const char *param)
{
    for (size_t i = 0; i < templates->count; i++) {
        if (ks_template_names(templates->texts[i], param)) {
            return true;
        }
    }
    return false;
}

bool ks_program_uses(const ks_program *p, const char *param)
{
    return any_names(&p->argv, param) || any_names(&p->env, param) ||
           (p->cwd != NULL && ks_template_names(p->cwd, param)) ||
           (p->prepare != NULL && ks_template_names(p->prepare, param));
}

ks_status ks_program_check(const ks_program *program, const ks_plan *plan, ks_error *err)
{
    if (program == NULL) {
        return ks_fail(err, KS_EINVAL, "program", 0, "there is no program (NULL) to run");
    }
    for (size_t i = 0; i < program->argv.count; i++) {
        KS_TRY(ks_template_check(program->argv.texts[i], plan, err));
    }
    for (size_t i = 0; i < program->env.count; i++) {
        KS_TRY(ks_template_check(program->env.texts[i], plan, err));
    }
    KS_TRY(check_template(program->cwd, plan, err));
    return check_template(program->prepare, plan, err);
}

/* ---- one call ---------------------------------------------------------------------------------
 */

static ks_status expand_list(const text_list *from, const ks_call *call, text_list *to,
                             ks_error *err)
{
    for (size_t i = 0; i < from->count; i++) {
        char *text = NULL;
        KS_TRY(expand(from->texts[i], call, &text, err));
        KS_TRY(add_to_list(to, text, err));
    }
    return KS_OK;
}

static bool same_variable(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return strncmp(a, b, length) == 0 && b[length] == '=';
}

/* Our own environment, with the program's additions in place of variables of the same name. */
static ks_status make_environment(const ks_program *p, const ks_call *call, text_list *to,
                                  ks_error *err)
{
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    KS_TRY(start_list(to, p->env.count + count, err));
    KS_TRY(expand_list(&p->env, call, to, err));
    size_t added = to->count;
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (size_t k = 0; k < added; k++) {
            replaced = replaced || same_variable(to->texts[k], environ[i]);
        }
        if (!replaced) {
            KS_TRY(add_to_list(to, ks_strdup(environ[i]), err));
        }
    }
    return KS_OK;
}

/* The last line of a program's stderr that says something. */
static const char *last_words(char *tail)
{
    size_t length = strlen(tail);
    while (length > 0 && strchr(" \t\r\n", tail[length - 1]) != NULL) {
        tail[--length] = '\0';
    }
    const char *line = strrchr(tail, '\n');
    line = line != NULL ? line + 1 : tail;
    size_t shown = strlen(line);
    return shown > 300 ? line + shown - 300 : line;
}

static ks_status judge(const char *what, ks_child_end *end, const ks_program *p, ks_error *err)
{
    const char *words = last_words(end->tail);
    const char *joint = words[0] != '\0' ? "; its last words: " : "";
    if (end->cancelled) {
        return ks_fail(err, KS_ECANCELED, "program", 0, "%s was ended: the run was cancelled",
                       what);
    }
    if (end->timed_out) {
        char seconds[KS_NUM_MAX];
        ks_num_f64_plain(p->timeout_s, seconds);
        return ks_fail(err, KS_EBODY, "program", 0,
                       "%s was ended: it ran longer than the timeout of %s s%s%s", what, seconds,
                       joint, words);
    }
    if (WIFSIGNALED(end->status)) {
        int number = WTERMSIG(end->status);
        const char *name = sigabbrev_np(number);
        return ks_fail(err, KS_EBODY, "program", number, "%s was killed by signal %d (SIG%s)%s%s",
                       what, number, name != NULL ? name : "?", joint, words);
    }
    if (WEXITSTATUS(end->status) != 0) {
        return ks_fail(err, KS_EBODY, "program", WEXITSTATUS(end->status),
                       "%s failed with exit status %d%s%s", what, WEXITSTATUS(end->status), joint,
                       words);
    }
    if (end->output_failed != 0 && p->close_stdout) {
        return ks_fail(err, KS_EIO, "program", end->output_failed,
                       "%s succeeded, but its output cannot be written: %s", what,
                       ks_errno_text(end->output_failed));
    }
    return KS_OK;
}

/* What one call runs: expanded, to be freed. */
typedef struct command {
    text_list argv;
    text_list env;
    char *cwd;
    ks_buf path;
} command;

static void free_command(command *c)
{
    free_list(&c->argv);
    free_list(&c->env);
    ks_free(c->cwd);
    ks_buf_fini(&c->path);
}

static ks_status prepare_command(const ks_program *p, const ks_call *call, command *c,
                                 ks_error *err)
{
    KS_TRY(start_list(&c->argv, p->argv.count, err));
    KS_TRY(expand_list(&p->argv, call, &c->argv, err));
    KS_TRY(make_environment(p, call, &c->env, err));
    if (p->cwd != NULL) {
        KS_TRY(expand(p->cwd, call, &c->cwd, err));
    }
    return ks_find_executable(c->argv.texts[0], c->cwd, &c->path, err);
}

static ks_status run_prepare(const ks_program *p, const command *c, const ks_call *call,
                             ks_error *err)
{
    if (p->prepare == NULL) {
        return KS_OK;
    }
    char *script = NULL;
    KS_TRY(expand(p->prepare, call, &script, err));
    char *const argv[] = {"sh", "-c", script, NULL};
    const ks_child_spec spec = {.path = "/bin/sh",
                                .argv = argv,
                                .envp = c->env.texts,
                                .cwd = c->cwd,
                                .timeout_s = p->timeout_s,
                                .stdout_fd = -1,
                                .call = call};
    ks_child_end end;
    ks_status status = ks_child_run(&spec, &end, err);
    if (status == KS_OK) {
        status = judge("the prepare command", &end, p, err);
    }
    ks_free(script);
    return status;
}

static ks_status run_program(const ks_program *p, const command *c, const ks_call *call,
                             ks_error *err)
{
    const char *name = ks_basename(c->argv.texts[0]);
    ks_token token = KS_TOKEN_INIT;
    ks_child_end end;
    KS_TRY(ks_annotate_begin(name, &token, err));
    const ks_child_spec spec = {.path = ks_buf_text(&c->path),
                                .argv = c->argv.texts,
                                .envp = c->env.texts,
                                .cwd = c->cwd,
                                .timeout_s = p->timeout_s,
                                .stdout_fd = p->stdout_fd,
                                .call = call,
                                .token = &token};
    ks_status status = ks_child_run(&spec, &end, err);
    ks_status ended = ks_annotate_end(token, err);
    KS_TRY(status);
    KS_TRY(ended);
    return judge(name, &end, p, err);
}

/* A call that failed before its program started: the row that says so is the program's. */
static void enter_unstarted(const command *c, const ks_error *why)
{
    ks_token token = KS_TOKEN_INIT;
    if (c->argv.count > 0 && why != NULL &&
        ks_annotate_begin(ks_basename(c->argv.texts[0]), &token, NULL) == KS_OK) {
        ks_annotate_fail(token, why->message, NULL);
    }
}

ks_status ks_program_body(const ks_call *call, void *program, ks_error *err)
{
    const ks_program *p = program;
    command c = {0};
    ks_buf_init(&c.path, KS_PATH_LENGTH_MAX);
    ks_status status = prepare_command(p, call, &c, err);
    if (status == KS_OK) {
        status = run_prepare(p, &c, call, err);
    }
    if (status == KS_OK) {
        status = run_program(p, &c, call, err);
    } else {
        enter_unstarted(&c, err);
    }
    free_command(&c);
    return status;
}
