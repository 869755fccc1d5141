/*
 * Launches of many threads, on many streams, by each function that launches; contexts that come and
 * go; a body that forks. Each kernel's FFMAs are known, so that a launch that is missing, or in the
 * wrong annotation, shows.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

extern char **environ;

static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
static const char traced_count[] = "kernel__count.sum";

enum {
    THREADS = 8,
    LAUNCHES = 10,
    BLOCK = 64,
    REPEATS = 10,
    CLUSTER_DIMENSION = 4,           /* id of a launch's attribute */
    FFMAS_OF_BLOCK = BLOCK * REPEATS /* FFMAs of a block */
};

/* The driver's functions that other tests have no use for. */
typedef struct config {
    unsigned grid[3], block[3], shared_bytes;
    void *stream, *attributes;
    unsigned attribute_count;
} config;

typedef struct attribute {
    int id;
    char pad[4];
    union {
        unsigned cluster[3];
        char bytes[64];
    } value;
} attribute;

#define MORE(X)                                                                                 \
    X(cuLaunchKernel_ptsz, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                            unsigned, void *, void **, void **))                                \
    X(cuLaunchCooperativeKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                                  unsigned, unsigned, void *, void **))                         \
    X(cuLaunchKernelEx, (const config *, void *, void **, void **))                             \
    X(cuEventCreate, (void **, unsigned))                                                       \
    X(cuEventRecord, (void *, void *))                                                          \
    X(cuStreamWaitEvent, (void *, void *, unsigned))                                            \
    X(cuCtxCreate_v2, (void **, unsigned, int))                                                 \
    X(cuCtxDestroy_v2, (void *))                                                                \
    X(cuCtxPopCurrent_v2, (void **))                                                            \
    X(cuCtxSetCurrent, (void *))                                                                \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                 \
    X(cuDevicePrimaryCtxReset_v2, (int))

static struct {
#define X(name, args) int(*name) args;
    MORE(X)
#undef X
} more;

static const char *find_more(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const char *missing = NULL;
#define X(name, args)                                                      \
    *(void **)&more.name = library != NULL ? dlsym(library, #name) : NULL; \
    missing = more.name == NULL ? #name : missing;
    MORE(X)
#undef X
    return missing;
}

static void expect(int result, const char *what)
{
    TAP_CHECK(result == 0, "%s: %d", what, result);
}

/* A chain's function in the context that is current. */
static void *load_chain(void)
{
    char *ptx = gt_read_all(GT_PTX);
    void *module = NULL;
    const char *why = gt_load(ptx, &module);
    free(ptx);
    TAP_CHECK(why == NULL, "%s", why != NULL ? why : "");
    return why == NULL ? gt_function(module, "fma_chain") : NULL;
}

typedef struct chain {
    gt_ptr out;
    float a, b;
    unsigned n;
    void *arguments[4];
} chain;

static void make_chain(chain *c, gt_ptr out)
{
    *c = (chain){.out = out, .a = 0.5f, .b = 1.0f, .n = REPEATS};
    c->arguments[0] = &c->out;
    c->arguments[1] = &c->a;
    c->arguments[2] = &c->b;
    c->arguments[3] = &c->n;
}

/* ---- threads ----------------------------------------------------------------------------------
 */

typedef struct worker {
    char annotation[16]; /* "": none of its own */
    gt_ptr out;
    void *stream;
    unsigned blocks; /* of thread i: i + 1 */
} worker;

static void launch_many(const worker *w)
{
    chain c;
    make_chain(&c, w->out);
    for (int i = 0; i < LAUNCHES; i++) {
        gt_launch("fma_chain", (gt_shape){w->blocks, 1, BLOCK, 1}, w->stream, c.arguments);
    }
}

static void *work(void *user)
{
    const worker *w = user;
    gt_use();
    if (w->annotation[0] == '\0') {
        launch_many(w);
        return NULL;
    }
    KS_ANNOTATE(w->annotation) {
        launch_many(w);
    }
    return NULL;
}

static ks_status run_all(worker *workers, ks_error *err)
{
    pthread_t threads[THREADS];
    int started = 0;
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, work, &workers[started]) == 0) {
        started++;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    return started == THREADS ? KS_OK : ks_fail(err, KS_EBODY, "test", 0, "no thread");
}

static ks_status threads_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    worker *workers = user;
    ks_status status = KS_OK;
    if (workers[0].annotation[0] != '\0') {
        status = run_all(workers, err);
        gt_sync();
        return status;
    }
    KS_ANNOTATE("main") { /* as autograd's threads, which know of no annotation */
        status = run_all(workers, err);
        gt_sync();
    }
    return status;
}

