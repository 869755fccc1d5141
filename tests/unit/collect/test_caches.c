/* Cold and warm caches in one run: two rows of each metric that counters tell. And rows whose bytes
 * contradict what their caches were under. */
#include "fakes/nvidia/fixture.h"

#define SWEEP "ks_flush_l2"
#define ALL   "all"
#define NONE  "none"

enum {
    MB = 1000000
};

/* What A reads in a call. */
typedef struct reads {
    double swept;
    double left;
    double last; /* of the last run with swept caches; 0: as the others */
    uint32_t swept_passes;
    uint32_t runs;
    unsigned calls;
} reads;

static ks_status read_memory(const ks_call *call, void *user, ks_error *e)
{
    reads *r = user;
    bool swept = ks_call_pass(call) < r->swept_passes;
    bool last = r->last > 0 && ks_call_run(call) + 1 == r->runs;
    r->calls++;
    fake_kernel("A", READ, !swept ? r->left : last ? r->last : r->swept);
    fake_kernel("A", TIME, swept ? 3000 : 1000);
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

static int begin(void **state)
{
    int failed = start(state);
    know_kernels();
    KT_OK(ks_plan_runs(plan, 2, &err));
    return failed;
}

static void run_both(reads *r)
{
    r->swept_passes = 1;
    r->runs = 2;
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_BOTH, &err));
    measure(read_memory, r);
}

/* The row of a metric under a cache control; there is one. */
static size_t row_of(const char *metric, const char *cache)
{
    const ks_table *t = table();
    size_t found = ks_table_rows(t);
    for (size_t row = 0; row < ks_table_rows(t); row++) {
        const char *of = ks_table_text(t, row, ks_table_find(t, "CacheControl"));
        if (strcmp(ks_table_text(t, row, ks_table_find(t, "Metric")), metric) == 0 && of != NULL &&
            strcmp(of, cache) == 0) {
            assert_int_equal(found, ks_table_rows(t));
            found = row;
        }
    }
    assert_true(found < ks_table_rows(t));
    return found;
}

static double cell(const char *metric, const char *cache, const char *column)
{
    return ks_table_number(table(), row_of(metric, cache), ks_table_find(table(), column));
}

static const char *says(const char *metric, const char *cache)
{
    return ks_table_text(table(), row_of(metric, cache), ks_table_find(table(), "Warnings"));
}

static void both_are_measured_in_one_go(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB};
    ask(TIME);
    ask(READ);
    run_both(&r);
    assert_int_equal(ks_table_rows(table()), 4);
    KT_F64(cell(TIME, ALL, "AvgValue"), 3000);
    KT_F64(cell(TIME, NONE, "AvgValue"), 1000);
    KT_F64(cell(READ, ALL, "AvgValue"), 8 * MB);
    KT_F64(cell(READ, NONE, "AvgValue"), 0.1 * MB);
    KT_F64(cell(READ, NONE, "NumRuns"), 2);
    KT_F64(cell(READ, NONE, "NumKernels"), 1);
    assert_int_equal(r.calls, 1 + 2 * 2);  /* warm-up, and a pass of each */
    assert_int_equal(fake_runs(SWEEP), 2); /* before each kernel of the first pass */
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1); /* they stay enabled */
    assert_string_equal(ks_table_fact(table(), "plan.cache_control").text, "both");
    assert_true(ks_table_fact(table(), "plan.passes").as.i64 == 2);
    assert_null(says(READ, ALL));
    assert_null(says(READ, NONE));
}

static void several_passes_are_measured_of_each(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB, .swept_passes = THROUGHPUT_PASSES, .runs = 2};
    ask(THROUGHPUT);
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_BOTH, &err));
    measure(read_memory, &r);
    KT_F64(cell(THROUGHPUT, ALL, "AvgValue"), 80);
    KT_F64(cell(THROUGHPUT, NONE, "AvgValue"), 80);
    assert_int_equal(fake_runs(SWEEP), 2 * THROUGHPUT_PASSES);
    assert_int_equal(r.calls, 1 + 2 * 2 * THROUGHPUT_PASSES);
    assert_true(ks_table_fact(table(), "plan.passes").as.i64 == 2 * THROUGHPUT_PASSES);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
}

