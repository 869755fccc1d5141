/* Cases of docs/testing.md with kernels that NVRTC compiles, and that CUDA's runtime launches. */
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compile.h"
#include "gpu.h"
#include "measure.h"
#include "tap.h"

extern char **environ;

#define MIB ((size_t)1 << 20)

static const char duration[] = "gpu__time_duration.sum";
static const char instructions[] = "smsp__inst_executed.sum";
static const char count[] = "kernel__count.sum";
static const char ffmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

enum {
    N = 1 << 20,
    REPEATS = 2000,
    CONFIGS = 3,
    RUNS = 5
};

typedef struct memory {
    gt_ptr a, b, c;
} memory;

static memory data;

/* NULL, or why it cannot be used here. */
static const char *build(const char *source, const char *const *expressions, gt_compiled *out,
                         void **module)
{
    const char *why = gt_compile(source, gt_compute_capability(), expressions, out);
    if (why != NULL) {
        return why;
    }
    why = gt_load(out->ptx, module);
    if (why != NULL) {
        gt_compiled_free(out);
    }
    return why;
}

/* ---- C03: the first run compiles --------------------------------------------------------------
 */

/* `salt`: no cache of compiled code has seen it. */
static const char first_run_source[] = "template <int REPEATS>\n"
                                       "__global__ void work(float *out, float a)\n"
                                       "{\n"
                                       "    float x = threadIdx.x;\n"
                                       "    for (int i = 0; i < REPEATS; i++) {\n"
                                       "        x = x * a + %uu;\n"
                                       "    }\n"
                                       "    out[blockIdx.x * blockDim.x + threadIdx.x] = x;\n"
                                       "}\n";

typedef struct jit {
    gt_compiled compiled[CONFIGS];
    void *functions[CONFIGS]; /* loaded in the first call */
} jit;

static ks_status load_and_launch(const ks_call *call, void *user, ks_error *err)
{
    jit *j = user;
    size_t k = (size_t)ks_call_i64(call, "k");
    float a = 0.5f;
    KS_ANNOTATE("jit") {
        if (j->functions[k] == NULL) {
            void *module = NULL;
            const char *why = gt_load(j->compiled[k].ptx, &module);
            if (why != NULL) {
                ks_fail(err, KS_EBODY, "test", 0, "%s", why);
                continue; /* to the annotation's end */
            }
            j->functions[k] = gt_function(module, j->compiled[k].names[0]);
        }
        gt_launch_function(j->functions[k], (gt_shape){264, 1, 256, 1}, NULL,
                           (void *[]){&data.c, &a});
    }
    gt_sync();
    return j->functions[k] != NULL ? KS_OK : KS_EBODY;
}

/* The first value lies among the others, give or take a quarter and 2 us: compiling takes a
 * thousand times as long. */
static bool check_first(const double values[GT_SAMPLES], size_t config)
{
    double least = values[1];
    double most = values[1];
    for (size_t i = 2; i < RUNS; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    return TAP_CHECK(values[0] > 0.75 * least && values[0] < 1.25 * most + 2000,
                     "config %zu: %g ns in run 1, %g to %g ns in the others", config, values[0],
                     least, most);
}

static bool measure_first_runs(jit *j)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "gpu__time_duration.sum,smsp__inst_executed.sum",
                          .axis = "k=0..2",
                          .runs = RUNS};
    ks_results *results = gt_measure(&options, load_and_launch, j, &err);
    bool good = TAP_CHECK(err.code == KS_OK, "%s", err.message);
    for (size_t k = 0; k < CONFIGS && good; k++) {
        double ns[GT_SAMPLES];
        double executed[GT_SAMPLES];
        size_t rows = gt_samples(results, "jit", duration, k, ns);
        size_t same = gt_samples(results, "jit", instructions, k, executed);
        good &= TAP_CHECK(rows == RUNS && same == RUNS, "config %zu: %zu and %zu samples", k, rows,
                          same);
        good = good && check_first(ns, k);
        for (size_t i = 1; i < RUNS && good; i++) {
            good &= TAP_CHECK(executed[i] == executed[0], "config %zu: %g instructions, then %g", k,
                              executed[0], executed[i]);
        }
    }
    good &= TAP_CHECK(gt_number(results, "jit", duration, "NumKernels") == 1, "%g kernels",
                      gt_number(results, "jit", duration, "NumKernels"));
    good &= TAP_CHECK(gt_equal(gt_text(results, "jit", duration, "Kernel"), "work<640>"),
                      "it is %s", gt_shown(gt_text(results, "jit", duration, "Kernel")));
    tap_note("modules are loaded %s: %g ns", getenv("CUDA_MODULE_LOADING"),
             gt_value(results, "jit", duration));
    ks_results_free(results);
    return good;
}

