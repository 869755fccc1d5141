/* Counters of kernels on a fake GPU: whose they are, and how those of several become one. */
#include "fakes/nvidia/fixture.h"

enum {
    THREADS = 8,
    LAUNCHES = 25
};

#define BUSY "sm__inst_executed.avg.pct_of_peak_sustained_active"
#define HITS "lts__t_sector_hit_rate.pct"

/* ---- values -----------------------------------------------------------------------------------
 */

static ks_status one_kernel(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("one") {
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

static void a_kernel_has_its_values_and_says_how_they_came_about(void **state)
{
    (void)state;
    know_kernels();
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask(TIME);
    ask(READ);
    measure(one_kernel, NULL);
    KT_F64(mean("one", TIME), 1000);
    KT_F64(mean("one", READ), 100);
    KT_F64(number("one", READ, "NumRuns"), 3);
    KT_F64(number("one", READ, "StdDev"), 0);
    KT_F64(number("one", READ, "NumKernels"), 1);
    KT_F64(number("one", READ, "Visits"), 1);
    KT_F64(number("one", READ, "Passes"), 1);
    KT_F64(number("one", READ, "ClockMHz"), 1500);
    assert_string_equal(text("one", READ, "Kernel"), "A");
    assert_string_equal(text("one", READ, "Replay"), "user");
    assert_string_equal(text("one", READ, "CacheControl"), "all");
    assert_string_equal(text("one", READ, "Unit"), "byte");
    assert_string_equal(text("one", TIME, "Unit"), "ns");
    assert_string_equal(text("one", READ, "Source"), "nvidia");
    assert_string_equal(text("one", READ, "Device"), "Fake GPU");
    assert_string_equal(text("one", READ, "GPU"), "Fake GPU");
    KT_F64(number("one", READ, "ComputeClock"), 1980000);
    KT_F64(number("one", READ, "MemoryClock"), 3201000);
    assert_string_equal(ks_table_fact(table(), "gpu_chip").text, "GH100");
}

static ks_status as_many_as_n(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    int64_t n = ks_call_i64(call, "n");
    KS_ANNOTATE("many") {
        for (int64_t i = 0; i < n; i++) {
            KS_TRY(launch("A", e));
        }
    }
    return KS_OK;
}

/* At the edges of what slots and segments hold, and far beyond. */
static void launches_add_up(void **state) /* C18 */
{
    (void)state;
    static const int64_t n[] = {1, 7, 16, 17, 32, 33, 64, 65, 4096, 4097};
    enum {
        COUNTS = sizeof n / sizeof n[0]
    };
    know_kernels();
    KT_OK(ks_plan_axis_i64(plan, "n", n, COUNTS, &err));
    KT_OK(ks_plan_runs(plan, 4, &err));
    ask(READ);
    ask(INST);
    for (int passes = 0; passes < 2; passes++) {
        measure(as_many_as_n, NULL);
        for (int i = 0; i < COUNTS; i++) {
            kt_key key = {"many", READ, n[i]};
            KT_F64(kt_number(table(), key, "AvgValue"), (double)n[i] * 100);
            KT_F64(kt_number(table(), key, "NumKernels"), (double)n[i]);
            KT_F64(kt_number(table(), key, "MAD"), 0);
            key.metric = INST;
            KT_F64(kt_number(table(), key, "AvgValue"), (double)n[i] * 10);
        }
        ask(THROUGHPUT); /* the same in several passes */
    }
}

static ks_status two_kernels(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("both") {
        KS_TRY(launch("A", e));
        KS_TRY(launch("B", e));
    }
    return KS_OK;
}

static void know_shares(void)
{
    know_kernels();
    fake_kernel("A", BUSY, 40);
    fake_kernel("B", BUSY, 10);
    fake_kernel("A", "sm__cycles_active.avg", 500);
    fake_kernel("B", "sm__cycles_active.avg", 2000);
    fake_kernel("A", HITS, 90);
    fake_kernel("B", HITS, 50);
    fake_kernel("A", "lts__t_sectors.sum", 1000);
    fake_kernel("B", "lts__t_sectors.sum", 4000);
    fake_kernel("A", "dram__bytes_read.max", 7);
    fake_kernel("B", "dram__bytes_read.max", 5);
    fake_kernel("A", "dram__bytes_read.min", 3);
    fake_kernel("B", "dram__bytes_read.min", 4);
    fake_kernel("A", READ ".per_second", 100);
    fake_kernel("B", READ ".per_second", 200);
}

static void unequal_kernels_combine_by_what_a_metric_is(void **state) /* C16 */
{
    (void)state;
    static const char *const metrics[] = {TIME,
                                          READ,
                                          READ ".per_second",
                                          THROUGHPUT,
                                          BUSY,
                                          HITS,
                                          "dram__bytes_read.max",
                                          "dram__bytes_read.min",
                                          "gpc__cycles_elapsed.max"};
    know_shares();
    KT_OK(ks_plan_runs(plan, 2, &err));
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        ask(metrics[i]);
    }
    measure(two_kernels, NULL);
    KT_F64(mean("both", TIME), 4000);
    KT_F64(mean("both", READ), 400);
    KT_NEAR(mean("both", READ ".per_second"), (100.0 * 1 + 200.0 * 3) / 4, 1e-12);
    KT_NEAR(mean("both", THROUGHPUT), (80.0 * 1 + 20.0 * 3) / 4, 1e-12);
    KT_NEAR(mean("both", BUSY), (40.0 * 500 + 10.0 * 2000) / 2500, 1e-12);
    KT_NEAR(mean("both", HITS), (90.0 * 1000 + 50.0 * 4000) / 5000, 1e-12);
    KT_F64(mean("both", "dram__bytes_read.max"), 7);
    KT_F64(mean("both", "dram__bytes_read.min"), 3);
    KT_F64(mean("both", "gpc__cycles_elapsed.max"), 6000);
    KT_F64(number("both", TIME, "ClockMHz"), 1500);
    KT_F64(number("both", TIME, "NumKernels"), 2);
    assert_string_equal(text("both", TIME, "Kernel"), "A|B");
    KT_HAS(text("both", THROUGHPUT, "Warnings"), "approximate: the mean of several kernels");
    assert_null(text("both", READ, "Warnings"));
    assert_null(text("both", HITS, "Warnings")); /* exact: weighed by what it is a share of */
}

/* What weighs a share is not read where it would take a pass more: then the time does. */
static void a_share_is_weighed_by_what_needs_no_pass_more(void **state)
{
    (void)state;
    know_shares();
    ask(HITS);
    measure(two_kernels, NULL);
    KT_F64(number("both", HITS, "Passes"), 1);
    KT_NEAR(mean("both", HITS), 58, 1e-12);
}

static void a_single_kernel_has_no_doubts(void **state)
{
    (void)state;
    know_shares();
    ask(THROUGHPUT);
    measure(one_kernel, NULL);
    KT_F64(mean("one", THROUGHPUT), 80);
    assert_null(text("one", THROUGHPUT, "Warnings"));
}

/* A value is NaN where the counters gave none: missing, whatever the other launches have. */
static void a_value_that_was_not_counted_is_missing(void **state)
{
    (void)state;
    know_kernels();
    fake_kernel("B", READ, NAN);
    KT_OK(ks_plan_runs(plan, 2, &err));
    ask(READ);
    ask(INST);
    measure(two_kernels, NULL);
    assert_true(isnan(mean("both", READ)));
    KT_HAS(text("both", READ, "Failure"), "the counters gave no value");
    KT_F64(mean("both", INST), 30);
}

static ks_status one_of_each(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    for (const char *const *kernel = (const char *const[]){"A", "B", NULL}; *kernel != NULL;
         kernel++) {
        KS_ANNOTATE("loop") {
            KS_TRY(launch(*kernel, e));
        }
    }
    return KS_OK;
}

static void visits_add_up_like_launches(void **state)
{
    (void)state;
    know_kernels();
    ask(READ);
    ask(THROUGHPUT);
    measure(one_of_each, NULL);
    KT_F64(mean("loop", READ), 400);
    KT_NEAR(mean("loop", THROUGHPUT), 35, 1e-12);
    KT_F64(number("loop", READ, "Visits"), 2);
}

/* ---- whose a launch is ------------------------------------------------------------------------
 */

static ks_status nested(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("outer") {
        KS_TRY(launch("A", e));
        KS_ANNOTATE("inner") {
            KS_TRY(launch("B", e));
        }
        KS_ANNOTATE("idle") {
        }
    }
    return launch("A", e); /* in none */
}

static void launches_count_for_the_annotations_around_too(void **state)
{
    (void)state;
    know_kernels();
    KT_OK(ks_plan_runs(plan, 2, &err));
    ask(READ);
    measure(nested, NULL);
    KT_F64(mean("outer", READ), 400);
    KT_F64(number("outer", READ, "NumKernels"), 2);
    KT_F64(mean("outer/inner", READ), 300);
    assert_true(isnan(mean("outer/idle", READ)));
    KT_HAS(text("outer/idle", READ, "Failure"), "no kernel was launched in it");
}

static void launches_outside_annotations_are_in_no_row_and_told(void **state)
{
    (void)state;
    know_kernels();
    KT_OK(ks_plan_runs(plan, 2, &err));
    ask(READ);
    measure(nested, NULL);
    assert_true(warned("2 launches were made outside any annotation"));
    assert_int_equal(ks_table_rows(table()), 3);
}

/* A thread of its own has the context of the program, as CUDA's runtime sees to. */
static void *launch_here(void *own)
{
    ks_error e = KS_ERROR_INIT;
    fake_use_device(0);
    if (own == NULL) {
        for (int i = 0; i < LAUNCHES; i++) {
            launch("A", &e);
        }
        return NULL;
    }
    KS_ANNOTATE(own) {
        for (int i = 0; i < LAUNCHES; i++) {
            launch(i % 2 == 0 ? "A" : "B", &e);
        }
    }
    return NULL;
}

static void run_threads(bool own)
{
    static const char *const names[THREADS] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        void *arg = own ? (void *)(uintptr_t)names[i] : NULL;
        assert_int_equal(pthread_create(&threads[i], NULL, launch_here, arg), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static ks_status threads_in_one(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("all") {
        run_threads(false);
    }
    return KS_OK;
}

static void launches_of_threads_belong_to_what_the_body_has_open(void **state) /* C07 */
{
    (void)state;
    know_kernels();
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask(READ);
    ask(THROUGHPUT); /* several passes: the order within is the same kernel's, whoever launches */
    measure(threads_in_one, NULL);
    KT_F64(mean("all", READ), THREADS * LAUNCHES * 100);
    KT_NEAR(mean("all", THROUGHPUT), 80, 1e-12);
    KT_F64(number("all", READ, "StdDev"), 0);
    KT_F64(number("all", READ, "NumKernels"), THREADS * LAUNCHES);
}

static ks_status threads_in_their_own(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    run_threads(true);
    return KS_OK;
}

static void launches_of_threads_belong_to_their_own_annotations(void **state)
{
    (void)state;
    know_kernels();
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask(READ);
    measure(threads_in_their_own, NULL);
    for (int i = 0; i < THREADS; i++) {
        char name[] = "t0";
        name[1] = (char)('0' + i);
        KT_F64(mean(name, READ), 13 * 100 + 12 * 300);
        KT_F64(number(name, READ, "StdDev"), 0);
        KT_F64(number(name, READ, "NumKernels"), LAUNCHES);
    }
}

/* ---- a thread that launches all the time ------------------------------------------------------
 */

static atomic_bool enough;

static void *launch_on(void *arg)
{
    ks_error e = KS_ERROR_INIT;
    (void)arg;
    fake_use_device(0);
    while (!atomic_load(&enough)) {
        launch("A", &e);
    }
    return NULL;
}

static void runs_begin_and_end_while_another_thread_launches(void **state)
{
    (void)state;
    pthread_t thread;
    know_kernels();
    atomic_store(&enough, false);
    assert_int_equal(pthread_create(&thread, NULL, launch_on, NULL), 0);
    ask(READ);
    for (int i = 0; i < 20; i++) {
        measure(one_kernel, NULL);
        assert_true(mean("one", READ) >= 100);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
}

/* ---- kernels that are left out ----------------------------------------------------------------
 */

#define MANGLED "_ZN2at6native4fillIfEEvPT_i"

static ks_status with_helpers(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch(MANGLED, e));
        KS_TRY(launch("A", e));
        KS_TRY(launch(MANGLED, e));
    }
    return KS_OK;
}

static void measure_ignoring(const char *pattern)
{
    ks_plan_free(plan);
    KT_OK(ks_plan_new(&plan, &err));
    ask(READ);
    KT_OK(ks_plan_ignore_kernel(plan, pattern, &err));
    measure(with_helpers, NULL);
}

static void ignored_kernels_are_in_no_value(void **state)
{
    (void)state;
    static const char *const patterns[] = {MANGLED, "_ZN2at6native*", "at::native::fill*",
                                           "void at::native::fill<float>(float*, int)"};
    know_kernels();
    fake_kernel(MANGLED, TIME, 7);
    fake_kernel(MANGLED, READ, 5);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        measure_ignoring(patterns[i]);
        KT_F64(mean("work", READ), 100);
        KT_F64(number("work", READ, "NumKernels"), 1);
        assert_string_equal(text("work", READ, "Kernel"), "A");
        assert_false(warned("no kernel matched"));
    }
}

static void a_pattern_that_nothing_matched_is_told(void **state)
{
    (void)state;
    know_kernels();
    fake_kernel(MANGLED, READ, 5);
    measure_ignoring("at::native::nothing*");
    KT_F64(mean("work", READ), 110);
    assert_true(warned("no kernel matched 'at::native::nothing*'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_kernel_has_its_values_and_says_how_they_came_about),
        T(launches_add_up),
        T(unequal_kernels_combine_by_what_a_metric_is),
        T(a_share_is_weighed_by_what_needs_no_pass_more),
        T(a_single_kernel_has_no_doubts),
        T(a_value_that_was_not_counted_is_missing),
        T(visits_add_up_like_launches),
        T(launches_count_for_the_annotations_around_too),
        T(launches_outside_annotations_are_in_no_row_and_told),
        T(launches_of_threads_belong_to_what_the_body_has_open),
        T(launches_of_threads_belong_to_their_own_annotations),
        T(runs_begin_and_end_while_another_thread_launches),
        T(ignored_kernels_are_in_no_value),
        T(a_pattern_that_nothing_matched_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
