/* How a program is started, listened to and ended, whatever its surroundings do. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
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
    results = NULL;
    program = NULL;
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

static ks_status run(const char *script, const ks_program_options *options)
{
    const char *argv[] = {"sh", "-c", script};
    ks_program_free(program);
    ks_results_free(results);
    program = NULL;
    results = NULL;
    KT_OK(ks_program_new(argv, 3, options, &program, &err));
    return ks_run(plan, ks_program_body, program, &results, &err);
}

static double value(const char *metric, const char *column)
{
    return kt_number(ks_results_table(results), (kt_key){"sh", metric, KT_ANY}, column);
}

static void pause_ms(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* ---- who reads what the program writes --------------------------------------------------------
 */

/* stderr as a pipe that a thread reads, in its own time. */
typedef struct slow_reader {
    int stderr_before;
    int from;
    long delay_ms; /* before each block */
    pthread_t thread;
    size_t bytes;
} slow_reader;

static void *read_slowly(void *arg)
{
    slow_reader *reader = arg;
    char block[4096];
    ssize_t got = 0;
    do {
        pause_ms(reader->delay_ms);
        got = read(reader->from, block, sizeof block);
        reader->bytes += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return NULL;
}

static void start_reader(slow_reader *reader, long delay_ms)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    *reader = (slow_reader){.stderr_before = dup(2), .from = ends[0], .delay_ms = delay_ms};
    dup2(ends[1], 2);
    close(ends[1]);
    assert_int_equal(pthread_create(&reader->thread, NULL, read_slowly, reader), 0);
}

static void stop_reader(slow_reader *reader)
{
    dup2(reader->stderr_before, 2);
    close(reader->stderr_before);
    pthread_join(reader->thread, NULL);
    close(reader->from);
}

static void a_slow_reader_is_not_the_programs_time(void **state)
{
    (void)state;
    slow_reader reader;
    start_reader(&reader, 100);
    /* as much as fits the program's own pipe: it never waits, its reader takes 1.5 s and more */
    ks_status status = run("head -c 60000 /dev/zero >&2", NULL);
    stop_reader(&reader);
    KT_OK(status);
    assert_int_equal(reader.bytes, 60000);
    assert_true(value("cpu__time_duration.sum", "AvgValue") < 1e9);
}

static void a_flood_does_not_keep_the_timeout_from_coming(void **state)
{
    (void)state;
    slow_reader reader;
    ks_program_options options = KS_PROGRAM_OPTIONS_INIT;
    options.timeout_s = 0.2;
    start_reader(&reader, 1);
    ks_status status = run("exec cat /dev/zero >&2", &options);
    stop_reader(&reader);
    assert_int_equal(status, KS_EBODY);
    KT_HAS(err.message, "timeout of 0.2 s");
    ks_error_clear(&err);
}

static void a_reader_that_takes_nothing_does_not_keep_us_after_the_timeout(void **state)
{
    (void)state;
    int ends[2];
    int before = dup(2);
    ks_program_options options = KS_PROGRAM_OPTIONS_INIT;
    options.timeout_s = 0.2;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    dup2(ends[1], 2);
    ks_status status = run("exec cat /dev/zero >&2", &options);
    dup2(before, 2);
    close(before);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(status, KS_EBODY);
    ks_error_clear(&err);
}

static void output_that_cannot_be_written_is_a_failure(void **state)
{
    (void)state;
    ks_program_options options = KS_PROGRAM_OPTIONS_INIT;
    options.output = "/dev/full";
    KT_FAILS(run("echo hi", &options), KS_EIO,
             "sh succeeded, but its output cannot be written: No space left");
    KT_OK(run("exit 0", &options));
}

/* ---- starting ---------------------------------------------------------------------------------
 */

static void on_alarm(int number)
{
    (void)number;
}

static void signals_of_the_host_do_not_spoil_what_is_measured(void **state)
{
    (void)state;
    const struct sigaction often = {.sa_handler = on_alarm}; /* no SA_RESTART */
    const struct itimerval each = {{0, 500}, {0, 500}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct timespec up;
    KT_OK(ks_plan_runs(plan, 100, &err));
    KT_OK(ks_plan_metric(plan, "cpu__time_duration.sum", &err));
    KT_OK(ks_plan_metric(plan, "cpu__max_rss.max", &err)); /* held, and let go */
    clock_gettime(CLOCK_MONOTONIC, &up); /* what a start that was lost would be counted from */
    sigaction(SIGALRM, &often, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    ks_status status = run("exit 0", NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    KT_OK(status);
    assert_true(value("cpu__time_duration.sum", "MaxValue") < 1e9 * (double)up.tv_sec);
    assert_true(value("cpu__time_duration.sum", "MinValue") > 0);
}

static void a_process_that_ends_before_it_starts_does_not_end_its_host(void **state)
{
    (void)state;
    ks_program_options options = KS_PROGRAM_OPTIONS_INIT;
    options.cwd = "/nonexistent{n}"; /* which the held process finds out */
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_OK(ks_plan_runs(plan, 100, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_metric(plan, "cpu__max_rss.max", &err));
    const char *argv[] = {"/bin/true"};
    KT_OK(ks_program_new(argv, 1, &options, &program, &err));
    KT_OK(ks_run(plan, ks_program_body, program, &results, &err)); /* no SIGPIPE came */
    KT_HAS(kt_text(ks_results_table(results), (kt_key){"true", "cpu__max_rss.max", 1}, "Failure"),
           "/nonexistent1");
}

static int next_descriptor(void)
{
    int next = dup(0);
    close(next);
    return next;
}

static void a_start_without_descriptors_leaves_none_behind(void **state)
{
    (void)state;
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    int first = next_descriptor();
    for (int room = 0; room < 9; room++) { /* from none for a pipe to enough for all of them */
        const struct rlimit few = {(rlim_t)(first + room), before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        ks_status status = run("exit 0", NULL);
        setrlimit(RLIMIT_NOFILE, &before);
        assert_true(status == KS_OK || status == KS_EIO || status == KS_UNAVAILABLE);
        assert_true(room > 0 || status != KS_OK);
        ks_error_clear(&err);
        assert_int_equal(next_descriptor(), first);
    }
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)
    if (!kt_has_programs()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        T(a_slow_reader_is_not_the_programs_time),
        T(a_flood_does_not_keep_the_timeout_from_coming),
        T(a_reader_that_takes_nothing_does_not_keep_us_after_the_timeout),
        T(output_that_cannot_be_written_is_a_failure),
        T(signals_of_the_host_do_not_spoil_what_is_measured),
        T(a_process_that_ends_before_it_starts_does_not_end_its_host),
        T(a_start_without_descriptors_leaves_none_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
