/* What is done to a GPU around a run: clocks that are locked and given back, waits for it to cool
 * down, and warnings of clocks that were held down or moved. On the fake's NVML and its time. */
#include "fakes/nvidia/fixture.h"
#include "fakes/nvidia/timer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/nvidia/abi_nvml.h"
#include "collect/nvidia/clocks.h"

#define DEVICE_0 "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00"
#define LOCKED   ((unsigned)KS_NVML_CLOCK_BASE)

static int begin(void **state)
{
    setenv("KERNSIGHT_NVML_LIB", FAKE_LIBRARIES "/libnvidia-ml.so.1", 1);
    ks_nvidia_timer = &fake_timer;
    int failed = start(state);
    know_kernels();
    return failed;
}

static bool is_locked(int device)
{
    const fake_board *board = fake_board_of(device);
    return board->locked_min == LOCKED && board->locked_max == LOCKED;
}

static bool is_free(int device)
{
    const fake_board *board = fake_board_of(device);
    return board->locked_min == 0 && board->locked_max == 0;
}

/* What a body saw of the clocks. */
typedef struct sight {
    unsigned calls;
    unsigned locked;
    unsigned fail_at;
} sight;

static ks_status look(const ks_call *call, void *user, ks_error *e)
{
    sight *s = user;
    (void)call;
    s->calls++;
    s->locked += is_locked(0);
    KS_ANNOTATE("work")
    {
        KS_TRY(launch("A", e));
        fake_pass(0.5);
    }
    return s->calls == s->fail_at ? ks_fail(e, KS_EBODY, "user", 0, "enough") : KS_OK;
}

/* ---- clocks -----------------------------------------------------------------------------------
 */

static void clocks_are_locked_for_the_run(void **state)
{
    (void)state;
    sight s = {0};
    ask(TIME);
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure(look, &s);
    assert_int_equal(s.calls, 4);
    assert_int_equal(s.locked, 4); /* in the warm-up too */
    assert_true(is_free(0));
    assert_int_equal(fake_calls("nvmlDeviceSetGpuLockedClocks"), 1);
    assert_string_equal(text("work", TIME, "ClockControl"), "base");
    assert_string_equal(ks_table_fact(table(), "plan.clock_control").text, "base");
}

static void clocks_are_left_alone_by_default(void **state)
{
    (void)state;
    sight s = {0};
    ask(TIME);
    measure(look, &s);
    assert_int_equal(s.locked, 0);
    assert_int_equal(fake_calls("nvmlDeviceSetGpuLockedClocks") +
                         fake_calls("nvmlDeviceResetGpuLockedClocks"),
                     0);
    assert_string_equal(text("work", TIME, "ClockControl"), "none");
}

static void clocks_are_given_back_after_a_failure(void **state)
{
    (void)state;
    sight s = {.fail_at = 2};
    ask(TIME);
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure_in_vain(look, &s, KS_EBODY, "enough");
    assert_int_equal(s.locked, 2);
    assert_true(is_free(0));
}

static void without_permission_a_run_fails_before_its_first_call(void **state)
{
    (void)state;
    sight s = {0};
    fake_script("nvmlDeviceSetGpuLockedClocks=4");
    ask(TIME);
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure_in_vain(look, &s, KS_EPERM, "administrators alone may");
    assert_int_equal(s.calls, 0);
    assert_null(results);
    bool left = false;
    char who[KS_TURN_HOLDER_MAX];
    assert_false(ks_clocks_holder(DEVICE_0, who, &left));
}

static void a_try_without_permission_is_a_warning(void **state)
{
    (void)state;
    sight s = {0};
    fake_script("nvmlDeviceSetGpuLockedClocks=4");
    ask(TIME);
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_TRY_BASE, &err));
    measure(look, &s);
    assert_int_equal(s.calls, 2);
    assert_string_equal(text("work", TIME, "ClockControl"), "none");
    assert_true(warned("the clocks are not locked: cannot lock the clocks of " DEVICE_0));
}