/* What caches have no say in is measured once. */
static void other_metrics_have_one_row(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB};
    ask(READ);
    ask("launch__grid_size");
    ask("cpu__time_duration.sum");
    r.swept_passes = 2; /* the CPU's time has a pass of its own, the first */
    r.runs = 2;
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_BOTH, &err));
    measure(read_memory, &r);
    assert_int_equal(ks_table_rows(table()), 4);
    KT_F64(mean("work", "launch__grid_size"), 8);
    assert_null(text("work", "launch__grid_size", "CacheControl"));
    KT_F64(cell(READ, NONE, "AvgValue"), 0.1 * MB);
}

static void geometric_means_are_of_one_cache_control(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB};
    int64_t n[] = {1, 2};
    KT_OK(ks_plan_axis_i64(plan, "n", n, 2, &err));
    ask(TIME);
    r.swept_passes = 1;
    r.runs = 2;
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_BOTH, &err));
    measure(read_memory, &r);
    const ks_table *t = table();
    assert_int_equal(ks_table_rows(t), 4);
    for (size_t row = 0; row < 4; row++) {
        double value = ks_table_number(t, row, ks_table_find(t, "AvgValue"));
        KT_NEAR(ks_table_number(t, row, ks_table_find(t, "Geomean")), value, 1e-12);
    }
}

static void baselines_are_of_the_same_cache_control(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB};
    ask(TIME);
    KT_OK(ks_plan_normalize(plan, "work", &err));
    run_both(&r);
    KT_F64(cell(TIME, ALL, "NormalizationValue"), 3000);
    KT_F64(cell(TIME, NONE, "NormalizationValue"), 1000);
}

static ks_status print(void *arg, FILE *to, ks_error *e)
{
    (void)arg;
    return ks_results_print(results, to, NULL, e);
}

static ks_status write_json(void *arg, FILE *to, ks_error *e)
{
    (void)arg;
    return ks_results_json(results, to, e);
}

static void they_are_told_apart_in_what_is_written(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB};
    ks_table *samples = NULL;
    ask(TIME);
    run_both(&r);
    char *shown = kt_capture(print, NULL);
    KT_HAS(shown, "CacheControl");
    KT_HAS(shown, "all                         3 ");
    KT_HAS(shown, "none                        1 ");
    free(shown);
    char *json = kt_capture(write_json, NULL);
    KT_HAS(json, "\"metrics\":[\"" TIME "\"]");
    KT_HAS(json, "\"cache_control\":\"all\",\"values\":[3000");
    KT_HAS(json, "\"cache_control\":\"none\",\"values\":[1000");
    free(json);
    KT_OK(ks_results_samples(results, &samples, &err));
    size_t column = ks_table_find(samples, "CacheControl");
    assert_int_equal(ks_table_rows(samples), 4);
    assert_string_equal(ks_table_text(samples, 1, column), ALL);
    assert_string_equal(ks_table_text(samples, 2, column), NONE);
    ks_table_free(samples);
}

static void a_parameter_may_not_take_the_column_s_name(void **state)
{
    (void)state;
    reads r = {0};
    int64_t n[] = {1, 2};
    KT_OK(ks_plan_axis_i64(plan, "CacheControl", n, 2, &err));
    ask(TIME);
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_BOTH, &err));
    measure_in_vain(read_memory, &r, KS_EINVAL, "named CacheControl");
    assert_int_equal(r.calls, 0);
}

static void counters_are_given_back_by_both(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB};
    ask(READ);
    KT_OK(ks_plan_hold_counters(plan, false, &err));
    run_both(&r);
    assert_int_equal(profilers(), 0);
    assert_int_equal(fake_count_alive().subscribers, 0);
}

