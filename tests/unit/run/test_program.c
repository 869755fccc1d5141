/* Unmodified programs: what is measured, and what goes wrong. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ks_error err;
static ks_plan *plan;
static ks_program *program;
static ks_results *results;

static int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    plan = NULL;
    program = NULL;
    results = NULL;
    KT_OK(ks_plan_new(&plan, &err));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    ks_program_free(program);
    ks_plan_free(plan);
    return 0;
}

static ks_program_options options_of(void)
{
    ks_program_options options = KS_PROGRAM_OPTIONS_INIT;
    return options;
}

/* A shell script as the program: its annotation is "sh". */
static ks_status make(const char *script, const ks_program_options *options)
{
    const char *argv[] = {"sh", "-c", script};
    ks_program_free(program);
    program = NULL;
    return ks_program_new(argv, 3, options, &program, &err);
}

static ks_status run(void)
{
    ks_results_free(results);
    results = NULL;
    return ks_run(plan, ks_program_body, program, &results, &err);
}

static double mean(const char *metric)
{
    return kt_number(ks_results_table(results), (kt_key){"sh", metric, KT_ANY}, "AvgValue");
}

static void output_is_counted_to_the_byte(void **state)
{
    (void)state;
    KT_OK(make("head -c 3000000 /dev/zero", NULL));
    KT_OK(run());
    KT_F64(mean("program__stdout_bytes.sum"), 3000000);
    KT_OK(make("exec true", NULL));
    KT_OK(run());
    KT_F64(mean("program__stdout_bytes.sum"), 0);
}

static void times_are_those_of_the_program(void **state)
{
    (void)state;
    KT_OK(make("sleep 0.05", NULL));
    KT_OK(run());
    assert_true(mean("cpu__time_duration.sum") >= 50e6);
    assert_true(mean("cpu__user_time.sum") < 45e6);
    /* children that it waited for count */
    KT_OK(make("sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'", NULL));
    KT_OK(run());
    double cpu = mean("cpu__user_time.sum") + mean("cpu__system_time.sum");
    assert_true(cpu > 1e6);
    assert_true(cpu <= mean("cpu__time_duration.sum") * 1.5 + 20e6);
}

static void memory_is_the_programs_not_ours(void **state)
{
    (void)state;
    enum {
        OURS = 200 << 20
    };
    char *big = malloc(OURS); /* a process that grew since */
    assert_non_null(big);
    memset(big, 1, OURS);
    KT_OK(ks_plan_metric(plan, "cpu__max_rss.max", &err));
    KT_OK(make("exec true", NULL));
    KT_OK(run());
    kt_key key = {"sh", "cpu__max_rss.max", KT_ANY};
    const ks_table *t = ks_results_table(results);
    double value = kt_number(t, key, "AvgValue");
    /* either it is known and small, or it is missing with the reason; never our own 200 MiB */
    assert_true(value < 50e6 || value != value);
    if (value != value) {
        KT_HAS(kt_text(t, key, "Failure"), "below what the measuring process itself needs");
    }
    free(big);
#if !defined(__SANITIZE_ADDRESS__) /* whose own memory is more than the program's */
    KT_OK(make("exec head -c 60000000 /dev/zero | tail -c 50000000 > /dev/null", NULL));
    KT_OK(run());
    assert_true(mean("cpu__max_rss.max") > 40e6);
#endif
}

static void parameters_are_put_into_arguments_and_environment(void **state)
{
    (void)state;
    ks_program_options options = options_of();
    const char *env[] = {"KS_N=<{n}>", "KS_SET=no"};
    setenv("KS_SET", "yes", 1);
    options.env = env;
    options.env_count = 2;
    options.cwd = "/";
    KT_OK(ks_plan_axis_spec(plan, "n=5,12", &err));
    KT_OK(ks_plan_axis_spec(plan, "x=0.5", &err));
    KT_OK(make("[ \"$KS_N\" = '<{n}>' ] && [ \"$KS_SET\" = no ] && [ \"$PWD\" = / ] && "
               "[ '{x}' = 0.5 ] && printf %s '{{n}{not a name}{ }' && head -c {n} /dev/zero",
               &options));
    KT_OK(run());
    const ks_table *t = ks_results_table(results);
    /* {n}{not a name}{ } has 18 characters */
    KT_F64(kt_number(t, (kt_key){"sh", "program__stdout_bytes.sum", 5}, "AvgValue"), 23);
    KT_F64(kt_number(t, (kt_key){"sh", "program__stdout_bytes.sum", 12}, "AvgValue"), 30);
}

