/*
 * CUDA graphs: their counts in ranges, chosen where a config launches one, beside configs that do
 * not; made before or in a run; and a thousand of them.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

static const char traced[] = "kernel__time_duration.sum";
static const char traced_count[] = "kernel__count.sum";
static const char counted_time[] = "gpu__time_duration.sum";
static const char instructions[] = "smsp__inst_executed.sum";
static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

enum {
    BLOCKS = 264,
    THREADS = 256,
    REPEATS = 1000,
    NODES = 5
};

static const double FFMAS = (double)BLOCKS * THREADS * REPEATS; /* of a launch */

typedef struct work {
    gt_ptr out;
    void *stream;
    void *graph; /* of NODES chains */
    unsigned launches;
} work;

static void chain(const work *w)
{
    float a = 0.5f;
    float b = 1.0f;
    unsigned n = REPEATS;
    gt_ptr out = w->out;
    void *arguments[] = {&out, &a, &b, &n};
    gt_launch("fma_chain", (gt_shape){BLOCKS, 1, THREADS, 1}, w->stream, arguments);
}

static void *make_graph(const work *w)
{
    gt_capture(w->stream);
    for (int i = 0; i < NODES; i++) {
        chain(w);
    }
    return gt_captured(w->stream);
}

static work new_work(void)
{
    work w = {.out = gt_alloc((size_t)BLOCKS * THREADS * 4), .stream = gt_stream(), .launches = 1};
    chain(&w); /* its function is looked up here */
    gt_sync();
    w.graph = make_graph(&w);
    return w;
}

/* Configs with an odd n launch the graph, others a kernel. */
static ks_status now_and_then(const ks_call *call, void *user, ks_error *err)
{
    (void)err;
    work *w = user;
    KS_ANNOTATE("work") {
        if (ks_call_i64(call, "n") % 2 != 0) {
            gt_launch_graph(w->graph, w->stream);
        } else {
            chain(w);
        }
        gt_sync();
    }
    return KS_OK;
}

static void configs_with_graphs_are_measured_in_ranges(void)
{
    work w = new_work();
    for (uint32_t warmup = 0; warmup < 2; warmup++) {
        ks_error err = KS_ERROR_INIT;
        gt_options options = {.metrics = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,"
                                         "gpu__time_duration.sum,smsp__inst_executed.sum",
                              .axis = "n=0,1,2,3",
                              .runs = 3,
                              .warmup = warmup};
        ks_results *results = gt_measure(&options, now_and_then, &w, &err);
        TAP_CHECK(err.code == KS_OK, "%s", err.message);
        double of_kernel = gt_value_at(results, "work", instructions, 0);
        TAP_CHECK(of_kernel > FFMAS / 32, "%g instructions", of_kernel);
        for (size_t n = 0; n < 4; n++) {
            TAP_EXACT(gt_value_at(results, "work", instructions, n),
                      n % 2 != 0 ? NODES * of_kernel : of_kernel);
            /* CUPTI counts 0 in graphs, which is not the truth, and therefore no value */
            double counted = gt_value_at(results, "work", ffmas, n);
            TAP_CHECK(n % 2 != 0 ? isnan(counted) : counted == FFMAS, "%g FFMAs", counted);
        }
        TAP_CHECK(gt_value_at(results, "work", counted_time, 0) > 0, "no time of a kernel");
        TAP_CHECK(isnan(gt_value_at(results, "work", counted_time, 1)), "a graph has %g ns",
                  gt_value_at(results, "work", counted_time, 1));
        ks_results_free(results);
    }
    gt_free(w.out);
}

static ks_status graph_alone(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    work *w = user;
    KS_ANNOTATE("graph") {
        for (unsigned i = 0; i < w->launches; i++) {
            gt_launch_graph(w->graph, w->stream);
        }
        gt_sync();
    }
    return KS_OK;
}

