/* Kernel tracing: how many kernels there were, how long each took, and how long all of them. */
#include <math.h>
#include <string.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

static const char count[] = "kernel__count.sum";
static const char time[] = "kernel__time_duration.sum";
static const char span[] = "kernel__span.max";
static const char counted_time[] = "gpu__time_duration.sum";

enum {
    SPIN = 200000, /* cycles */
    LAUNCHES = 5
};

static ks_status spins(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    const gt_ptr *out = user;
    gt_spin(*out, SPIN); /* nobody's */
    KS_ANNOTATE("outer") {
        gt_spin(*out, SPIN);
        KS_ANNOTATE("inner") {
            for (int i = 0; i < LAUNCHES; i++) {
                gt_spin(*out, SPIN);
            }
        }
    }
    KS_ANNOTATE("copies") {
        float value = 0;
        gt_copy_out(&value, *out, sizeof value);
    }
    gt_sync();
    return KS_OK;
}

/* A kernel that waits for so many cycles takes between 1/2.5 and 1/0.3 of a nanosecond for each. */
static void check_time(const ks_results *results, const char *annotation, int kernels)
{
    double cycles = (double)SPIN * kernels;
    double taken = gt_value(results, annotation, time);
    double whole = gt_value(results, annotation, span);
    TAP_CHECK(taken > cycles / 2.5 && taken < cycles / 0.3, "%s: %g ns for %g cycles", annotation,
              taken, cycles);
    TAP_CHECK(whole >= taken && whole < 2.0 * taken, "%s: kernels take %g ns, all of them %g",
              annotation, taken, whole);
}

static void kernels_are_counted_and_timed(void)
{
    gt_ptr out = gt_alloc(4096);
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "kernel__*", .runs = 5, .warmup = 1};
    ks_results *results = gt_measure(&options, spins, &out, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "outer/inner", count), LAUNCHES);
    TAP_EXACT(gt_value(results, "outer", count), LAUNCHES + 1);
    TAP_EXACT(gt_value(results, "copies", count), 0);
    TAP_CHECK(isnan(gt_value(results, "copies", time)), "copies have a time of kernels");
    check_time(results, "outer/inner", LAUNCHES);
    check_time(results, "outer", LAUNCHES + 1);
    ks_results_free(results);
    gt_free(out);
}

/* Both in one plan, in passes of their own: each time is right, and they are near each other. */
static void tracing_and_counters_go_together(void)
{
    gt_ptr out = gt_alloc(4096);
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics =
                              "kernel__time_duration.sum,gpu__time_duration.sum,kernel__count.sum",
                          .runs = 5,
                          .warmup = 1};
    ks_results *results = gt_measure(&options, spins, &out, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "outer/inner", count), LAUNCHES);
    TAP_NEAR(gt_value(results, "outer/inner", time) /
                 gt_value(results, "outer/inner", counted_time),
             1.0, 0.1);
    TAP_EXACT(gt_number(results, "outer/inner", counted_time, "NumKernels"), LAUNCHES);
    TAP_CHECK(isnan(gt_value(results, "copies", counted_time)), "copies have counters");
    ks_results_free(results);
    gt_free(out);
}

/* ---- graphs, and kernels at the same time ---------------------------------------------------- */

typedef struct work {
    gt_ptr out;
    void *graph;
    void *streams[2];
} work;

static work new_work(void)
{
    work w = {.out = gt_alloc(4096), .streams = {gt_stream(), gt_stream()}};
    gt_spin_on(w.streams[0], w.out, 1); /* its function is looked up here */
    gt_sync();
    gt_capture(w.streams[0]);
    for (int i = 0; i < LAUNCHES; i++) {
        gt_spin_on(w.streams[0], w.out, SPIN);
    }
    w.graph = gt_captured(w.streams[0]);
    return w;
}

static ks_status graphs_and_streams(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    work *w = user;
    KS_ANNOTATE("graph") {
        gt_launch_graph(w->graph, w->streams[0]);
    }
    gt_sync();
    KS_ANNOTATE("beside") {
        for (int i = 0; i < 2; i++) {
            gt_spin_on(w->streams[i], w->out, SPIN);
        }
    }
    gt_sync();
    return KS_OK;
}

static void graphs_and_kernels_at_the_same_time_are_seen(void)
{
    work w = new_work();
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "kernel__*", .runs = 5, .warmup = 1};
    ks_results *results = gt_measure(&options, graphs_and_streams, &w, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "graph", count), LAUNCHES);
    check_time(results, "graph", LAUNCHES);
    TAP_EXACT(gt_value(results, "beside", count), 2);
    double both = gt_value(results, "beside", time);
    double whole = gt_value(results, "beside", span);
    TAP_CHECK(whole > 0.4 * both && whole < 0.8 * both, "two at once: %g ns, all of them %g ns",
              both, whole);
    tap_note("two kernels at once: %g ns, all of them %g ns", both, whole);
    ks_results_free(results);
    gt_free(w.out);
}

int main(void)
{
    static const tap_test tests[] = {
        {"kernels are counted and timed", kernels_are_counted_and_timed},
        {"tracing and counters go together", tracing_and_counters_go_together},
        {"graphs and kernels at the same time are seen",
         graphs_and_kernels_at_the_same_time_are_seen},
    };
    const char *why = gt_open(GT_PTX);
    return why != NULL ? tap_skip_all(why) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