/* NULL, or why code of this compiler cannot be used here: the driver may be too old for it. */
static const char *try_out(void)
{
    gt_compiled compiled;
    void *module = NULL;
    const char *why =
        build("__global__ void probe() {}", (const char *const[]){NULL}, &compiled, &module);
    if (why == NULL) {
        gt_compiled_free(&compiled);
    }
    return why;
}

/* NULL, or why not here. */
static const char *first_runs(bool *good)
{
    static const char *const instances[CONFIGS] = {"work<640>", "work<6400>", "work<64000>"};
    jit j = {.functions = {NULL}};
    char source[sizeof first_run_source + 16];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(source, sizeof source, first_run_source,
             (unsigned)(now.tv_nsec ^ now.tv_sec ^ getpid()) % 1000000);
    const char *why = try_out();
    for (size_t k = 0; k < CONFIGS && why == NULL; k++) {
        why = gt_compile(source, gt_compute_capability(), (const char *const[]){instances[k], NULL},
                         &j.compiled[k]);
    }
    if (why == NULL) {
        *good = measure_first_runs(&j);
    }
    for (size_t k = 0; k < CONFIGS; k++) {
        gt_compiled_free(&j.compiled[k]);
    }
    return why;
}

static void a_first_run_that_compiles_is_like_the_others(void)
{
    bool good = false;
    const char *why = first_runs(&good);
    if (why != NULL) {
        tap_skip(why);
    }
}

/* How modules are loaded is decided once in a process. */
static void so_it_is_where_modules_are_loaded_eagerly(void)
{
    char *argv[] = {"test_toolkit", "eager", NULL};
    ks_error err = KS_ERROR_INIT;
    pid_t pid = 0;
    int status = -1;
    ks_release(&err); /* the other one takes the counters */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    fflush(stdout);
    if (TAP_CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0,
                  "no process")) {
        waitpid(pid, &status, 0);
        TAP_CHECK(status == 0, "the other process ended with %#x: what it says is above", status);
    }
}

static int eager(void)
{
    bool good = false;
    alarm(60);
    return first_runs(&good) != NULL || good ? 0 : 1;
}

/* Another kernel in the first run alone, as of a compiler that tries things out. */
static ks_status tune_in_the_first_run(const ks_call *call, void *user, ks_error *err)
{
    (void)user;
    (void)err;
    KS_ANNOTATE("tuned") {
        if (ks_call_run(call) == 0) {
            gt_nothing();
        }
        gt_vadd(data.c, data.a, data.b, N);
    }
    gt_sync();
    return KS_OK;
}

static void a_kernel_of_the_first_run_alone_is_told(void)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = instructions, .runs = RUNS};
    ks_results *results = gt_measure(&options, tune_in_the_first_run, NULL, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_CHECK(isnan(gt_number(results, "tuned", instructions, "NumKernels")), "%g kernels",
              gt_number(results, "tuned", instructions, "NumKernels"));
    TAP_HAS(gt_text(results, "tuned", instructions, "Warnings"), "launched different kernels");
    TAP_HAS(gt_text(results, "tuned", instructions, "Warnings"), "nothing");
    ks_results_free(results);
}

/* ---- C01, C19: names --------------------------------------------------------------------------
 */

static const char names_source[] =
    "template <int... VALUES> struct list {};\n"
    "template <class T> __global__ void lengthy(float *out) { out[threadIdx.x] = sizeof(T); }\n"
    "template <class T, int N> __global__ void scale(T *out)\n"
    "{\n"
    "    for (int i = 0; i < N; i++) out[threadIdx.x] *= T(2);\n"
    "}\n"
    "extern \"C\" __global__ void plain(float *out) { out[threadIdx.x] = 1; }\n"
    "extern \"C\" __global__ void _Zinvalid(float *out) { out[threadIdx.x] = 2; }\n";

enum {
    LONG_A,
    LONG_B,
    SHORTER,
    SCALE_4,
    SCALE_8,
    PLAIN,
    INVALID,
    KERNELS,
    LONG = 8192
};