static void regions_of_cpus_say_what_clocks_were_locked(void **state)
{
    (void)state;
    sight s = {0};
    ask("cpu__time_duration.sum");
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure(look, &s);
    assert_int_equal(s.locked, 2);
    assert_string_equal(text("work", "cpu__time_duration.sum", "ClockControl"), "base");
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_NONE, &err));
    measure(look, &s);
    assert_null(text("work", "cpu__time_duration.sum", "ClockControl"));
}

static void the_clocks_of_parts_are_left_alone(void **state)
{
    (void)state;
    sight s = {0};
    fake_script("mig=2");
    ask("cpu__time_duration.sum");
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure_in_vain(look, &s, KS_UNAVAILABLE, "part of a GPU (MIG)");
    assert_true(is_free(0));
}

static ks_status change_device(const ks_call *call, void *user, ks_error *e)
{
    fake_use_device(1);
    return look(call, user, e);
}

/* C10, C11: the device that is used, whatever its number is. */
static void the_device_that_the_body_chose_is_locked_too(void **state)
{
    (void)state;
    sight s = {0};
    fake_script("devices=2");
    fake_use_device(0);
    ask("cpu__time_duration.sum");
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure(change_device, &s);
    assert_int_equal(fake_calls("nvmlDeviceSetGpuLockedClocks"), 2);
    assert_true(is_free(0) && is_free(1));
    fake_use_device(0);
}

static ks_status restore_meanwhile(const ks_call *call, void *user, ks_error *e)
{
    KS_TRY(look(call, user, e));
    KS_TRY(ks_clock_restore(e));
    return is_free(0) ? KS_OK : ks_fail(e, KS_EBODY, "user", 0, "still locked");
}

static void what_is_restored_meanwhile_is_locked_again(void **state)
{
    (void)state;
    sight s = {0};
    ask(TIME);
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure(restore_meanwhile, &s);
    assert_int_equal(s.locked, 3);
    assert_true(is_free(0));
}

/* Have a child do something; its end is awaited. */
static void in_child(void (*act)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
}

static void lock_here(void)
{
    ks_board board;
    KT_OK(ks_board_open(DEVICE_0, &board, &err));
    KT_OK(ks_clocks_lock(&board, &err));
}

static void lock_and_die(void)
{
    lock_here();
    raise(SIGKILL);
}

static void a_lock_of_a_killed_process_is_found_and_given_back(void **state)
{
    (void)state;
    bool left = false;
    char who[KS_TURN_HOLDER_MAX];
    assert_false(ks_clocks_holder(DEVICE_0, who, &left));
    in_child(lock_and_die);
    assert_true(ks_clocks_holder(DEVICE_0, who, &left));
    assert_true(left);
    KT_HAS(who, "test_collect");
    fake_reset();
    KT_OK(ks_clock_restore(&err));
    assert_int_equal(fake_calls("nvmlDeviceResetGpuLockedClocks"), 1);
    assert_false(ks_clocks_holder(DEVICE_0, who, &left));
    KT_OK(ks_clock_restore(&err)); /* nothing is left to do */
    assert_int_equal(fake_calls("nvmlDeviceResetGpuLockedClocks"), 1);
}

static void a_lock_that_cannot_be_given_back_is_told(void **state)
{
    (void)state;
    bool left = false;
    char who[KS_TURN_HOLDER_MAX];
    in_child(lock_and_die);
    fake_script("nvmlDeviceResetGpuLockedClocks=4");
    KT_FAILS(ks_clock_restore(&err), KS_EPERM, "give back the clocks of " DEVICE_0);
    assert_true(ks_clocks_holder(DEVICE_0, who, &left) && left);
    fake_script("");
    KT_OK(ks_clock_restore(&err));
}

static void try_to_restore(void)
{
    ks_clock_restore(NULL);
    if (fake_calls("nvmlDeviceResetGpuLockedClocks") == 0) {
        raise(SIGUSR1); /* as it should be */
    }
}