/* Where user replay is asked for the text names both ways out, and both work. */
static void a_graph_is_refused_kernel_by_kernel(void)
{
    work w = new_work();
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = instructions, .warmup = 1, .replay = KS_REPLAY_USER};
    ks_results *results = gt_measure(&options, graph_alone, &w, &err);
    TAP_CHECK(err.code != KS_OK && isnan(gt_value(results, "graph", instructions)), "it has %g",
              gt_value(results, "graph", instructions));
    TAP_HAS(err.message, "range replay");
    TAP_HAS(err.message, traced);
    ks_results_free(results);

    ks_error_clear(&err);
    options.replay = KS_REPLAY_RANGE;
    options.metrics = "smsp__inst_executed.sum,gpu__time_duration.sum";
    results = gt_measure(&options, graph_alone, &w, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_CHECK(gt_value(results, "graph", instructions) > NODES * FFMAS / 32, "%g instructions",
              gt_value(results, "graph", instructions));
    TAP_CHECK(gt_value(results, "graph", counted_time) > 0, "no time of a range");
    ks_results_free(results);
    gt_free(w.out);
}

/* A visit of 1 graph is shorter than 50 empty ranges, one of 1,000 longer. */
static void percentages_of_long_visits_are_values(void)
{
    static const char percent[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
    work w = new_work();
    for (int i = 0; i < 2; i++) {
        w.launches = i == 0 ? 1 : 1000;
        ks_error err = KS_ERROR_INIT;
        gt_options options = {.metrics = percent, .warmup = 1};
        ks_results *results = gt_measure(&options, graph_alone, &w, &err);
        TAP_CHECK(err.code == KS_OK, "%s", err.message);
        double value = gt_value(results, "graph", percent);
        tap_note("%u graphs: %g %%; %s", w.launches, value,
                 gt_shown(gt_text(results, "graph", percent, "Failure")));
        TAP_CHECK(i == 0 ? isnan(value) : value > 1.0 && value <= 100.0, "%g %%", value);
        ks_results_free(results);
    }
    gt_free(w.out);
}

static ks_status capture_and_launch(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    work *w = user;
    void *graph = NULL;
    KS_ANNOTATE("capture") {
        graph = make_graph(w);
        chain(w);
    }
    KS_ANNOTATE("launch") {
        gt_launch_graph(graph, w->stream);
        gt_sync();
    }
    return KS_OK;
}

static void a_graph_may_be_captured_in_an_annotation(void)
{
    work w = new_work();
    ks_error err = KS_ERROR_INIT;
    gt_options options = {
        .metrics = "smsp__inst_executed.sum,kernel__count.sum", .warmup = 1, .runs = 3};
    ks_results *results = gt_measure(&options, capture_and_launch, &w, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "launch", instructions),
              NODES * gt_value(results, "capture", instructions));
    TAP_EXACT(gt_value(results, "capture", traced_count), 1);
    TAP_EXACT(gt_value(results, "launch", traced_count), NODES);
    ks_results_free(results);
    gt_free(w.out);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double resident_mib(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1) {
        pages = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* Once to have all that is made once, then once more; the second sweep adds nothing. */
static void a_thousand_graphs_leave_memory_as_it_was(void)
{
    static const char *const metrics[] = {instructions, traced};
    work w = new_work();
    w.launches = 10;
    for (size_t m = 0; m < 2; m++) {
        double before = 0.0;
        for (int i = 0; i < 3; i++) {
            ks_error err = KS_ERROR_INIT;
            gt_options options = {.metrics = metrics[m], .warmup = 1, .runs = 100};
            before = i == 2 ? resident_mib() : before;
            ks_results *results = gt_measure(&options, graph_alone, &w, &err);
            TAP_CHECK(err.code == KS_OK, "%s", err.message);
            TAP_CHECK(gt_value(results, "graph", metrics[m]) > 0, "no value");
            ks_results_free(results);
        }
        double more = resident_mib() - before;
        TAP_CHECK(more < 5.0, "1,000 graphs took %g MiB with %s", more, metrics[m]);
        tap_note("1,000 graphs take %g MiB with %s", more, metrics[m]);
    }
    gt_free(w.out);
}

int main(void)
{
    static const tap_test tests[] = {
        {"configs with graphs are measured in ranges", configs_with_graphs_are_measured_in_ranges},
        {"a graph is refused kernel by kernel", a_graph_is_refused_kernel_by_kernel},
        {"percentages of long visits are values", percentages_of_long_visits_are_values},
        {"a graph may be captured in an annotation", a_graph_may_be_captured_in_an_annotation},
        {"a thousand graphs leave memory as it was", a_thousand_graphs_leave_memory_as_it_was},
    };
    const char *why = gt_open(GT_PTX);
    return why != NULL ? tap_skip_all(why) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