static void failures_say_how_it_ended_and_its_last_words(void **state)
{
    (void)state;
    KT_OK(make("echo first >&2; echo the disk is gone >&2; exit 3", NULL));
    KT_FAILS(run(), KS_EBODY, "sh failed with exit status 3; its last words: the disk is gone");
    KT_OK(make("kill -SEGV $$", NULL));
    KT_FAILS(run(), KS_EBODY, "sh was killed by signal 11 (SIGSEGV)");
    KT_OK(make("exit 0", NULL));
    KT_OK(run());
    KT_OK(make("printf '\\377\\tx\\n\\n' >&2; exit 1", NULL)); /* bytes that are no text */
    KT_FAILS(run(), KS_EBODY, "last words: ? x");
}

static void a_failed_config_does_not_take_the_others(void **state)
{
    (void)state;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2,3", &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(make("[ {n} != 2 ]", NULL));
    KT_OK(run());
    const ks_table *t = ks_results_table(results);
    kt_key key = {"sh", "cpu__time_duration.sum", 2};
    KT_HAS(kt_text(t, key, "Failure"), "all 2 runs failed: sh failed with exit status 1");
    key.n = 3;
    KT_F64(kt_number(t, key, "NumRuns"), 2);
}

static void a_program_that_hangs_is_ended(void **state)
{
    (void)state;
    ks_program_options options = options_of();
    options.timeout_s = 0.2;
    KT_OK(make("sleep 100 & wait", &options)); /* with a child that would live on */
    KT_FAILS(run(), KS_EBODY, "ran longer than the timeout of 0.2 s");
    options.timeout_s = 1000; /* one that is not reached */
    KT_OK(make("exit 0", &options));
    KT_OK(run());
}

static void a_program_that_ignores_the_request_is_killed(void **state)
{
    (void)state;
    ks_program_options options = options_of();
    options.timeout_s = 0.1;
    KT_OK(make("trap '' TERM; while :; do sleep 0.05; done", &options));
    KT_FAILS(run(), KS_EBODY, "timeout");
}

static void who_inherits_the_pipes_does_not_hold_us_up(void **state)
{
    (void)state;
    char script[600];
    /* it writes when we have gone on, or at last after a minute, so that it is counted */
    snprintf(script, sizeof script,
             "printf abc; (i=0; while [ ! -e %s ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); "
             "done; echo late) & exit 0",
             kt_path("went_on"));
    unlink(kt_path("went_on"));
    KT_OK(ks_plan_runs(plan, 1, &err));
    KT_OK(make(script, NULL));
    KT_OK(run());
    KT_F64(mean("program__stdout_bytes.sum"), 3);
    FILE *file = fopen(kt_path("went_on"), "w");
    assert_non_null(file);
    fclose(file);
}

