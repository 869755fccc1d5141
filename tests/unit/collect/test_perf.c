/* The perf collector with an imaginary kernel: passes, scaling, programs. */
#include <errno.h>

#include "fakes/perf_fixture.h"

/* ---- counting and passes ----------------------------------------------------------------------
 */

static void events_are_counted_in_their_region(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES, INSTRUCTIONS, IPC, FAULTS);
    run(work);
    KT_F64(mean("work", CYCLES), 10000);
    KT_F64(mean("work", INSTRUCTIONS), 15000);
    KT_F64(mean("work", IPC), 1.5);
    KT_F64(mean("work", FAULTS), 5000);
    assert_string_equal(text("work", IPC, "Unit"), "inst/cycle");
    assert_string_equal(text("work", IPC, "Source"), "perf");
    assert_null(text("work", CYCLES, "Warnings"));
    assert_int_equal(passes(), 1);
    /* instructions and cycles are counted once for three metrics */
    assert_int_equal(fake_perf.most, 3);
}

static const char *const seven[] = {
    "cpu__cycles.sum",    "cpu__instructions.sum",  "cpu__cache_misses.sum", "cpu__branches.sum",
    "cpu__l1d_loads.sum", "cpu__branch_misses.sum", "cpu__llc_loads.sum",    NULL};

static void more_events_than_counters_become_more_passes(void **state)
{
    (void)state;
    static const struct {
        unsigned counters;
        bool watchdog;
        int64_t passes;
    } cases[] = {{8, false, 1}, {7, false, 1}, {6, false, 2}, {4, false, 2},
                 {3, false, 3}, {1, false, 7}, {4, true, 3},  {8, true, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        use_again((fake_perf_script){.counters = cases[i].counters, .watchdog = cases[i].watchdog});
        ask(seven);
        KT_OK(ks_plan_runs(plan, 2, &err));
        calls = 0;
        run(work);
        assert_int_equal(passes(), cases[i].passes);
        assert_int_equal(calls, 2 * cases[i].passes);
        KT_F64(mean("work", CYCLES), 10000);
        KT_F64(mean("work", "cpu__llc_loads.sum"), 5000);
        assert_null(text("work", CYCLES, "Warnings"));
    }
}

static void both_events_of_a_ratio_are_in_one_pass(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 2});
    ASK("cpu__branches.sum", CYCLES, IPC, INSTRUCTIONS, "cpu__branch_misses.sum", FAULTS);
    run(work);
    /* {instructions, cycles}, {branches, branch misses}; page faults need no counter */
    assert_int_equal(passes(), 2);
    KT_F64(mean("work", IPC), 1.5);
    KT_F64(mean("work", "cpu__branch_misses.sum"), 5000);
}

static void a_ratio_needs_two_counters(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 1});
    ASK(IPC);
    KT_FAILS(ks_run_with(perf_alone, plan, work, NULL, &results, &err), KS_UNAVAILABLE,
             "its 2 events do not fit into the processor's counters together");
}

/* ---- multiplexing -----------------------------------------------------------------------------
 */

static void a_counter_that_ran_all_the_time_is_not_scaled(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .idle_share = 0.0});
    ASK(CYCLES);
    run(work);
    KT_F64(mean("work", CYCLES), 10000);
    assert_null(text("work", CYCLES, "Warnings"));
}

static void a_multiplexed_counter_is_scaled_and_says_so(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .idle_share = 0.7});
    ASK(CYCLES, IPC, FAULTS);
    run(work);
    /* 3,000 counted in 30 % of the time; whole numbers leave a rest */
    KT_NEAR(mean("work", CYCLES), 10000, 1e-3);
    KT_NEAR(mean("work", IPC), 1.5, 1e-3);
    KT_HAS(text("work", CYCLES, "Warnings"), "multiplexed: counted 30 % of the time, scaled");
    KT_HAS(text("work", IPC, "Warnings"), "multiplexed: counted 30 % of the time, scaled");
    KT_F64(mean("work", FAULTS), 5000);
    assert_null(text("work", FAULTS, "Warnings"));
}