static void eight_threads_launch_at_once(void)
{
    gt_ptr out = gt_alloc(1 << 20);
    worker workers[THREADS];
    gt_fma_chain(out, 1, 32, 1); /* its function is looked up here */
    gt_sync();
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.out = out, .stream = gt_stream(), .blocks = (unsigned)i + 1};
        snprintf(workers[i].annotation, sizeof workers[i].annotation, "thread%d", i);
    }
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                          .runs = 2,
                          .warmup = 1,
                          .replay = KS_REPLAY_KERNEL};
    ks_results *results = gt_measure(&options, threads_body, workers, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    for (int i = 0; i < THREADS; i++) {
        TAP_EXACT(gt_number(results, workers[i].annotation, ffmas, "NumKernels"), LAUNCHES);
        TAP_EXACT(gt_value(results, workers[i].annotation, ffmas),
                  (double)LAUNCHES * (i + 1) * FFMAS_OF_BLOCK);
    }
    ks_results_free(results);

    options.metrics = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,kernel__count.sum";
    for (int i = 0; i < THREADS; i++) {
        workers[i].annotation[0] = '\0';
    }
    results = gt_measure(&options, threads_body, workers, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "main", ffmas), (double)LAUNCHES * 36 * FFMAS_OF_BLOCK);
    TAP_EXACT(gt_value(results, "main", traced_count), (double)LAUNCHES * THREADS);
    ks_results_free(results);
    gt_free(out);
}

/* ---- streams and functions --------------------------------------------------------------------
 */

typedef struct ways {
    chain c;
    void *function;
    void *streams[2];
    void *event;
} ways;

/* Each way to launch in an annotation of its own, with other numbers of blocks. */
static ks_status all_ways(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    ways *w = user;
    attribute cluster = {.id = CLUSTER_DIMENSION, .value.cluster = {2, 1, 1}};
    config with_cluster = {
        .grid = {4, 1, 1}, .block = {BLOCK, 1, 1}, .attributes = &cluster, .attribute_count = 1};
    KS_ANNOTATE("per thread") {
        expect(more.cuLaunchKernel_ptsz(w->function, 2, 1, 1, BLOCK, 1, 1, 0, NULL, w->c.arguments,
                                        NULL),
               "cuLaunchKernel_ptsz");
    }
    KS_ANNOTATE("cooperative") {
        expect(more.cuLaunchCooperativeKernel(w->function, 3, 1, 1, BLOCK, 1, 1, 0, w->streams[0],
                                              w->c.arguments),
               "cuLaunchCooperativeKernel");
    }
    KS_ANNOTATE("cluster") {
        expect(more.cuLaunchKernelEx(&with_cluster, w->function, w->c.arguments, NULL),
               "cuLaunchKernelEx");
    }
    KS_ANNOTATE("ordered") { /* the second stream waits for the first */
        gt_launch_function(w->function, (gt_shape){5, 1, BLOCK, 1}, w->streams[0], w->c.arguments);
        expect(more.cuEventRecord(w->event, w->streams[0]), "cuEventRecord");
        expect(more.cuStreamWaitEvent(w->streams[1], w->event, 0), "cuStreamWaitEvent");
        gt_launch_function(w->function, (gt_shape){6, 1, BLOCK, 1}, w->streams[1], w->c.arguments);
    }
    gt_sync();
    return KS_OK;
}

static void every_way_to_launch_is_counted(void)
{
    static const struct {
        const char *annotation;
        int kernels, blocks;
    } expected[] = {
        {"per thread", 1, 2}, {"cooperative", 1, 3}, {"cluster", 1, 4}, {"ordered", 2, 11}};
    ways w = {.function = load_chain(), .streams = {gt_stream(), gt_stream()}};
    make_chain(&w.c, gt_alloc(1 << 20));
    expect(more.cuEventCreate(&w.event, 0), "cuEventCreate");
    static const ks_replay replays[] = {KS_REPLAY_USER, KS_REPLAY_RANGE};
    for (size_t r = 0; r < 2; r++) {
        ks_error err = KS_ERROR_INIT;
        gt_options options = {.metrics = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,"
                                         "kernel__count.sum",
                              .runs = 3,
                              .warmup = 1,
                              .replay = replays[r]};
        ks_results *results = gt_measure(&options, all_ways, &w, &err);
        TAP_CHECK(err.code == KS_OK, "%s", err.message);
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            TAP_EXACT(gt_value(results, expected[i].annotation, ffmas),
                      (double)expected[i].blocks * FFMAS_OF_BLOCK);
            TAP_EXACT(gt_value(results, expected[i].annotation, traced_count), expected[i].kernels);
        }
        ks_results_free(results);
    }
    gt_free(w.c.out);
}