typedef struct named {
    gt_compiled compiled;
    void *functions[KERNELS];
    const char *mangled[KERNELS];
} named;

/* "lengthy<list<1000, 1001, ..., LAST>>" with so many numbers before the last; mangled it has 7
 * characters for each. */
static void write_long(char text[LONG], int numbers, int last)
{
    int length = snprintf(text, LONG, "lengthy<list<");
    for (int i = 0; i < numbers; i++) {
        length += snprintf(text + length, (size_t)(LONG - length), "%d, ", 1000 + i);
    }
    snprintf(text + length, (size_t)(LONG - length), "%d> >", last);
}

static const char *build_names(named *n)
{
    static char a[LONG], b[LONG], c[LONG];
    void *module = NULL;
    write_long(a, 600, 1);
    write_long(b, 600, 2);
    write_long(c, 100, 3);
    const char *const expressions[] = {a, b, c, "scale<float, 4>", "scale<float, 8>", NULL};
    const char *why = build(names_source, expressions, &n->compiled, &module);
    if (why != NULL) {
        return why;
    }
    for (size_t i = 0; i < KERNELS; i++) {
        n->mangled[i] = i == PLAIN ? "plain" : i == INVALID ? "_Zinvalid" : n->compiled.names[i];
        n->functions[i] = gt_function(module, n->mangled[i]);
    }
    return NULL;
}

static ks_status launch_named(const ks_call *call, void *user, ks_error *err)
{
    const named *n = user;
    (void)call;
    (void)err;
    KS_ANNOTATE("names") {
        for (size_t i = 0; i < KERNELS; i++) {
            gt_launch_function(n->functions[i], (gt_shape){1, 1, 32, 1}, NULL, (void *[]){&data.c});
        }
    }
    gt_sync();
    return KS_OK;
}

static void check_launches(const ks_results *results, const named *n)
{
    ks_table *t = NULL;
    ks_error err = KS_ERROR_INIT;
    if (!TAP_CHECK(results != NULL && ks_results_launches(results, &t, &err) == KS_OK &&
                       ks_table_rows(t) == KERNELS,
                   "%s, %zu launches", err.message, t == NULL ? 0 : ks_table_rows(t))) {
        ks_table_free(t);
        return;
    }
    static const char *const shown[KERNELS] = {
        [SHORTER] = "lengthy<list<1000, 1001, ",
        [SCALE_4] = "scale<float, 4>",
        [SCALE_8] = "scale<float, 8>",
        [PLAIN] = "plain",
        [INVALID] = "_Zinvalid",
    };
    for (size_t i = 0; i < KERNELS; i++) {
        const char *kernel = ks_table_text(t, i, ks_table_find(t, "Kernel"));
        const char *mangled = ks_table_text(t, i, ks_table_find(t, "Mangled"));
        TAP_CHECK(gt_equal(mangled, n->mangled[i]), "launch %zu is mangled %.60s, not %.60s", i,
                  gt_shown(mangled), n->mangled[i]);
        if (shown[i] != NULL) {
            TAP_HAS(kernel, shown[i]);
        } else if (!gt_equal(kernel, n->mangled[i])) { /* as without LLVM's demangler */
            TAP_HAS(kernel, i == LONG_A ? "1599, 1>" : "1599, 2>");
        }
    }
    TAP_HAS(ks_table_text(t, SHORTER, ks_table_find(t, "Kernel")), "1099, 3>");
    TAP_CHECK(strlen(n->mangled[LONG_A]) > 4000, "a name of %zu characters",
              strlen(n->mangled[LONG_A]));
    ks_table_free(t);
}

static double count_without(named *n, const char *pattern, const char *metric)
{
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = metric, .ignore = pattern};
    ks_results *results = gt_measure(&options, launch_named, n, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_CHECK(!gt_warned(results, "no kernel matched"), "%.60s matched nothing", pattern);
    double kernels = metric == count ? gt_value(results, "names", count)
                                     : gt_number(results, "names", metric, "NumKernels");
    ks_results_free(results);
    return kernels;
}