static ks_status fail_in_warm(const ks_call *call, void *user, ks_error *e)
{
    KS_TRY(read_memory(call, user, e));
    return ks_call_pass(call) == 1 && ks_call_run(call) == 1
               ? ks_fail(e, KS_EBODY, "user", 0, "enough")
               : KS_OK;
}

static void a_failure_in_one_of_them_fails_that_alone(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 0.1 * MB, .swept_passes = 1, .runs = 2};
    ask(READ);
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_BOTH, &err));
    measure(fail_in_warm, &r);
    KT_F64(cell(READ, ALL, "NumRuns"), 2);
    KT_F64(cell(READ, NONE, "NumRuns"), 1);
    KT_F64(cell(READ, NONE, "AvgValue"), 0.1 * MB);
}

/* ---- contradictions ---------------------------------------------------------------------------
 */

static void warm_rows_that_read_all_anew_are_told(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .left = 7.5 * MB};
    ask(READ);
    ask(TIME);
    run_both(&r);
    KT_HAS(says(READ, NONE), "read as much from DRAM as where they were swept");
    KT_HAS(says(READ, NONE), "(7.50 against 8.00 MB)");
    KT_HAS(says(TIME, NONE), "something takes its place"); /* its time is that of cold caches */
    assert_null(says(READ, ALL));
}

/* 62.9 MB of L2 in the fake: what takes over half of it need not stay. */
static void what_does_not_fit_is_no_contradiction(void **state)
{
    (void)state;
    reads r = {.swept = 40.0 * MB, .left = 40.0 * MB};
    ask(READ);
    run_both(&r);
    assert_null(says(READ, NONE));
    assert_null(says(READ, ALL));
}

static void little_things_are_no_contradiction(void **state)
{
    (void)state;
    reads r = {.swept = 0.9 * MB, .left = 0.9 * MB};
    ask(READ);
    run_both(&r);
    assert_null(says(READ, NONE));
}

static void cold_rows_that_read_less_are_told(void **state)
{
    (void)state;
    reads r = {.swept = 4 * MB, .left = 8 * MB};
    ask(READ);
    run_both(&r);
    KT_HAS(says(READ, ALL), "read less from DRAM than where they were left alone");
    assert_null(says(READ, NONE));
}

static void cold_runs_that_differ_are_told(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .last = 3 * MB, .swept_passes = 1, .runs = 2};
    ask(READ);
    measure(read_memory, &r);
    KT_HAS(says(READ, ALL), "some runs read less than half of what others read");
    r.last = 5 * MB;
    measure(read_memory, &r);
    assert_null(says(READ, ALL));
}

/* Without a sweep they may find what the run before left: no contradiction. */
static void warm_runs_may_differ(void **state)
{
    (void)state;
    reads r = {.swept = 8 * MB, .last = 0.1 * MB, .swept_passes = 1, .runs = 2};
    ask(READ);
    KT_OK(ks_plan_cache_control(plan, KS_CACHE_NONE, &err));
    measure(read_memory, &r);
    assert_null(says(READ, NONE));
}

int main(void)
{
#define CACHES(test) cmocka_unit_test_setup_teardown(test, begin, stop)
    const struct CMUnitTest tests[] = {
        CACHES(both_are_measured_in_one_go),
        CACHES(several_passes_are_measured_of_each),
        CACHES(other_metrics_have_one_row),
        CACHES(geometric_means_are_of_one_cache_control),
        CACHES(baselines_are_of_the_same_cache_control),
        CACHES(they_are_told_apart_in_what_is_written),
        CACHES(a_parameter_may_not_take_the_column_s_name),
        CACHES(counters_are_given_back_by_both),
        CACHES(a_failure_in_one_of_them_fails_that_alone),
        CACHES(warm_rows_that_read_all_anew_are_told),
        CACHES(what_does_not_fit_is_no_contradiction),
        CACHES(little_things_are_no_contradiction),
        CACHES(cold_rows_that_read_less_are_told),
        CACHES(cold_runs_that_differ_are_told),
        CACHES(warm_runs_may_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
