/* Which launches an annotation has, and how they become one value. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

#define MIB ((size_t)1 << 20)

static const char duration[] = "gpu__time_duration.sum";
static const char instructions[] = "smsp__inst_executed.sum";
static const char throughput[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

static ks_status many_body(const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    (void)err;
    int64_t m = ks_call_i64(call, "m");
    KS_ANNOTATE("many") {
        for (int64_t i = 0; i < m; i++) {
            gt_nothing();
        }
    }
    gt_sync();
    return KS_OK;
}

/* NumKernels and a time for so many launches; an empty kernel takes 0.5 us to 50 us. */
static void count_launches(const char *axis, double launches, ks_cache_control cache)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = duration, .axis = axis, .cache = cache};
    ks_results *results = gt_measure(&options, many_body, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s: %s", axis, err.message);
    TAP_EXACT(gt_number(results, "many", duration, "NumKernels"), launches);
    double ns = gt_value(results, "many", duration) / launches;
    TAP_CHECK(ns > 500.0 && ns < 50000.0, "%s: %g ns a launch", axis, ns);
    ks_results_free(results);
}

static void every_launch_is_counted(void)
{
    count_launches("m=1", 1, KS_CACHE_FLUSH);
    count_launches("m=3", 3, KS_CACHE_FLUSH);
    count_launches("m=100", 100, KS_CACHE_FLUSH);
    count_launches("m=1000", 1000, KS_CACHE_FLUSH);
    count_launches("m=1000", 1000, KS_CACHE_NONE);
}

static double resident_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

static void a_hundred_thousand_launches_are_counted(void)
{
    double before = resident_mib();
    count_launches("m=100000", 100000, KS_CACHE_NONE);
    double more = resident_mib() - before;
    TAP_CHECK(more < 256.0, "the most resident memory grew by %g MiB", more);
    tap_note("the most resident memory grew by %g MiB", more);
}

/* ---- several kernels in one annotation ------------------------------------------------------- */

typedef struct memory {
    gt_ptr a, b, c;
} memory;

enum {
    N = 16 << 20,
    BLOCKS = 1056,
    THREADS = 256,
    REPEATS = 20000
};

static ks_status unequal_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    memory *m = user;
    KS_ANNOTATE("both") {
        gt_vadd(m->c, m->a, m->b, N);
        gt_fma_chain(m->c, BLOCKS, THREADS, REPEATS);
    }
    KS_ANNOTATE("vadd") {
        gt_vadd(m->c, m->a, m->b, N);
    }
    KS_ANNOTATE("chain") {
        gt_fma_chain(m->c, BLOCKS, THREADS, REPEATS);
    }
    gt_sync();
    return KS_OK;
}

static void unequal_kernels_combine_by_kind(void)
{
    memory m = {gt_floats(N), gt_floats(N), gt_alloc((size_t)4 * N)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "gpu__time_duration.sum,smsp__inst_executed.sum,"
                                     "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                          .runs = 5,
                          .warmup = 1};
    ks_results *results = gt_measure(&options, unequal_body, &m, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_number(results, "both", duration, "NumKernels"), 2);
    TAP_EXACT(gt_number(results, "vadd", duration, "NumKernels"), 1);
    TAP_EXACT(gt_value(results, "both", instructions),
              gt_value(results, "vadd", instructions) + gt_value(results, "chain", instructions));
    double t1 = gt_value(results, "vadd", duration);
    double t2 = gt_value(results, "chain", duration);
    TAP_NEAR(gt_value(results, "both", duration), t1 + t2, 0.05);
    double p1 = gt_value(results, "vadd", throughput);
    double p2 = gt_value(results, "chain", throughput);
    TAP_CHECK(fabs(p2 - p1) > 10.0, "the kernels are alike: %g %% and %g %%", p1, p2);
    TAP_NEAR(gt_value(results, "both", throughput), (p1 * t1 + p2 * t2) / (t1 + t2), 0.05);
    tap_note("vadd %g ns %g %%, chain %g ns %g %%, both %g ns %g %%", t1, p1, t2, p2,
             gt_value(results, "both", duration), gt_value(results, "both", throughput));
    ks_results_free(results);
    gt_free(m.a);
    gt_free(m.b);
    gt_free(m.c);
}

/* ---- whose launch it is ---------------------------------------------------------------------- */

