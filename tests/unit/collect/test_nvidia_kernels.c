/* Kernels of an annotation, by counters: what ran, how long, and what it takes of the GPU. */
#include "fakes/nvidia/fixture.h"

/* A fits 4 times on an SM and keeps to its registers, B fits twice and does not. */
static void know_resources(void)
{
    know_kernels();
    fake_kernel_attribute("A", 4, 40);
    fake_kernel_attribute("A", FAKE_ACTIVE_BLOCKS, 4);
    fake_kernel_attribute("B", 1, 4096);
    fake_kernel_attribute("B", 3, 64);
    fake_kernel_attribute("B", 4, 255);
    fake_kernel_attribute("B", FAKE_ACTIVE_BLOCKS, 2);
}

static ks_status nested(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_TRY(launch("small", e));
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        KS_ANNOTATE("inner") {
            KS_TRY(launch("A", e));
            KS_TRY(launch("B", e));
        }
    }
    return KS_OK;
}

/* ---- cells of the table of kernels ------------------------------------------------------------
 */

static ks_table *kernels;

static void take_kernels(void)
{
    ks_table_free(kernels);
    KT_OK(ks_results_kernels(results, &kernels, &err));
}

static size_t row_of(const char *annotation, const char *kernel)
{
    for (size_t row = 0; row < ks_table_rows(kernels); row++) {
        const char *in = ks_table_text(kernels, row, ks_table_find(kernels, "Annotation"));
        const char *name = ks_table_text(kernels, row, ks_table_find(kernels, "Kernel"));
        if (strcmp(in, annotation) == 0 && strcmp(name, kernel) == 0) {
            return row;
        }
    }
    fail_msg("there is no %s in %s", kernel, annotation);
    return 0;
}

static double cell(const char *annotation, const char *kernel, const char *column)
{
    return ks_table_number(kernels, row_of(annotation, kernel), ks_table_find(kernels, column));
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void kernels_of_an_annotation_are_added_up(void **state)
{
    (void)state;
    know_resources();
    KT_OK(ks_plan_runs(plan, 3, &err));
    ask(READ);
    measure(nested, NULL);
    take_kernels();
    assert_int_equal(ks_table_rows(kernels), 4);
    assert_int_equal(row_of("work", "B"), 0); /* 3000 of 5000 ns: the longest first */
    assert_int_equal(row_of("work", "A"), 1);
    assert_int_equal(row_of("work/inner", "B"), 2);
    KT_F64(cell("work", "A", "Launches"), 6);
    KT_F64(cell("work", "A", "Runs"), 3);
    KT_F64(cell("work", "A", "TimeAvg"), 1000);
    KT_F64(cell("work", "A", "TimePerRun"), 2000);
    KT_F64(cell("work", "A", "SharePct"), 40);
    KT_F64(cell("work", "B", "SharePct"), 60);
    KT_F64(cell("work/inner", "A", "Launches"), 3);
    KT_F64(cell("work/inner", "A", "SharePct"), 25);
    KT_F64(cell("work/inner", "B", "TimeMin"), 3000);
    KT_F64(cell("work/inner", "B", "TimeMax"), 3000);
    assert_string_equal(ks_table_text(kernels, 0, ks_table_find(kernels, "TimeSource")), TIME);
}

static void kernels_have_what_they_take(void **state)
{
    (void)state;
    know_resources();
    ask(READ);
    measure(nested, NULL);
    take_kernels();
    /* 256 threads are 8 warps; an H200's SM holds 64 */
    KT_F64(cell("work", "A", "Registers"), 40);
    KT_F64(cell("work", "A", "SharedBytes"), 0);
    KT_F64(cell("work", "A", "LocalBytes"), 0);
    KT_F64(cell("work", "A", "OccupancyPct"), 50);
    KT_F64(cell("work", "B", "Registers"), 255);
    KT_F64(cell("work", "B", "SharedBytes"), 4096);
    KT_F64(cell("work", "B", "LocalBytes"), 64);
    KT_F64(cell("work", "B", "OccupancyPct"), 25);
    ks_table *launches = NULL;
    KT_OK(ks_results_launches(results, &launches, &err));
    size_t last = ks_table_rows(launches) - 1; /* B of the last run; the first launch is outside */
    KT_F64(ks_table_number(launches, last, ks_table_find(launches, "Time")), 3000);
    KT_F64(ks_table_number(launches, last, ks_table_find(launches, "LocalBytes")), 64);
    KT_F64(ks_table_number(launches, last, ks_table_find(launches, "OccupancyPct")), 25);
    assert_false(ks_table_valid(launches, 0, ks_table_find(launches, "Time")));
    ks_table_free(launches);
}

static ks_status launch_often(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        for (int i = 0; i < 20; i++) {
            KS_TRY(launch(i % 2 == 0 ? "A" : "B", e));
        }
    }
    return KS_OK;
}

