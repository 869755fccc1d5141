/* Passes, failures, and who has the counters. */
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

extern char **environ;

static const char duration[] = "gpu__time_duration.sum";
static const char sm[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
static const char dram[] = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
static const char both[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed,"
                           "dram__throughput.avg.pct_of_peak_sustained_elapsed";

enum {
    BLOCKS = 264,
    THREADS = 256
};

typedef struct state {
    gt_ptr out;
    unsigned calls, last_pass;
    int64_t fails_at; /* value of k; -1: none */
} state;

static ks_status chain_body(const ks_call *call, void *user, ks_error *err)
{
    (void)err;
    state *s = user;
    s->calls++;
    s->last_pass = ks_call_pass(call) > s->last_pass ? ks_call_pass(call) : s->last_pass;
    KS_ANNOTATE("chain") {
        gt_fma_chain(s->out, BLOCKS, THREADS, 1000);
    }
    gt_sync();
    return KS_OK;
}

static void what_needs_several_passes_calls_the_body_for_each(void)
{
    state s = {.out = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = both, .runs = 3, .warmup = 2};
    ks_results *results = gt_measure(&options, chain_body, &s, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double passes = gt_number(results, "chain", sm, "Passes");
    TAP_CHECK(passes > 1.0, "%g passes", passes);
    TAP_CHECK(s.calls == 2 + 3 * (s.last_pass + 1), "%u calls, last pass %u", s.calls, s.last_pass);
    TAP_EXACT((double)(s.last_pass + 1), passes);
    double busy = gt_value(results, "chain", sm);
    double memory = gt_value(results, "chain", dram);
    TAP_CHECK(busy > 20.0 && busy <= 100.5, "%s is %g", sm, busy);
    TAP_CHECK(memory >= 0.0 && memory < 20.0, "%s is %g", dram, memory);
    tap_note("%g passes: SM %g %%, DRAM %g %%", passes, busy, memory);
    ks_results_free(results);
    gt_free(s.out);
}

/* Another kernel in odd passes. */
static ks_status fickle_body(const ks_call *call, void *user, ks_error *err)
{
    (void)err;
    state *s = user;
    KS_ANNOTATE("fickle") {
        if (ks_call_pass(call) % 2 == 0) {
            gt_fma_chain(s->out, 1, 32, 10);
        } else {
            gt_shared_loads(s->out, 1, 32, 10);
        }
    }
    gt_sync();
    return KS_OK;
}

static void a_body_that_launches_something_else_in_each_pass_fails(void)
{
    state s = {.out = gt_alloc(4096)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = both};
    ks_results *results = gt_measure(&options, fickle_body, &s, &err);
    TAP_CHECK(err.code != KS_OK, "it succeeded: SM %g %%", gt_value(results, "fickle", sm));
    TAP_CHECK(isnan(gt_value(results, "fickle", sm)), "it has a value");
    tap_note("it says: %s", err.message);
    TAP_CHECK(strstr(err.message, "fma_chain") != NULL &&
                  strstr(err.message, "shared_loads") != NULL,
              "the message does not name what differed: %s", err.message);
    ks_results_free(results);
    gt_free(s.out);
}

static ks_status failing_body(const ks_call *call, void *user, ks_error *err)
{
    state *s = user;
    int64_t k = ks_call_i64(call, "k");
    KS_ANNOTATE("chain") {
        gt_fma_chain(s->out, 1, 32, (unsigned)k * 100);
    }
    gt_sync();
    return k == s->fails_at ? ks_fail(err, KS_EBODY, "test", 0, "three is refused") : KS_OK;
}

static void a_config_that_fails_leaves_the_others_alone(void)
{
    static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
    state s = {.out = gt_alloc(4096), .fails_at = 3};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = ffmas, .axis = "k=1..5", .runs = 2};
    ks_results *results = gt_measure(&options, failing_body, &s, &err);
    TAP_CHECK(err.code == KS_EBODY && strstr(err.message, "three is refused") != NULL, "%s",
              err.message);
    TAP_CHECK(results != NULL && ks_results_finished(results) == 2, "not 2 configs finished");
    TAP_EXACT(gt_value_at(results, "chain", ffmas, 0), 32 * 100.0);
    TAP_EXACT(gt_value_at(results, "chain", ffmas, 1), 32 * 200.0);
    ks_results_free(results);

    ks_error_clear(&err);
    options.tolerant = true;
    results = gt_measure(&options, failing_body, &s, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_CHECK(results != NULL && ks_results_finished(results) == 5 &&
                  ks_results_succeeded(results) == 4,
              "not 5 finished, 4 of them well");
    for (size_t i = 0; i < 5; i++) {
        double value = gt_value_at(results, "chain", ffmas, i);
        TAP_CHECK(i == 2 ? isnan(value) : value == 32.0 * 100.0 * (double)(i + 1), "k = %zu: %g",
                  i + 1, value);
    }
    ks_results_free(results);
    gt_free(s.out);
}

static void unknown_metrics_are_named_before_anything_runs(void)
{
    state s = {.out = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "dram__bytes_raed.sum,gpu__time_duration.sum,sm__nonsense.avg",
                          .warmup = 1};
    ks_results *results = gt_measure(&options, chain_body, &s, &err);
    TAP_CHECK(err.code == KS_ENOTFOUND, "%s: %s", ks_status_name(err.code), err.message);
    TAP_CHECK(strstr(err.message, "dram__bytes_raed") != NULL &&
                  strstr(err.message, "sm__nonsense") != NULL,
              "not both are named: %s", err.message);
    TAP_CHECK(strstr(err.message, "dram__bytes_read") != NULL, "no near name: %s", err.message);
    TAP_CHECK(results == NULL && s.calls == 0, "%u calls", s.calls);
    tap_note("it says: %s", err.message);

    ks_error_clear(&err); /* and then it goes on as ever */
    options.metrics = duration;
    results = gt_measure(&options, chain_body, &s, &err);
    TAP_CHECK(err.code == KS_OK && gt_value(results, "chain", duration) > 0.0, "%s", err.message);
    ks_results_free(results);
    gt_free(s.out);
}

/* ---- a second process -------------------------------------------------------------------------
 */

/* Measure once more; 0 if that works. The child of the test below. */
static int child(void)
{
    alarm(60);
    state s = {.out = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = duration};
    ks_results *results = gt_measure(&options, chain_body, &s, &err);
    double ns = gt_value(results, "chain", duration);
    printf("# the second process: %s %g ns\n", err.message, ns);
    ks_results_free(results);
    return err.code == KS_OK && ns > 0.0 ? 0 : 1;
}

static bool start_second_process(pid_t *pid)
{
    char *argv[] = {"test_runs", "child", NULL};
    fflush(stdout);
    return TAP_CHECK(posix_spawn(pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0,
                     "no process");
}

static void expect_second_process(const char *when)
{
    pid_t pid = 0;
    int status = -1;
    if (start_second_process(&pid)) {
        waitpid(pid, &status, 0);
        TAP_CHECK(status == 0, "%s: the second process ended with %d", when, status);
    }
}

static void a_process_that_waits_has_the_counters_after_a_run(void)
{
    state s = {.out = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    gt_options options = {.metrics = duration};
    unsigned runs = 0;
    int status = -1;
    pid_t pid = 0;
    pid_t ended = 0;
    while (ended == 0) { /* it ends: the child's alarm sees to that */
        ks_error err = KS_ERROR_INIT;
        ks_results *results = gt_measure(&options, chain_body, &s, &err);
        TAP_CHECK(err.code == KS_OK && gt_value(results, "chain", duration) > 0.0, "run %u: %s",
                  runs, err.message);
        ks_results_free(results);
        if (runs++ == 0 && !start_second_process(&pid)) {
            break;
        }
        ended = waitpid(pid, &status, WNOHANG);
    }
    TAP_CHECK(status == 0, "the second process ended with %d", status);
    tap_note("%u runs here until it had ended", runs);
    gt_free(s.out);
}

static void counters_that_were_given_back_can_be_had_by_others(void)
{
    state s = {.out = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = duration};
    ks_results *results = gt_measure(&options, chain_body, &s, &err);
    ks_results_free(results);
    ks_release(&err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    expect_second_process("after ks_release()");

    options.give_back = true;
    results = gt_measure(&options, chain_body, &s, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    ks_results_free(results);
    expect_second_process("after a run that gives back");

    results = gt_measure(&options, chain_body, &s, &err);
    TAP_CHECK(err.code == KS_OK && gt_value(results, "chain", duration) > 0.0, "and here again: %s",
              err.message);
    ks_results_free(results);
    gt_free(s.out);
}

static void another_metric_set_in_the_same_process_is_measured(void)
{
    static const char *const sets[] = {
        "gpu__time_duration.sum", "smsp__inst_executed.sum", "gpu__time_duration.sum",
        "dram__bytes_read.sum,gpu__time_duration.sum", "smsp__inst_executed.sum"};
    static const char *const read[] = {duration, "smsp__inst_executed.sum", duration,
                                       "dram__bytes_read.sum", "smsp__inst_executed.sum"};
    state s = {.out = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    double values[5];
    for (size_t i = 0; i < 5; i++) {
        ks_error err = KS_ERROR_INIT;
        gt_options options = {.metrics = sets[i], .warmup = 1};
        ks_results *results = gt_measure(&options, chain_body, &s, &err);
        TAP_CHECK(err.code == KS_OK, "%s: %s", sets[i], err.message);
        values[i] = gt_value(results, "chain", read[i]);
        TAP_CHECK(values[i] >= 0.0, "%s: %g", sets[i], values[i]);
        ks_results_free(results);
    }
    TAP_EXACT(values[4], values[1]);
    TAP_NEAR(values[2], values[0], 0.25);
    gt_free(s.out);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        {"what needs several passes calls the body for each",
         what_needs_several_passes_calls_the_body_for_each},
        {"a body that launches something else in each pass fails",
         a_body_that_launches_something_else_in_each_pass_fails},
        {"a config that fails leaves the others alone",
         a_config_that_fails_leaves_the_others_alone},
        {"unknown metrics are named before anything runs",
         unknown_metrics_are_named_before_anything_runs},
        {"another metric set in the same process is measured",
         another_metric_set_in_the_same_process_is_measured},
        {"counters that were given back can be had by others",
         counters_that_were_given_back_can_be_had_by_others},
        {"a process that waits has the counters after a run",
         a_process_that_waits_has_the_counters_after_a_run},
    };
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        return tap_skip_all(why);
    }
    return argc > 1 && strcmp(argv[1], "child") == 0
               ? child()
               : tap_main(tests, sizeof tests / sizeof tests[0]);
}