/* ---- contexts and processes, each in a process of its own -------------------------------------
 */

typedef struct place {
    bool made;
    bool forks;
    void *function;
    chain c;
} place;

/* The first measured call makes a context, and all launch in it; or the body forks. */
static ks_status elsewhere(const ks_call *call, void *user, ks_error *err)
{
    (void)err;
    place *p = user;
    void *context = NULL;
    if (!p->made && !ks_call_is_warmup(call)) {
        expect(more.cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
        p->function = load_chain();
        make_chain(&p->c, gt_alloc(1 << 20));
        p->made = true;
    }
    KS_ANNOTATE("work") {
        gt_launch_function(p->function, (gt_shape){3, 1, BLOCK, 1}, NULL, p->c.arguments);
        pid_t child = p->forks ? fork() : -1;
        if (child == 0) {
            _exit(7);
        }
        int status = 0;
        if (p->forks) {
            TAP_CHECK(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7,
                      "the child ended with %#x", status);
        }
        gt_sync();
    }
    return KS_OK;
}

/* Whether it is measured rightly, or, where a part of an error is given, refused with that. */
static bool measure_place(place *p, const char *what, const char *refusal)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = ffmas, .runs = 3, .warmup = 0};
    ks_results *results = gt_measure(&options, elsewhere, p, &err);
    double value = gt_value(results, "work", ffmas);
    printf("# %s: %s %g\n", what, err.message, value);
    fflush(stdout);
    ks_results_free(results);
    return refusal != NULL ? strstr(err.message, refusal) != NULL
                           : err.code == KS_OK && value == 3.0 * FFMAS_OF_BLOCK;
}

static int child(const char *what)
{
    alarm(60);
    place p = {.made = true, .forks = strcmp(what, "fork") == 0};
    if (strcmp(what, "context") == 0) {
        p.made = false;
        return measure_place(&p, what, NULL) ? 0 : 1;
    }
    p.function = load_chain();
    make_chain(&p.c, gt_alloc(1 << 20));
    bool resets = strstr(what, "reset") != NULL;
    if (!measure_place(&p, what, NULL) || !resets) {
        return !resets && measure_place(&p, "again", NULL) ? 0 : 1;
    }
    void *context = NULL;
    ks_error err = KS_ERROR_INIT;
    bool released = strstr(what, "release") != NULL;
    if (released) {
        ks_release(&err);
    }
    expect(more.cuDevicePrimaryCtxReset_v2(0), "cuDevicePrimaryCtxReset");
    expect(more.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    expect(more.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    p.function = load_chain();
    make_chain(&p.c, gt_alloc(1 << 20));
    return measure_place(&p, "after the reset", released ? NULL : "ks_release()") ? 0 : 1;
}

static void in_a_process(const char *what)
{
    char name[] = "test_threads";
    char copy[16];
    snprintf(copy, sizeof copy, "%s", what);
    char *argv[] = {name, copy, NULL};
    pid_t pid = 0;
    int status = -1;
    ks_error err = KS_ERROR_INIT;
    ks_release(&err);
    fflush(stdout);
    if (TAP_CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0,
                  "no process")) {
        waitpid(pid, &status, 0);
        TAP_CHECK(status == 0, "%s: the process ended with %#x: what it says is above", what,
                  status);
    }
}

static void a_context_may_be_made_in_the_middle(void)
{
    in_a_process("context");
}

/* CUPTI does not get over a reset that takes its counters along: the text says what to do before.
 */
static void a_device_may_be_reset_between_runs(void)
{
    in_a_process("release, reset");
    in_a_process("reset");
}

static void a_body_may_fork(void)
{
    in_a_process("fork");
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        {"eight threads launch at once", eight_threads_launch_at_once},
        {"every way to launch is counted", every_way_to_launch_is_counted},
        {"a context may be made in the middle", a_context_may_be_made_in_the_middle},
        {"a device may be reset between runs", a_device_may_be_reset_between_runs},
        {"a body may fork", a_body_may_fork},
    };
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        return tap_skip_all(why);
    }
    why = find_more();
    if (why != NULL) {
        return tap_skip_all(why);
    }
    return argc > 1 ? child(argv[1]) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