/* A child that was forked leaves what its parent has, and at its end too. */
static void a_child_leaves_the_lock_of_its_parent(void **state)
{
    (void)state;
    lock_here();
    pid_t child = fork();
    if (child == 0) {
        signal(SIGUSR1, SIG_DFL);
        try_to_restore();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    assert_true(ks_clocks_are_locked(DEVICE_0) && is_locked(0));
    KT_OK(ks_clock_restore(&err));
    assert_true(is_free(0));
}

/* The last one who needs the lock undoes it. */
static void a_lock_that_another_process_needs_stays(void **state)
{
    (void)state;
    int ready[2];
    int done[2];
    assert_int_equal(pipe(ready) | pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        lock_here();
        bool told = write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1;
        ks_clock_restore(NULL);
        _exit(told && fake_calls("nvmlDeviceResetGpuLockedClocks") == 1 ? 0 : 1);
    }
    char byte = 0;
    bool left = true;
    char who[KS_TURN_HOLDER_MAX];
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(ks_clocks_holder(DEVICE_0, who, &left) && !left);
    lock_here();
    KT_OK(ks_clock_restore(&err));
    assert_int_equal(fake_calls("nvmlDeviceResetGpuLockedClocks"), 0);
    assert_int_equal(write(done[1], &byte, 1), 1);
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_false(ks_clocks_holder(DEVICE_0, who, &left));
    fake_board_of(0)->locked_min = fake_board_of(0)->locked_max = 0;
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(done[i]);
    }
}

/* ---- the thermal guard ------------------------------------------------------------------------
 */

/* A body that heats the GPU by some degrees. */
typedef struct heater {
    int device;
    double degrees;
    unsigned calls;
} heater;

static ks_status heat(const ks_call *call, void *user, ks_error *e)
{
    heater *h = user;
    (void)e;
    KS_ANNOTATE("work")
    {
        fake_pass(1.0);
    }
    if (!ks_call_is_warmup(call)) {
        h->calls++;
        fake_board_of(h->device)->margin -= h->degrees;
    }
    return KS_OK;
}

static void guard(ks_thermal_mode mode, int wait_c, int cont_c, double timeout_s)
{
    ks_thermal t = KS_THERMAL_INIT;
    t.mode = mode;
    t.wait_c = wait_c;
    t.cont_c = cont_c;
    t.timeout_s = timeout_s;
    KT_OK(ks_plan_thermal(plan, &t, &err));
    ask("cpu__time_duration.sum");
}

#define CPU_TIME "cpu__time_duration.sum"

/* 8 degrees are lost in a call of a second, in which 2 come back. Before the calls there are 27,
 * 21, 15, 9: at most 10, so that it waits until there are 20, (20 - 9) / 2 = 5.5 s. Then 14. */
static void a_hot_gpu_is_waited_for(void **state)
{
    (void)state;
    heater h = {.degrees = 8};
    guard(KS_THERMAL_MANUAL, 10, 20, 180);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_runs(plan, 5, &err));
    fake_board_of(0)->margin = 27;
    fake_board_of(0)->cooling = 2;
    measure(heat, &h);
    assert_int_equal(h.calls, 5);
    KT_F64(number("work", CPU_TIME, "ThermalWait"), 5.5);
    KT_F64(ks_table_fact(table(), "thermal_waited_s").as.f64, 5.5);
    assert_string_equal(ks_table_fact(table(), "plan.thermal").text, "manual");
}

static void a_cool_gpu_is_not_waited_for(void **state)
{
    (void)state;
    heater h = {.degrees = 1};
    guard(KS_THERMAL_AUTO, 10, 20, 180);
    KT_OK(ks_plan_runs(plan, 5, &err));
    measure(heat, &h);
    KT_F64(number("work", CPU_TIME, "ThermalWait"), 0.0);
}

