/*
 * A kernel that waits for another one: side by side both end, one by one the first never does. Each
 * way to measure them is tried in a process of its own, since a CUDA context may be of no use
 * after.
 */
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

extern char **environ;

/* wait_for gives up after so many cycles, so that no GPU is left busy. */
static const char waiting_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                  ".visible .entry wait_for(.param .u64 flag, .param .u64 cycles)\n"
                                  "{\n"
                                  "  .reg .pred %p<3>; .reg .b32 %r<2>; .reg .b64 %rd<7>;\n"
                                  "  ld.param.u64 %rd1, [flag];\n"
                                  "  ld.param.u64 %rd2, [cycles];\n"
                                  "  cvta.to.global.u64 %rd1, %rd1;\n"
                                  "  mov.u64 %rd3, %clock64;\n"
                                  "again:\n"
                                  "  ld.volatile.global.u32 %r1, [%rd1];\n"
                                  "  setp.ne.u32 %p1, %r1, 0;\n"
                                  "  @%p1 bra done;\n"
                                  "  mov.u64 %rd4, %clock64;\n"
                                  "  sub.u64 %rd5, %rd4, %rd3;\n"
                                  "  setp.lt.u64 %p2, %rd5, %rd2;\n"
                                  "  @%p2 bra again;\n"
                                  "done:\n"
                                  "  ret;\n"
                                  "}\n"
                                  ".visible .entry set_flag(.param .u64 flag)\n"
                                  "{\n"
                                  "  .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                                  "  ld.param.u64 %rd1, [flag];\n"
                                  "  cvta.to.global.u64 %rd1, %rd1;\n"
                                  "  mov.u32 %r1, 1;\n"
                                  "  st.volatile.global.u32 [%rd1], %r1;\n"
                                  "  ret;\n"
                                  "}\n";

typedef struct work {
    gt_ptr flag;
    void *wait_for, *set_flag;
    void *streams[2];
    uint64_t cycles;
    bool ends; /* the flag is set */
} work;

static const gt_shape one = {1, 1, 1, 1};

static void launch_both(work *w)
{
    gt_clear(w->flag, 4);
    gt_sync();
    gt_launch_function(w->wait_for, one, w->streams[0], (void *[]){&w->flag, &w->cycles});
    if (w->ends) {
        gt_launch_function(w->set_flag, one, w->streams[1], (void *[]){&w->flag});
    }
}

/* In the config n = 1 nobody waits; else the flag is set only where it is to end. */
static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)err;
    work *w = user;
    KS_ANNOTATE("work") {
        if (ks_call_i64(call, "n") == 1) {
            gt_launch_function(w->set_flag, one, w->streams[1], (void *[]){&w->flag});
        } else if (!ks_call_is_warmup(call) || w->ends) {
            launch_both(w);
        }
    }
    return KS_OK;
}

/* Measure in the way that is asked for. @return the exit status: 0 where it went as it should */
static int child(const char *metrics, ks_replay replay, bool ends, double seconds)
{
    void *module = NULL;
    const char *why = gt_load(waiting_ptx, &module);
    if (why != NULL) {
        printf("# %s\n", why);
        return 1;
    }
    alarm(100);
    work w = {.flag = gt_alloc(4),
              .wait_for = gt_function(module, "wait_for"),
              .set_flag = gt_function(module, "set_flag"),
              .streams = {gt_stream(), gt_stream()},
              .ends = ends,
              .cycles = (uint64_t)(seconds * 2e9)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {
        .metrics = metrics, .axis = "n=1,2,3", .replay = replay, .warmup = 1, .drain_limit_s = 2.0};
    ks_results *results = gt_measure(&options, body, &w, &err);
    size_t finished = results != NULL ? ks_results_finished(results) : 0;
    printf("# %s, replay %d: %s %s; %zu finished; %g\n", metrics, (int)replay,
           ks_status_name(err.code), err.message, finished,
           gt_value_at(results, "work", metrics, 1));
    fflush(stdout);
    bool good = ends ? err.code == KS_OK && finished == 3
                     : err.code == KS_ELIMIT && finished == 1 && strstr(err.message, "n=2") != NULL;
    _exit(good ? 0 : 1); /* the driver may wait for the kernel */
}

static void in_a_process(const char *way)
{
    char name[] = "test_waiting";
    char what[16];
    snprintf(what, sizeof what, "%s", way);
    char *argv[] = {name, what, NULL};
    pid_t pid = 0;
    int status = -1;
    fflush(stdout);
    if (TAP_CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0,
                  "no process")) {
        waitpid(pid, &status, 0);
        TAP_CHECK(status == 0, "%s: the process ended with %#x: what it says is above", way,
                  status);
    }
}

static void traced_they_end(void)
{
    in_a_process("traced");
}

static void in_a_range_they_end(void)
{
    in_a_process("range");
}

/* Known, and said in docs/gpu.md: the launch itself waits, and CUDA has no way to break that off.
 */
static void one_by_one_the_launch_waits(void)
{
    in_a_process("user");
}

static void what_does_not_end_is_told(void)
{
    in_a_process("endless range");
    in_a_process("endless traced");
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        {"traced they end", traced_they_end},
        {"in a range they end", in_a_range_they_end},
        {"one by one the launch waits", one_by_one_the_launch_waits},
        {"what does not end is told", what_does_not_end_is_told},
    };
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        return tap_skip_all(why);
    }
    if (argc < 2) {
        ks_error err = KS_ERROR_INIT;
        ks_release(&err);
        return tap_main(tests, sizeof tests / sizeof tests[0]);
    }
    bool ends = strstr(argv[1], "endless") == NULL;
    if (strstr(argv[1], "traced") != NULL) {
        return child("kernel__time_duration.sum", KS_REPLAY_AUTO, ends, 8.0);
    }
    bool range = strstr(argv[1], "range") != NULL;
    return child("smsp__inst_executed.sum", range ? KS_REPLAY_RANGE : KS_REPLAY_USER, ends,
                 range ? 8.0 : 0.5);
}
