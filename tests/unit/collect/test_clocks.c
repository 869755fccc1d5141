/* Clocks of GPUs that are locked for a run, and given back whatever comes. On the fake NVML. */
#include "fakes/nvidia/timer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/nvidia/abi_nvml.h"
#include "collect/nvidia/clocks.h"

#define DEVICE_0 "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00"
#define LOCKED   ((unsigned)KS_NVML_CLOCK_BASE)

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
    KS_ANNOTATE("work") {
        KS_TRY(launch("A", e));
        fake_pass(0.5);
    }
    return s->calls == s->fail_at ? ks_fail(e, KS_EBODY, "user", 0, "enough") : KS_OK;
}

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

/* The first test: later ones find it. */
static void without_nvml_clocks_are_left_alone_or_the_run_fails(void **state)
{
    (void)state;
    sight s = {0};
    setenv("KERNSIGHT_NVML_LIB", "/no/libnvidia-ml.so.1", 1);
    ask(TIME);
    measure(look, &s); /* nobody asks for it: nothing is said */
    assert_int_equal(s.calls, 2);
    assert_false(warned("NVML"));
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_TRY_BASE, &err));
    KT_OK(ks_plan_thermal(plan, NULL, &err));
    measure(look, &s);
    assert_true(warned("the clocks are not locked: cannot lock the clocks: there is no NVML"));
    assert_true(warned("the thermal guard is off: there is no NVML"));
    assert_string_equal(text("work", TIME, "ClockControl"), "none");
    KT_OK(ks_plan_clock_control(plan, KS_CLOCK_BASE, &err));
    measure_in_vain(look, &s, KS_UNAVAILABLE, "cannot lock the clocks: there is no NVML");
    assert_int_equal(s.calls, 4);
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

static void lock_and_exit(void)
{
    lock_here();
    exit(0);
}

static void a_process_that_exits_gives_its_lock_back(void **state)
{
    (void)state;
    bool left = false;
    char who[KS_TURN_HOLDER_MAX];
    fflush(NULL);
    in_child(lock_and_exit);
    assert_false(ks_clocks_holder(DEVICE_0, who, &left));
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
    const struct CMUnitTest tests[] = {
        TIMED(without_nvml_clocks_are_left_alone_or_the_run_fails),
        TIMED(clocks_are_locked_for_the_run),
        TIMED(clocks_are_left_alone_by_default),
        TIMED(clocks_are_given_back_after_a_failure),
        TIMED(without_permission_a_run_fails_before_its_first_call),
        TIMED(a_try_without_permission_is_a_warning),
        TIMED(regions_of_cpus_say_what_clocks_were_locked),
        TIMED(the_clocks_of_parts_are_left_alone),
        TIMED(the_device_that_the_body_chose_is_locked_too),
        TIMED(what_is_restored_meanwhile_is_locked_again),
        TIMED(a_lock_of_a_killed_process_is_found_and_given_back),
        TIMED(a_process_that_exits_gives_its_lock_back),
        TIMED(a_lock_that_cannot_be_given_back_is_told),
        TIMED(a_child_leaves_the_lock_of_its_parent),
        TIMED(a_lock_that_another_process_needs_stays),
        TIMED(controls_survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