static ks_status outside_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    memory *m = user;
    gt_fma_chain(m->c, 4, 64, 10);
    KS_ANNOTATE("outer") {
        gt_fma_chain(m->c, 1, 32, 10);
        KS_ANNOTATE("inner") {
            gt_fma_chain(m->c, 2, 32, 10);
            gt_nothing();
        }
    }
    gt_fma_chain(m->c, 8, 64, 10);
    KS_ANNOTATE("after") {
        gt_fma_chain(m->c, 1, 32, 10);
    }
    gt_sync();
    return KS_OK;
}

/* The launch of that number as "annotation kernel grid block". */
static void expect_launch(const ks_table *t, size_t row, const char *annotation, const char *kernel,
                          double grid, double block)
{
    const char *where = ks_table_text(t, row, ks_table_find(t, "Annotation"));
    const char *what = ks_table_text(t, row, ks_table_find(t, "Kernel"));
    TAP_CHECK(annotation == NULL ? where == NULL : where != NULL && strcmp(where, annotation) == 0,
              "launch %zu is in %s", row, where == NULL ? "none" : where);
    TAP_CHECK(what != NULL && strcmp(what, kernel) == 0, "launch %zu is %s", row,
              what == NULL ? "?" : what);
    TAP_EXACT(ks_table_number(t, row, ks_table_find(t, "GridX")), grid);
    TAP_EXACT(ks_table_number(t, row, ks_table_find(t, "BlockX")), block);
}

static void launches_outside_annotations_are_nobodys(void)
{
    static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
    memory m = {.c = gt_alloc(4096)};
    ks_error err = KS_ERROR_INIT;
    ks_table *launches = NULL;
    gt_options options = {.metrics = ffmas};
    ks_results *results = gt_measure(&options, outside_body, &m, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_number(results, "outer", ffmas, "NumKernels"), 3);
    TAP_EXACT(gt_number(results, "outer/inner", ffmas, "NumKernels"), 2);
    TAP_EXACT(gt_value(results, "outer", ffmas), 3 * 32 * 10);
    TAP_EXACT(gt_value(results, "outer/inner", ffmas), 2 * 32 * 10);
    TAP_EXACT(gt_value(results, "after", ffmas), 32 * 10);
    if (results != NULL && ks_results_launches(results, &launches, &err) == KS_OK &&
        TAP_CHECK(ks_table_rows(launches) == 6, "%zu launches", ks_table_rows(launches))) {
        expect_launch(launches, 0, NULL, "fma_chain", 4, 64);
        expect_launch(launches, 1, "outer", "fma_chain", 1, 32);
        expect_launch(launches, 2, "outer/inner", "fma_chain", 2, 32);
        expect_launch(launches, 3, "outer/inner", "nothing", 1, 32);
        expect_launch(launches, 4, NULL, "fma_chain", 8, 64);
        expect_launch(launches, 5, "after", "fma_chain", 1, 32);
    }
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    ks_table_free(launches);
    ks_results_free(results);
    gt_free(m.c);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum {
    PER_THREAD = 60
};

typedef struct worker {
    const char *annotation; /* NULL: none of its own */
    gt_ptr out;
    void *stream;
    unsigned blocks;
} worker;

static void launch_many(const worker *w)
{
    unsigned n = 10;
    float a = 0.5f;
    float b = 1.0f;
    gt_ptr out = w->out;
    void *arguments[] = {&out, &a, &b, &n};
    for (int i = 0; i < PER_THREAD; i++) {
        gt_launch("fma_chain", (gt_shape){w->blocks, 1, 32, 1}, w->stream, arguments);
    }
}

static void *work(void *user)
{
    const worker *w = user;
    gt_use();
    if (w->annotation == NULL) {
        launch_many(w);
    } else {
        KS_ANNOTATE(w->annotation) {
            launch_many(w);
        }
    }
    return NULL;
}

/* Both workers at the same time, with or without an annotation around them. */
static ks_status run_workers(worker *workers, ks_error *err)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            return ks_fail(err, KS_EBODY, "test", 0, "no thread");
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return KS_OK;
}

static ks_status threads_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    worker *workers = user;
    ks_status status = KS_OK;
    if (workers[0].annotation == NULL) {
        KS_ANNOTATE("main") {
            status = run_workers(workers, err);
        }
    } else {
        status = run_workers(workers, err);
    }
    gt_sync();
    return status;
}