/* Its counters run less in each run: 50 %, 40 %, 30 % of the time. */
static ks_status work_less_and_less(const ks_call *call, void *user, ks_error *e)
{
    fake_perf.script.idle_share = 0.5 + 0.1 * ks_call_run(call);
    return work(call, user, e);
}

static void of_several_batches_the_worst_share_is_told_once(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .idle_share = 0.5});
    ASK(CYCLES);
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_order(plan, KS_ORDER_INTERLEAVED, 0, &err));
    run(work_less_and_less);
    KT_NEAR(mean("work", CYCLES), 10000, 1e-3);
    assert_string_equal(text("work", CYCLES, "Warnings"),
                        "multiplexed: counted 30 % of the time, scaled to all of it");
}

static void a_counter_that_never_ran_has_no_value(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .idle_share = 1.0});
    ASK(CYCLES, FAULTS);
    run(work);
    assert_true(mean("work", CYCLES) != mean("work", CYCLES)); /* missing, not 0 */
    KT_HAS(text("work", CYCLES, "Failure"), "the kernel let its counter run 0 % of the time");
    KT_F64(mean("work", FAULTS), 5000);
}

static void a_watchdog_that_takes_the_only_counter_is_named(void **state)
{
    (void)state;
    use((fake_perf_script){
        .counters = 1, .watchdog = true, .files = {{"/proc/sys/kernel/nmi_watchdog", "1\n"}}});
    ASK(CYCLES);
    run(work);
    KT_HAS(text("work", CYCLES, "Failure"), "sysctl kernel.nmi_watchdog=0");
}

static void no_time_at_all_is_no_zero(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .silent = true});
    ASK(FAULTS);
    run(work);
    KT_HAS(text("work", FAULTS, "Failure"), "too short for the kernel to count in");
}

/* ---- programs ---------------------------------------------------------------------------------
 */

static void run_true(void)
{
    const char *argv[] = {"true"};
    ks_program *program = NULL;
    if (!kt_has_programs()) {
        skip();
    }
    KT_OK(ks_program_new(argv, 1, NULL, &program, &err));
    KT_OK(ks_run_with(perf_alone, plan, ks_program_body, program, &results, &err));
    ks_program_free(program);
}

static void programs_are_counted_from_their_exec(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 2});
    ASK(CYCLES, INSTRUCTIONS, IPC, "cpu__branches.sum", FAULTS);
    run_true();
    KT_F64(mean("true", CYCLES), 2000);
    KT_F64(mean("true", INSTRUCTIONS), 3000);
    KT_F64(mean("true", IPC), 1.5);
    KT_F64(mean("true", FAULTS), 1000);
    assert_int_equal(passes(), 2);
}

static void a_program_that_was_multiplexed_is_scaled(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 2, .idle_share = 0.7});
    ASK(CYCLES);
    run_true();
    KT_NEAR(mean("true", CYCLES), 2000, 1e-3);
    KT_HAS(text("true", CYCLES, "Warnings"), "counted 30 % of the time");
}

static void a_program_that_the_kernel_did_not_count_has_no_value(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 2, .silent = true});
    ASK(FAULTS);
    run_true();
    KT_HAS(text("true", FAULTS, "Failure"), "more rights than who measures it (setuid)");
}

static void a_program_without_descriptors_has_no_value(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 2, .descriptors = 1});
    ASK(CYCLES, FAULTS);
    run_true();
    KT_HAS(text("true", CYCLES, "Failure"), "no file descriptor left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(events_are_counted_in_their_region),
        T(more_events_than_counters_become_more_passes),
        T(both_events_of_a_ratio_are_in_one_pass),
        T(a_ratio_needs_two_counters),
        T(a_counter_that_ran_all_the_time_is_not_scaled),
        T(a_multiplexed_counter_is_scaled_and_says_so),
        T(of_several_batches_the_worst_share_is_told_once),
        T(a_counter_that_never_ran_has_no_value),
        T(a_watchdog_that_takes_the_only_counter_is_named),
        T(no_time_at_all_is_no_zero),
        T(programs_are_counted_from_their_exec),
        T(a_program_that_was_multiplexed_is_scaled),
        T(a_program_that_the_kernel_did_not_count_has_no_value),
        T(a_program_without_descriptors_has_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