/* Without the guard there is no such column. */
static void no_guard_is_no_column(void **state)
{
    (void)state;
    heater h = {.degrees = 40};
    ask(CPU_TIME);
    measure(heat, &h);
    assert_int_equal(fake_calls("nvmlInit_v2"), 0);
    assert_true(ks_table_find(table(), "ThermalWait") == ks_table_columns(table()));
}

/* Auto: where one call fits between two waits it goes on 3 degrees later. */
static double present_cont;
static double first_cont; /* 0: none was told */

static void note_cont(const ks_progress *now, void *user)
{
    (void)user;
    if (now->phase == KS_PHASE_WAIT) {
        present_cont = now->wanted_c;
        first_cont = first_cont > 0.0 ? first_cont : now->wanted_c;
    }
}

static void few_calls_between_waits_raise_what_is_waited_for(void **state)
{
    (void)state;
    heater h = {.degrees = 100};
    guard(KS_THERMAL_AUTO, 10, 20, 1000);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_progress(plan, note_cont, NULL, &err));
    fake_board_of(0)->cooling = 2;
    KT_OK(ks_plan_runs(plan, 2, &err));
    measure(heat, &h);
    KT_F64(present_cont, 23.0); /* the second call met a hot GPU after 1 call */
    KT_OK(ks_plan_runs(plan, 3, &err));
    fake_board_of(0)->margin = 40;
    measure(heat, &h);
    KT_F64(present_cont, 26.0);
    KT_OK(ks_plan_runs(plan, 20, &err));
    fake_board_of(0)->margin = 40;
    measure(heat, &h);
    KT_F64(present_cont, 50.0); /* and no more */
}

/* Over 50 calls between waits: 3 degrees earlier. */
static void many_calls_between_waits_lower_it(void **state)
{
    (void)state;
    heater h = {.degrees = 0.5};
    guard(KS_THERMAL_AUTO, 10, 20, 1000);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_progress(plan, note_cont, NULL, &err));
    fake_board_of(0)->margin = 36; /* (36 - 10) / 0.5 = 52 calls until it is hot */
    KT_OK(ks_plan_runs(plan, 53, &err));
    first_cont = 0.0;
    measure_in_vain(heat, &h, KS_ELIMIT, "and 12 are wanted");
    KT_F64(first_cont, 17.0);
    KT_F64(present_cont, 14.0); /* it does not cool: 3 fewer at the first timeout, at the second
                                   12, which it has not either */
}

static void a_gpu_that_stays_hot_ends_the_run(void **state)
{
    (void)state;
    heater h = {.degrees = 35};
    guard(KS_THERMAL_MANUAL, 10, 20, 30);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    measure_in_vain(heat, &h, KS_ELIMIT, "after 31 s it is 5 degrees below where it slows down, and 20 are wanted");
    assert_int_equal(h.calls, 1);
    assert_non_null(results);
}

/* It is 13, after a single call: 23 are wanted. Auto gives way at each timeout: 20, 17, 14, 12. A
 * timeout is noticed after 30.5 s, and the margin read once more 0.5 s later: 4 * 30.5 + 0.5. */
static void auto_waits_several_timeouts(void **state)
{
    (void)state;
    heater h = {.degrees = 27};
    guard(KS_THERMAL_AUTO, 14, 20, 30);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    measure(heat, &h);
    assert_int_equal(h.calls, 2);
    KT_NEAR(number("work", CPU_TIME, "ThermalWait"), 122.5, 1e-9);
}

typedef struct waits {
    unsigned told;
    double last_s;
    double margin_c;
} waits;

static void cancel_third(const ks_progress *now, void *user)
{
    waits *w = user;
    if (now->phase == KS_PHASE_WAIT) {
        w->told++;
        w->last_s = now->waited_s;
        w->margin_c = now->margin_c;
        if (w->told == 3) {
            ks_plan_cancel(plan);
        }
    } else {
        assert_true(isnan(now->margin_c) && isnan(now->wanted_c));
    }
}