/* Asking takes longer than many a launch. */
static void the_driver_is_asked_once_for_each_kernel(void **state)
{
    (void)state;
    know_resources();
    KT_OK(ks_plan_runs(plan, 10, &err));
    ask(READ);
    unsigned before = fake_calls("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    measure(launch_often, NULL);
    unsigned asked = fake_calls("cuOccupancyMaxActiveBlocksPerMultiprocessor") - before;
    take_kernels();
    KT_F64(cell("work", "A", "OccupancyPct"), 50);
    KT_F64(cell("work", "B", "OccupancyPct"), 25);
    assert_int_equal(asked, 2); /* of 200 launches */
}

static ks_status two_sizes(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        if (fake_launch("A", 8, 128, NULL) != 0) {
            return ks_fail(e, KS_EBODY, "user", 0, "no launch");
        }
    }
    return KS_OK;
}

static void a_fact_in_which_launches_differ_is_missing(void **state)
{
    (void)state;
    know_resources();
    ask(READ);
    measure(two_sizes, NULL);
    take_kernels();
    assert_true(isnan(cell("work", "A", "OccupancyPct"))); /* 50 % and 25 % */
    KT_F64(cell("work", "A", "Registers"), 40);
}

static void what_the_driver_does_not_tell_is_missing(void **state)
{
    (void)state;
    know_kernels();
    ask(READ);
    fake_script("cuFuncGetAttribute=1");
    measure(nested, NULL);
    take_kernels();
    assert_true(isnan(cell("work", "A", "Registers")));
    assert_true(isnan(cell("work", "A", "SharedBytes")));
    assert_true(isnan(cell("work", "A", "LocalBytes")));
    assert_true(isnan(cell("work", "A", "OccupancyPct")));
    KT_F64(cell("work", "A", "SharePct"), 40);
}

static ks_status with_unknown(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        KS_TRY(launch("untimed", e));
    }
    return KS_OK;
}

static void a_share_needs_the_time_of_all(void **state)
{
    (void)state;
    know_kernels();
    fake_kernel("untimed", INST, 10);
    ask(INST);
    measure(with_unknown, NULL);
    take_kernels();
    KT_F64(cell("work", "A", "TimeAvg"), 1000);
    assert_true(isnan(cell("work", "A", "SharePct")));
    assert_true(isnan(cell("work", "untimed", "TimeAvg")));
    assert_false(
        ks_table_valid(kernels, row_of("work", "untimed"), ks_table_find(kernels, "TimeSource")));
    KT_F64(cell("work", "untimed", "Launches"), 1);
}

static void a_range_has_no_times_of_kernels(void **state)
{
    (void)state;
    know_resources();
    KT_OK(ks_plan_replay(plan, KS_REPLAY_RANGE, &err));
    ask(READ);
    measure(nested, NULL);
    take_kernels();
    assert_true(isnan(cell("work", "A", "TimeAvg")));
    KT_F64(cell("work", "A", "Launches"), 2);
    KT_F64(cell("work", "A", "Registers"), 40);
}

static ks_status fails_once(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
    }
    return ks_call_run(call) == 1 && !ks_call_is_warmup(call)
               ? ks_fail(e, KS_EBODY, "user", 0, "the second run fails")
               : KS_OK;
}

static void runs_that_failed_are_left_out(void **state)
{
    (void)state;
    know_resources();
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    ask(READ);
    measure(fails_once, NULL);
    take_kernels();
    KT_F64(cell("work", "A", "Launches"), 2);
    KT_F64(cell("work", "A", "Runs"), 2);
}

/* ---- for people -------------------------------------------------------------------------------
 */

static const char *const many[] = {"_ZN7library7kernels21fused_attention_masksIfLi128ELi64EEEvPT_i",
                                   "_ZN7library7kernels21fused_attention_masksIfLi256ELi64EEEvPT_i",
                                   "A", "B", "small"};

