/* Warnings of a GPU whose clocks were held down, or moved. */
#include "fakes/nvidia/timer.h"

#include "collect/nvidia/abi_nvml.h"

#define REASONS "nvmlDeviceGetCurrentClocksThrottleReasons"

static ks_status throttle(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        fake_pass(0.1);
    }
    /* idle and settings of applications are no reasons */
    fake_board_of(0)->reasons = ks_call_run(call) == 1 ? KS_NVML_POWER_CAP | KS_NVML_SW_THERMAL : 3;
    return KS_OK;
}

static void clocks_that_were_held_down_are_told(void **state)
{
    (void)state;
    ask(TIME);
    ask(READ);
    ask("cpu__time_duration.sum");
    KT_OK(ks_plan_runs(plan, 3, &err));
    measure(throttle, NULL);
    /* a pass of the CPU's time and one of the counters, 3 calls each */
    KT_HAS(text("work", TIME, "Warnings"),
           "the GPU's clocks were held down in 2 of 6 calls, by its limit of power, heat");
    assert_null(text("work", READ, "Warnings")); /* bytes are the same at any clock */
    const char *cpu = text("work", "cpu__time_duration.sum", "Warnings");
    assert_true(cpu == NULL || strstr(cpu, "held down") == NULL);
}

static ks_status work_shortly(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    fake_pass(0.001);
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
    }
    return KS_OK;
}

/* 100 ms of calls: after the first one, and 50 ms later. */
static void clocks_are_looked_at_now_and_then(void **state)
{
    (void)state;
    ask(TIME);
    KT_OK(ks_plan_runs(plan, 100, &err));
    fake_board_of(0)->reasons = KS_NVML_POWER_CAP;
    measure(work_shortly, NULL);
    assert_in_range(fake_calls(REASONS), 2, 3);
    KT_HAS(text("work", TIME, "Warnings"), "in 100 of 100 calls, by its limit of power");
}

/* So many ms of each second: from 1 % on it is told. */
static ks_status hold(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        fake_pass(1.0);
        fake_board_of(0)->heat_held_ns += *(const unsigned *)user * 1000000ull;
    }
    return KS_OK;
}

/* The GPU is idle when it is looked at. */
static void clocks_that_were_held_down_meanwhile_are_told(void **state)
{
    (void)state;
    ask(TIME);
    KT_OK(ks_plan_runs(plan, 4, &err)); /* what had been before is known after the second */
    fake_board_of(0)->power_held_ns = 1000000000; /* long ago */
    unsigned ms = 20;
    measure(hold, &ms);
    KT_HAS(text("work", TIME, "Warnings"), "held down in 2 of 4 calls, by heat");
    ms = 5;
    measure(hold, &ms);
    const char *warnings = text("work", TIME, "Warnings");
    assert_true(warnings == NULL || strstr(warnings, "held down") == NULL);
    ms = 20;
    fake_script("nvmlDeviceGetViolationStatus=3");
    measure(hold, &ms);
    warnings = text("work", TIME, "Warnings");
    assert_true(warnings == NULL || strstr(warnings, "held down") == NULL);
}

/* The clock is that of A in run 0, and of B in the others. */
static ks_status move_clock(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("work") {
        KS_TRY(launch(ks_call_run(call) == 0 ? "fast" : "slow", e));
    }
    return KS_OK;
}

static void know_clocks(double ns, double fast_mhz, double slow_mhz)
{
    fake_kernel("fast", TIME, ns);
    fake_kernel("slow", TIME, ns);
    fake_kernel("fast", READ, 100);
    fake_kernel("slow", READ, 100);
    fake_kernel("fast", "gpc__cycles_elapsed.max", ns * fast_mhz / 1e3);
    fake_kernel("slow", "gpc__cycles_elapsed.max", ns * slow_mhz / 1e3);
}

static bool says_moved(void)
{
    const char *warnings = text("work", TIME, "Warnings");
    return warnings != NULL && strstr(warnings, "clock moved") != NULL;
}

static void a_clock_that_moved_is_told(void **state)
{
    (void)state;
    know_clocks(20000, 1980, 1930); /* 2.6 % */
    ask(TIME);
    ask(READ);
    KT_OK(ks_plan_runs(plan, 3, &err));
    measure(move_clock, NULL);
    KT_HAS(text("work", TIME, "Warnings"),
           "the GPU's clock moved by 2.6 % between its runs, from 1930 to 1980 MHz");
    KT_NEAR(number("work", TIME, "ClockMHz"), (1980 + 2 * 1930) / 3.0, 1e-9);
    know_clocks(20000, 1980, 1945); /* 1.8 % */
    measure(move_clock, NULL);
    assert_false(says_moved());
    know_clocks(4000, 1980, 1930); /* its time is told in steps of 0.8 % at each end */
    measure(move_clock, NULL);
    assert_false(says_moved());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMED(clocks_that_were_held_down_are_told),
        TIMED(clocks_are_looked_at_now_and_then),
        TIMED(clocks_that_were_held_down_meanwhile_are_told),
        TIMED(a_clock_that_moved_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