static void waits_are_told_and_can_be_cancelled(void **state)
{
    (void)state;
    heater h = {.degrees = 35};
    waits w = {0};
    guard(KS_THERMAL_MANUAL, 10, 20, 180);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    KT_OK(ks_plan_progress(plan, cancel_third, &w, &err));
    measure_in_vain(heat, &h, KS_ECANCELED, "while the GPU cooled down");
    assert_int_equal(h.calls, 1);
    assert_int_equal(w.told, 3);
    KT_F64(w.last_s, 1.0); /* at 0, 0.5 and 1 s */
    KT_F64(w.margin_c, 5.0);
    assert_true(number("work", CPU_TIME, "NumRuns") == 1); /* what was measured is kept */
    KT_F64(number("work", CPU_TIME, "ThermalWait"), 1.0);
}

static void a_gpu_that_tells_no_margin_is_not_guarded(void **state)
{
    (void)state;
    heater h = {.degrees = 100};
    fake_script("nvmlDeviceGetMarginTemperature=3");
    guard(KS_THERMAL_AUTO, 10, 20, 180);
    KT_OK(ks_plan_runs(plan, 2, &err));
    measure(heat, &h);
    assert_int_equal(h.calls, 2);
    assert_true(warned("the thermal guard is off: cannot read how far the GPU is"));
    assert_true(isnan(number("work", CPU_TIME, "ThermalWait")));
}

/* C10: another GPU may be as hot as it likes. */
static void the_gpu_that_is_used_is_watched(void **state)
{
    (void)state;
    heater h = {.device = 0, .degrees = 0};
    fake_script("devices=2");
    fake_use_device(1);
    fake_board_of(0)->margin = 1;
    guard(KS_THERMAL_MANUAL, 10, 20, 5);
    KT_OK(ks_plan_runs(plan, 3, &err));
    measure(heat, &h);
    KT_F64(number("work", CPU_TIME, "ThermalWait"), 0.0);
    fake_use_device(0);
    measure_in_vain(heat, &h, KS_ELIMIT, "does not get cool");
}

static void a_gpu_may_be_named_to_be_watched(void **state)
{
    (void)state;
    heater h = {0};
    ks_thermal t = KS_THERMAL_INIT;
    t.mode = KS_THERMAL_MANUAL;
    t.device = 1;
    fake_script("devices=2");
    fake_use_device(0);
    fake_board_of(1)->margin = 1;
    KT_OK(ks_plan_thermal(plan, &t, &err));
    ask(CPU_TIME);
    measure_in_vain(heat, &h, KS_ELIMIT, "does not get cool");
    t.device = 7;
    KT_OK(ks_plan_thermal(plan, &t, &err));
    measure_in_vain(heat, &h, KS_EINVAL, "there is no device 7");
}

static void a_part_is_guarded_by_the_heat_of_the_whole(void **state)
{
    (void)state;
    heater h = {.degrees = 35};
    fake_script("mig=2");
    guard(KS_THERMAL_MANUAL, 10, 20, 5);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    measure_in_vain(heat, &h, KS_ELIMIT, "does not get cool");
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    ks_thermal t = KS_THERMAL_INIT;
    t.wait_c = 50; /* and 20 to go on at */
    KT_FAILS(ks_plan_thermal(plan, &t, &err), KS_EINVAL, "invalid thermal control parameters");
    t = (ks_thermal)KS_THERMAL_INIT;
    t.timeout_s = NAN;
    KT_FAILS(ks_plan_thermal(plan, &t, &err), KS_EINVAL, "must be above 0");
    t = (ks_thermal){0};
    KT_FAILS(ks_plan_thermal(plan, &t, &err), KS_EINVAL, "KS_THERMAL_INIT");
    t = (ks_thermal)KS_THERMAL_INIT;
    t.mode = (ks_thermal_mode)7;
    KT_FAILS(ks_plan_thermal(plan, &t, &err), KS_EINVAL, "no thermal mode 7");
    KT_FAILS(ks_plan_clock_control(plan, (ks_clock_control)9, &err), KS_EINVAL,
             "no clock control 9");
}