static void names_of_templates_are_whole_and_told_apart(void)
{
    named n = {.mangled = {NULL}};
    ks_error err = KS_ERROR_INIT;
    const char *why = build_names(&n);
    if (why != NULL) {
        tap_skip(why);
        return;
    }
    gt_options options = {.metrics = instructions};
    ks_results *results = gt_measure(&options, launch_named, &n, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_number(results, "names", instructions, "NumKernels"), KERNELS);
    TAP_HAS(gt_text(results, "names", instructions, "Kernel"),
            "|scale<float, 4>|scale<float, 8>|plain|_Zinvalid");
    check_launches(results, &n);
    ks_results_free(results);

    const char *const metrics[] = {instructions, count};
    for (size_t i = 0; i < 2; i++) {
        TAP_EXACT(count_without(&n, "scale<float, 4>", metrics[i]), KERNELS - 1);
        TAP_EXACT(count_without(&n, "scale*", metrics[i]), KERNELS - 2);
        TAP_EXACT(count_without(&n, n.mangled[SCALE_8], metrics[i]), KERNELS - 1);
        TAP_EXACT(count_without(&n, n.mangled[LONG_B], metrics[i]), KERNELS - 1);
    }

    options.combine = KS_COMBINE_REFUSE;
    results = gt_measure(&options, launch_named, &n, &err);
    TAP_CHECK(err.code == KS_ESTATE, "%s", ks_status_name(err.code));
    TAP_HAS(err.message, "'names' launched 7 kernels");
    tap_note("it says: %s", err.message);
    ks_results_free(results);
    gt_compiled_free(&n.compiled);
}

/* ---- launches through the runtime -------------------------------------------------------------
 */

static ks_status through_the_runtime(const ks_call *call, void *user, ks_error *err)
{
    void *const *kernels = user;
    unsigned n = REPEATS;
    unsigned all = N;
    float one = 1.0f;
    (void)call;
    (void)err;
    KS_ANNOTATE("two") {
        gt_runtime_launch(kernels[0], N / 256, 256, (void *[]){&data.c, &data.a, &data.b, &all});
        gt_runtime_launch(kernels[1], 4, 32, (void *[]){&data.c, &one, &one, &n});
    }
    KS_ANNOTATE("copies") {
        gt_runtime_copy(data.c, data.a, MIB);
    }
    gt_runtime_sync();
    return KS_OK;
}

static void launches_through_the_runtime_are_seen_and_named(void)
{
    char *ptx = gt_read_all(GT_PTX);
    const char *why = gt_runtime_open(ptx);
    if (why != NULL) {
        tap_skip(why);
        free(ptx);
        return;
    }
    void *kernels[] = {gt_runtime_kernel("vadd"), gt_runtime_kernel("fma_chain")};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = ffmas, .runs = 2};
    ks_results *results = gt_measure(&options, through_the_runtime, kernels, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "two", ffmas), 4.0 * 32 * REPEATS);
    TAP_EXACT(gt_number(results, "two", ffmas, "NumKernels"), 2);
    TAP_CHECK(gt_equal(gt_text(results, "two", ffmas, "Kernel"), "vadd|fma_chain"), "they are %s",
              gt_shown(gt_text(results, "two", ffmas, "Kernel")));
    TAP_CHECK(isnan(gt_value(results, "copies", ffmas)), "copies have %g FFMA",
              gt_value(results, "copies", ffmas));
    TAP_HAS(gt_text(results, "copies", ffmas, "Failure"), "copies");
    ks_results_free(results);

    options.combine = KS_COMBINE_REFUSE;
    results = gt_measure(&options, through_the_runtime, kernels, &err);
    TAP_CHECK(err.code == KS_ESTATE, "%s", ks_status_name(err.code));
    TAP_HAS(err.message, "vadd 1x");
    TAP_HAS(err.message, "fma_chain 1x");
    ks_results_free(results);
    free(ptx);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        {"a first run that compiles is like the others",
         a_first_run_that_compiles_is_like_the_others},
        {"a kernel of the first run alone is told", a_kernel_of_the_first_run_alone_is_told},
        {"names of templates are whole and told apart",
         names_of_templates_are_whole_and_told_apart},
        {"launches through the runtime are seen and named",
         launches_through_the_runtime_are_seen_and_named},
        {"so is a first run where modules are loaded eagerly",
         so_it_is_where_modules_are_loaded_eagerly},
    };
    setenv("CUDA_MODULE_LOADING", "LAZY", 0);
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        return tap_skip_all(why);
    }
    data = (memory){gt_floats(N), gt_floats(N), gt_alloc(4 * N)};
    return argc > 1 && strcmp(argv[1], "eager") == 0
               ? eager()
               : tap_main(tests, sizeof tests / sizeof tests[0]);
}
