/* Waits for a GPU to cool down, on the time of the fake. */
#include "fakes/nvidia/timer.h"

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
    KS_ANNOTATE("work") {
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
    measure_in_vain(heat, &h, KS_ELIMIT,
                    "after 31 s it is 5 degrees below where it slows down, and 20 are wanted");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMED(a_hot_gpu_is_waited_for),
        TIMED(a_cool_gpu_is_not_waited_for),
        TIMED(no_guard_is_no_column),
        TIMED(few_calls_between_waits_raise_what_is_waited_for),
        TIMED(many_calls_between_waits_lower_it),
        TIMED(a_gpu_that_stays_hot_ends_the_run),
        TIMED(auto_waits_several_timeouts),
        TIMED(waits_are_told_and_can_be_cancelled),
        TIMED(a_gpu_that_tells_no_margin_is_not_guarded),
        TIMED(the_gpu_that_is_used_is_watched),
        TIMED(a_gpu_may_be_named_to_be_watched),
        TIMED(a_part_is_guarded_by_the_heat_of_the_whole),
        TIMED(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
