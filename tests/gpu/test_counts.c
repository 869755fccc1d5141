/* Instructions and cycles that are known by hand, whatever the replay. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

enum {
    BLOCKS = 264,
    THREADS = 256,
    REPEATS = 1000,
    SIDE = 256
};

static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
static const char loads[] = "smsp__inst_executed_op_shared_ld.sum";
static const char sass_loads[] = "smsp__sass_inst_executed_op_shared_ld.sum";
static const char instructions[] = "smsp__inst_executed.sum";

typedef struct memory {
    gt_ptr a, b, c;
    int64_t cycles;
} memory;

static ks_status chain_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    memory *m = user;
    KS_ANNOTATE("chain") {
        gt_fma_chain(m->c, BLOCKS, THREADS, REPEATS);
    }
    gt_sync();
    return KS_OK;
}

static void ffma_of_every_thread_is_counted(void)
{
    memory m = {.c = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = ffmas, .runs = 2};
    ks_results *results = gt_measure(&options, chain_body, &m, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "chain", ffmas), (double)BLOCKS * THREADS * REPEATS);
    TAP_EXACT(gt_number(results, "chain", ffmas, "StdDev"), 0.0);
    ks_results_free(results);
    gt_free(m.c);
}

static ks_status loads_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    memory *m = user;
    KS_ANNOTATE("loads") {
        gt_shared_loads(m->c, BLOCKS, THREADS, REPEATS);
    }
    gt_sync();
    return KS_OK;
}

static void loads_from_shared_memory_are_counted_per_warp(void)
{
    memory m = {.c = gt_alloc((size_t)BLOCKS * THREADS * 4)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "smsp__inst_executed_op_shared_ld.sum,"
                                     "smsp__sass_inst_executed_op_shared_ld.sum"};
    ks_results *results = gt_measure(&options, loads_body, &m, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double want = (double)BLOCKS * (THREADS / 32) * REPEATS;
    TAP_EXACT(gt_value(results, "loads", loads), want);
    TAP_EXACT(gt_value(results, "loads", sass_loads), want);
    ks_results_free(results);
    gt_free(m.c);
}

static ks_status spin_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    memory *m = user;
    KS_ANNOTATE("spin") {
        gt_spin(m->c, m->cycles);
    }
    gt_sync();
    return KS_OK;
}

/* One block on one multiprocessor, which is active from its launch on: a little longer than the
 * loop. */
static void cycles_of_a_loop_that_waits_for_the_clock(void)
{
    static const char active[] = "sm__cycles_active.max";
    static const char elapsed[] = "gpc__cycles_elapsed.max";
    for (int64_t cycles = 100000; cycles <= 10000000; cycles *= 10) {
        memory m = {.c = gt_alloc(256), .cycles = cycles};
        ks_error err = KS_ERROR_INIT;
        gt_options options = {.metrics = "sm__cycles_active.max,gpc__cycles_elapsed.max",
                              .warmup = 1};
        ks_results *results = gt_measure(&options, spin_body, &m, &err);
        TAP_CHECK(err.code == KS_OK, "%s", err.message);
        double is = gt_value(results, "spin", active);
        double all = gt_value(results, "spin", elapsed);
        double want = (double)cycles;
        TAP_CHECK(is >= want && is <= 1.01 * want + 5000.0, "%s is %g for %g", active, is, want);
        TAP_CHECK(all >= want && all <= 1.05 * want + 20000.0, "%s is %g for %g", elapsed, all,
                  want);
        tap_note("%.0f cycles: %s %.0f, %s %.0f", want, active, is, elapsed, all);
        ks_results_free(results);
        gt_free(m.c);
    }
}

static ks_status matmul_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    memory *m = user;
    KS_ANNOTATE("matmul") {
        gt_matmul_tiled(m->c, m->a, m->b, SIDE);
    }
    gt_sync();
    return KS_OK;
}

/* n^3 FFMA; for each step of a thread's loop two loads, or a quarter where four are loaded at once.
 */
static void all_ways_to_replay_count_the_same(void)
{
    static const char *const names[] = {instructions, ffmas, loads};
    static const struct {
        ks_replay replay;
        const char *name;
    } ways[] = {{KS_REPLAY_USER, "user"}, {KS_REPLAY_RANGE, "range"}, {KS_REPLAY_KERNEL, "kernel"}};
    size_t n = (size_t)SIDE * SIDE;
    memory m = {.a = gt_floats(n), .b = gt_floats(n), .c = gt_alloc(n * 4)};
    double first[3] = {NAN, NAN, NAN};
    for (size_t w = 0; w < 3; w++) {
        ks_error err = KS_ERROR_INIT;
        gt_options options = {.metrics = "smsp__inst_executed.sum,"
                                         "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,"
                                         "smsp__inst_executed_op_shared_ld.sum",
                              .runs = 2,
                              .replay = ways[w].replay};
        ks_results *results = gt_measure(&options, matmul_body, &m, &err);
        TAP_CHECK(err.code == KS_OK, "%s: %s", ways[w].name, err.message);
        for (size_t i = 0; i < 3; i++) {
            double value = gt_value(results, "matmul", names[i]);
            first[i] = w == 0 ? value : first[i];
            TAP_CHECK(value == first[i] && value > 0.0,
                      "%s replay: %s is %.17g, by user replay %.17g", ways[w].name, names[i], value,
                      first[i]);
        }
        const char *told = gt_text(results, "matmul", ffmas, "Replay");
        tap_note("%s: Replay %s", ways[w].name, told == NULL ? "-" : told);
        ks_results_free(results);
    }
    TAP_EXACT(first[1], (double)SIDE * SIDE * SIDE);
    gt_free(m.a);
    gt_free(m.b);
    gt_free(m.c);
}

int main(void)
{
    static const tap_test tests[] = {
        {"FFMA of every thread is counted", ffma_of_every_thread_is_counted},
        {"loads from shared memory are counted per warp",
         loads_from_shared_memory_are_counted_per_warp},
        {"cycles of a loop that waits for the clock", cycles_of_a_loop_that_waits_for_the_clock},
        {"all ways to replay count the same", all_ways_to_replay_count_the_same},
    };
    const char *why = gt_open(GT_PTX);
    return why != NULL ? tap_skip_all(why) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