static ks_status launch_many(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    for (size_t i = 0; i < 5; i++) {
        KS_ANNOTATE("attention") {
            KS_TRY(launch(many[i], e));
        }
    }
    KS_ANNOTATE("one") {
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

static ks_status print(void *arg, FILE *to, ks_error *e)
{
    return ks_results_print(results, to, arg, e);
}

static void measure_many(void)
{
    know_resources();
    fake_kernel(many[0], TIME, 48000);
    fake_kernel(many[1], TIME, 24000);
    fake_kernel("small", TIME, 4000);
    fake_kernel_attribute(many[0], 4, 128);
    KT_OK(ks_plan_axis_spec(plan, "n=1,2", &err));
    ask(TIME);
    measure(launch_many, NULL);
}

/* 48 + 24 + 4 + 3 + 1 = 80 us: 60, 30, 5 and, together, 5 % */
static void the_longest_kernels_are_in_the_footer(void **state)
{
    (void)state;
    measure_many();
    ks_print_options options = KS_PRINT_OPTIONS_INIT;
    options.width = 80;
    char *text = kt_capture(print, &options);
    const char *footer = strstr(text, "\nkernels");
    assert_non_null(footer);
    assert_string_equal(
        footer,
        "\nkernels that took most time, of all configs\n"
        "                                                        mean  share  count  regs\n"
        "annotation  kernel                                        \u00b5s      %   /run\n"
        "attention   library::kernels::fus\u2026asks<float, 128, 64>    48   60.0      1   128\n"
        "attention   library::kernels::fus\u2026asks<float, 256, 64>    24   30.0      1    32\n"
        "attention   small                                          4    5.0      1    32\n"
        "attention   2 more                                              5.0\n");
    free(text);
}

static void all_kernels_are_printed_where_that_is_asked_for(void **state)
{
    (void)state;
    measure_many();
    ks_print_options options = KS_PRINT_OPTIONS_INIT;
    options.width = 80;
    options.ascii = true;
    options.launches = true;
    char *text = kt_capture(print, &options);
    const char *footer = strstr(text, "\nkernels");
    assert_non_null(footer);
    assert_string_equal(
        footer,
        "\nkernels\n"
        "                                   mean  share  count  regs  shared  local  occ.\n"
        "annotation  n  kernel                us      %   /run             B      B     %\n"
        "attention   1  library:...28, 64>    48   60.0      1   128       0      0     -\n"
        "attention   1  library:...56, 64>    24   30.0      1    32       0      0     -\n"
        "attention   1  small                  4    5.0      1    32       0      0     -\n"
        "attention   1  B                      3    3.8      1   255    4096     64  25.0\n"
        "attention   1  A                      1    1.3      1    40       0      0  50.0\n"
        "attention   2  library:...28, 64>    48   60.0      1   128       0      0     -\n"
        "attention   2  library:...56, 64>    24   30.0      1    32       0      0     -\n"
        "attention   2  small                  4    5.0      1    32       0      0     -\n"
        "attention   2  B                      3    3.8      1   255    4096     64  25.0\n"
        "attention   2  A                      1    1.3      1    40       0      0  50.0\n"
        "one         1  A                      1  100.0      1    40       0      0  50.0\n"
        "one         2  A                      1  100.0      1    40       0      0  50.0\n");
    free(text);
}

static ks_status idle(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("idle") {
    }
    return KS_OK;
}

static void without_launches_there_is_no_footer_and_the_option_says_so(void **state)
{
    (void)state;
    ks_print_options options = KS_PRINT_OPTIONS_INIT;
    ask("cpu__time_duration.sum");
    measure(idle, NULL);
    take_kernels();
    assert_int_equal(ks_table_rows(kernels), 0);
    char *text = kt_capture(print, &options);
    assert_null(strstr(text, "kernel"));
    free(text);
    options.launches = true;
    text = kt_capture(print, &options);
    KT_HAS(text, "\nno launch of a kernel was seen");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(kernels_of_an_annotation_are_added_up),
        T(kernels_have_what_they_take),
        T(the_driver_is_asked_once_for_each_kernel),
        T(a_fact_in_which_launches_differ_is_missing),
        T(what_the_driver_does_not_tell_is_missing),
        T(a_share_needs_the_time_of_all),
        T(a_range_has_no_times_of_kernels),
        T(runs_that_failed_are_left_out),
        T(the_longest_kernels_are_in_the_footer),
        T(all_kernels_are_printed_where_that_is_asked_for),
        T(without_launches_there_is_no_footer_and_the_option_says_so),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ks_table_free(kernels);
    return failed;
}