static void the_prepare_command_comes_before_each_call(void **state)
{
    (void)state;
    ks_program_options options = options_of();
    char prepare[600];
    snprintf(prepare, sizeof prepare, "echo {n} >> %s", kt_path("prepared"));
    unlink(kt_path("prepared"));
    options.prepare = prepare;
    KT_OK(ks_plan_axis_spec(plan, "n=7,8", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_warmup(plan, 1, &err));
    KT_OK(make("exit 0", &options));
    KT_OK(run());
    char *text = kt_read(kt_path("prepared"));
    assert_string_equal(text, "7\n7\n7\n8\n8\n8\n");
    free(text);
    options.prepare = "echo no luck >&2; exit 4";
    KT_OK(make("exit 0", &options));
    KT_FAILS(run(), KS_EBODY,
             "the prepare command failed with exit status 4; its last words: no luck");
}

static void output_can_go_to_a_file(void **state)
{
    (void)state;
    ks_program_options options = options_of();
    char path[512];
    snprintf(path, sizeof path, "%s", kt_path("stdout"));
    kt_write(path, "old");
    options.output = path;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(make("echo {n}", &options));
    KT_OK(run());
    KT_F64(kt_number(ks_results_table(results), (kt_key){"sh", "program__stdout_bytes.sum", 2},
                     "AvgValue"),
           2);
    ks_program_free(program);
    program = NULL;
    char *text = kt_read(path);
    assert_string_equal(text, "1\n2\n");
    free(text);
    options.output = "/nonexistent/x";
    assert_int_equal(make("true", &options), KS_EIO);
    ks_error_clear(&err);
}

static void what_cannot_run_is_told_before_the_run(void **state)
{
    (void)state;
    ks_program_options options = options_of();
    const char *missing[] = {"no-such-program-anywhere"};
    const char *not_executable[] = {"/etc/passwd"};
    const char *folder[] = {"/tmp"};
    KT_FAILS(ks_program_new(missing, 1, NULL, &program, &err), KS_ENOTFOUND,
             "cannot run 'no-such-program-anywhere': there is no such program");
    KT_FAILS(ks_program_new(not_executable, 1, NULL, &program, &err), KS_EPERM,
             "it is not an executable file");
    KT_FAILS(ks_program_new(folder, 1, NULL, &program, &err), KS_EPERM, "not an executable file");
    KT_FAILS(ks_program_new(NULL, 0, NULL, &program, &err), KS_EINVAL, "no program to run");
    options.cwd = "/nonexistent";
    KT_FAILS(make("true", &options), KS_ENOTFOUND, "cannot run in '/nonexistent'");
    options = options_of();
    options.timeout_s = -1;
    KT_FAILS(make("true", &options), KS_EINVAL, "timeout");
    options = options_of();
    options.env = (const char *const[]){"novalue"};
    options.env_count = 1;
    KT_FAILS(make("true", &options), KS_EINVAL, "NAME=VALUE");
    KT_OK(make("echo {m}", NULL));
    KT_FAILS(run(), KS_EINVAL, "names {m}, but there is no parameter m");
    assert_null(results);
    KT_OK(ks_plan_metric(plan, "sm__cycles_active.avg", &err));
    KT_OK(make("true", NULL));
    KT_FAILS(run(), KS_UNAVAILABLE, "cannot be measured of an unmodified program");
}

static void a_program_named_by_a_parameter_is_looked_for_in_its_turn(void **state)
{
    (void)state;
    const char *argv[] = {"{p}"};
    KT_OK(ks_plan_axis_spec(plan, "p=true,no-such-program", &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_program_new(argv, 1, NULL, &program, &err));
    KT_OK(run());
    const ks_table *t = ks_results_table(results);
    assert_string_equal(ks_table_text(t, 0, 0), "true");
    size_t failures = 0;
    for (size_t row = 0; row < ks_table_rows(t); row++) {
        const char *failure = ks_table_text(t, row, ks_table_find(t, "Failure"));
        failures += failure != NULL && strstr(failure, "there is no such program") != NULL;
    }
    assert_true(failures > 0);
}

static void a_program_is_looked_for_in_the_folder_where_it_runs(void **state)
{
    (void)state;
    char folder[512];
    char path[600];
    ks_program_options options = options_of();
    for (int i = 1; i <= 2; i++) {
        snprintf(folder, sizeof folder, "%s%d", kt_path("in{"), i);
        mkdir(folder, 0755);
        snprintf(path, sizeof path, "%s/ks-local", folder);
        kt_write(path, "#!/bin/sh\nprintf 123\n");
        chmod(path, 0755);
    }
    char template[512];
    snprintf(template, sizeof template, "%s{n}", kt_path("in{{"));
    options.cwd = template;
    const char *argv[] = {"./ks-local"};
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    KT_OK(ks_program_new(argv, 1, &options, &program, &err));
    KT_OK(run());
    assert_int_equal(ks_results_succeeded(results), 2);
    /* a brace is one before anything is known of a config, and PATH may have folders in it */
    snprintf(template, sizeof template, "%s1", kt_path("in{{"));
    ks_program_free(program);
    program = NULL;
    KT_OK(ks_program_new(argv, 1, &options, &program, &err));
    char *before = strdup(getenv("PATH"));
    setenv("PATH", "nowhere:.:/bin", 1);
    argv[0] = "ks-local";
    ks_program_free(program);
    program = NULL;
    ks_status status = ks_program_new(argv, 1, &options, &program, &err);
    status = status == KS_OK ? run() : status;
    setenv("PATH", before, 1);
    free(before);
    KT_OK(status);
}

static void an_argument_that_is_too_long_fails_its_own_config(void **state)
{
    (void)state;
    enum {
        LENGTH = 200000
    };
    char *text = calloc(1, LENGTH + 1);
    assert_non_null(text);
    memset(text, 'x', LENGTH);
    const char *values[] = {text, "short"};
    KT_OK(ks_plan_axis_text(plan, "s", values, 2, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(make("printf %s {s}", NULL));
    KT_OK(run());
    free(text);
    assert_int_equal(ks_results_finished(results), 2);
    assert_int_equal(ks_results_succeeded(results), 1);
    const ks_table *t = ks_results_table(results);
    KT_HAS(ks_table_text(t, 0, ks_table_find(t, "Failure")), "longer than 131072 bytes");
    KT_F64(ks_table_number(t, ks_table_rows(t) - 1, ks_table_find(t, "AvgValue")), 5);
}

static void *cancel_soon(void *arg)
{
    const struct timespec pause = {0, 100000000};
    nanosleep(&pause, NULL);
    ks_plan_cancel(arg);
    return NULL;
}

static void cancelling_ends_the_program_at_once(void **state) /* C28 in kind */
{
    (void)state;
    pthread_t thread;
    KT_OK(make("sleep infinity", NULL)); /* it is over only if it is ended */
    pthread_create(&thread, NULL, cancel_soon, plan);
    KT_FAILS(run(), KS_ECANCELED, "cancelled after 0 of 1");
    pthread_join(thread, NULL);
}

static void a_host_that_ignores_its_children_is_told(void **state)
{
    (void)state;
    KT_OK(make("true", NULL));
    signal(SIGCHLD, SIG_IGN);
    ks_status status = run();
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(status, KS_ESTATE);
    KT_HAS(err.message, "ignores SIGCHLD");
    ks_error_clear(&err);
}

static void the_program_starts_with_default_signals(void **state)
{
    (void)state;
    sigset_t blocked;
    sigset_t before;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    KT_OK(make("grep -q '^SigBlk:.*0000$' /proc/self/status && "
               "grep -q '^SigIgn:.*0000$' /proc/self/status",
               NULL));
    ks_status status = run();
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    KT_OK(status);
}

static void no_descriptor_is_left_behind(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    for (int i = 0; i < 20; i++) {
        KT_OK(make("exit 0", NULL));
        KT_OK(run());
    }
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
    /* a program sees no more of them than one that popen() starts */
    int seen = 0;
    char script[128];
    FILE *pipe = popen("exec ls /proc/self/fd | wc -l", "re");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &seen), 1);
    pclose(pipe);
    snprintf(script, sizeof script, "exec ls /proc/self/fd | wc -l | grep -qx %d", seen);
    KT_OK(make(script, NULL));
    KT_OK(run());
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)
    if (!kt_has_programs()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        T(output_is_counted_to_the_byte),
        T(times_are_those_of_the_program),
        T(memory_is_the_programs_not_ours),
        T(parameters_are_put_into_arguments_and_environment),
        T(failures_say_how_it_ended_and_its_last_words),
        T(a_failed_config_does_not_take_the_others),
        T(a_program_that_hangs_is_ended),
        T(a_program_that_ignores_the_request_is_killed),
        T(who_inherits_the_pipes_does_not_hold_us_up),
        T(the_prepare_command_comes_before_each_call),
        T(output_can_go_to_a_file),
        T(what_cannot_run_is_told_before_the_run),
        T(a_program_named_by_a_parameter_is_looked_for_in_its_turn),
        T(a_program_is_looked_for_in_the_folder_where_it_runs),
        T(an_argument_that_is_too_long_fails_its_own_config),
        T(cancelling_ends_the_program_at_once),
        T(a_host_that_ignores_its_children_is_told),
        T(the_program_starts_with_default_signals),
        T(no_descriptor_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