static void launches_of_two_threads_go_to_their_annotations(void)
{
    static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
    gt_ptr out = gt_alloc(4096);
    gt_fma_chain(out, 1, 32, 1); /* its function is looked up here */
    gt_sync();
    worker workers[2] = {{"one", out, gt_stream(), 1}, {"two", out, gt_stream(), 3}};
    /* two passes would see the threads' launches in two orders */
    gt_options options = {.metrics = ffmas, .runs = 3, .replay = KS_REPLAY_KERNEL};
    ks_error err = KS_ERROR_INIT;
    ks_results *results = gt_measure(&options, threads_body, workers, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_number(results, "one", ffmas, "NumKernels"), PER_THREAD);
    TAP_EXACT(gt_number(results, "two", ffmas, "NumKernels"), PER_THREAD);
    TAP_EXACT(gt_value(results, "one", ffmas), PER_THREAD * 32.0 * 10.0);
    TAP_EXACT(gt_value(results, "two", ffmas), PER_THREAD * 3.0 * 32.0 * 10.0);
    TAP_EXACT(gt_number(results, "one", ffmas, "StdDev"), 0.0);
    ks_results_free(results);

    workers[0].annotation = workers[1].annotation = NULL;
    results = gt_measure(&options, threads_body, workers, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_number(results, "main", ffmas, "NumKernels"), 2 * PER_THREAD);
    TAP_EXACT(gt_value(results, "main", ffmas), PER_THREAD * 4.0 * 32.0 * 10.0);
    ks_results_free(results);
    gt_free(out);
}

/* ---- a thread that launches all the time ----------------------------------------------------- */

static atomic_bool enough;

static void *work_on(void *user)
{
    gt_use();
    while (!atomic_load(&enough)) {
        launch_many(user);
        gt_sync(); /* the queue stays short */
    }
    return NULL;
}

static ks_status beside_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    const worker *w = user;
    KS_ANNOTATE("beside") {
        gt_fma_chain(w->out, 1, 32, 10);
    }
    gt_sync();
    return KS_OK;
}

/* Launches of a thread without an annotation belong to what is open on the body's thread, so that
 * there may be any number of them: each has the same FFMAs. */
static void measure_beside(worker *there, ks_replay replay)
{
    static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
    const char *metric = replay == KS_REPLAY_KERNEL ? ffmas : duration;
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = metric, .replay = replay};
    ks_results *results = gt_measure(&options, beside_body, there, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double kernels = gt_number(results, "beside", metric, "NumKernels");
    double value = gt_value(results, "beside", metric);
    TAP_CHECK(kernels >= 1, "%g kernels", kernels);
    if (replay == KS_REPLAY_KERNEL) {
        TAP_EXACT(value, kernels * 32 * 10);
    } else {
        TAP_CHECK(value > 500.0 * kernels, "%g ns for %g kernels", value, kernels);
    }
    ks_results_free(results);
}

static void runs_begin_and_end_while_another_thread_launches(void)
{
    gt_ptr out = gt_alloc(4096);
    worker there = {NULL, out, gt_stream(), 1};
    pthread_t thread;
    gt_fma_chain(out, 1, 32, 1); /* its function is looked up here */
    gt_sync();
    atomic_store(&enough, false);
    if (!TAP_CHECK(pthread_create(&thread, NULL, work_on, &there) == 0, "no thread")) {
        return;
    }
    for (int i = 0; i < 10; i++) {
        measure_beside(&there, KS_REPLAY_USER);
        measure_beside(&there, KS_REPLAY_KERNEL);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    gt_free(out);
}

int main(void)
{
    static const tap_test tests[] = {
        {"every launch is counted", every_launch_is_counted},
        {"unequal kernels combine by kind", unequal_kernels_combine_by_kind},
        {"launches outside annotations are nobody's", launches_outside_annotations_are_nobodys},
        {"launches of two threads go to their annotations",
         launches_of_two_threads_go_to_their_annotations},
        {"runs begin and end while another thread launches",
         runs_begin_and_end_while_another_thread_launches},
        {"a hundred thousand launches are counted", a_hundred_thousand_launches_are_counted},
    };
    const char *why = gt_open(GT_PTX);
    return why != NULL ? tap_skip_all(why) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