/* ---- warnings ---------------------------------------------------------------------------------
 */

static ks_status throttle(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("work")
    {
        KS_TRY(launch("A", e));
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
           "the GPU's clocks were held down after 2 of 6 calls, by its limit of power, heat");
    assert_null(text("work", READ, "Warnings")); /* bytes are the same at any clock */
    const char *cpu = text("work", "cpu__time_duration.sum", "Warnings");
    assert_true(cpu == NULL || strstr(cpu, "held down") == NULL);
}

/* The clock is that of A in run 0, and of B in the others. */
static ks_status move_clock(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    KS_ANNOTATE("work")
    {
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

/* ---- memory -----------------------------------------------------------------------------------
 */

static ks_status control_all(void *arg, ks_error *e)
{
    sight s = {0};
    ks_plan *own = NULL;
    ks_results *r = NULL;
    ks_error none = KS_ERROR_INIT;
    (void)arg;
    ks_status status = ks_plan_new(&own, e);
    ks_plan_metric(own, TIME, e);
    ks_plan_metric(own, "nvml__energy.sum", e);
    ks_plan_metric(own, "nvml__temperature.max", e);
    ks_plan_thermal(own, NULL, e);
    if (status == KS_OK && ks_plan_clock_control(own, KS_CLOCK_BASE, e) == KS_OK) {
        fake_board_of(0)->update_ms = 1; /* a call is enough: it takes no time */
        status = ks_run(own, look, &s, &r, e);
    }
    ks_results_free(r);
    ks_plan_free(own);
    KT_OK(ks_release(&none));
    assert_true(is_free(0));
    return status == KS_OK && e->code != KS_OK ? e->code : status;
}

static void controls_survive_every_failed_allocation(void **state)
{
    (void)state;
    KT_OK(ks_release(&err));
    ks_plan_free(plan);
    plan = NULL;
    size_t allocations = kt_oom_sweep(control_all, NULL);
    assert_true(allocations > 50);
}

int main(void)
{
#define CONTROL(test) cmocka_unit_test_setup_teardown(test, begin, stop)
    const struct CMUnitTest tests[] = {
        CONTROL(clocks_are_locked_for_the_run),
        CONTROL(clocks_are_left_alone_by_default),
        CONTROL(clocks_are_given_back_after_a_failure),
        CONTROL(without_permission_a_run_fails_before_its_first_call),
        CONTROL(a_try_without_permission_is_a_warning),
        CONTROL(regions_of_cpus_say_what_clocks_were_locked),
        CONTROL(the_clocks_of_parts_are_left_alone),
        CONTROL(the_device_that_the_body_chose_is_locked_too),
        CONTROL(what_is_restored_meanwhile_is_locked_again),
        CONTROL(a_lock_of_a_killed_process_is_found_and_given_back),
        CONTROL(a_lock_that_cannot_be_given_back_is_told),
        CONTROL(a_child_leaves_the_lock_of_its_parent),
        CONTROL(a_lock_that_another_process_needs_stays),
        CONTROL(a_hot_gpu_is_waited_for),
        CONTROL(a_cool_gpu_is_not_waited_for),
        CONTROL(no_guard_is_no_column),
        CONTROL(few_calls_between_waits_raise_what_is_waited_for),
        CONTROL(many_calls_between_waits_lower_it),
        CONTROL(a_gpu_that_stays_hot_ends_the_run),
        CONTROL(auto_waits_several_timeouts),
        CONTROL(waits_are_told_and_can_be_cancelled),
        CONTROL(a_gpu_that_tells_no_margin_is_not_guarded),
        CONTROL(the_gpu_that_is_used_is_watched),
        CONTROL(a_gpu_may_be_named_to_be_watched),
        CONTROL(a_part_is_guarded_by_the_heat_of_the_whole),
        CONTROL(wrong_options_are_refused),
        CONTROL(clocks_that_were_held_down_are_told),
        CONTROL(a_clock_that_moved_is_told),
        CONTROL(controls_survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
