/* What NVML's readings become, on the time of the fake: energy by its meter, clocks, heat. */
#include "fakes/nvidia/timer.h"

#include "collect/nvidia/board/meter.h"

#define ENERGY      "nvml__energy.sum"
#define POWER       "nvml__power.avg"
#define TEMPERATURE "nvml__temperature.max"
#define MARGIN      "nvml__temperature_margin.min"
#define SM_CLOCK    "nvml__clock_sm.avg"

static int begin(void **state)
{
    int failed = start_timed(state);
    KT_OK(ks_plan_warmup(plan, 0, &err));
    return failed;
}

/* A body that works for a while in an annotation, and for another while outside. */
typedef struct work {
    double inside_s;
    double outside_s;
    unsigned visits; /* 0: one */
    unsigned calls;
} work;

static ks_status do_work(const ks_call *call, void *user, ks_error *e)
{
    work *w = user;
    (void)call;
    (void)e;
    w->calls++;
    for (unsigned i = 0; i < (w->visits > 0 ? w->visits : 1); i++) {
        KS_ANNOTATE("work") {
            fake_pass(w->inside_s);
        }
        fake_pass(w->outside_s);
    }
    return KS_OK;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

static void long_work_is_measured_in_one_call(void **state)
{
    (void)state;
    work w = {.inside_s = 4.0};
    ask(ENERGY);
    ask(POWER);
    measure(do_work, &w);
    assert_int_equal(w.calls, 1);
    KT_NEAR(mean("work", ENERGY), 800.0, 1e-3); /* 200 W for 4 s */
    KT_NEAR(mean("work", POWER), 200.0, 1e-3);
    assert_string_equal(text("work", ENERGY, "Unit"), "J");
    assert_string_equal(text("work", POWER, "Unit"), "W");
    assert_string_equal(text("work", ENERGY, "Source"), "nvml");
    assert_string_equal(text("work", ENERGY, "Device"), "Fake GPU");
}

/* 3 ms at 200 W are 0.6 J, and the meter moves every 100 ms: 20 of those are 667 calls. */
static void short_work_is_repeated(void **state)
{
    (void)state;
    work w = {.inside_s = 0.003};
    ask(ENERGY);
    ask(POWER);
    KT_OK(ks_plan_runs(plan, 2, &err));
    measure(do_work, &w);
    KT_NEAR(mean("work", ENERGY), 0.6, 0.06);
    KT_NEAR(mean("work", POWER), 200.0, 0.06);
    assert_true(w.calls >= 2 * 667 && w.calls <= 2 * 720);
    assert_true(number("work", ENERGY, "Visits") == 1); /* of a call */
    assert_true(number("work", ENERGY, "NumRuns") == 2);
}

/* On an H200 the meter is read in 4 ms: at each call that would be 9/10 of the time of these. */
static void a_meter_that_is_slow_to_read_disturbs_little(void **state)
{
    (void)state;
    work w = {.inside_s = 0.001};
    fake_board_of(0)->reading_s = 0.004;
    ask(ENERGY);
    measure(do_work, &w);
    KT_NEAR(mean("work", ENERGY), 0.2, 0.06);
    assert_true(w.calls >= 1900 && w.calls <= 2100);
}

static void visits_of_a_call_add_up(void **state)
{
    (void)state;
    work w = {.inside_s = 0.001, .visits = 5};
    ask(ENERGY);
    measure(do_work, &w);
    KT_NEAR(mean("work", ENERGY), 1.0, 0.06);
    assert_true(number("work", ENERGY, "Visits") == 5);
}

/* The meter cannot tell short work from what is around it. */
static void work_among_other_work_has_no_energy(void **state)
{
    (void)state;
    work w = {.inside_s = 0.001, .outside_s = 0.001};
    ask(ENERGY);
    ask(POWER);
    measure(do_work, &w);
    assert_true(isnan(mean("work", ENERGY)) && isnan(mean("work", POWER)));
    KT_HAS(text("work", ENERGY, "Failure"), "moves every 100 ms");
    KT_HAS(text("work", ENERGY, "Failure"), "50 % of the time");
    KT_HAS(text("work", POWER, "Failure"), "repeat its work inside it for 2000 ms");
    assert_int_equal(w.calls, 101); /* 201 ms: more would not help */
}

static void long_work_among_other_work_has_its_energy(void **state)
{
    (void)state;
    work w = {.inside_s = 3.0, .outside_s = 5.0};
    ask(ENERGY);
    measure(do_work, &w);
    KT_NEAR(mean("work", ENERGY), 600.0, 1e-3);
}

static void the_period_is_in_the_data(void **state)
{
    (void)state;
    work w = {.inside_s = 0.5};
    fake_board_of(0)->update_ms = 20;
    ask(ENERGY);
    measure(do_work, &w);
    assert_int_equal(w.calls, 1); /* 20 periods are 0.4 s */
    KT_NEAR(mean("work", ENERGY), 100.0, 1e-3);
    ks_value period = ks_table_fact(table(), "nvml_energy_update_ms");
    KT_NEAR(period.as.f64, 20.0, 0.06);
}

static void a_meter_that_stands_still_is_told(void **state)
{
    (void)state;
    work w = {.inside_s = 4.0};
    fake_board_of(0)->watts = 0;
    ask(ENERGY);
    ask(TEMPERATURE);
    measure(do_work, &w);
    KT_HAS(text("work", ENERGY, "Failure"), "stands still");
    assert_true(isnan(mean("work", ENERGY)));
    KT_F64(mean("work", TEMPERATURE), 40.0);
}

static void a_meter_that_fails_is_told(void **state)
{
    (void)state;
    work w = {.inside_s = 4.0};
    fake_script("nvmlDeviceGetTotalEnergyConsumption=3");
    ask(POWER);
    measure(do_work, &w);
    KT_HAS(text("work", POWER, "Failure"), "Not Supported (NVML's result 3)");
    assert_int_equal(w.calls, 1);
}

/* A run that was cancelled before it began: the meter is not watched, and the next run works. */
static void cancelling_ends_the_watch_of_the_meter(void **state)
{
    (void)state;
    work w = {.inside_s = 4.0};
    ask(ENERGY);
    ks_plan_cancel(plan);
    measure_in_vain(do_work, &w, KS_ECANCELED, "cancelled after 0 of 1 configs");
    assert_int_equal(w.calls, 0);
    assert_true(fake_calls("nvmlDeviceGetTotalEnergyConsumption") <= 2);
    measure(do_work, &w);
    KT_NEAR(mean("work", ENERGY), 800.0, 1e-3);
}

static ks_status cancel_and_work(const ks_call *call, void *user, ks_error *e)
{
    if (((work *)user)->calls == 9) {
        ks_plan_cancel(plan);
    }
    return do_work(call, user, e);
}

static void cancelling_ends_the_repetition(void **state)
{
    (void)state;
    work w = {.inside_s = 0.001};
    ask(ENERGY);
    KT_OK(ks_plan_runs(plan, 2, &err));
    measure_in_vain(cancel_and_work, &w, KS_ECANCELED, "cancelled");
    assert_int_equal(w.calls, 10);
    KT_HAS(text("work", ENERGY, "Failure"), "ended before it could be told");
}

static ks_status fail_later(const ks_call *call, void *user, ks_error *e)
{
    do_work(call, user, e);
    return ((work *)user)->calls == 3 ? ks_fail(e, KS_EBODY, "user", 0, "enough") : KS_OK;
}

static void a_repetition_that_fails_is_the_run_s_failure(void **state)
{
    (void)state;
    work w = {.inside_s = 0.001};
    ask(ENERGY);
    KT_OK(ks_plan_tolerant(plan, true, &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    measure(fail_later, &w);
    KT_HAS(text("work", ENERGY, "Failure"), "1 of 2 runs failed: enough");
    KT_NEAR(mean("work", ENERGY), 0.2, 0.06);
}

/* Its own pass leaves the others' calls alone. */
static void other_metrics_are_not_repeated(void **state)
{
    (void)state;
    work w = {.inside_s = 0.01};
    ask("cpu__time_duration.sum");
    ask(ENERGY);
    measure(do_work, &w);
    KT_NEAR(mean("work", ENERGY), 2.0, 0.06);
    assert_true(number("work", "cpu__time_duration.sum", "Visits") == 1);
    assert_true(ks_table_fact(table(), "plan.passes").as.i64 == 2);
}

/* ---- what the meter can tell, by hand ---------------------------------------------------------
 */

static void the_meter_tells_by_its_moves(void **state)
{
    (void)state;
    char why[KS_METER_WHY_MAX];
    double joules = 0;
    double watts = 0;
    ks_metered m = {0};
    assert_int_equal(ks_meter_need_ns(1000), 20000);
    for (uint32_t call = 1; call <= 4; call++) { /* four of 5 s, with 5 s between */
        const uint64_t began = 10000000000u * call;
        const ks_metered_visit visit = {began, began + 5000000000u, 1000u * call,
                                        1000u * call + 300, true};
        ks_metered_add(&m, call, &visit);
    }
    assert_true(ks_metered_tell(&m, 100000000, &joules, &watts, why));
    KT_NEAR(joules, 0.3, 1e-12); /* 300 mJ a call */
    KT_NEAR(watts, 0.06, 1e-12);
    assert_false(ks_metered_tell(&m, 1000000000, &joules, &watts, why)); /* needs 20 s each */
    KT_HAS(why, "moves every 1000 ms");
}

/* Calls of 10 s, of which the first and the third read the meter; what it did in the fourth is not
 * known, and does not count. */
static void visits_that_do_not_read_the_meter_count_up_to_the_last_that_does(void **state)
{
    (void)state;
    char why[KS_METER_WHY_MAX];
    double joules = 0;
    double watts = 0;
    ks_metered m = {0};
    const uint64_t s = 1000000000;
    ks_metered_add(&m, 1, &(ks_metered_visit){0, 10 * s, 5000, 5500, true});
    ks_metered_add(&m, 2, &(ks_metered_visit){10 * s, 20 * s, 0, 0, false});
    ks_metered_add(&m, 3, &(ks_metered_visit){20 * s, 30 * s, 6000, 6600, true});
    ks_metered_add(&m, 4, &(ks_metered_visit){30 * s, 40 * s, 0, 0, false});
    assert_true(ks_metered_tell(&m, s, &joules, &watts, why)); /* 20 s are needed */
    KT_NEAR(watts, 1.6 / 30, 1e-12);                           /* 1600 mJ */
    KT_NEAR(joules, 1.6 / 3, 1e-12);
}

static void overlapping_visits_have_no_energy(void **state)
{
    (void)state;
    char why[KS_METER_WHY_MAX];
    double joules = 0;
    double watts = 0;
    ks_metered m = {0};
    ks_metered_add(&m, 1, &(ks_metered_visit){0, 9000, 0, 9, true});
    ks_metered_add(&m, 1, &(ks_metered_visit){1000, 10000, 0, 9, true});
    assert_false(ks_metered_tell(&m, 10, &joules, &watts, why));
    KT_HAS(why, "overlapped");
}

/* ---- readings ---------------------------------------------------------------------------------
 */

static ks_status heat_up(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    fake_board *board = fake_board_of(0);
    KS_ANNOTATE("work") {
        board->temperature += 5;
        board->margin -= 5;
        board->sm_mhz -= 15;
    }
    return KS_OK;
}

static void readings_are_of_the_visit(void **state)
{
    (void)state;
    ask(TEMPERATURE);
    ask(MARGIN);
    ask(SM_CLOCK);
    ask("nvml__clock_memory.avg");
    ask("cpu__time_duration.sum");
    measure(heat_up, NULL);
    KT_F64(mean("work", TEMPERATURE), 45.0);
    KT_F64(mean("work", MARGIN), 35.0);
    KT_F64(mean("work", SM_CLOCK), 1965.0);
    KT_F64(mean("work", "nvml__clock_memory.avg"), 3201.0);
    assert_string_equal(text("work", MARGIN, "Unit"), "degC");
    assert_string_equal(text("work", SM_CLOCK, "Unit"), "MHz");
    assert_true(ks_table_fact(table(), "plan.passes").as.i64 == 1); /* they disturb nobody */
}

static void what_nvml_does_not_tell_is_missing(void **state)
{
    (void)state;
    fake_script("nvmlDeviceGetMarginTemperature=3");
    ask(TEMPERATURE);
    ask(MARGIN);
    measure(heat_up, NULL);
    KT_F64(mean("work", TEMPERATURE), 45.0);
    assert_true(isnan(mean("work", MARGIN)));
    KT_HAS(text("work", MARGIN, "Failure"), "limit of heat: Not Supported");
}

/* C10: CUDA's number of a device is not NVML's; its UUID is the same in both. */
static void the_device_that_is_used_is_read(void **state)
{
    (void)state;
    fake_script("devices=2");
    fake_use_device(1);
    fake_board_of(1)->temperature = 70;
    ask(TEMPERATURE);
    measure(heat_up, NULL); /* which heats device 0 */
    KT_F64(mean("work", TEMPERATURE), 70.0);
    fake_use_device(0);
}

static void a_part_has_the_heat_of_the_whole_and_no_energy(void **state)
{
    (void)state;
    fake_script("mig=2");
    ask(TEMPERATURE);
    ask(ENERGY);
    measure(heat_up, NULL);
    KT_F64(mean("work", TEMPERATURE), 45.0);
    KT_HAS(text("work", TEMPERATURE, "Warnings"), "of the whole GPU, of which a part (MIG)");
    KT_HAS(text("work", ENERGY, "Failure"), "part of a GPU (MIG)");
}

/* The first test: later ones find it. */
static void without_nvml_its_metrics_are_refused(void **state)
{
    (void)state;
    work w = {.inside_s = 4.0};
    setenv("KERNSIGHT_NVML_LIB", "/no/libnvidia-ml.so.1", 1);
    ask(TEMPERATURE);
    measure_in_vain(do_work, &w, KS_UNAVAILABLE, "there is no NVML here: /no/libnvidia-ml.so.1");
    assert_int_equal(w.calls, 0);
    assert_null(results);
}

static void a_device_that_nvml_does_not_know_is_an_error(void **state)
{
    (void)state;
    fake_script("nvmlDeviceGetHandleByUUID=6");
    ask(TEMPERATURE);
    measure_in_vain(heat_up, NULL, KS_UNAVAILABLE, "cannot find the GPU");
    assert_null(results);
}

int main(void)
{
#define BOARD(test) cmocka_unit_test_setup_teardown(test, begin, stop)
    const struct CMUnitTest tests[] = {
        BOARD(without_nvml_its_metrics_are_refused),
        BOARD(long_work_is_measured_in_one_call),
        BOARD(short_work_is_repeated),
        BOARD(a_meter_that_is_slow_to_read_disturbs_little),
        BOARD(visits_of_a_call_add_up),
        BOARD(work_among_other_work_has_no_energy),
        BOARD(long_work_among_other_work_has_its_energy),
        BOARD(the_period_is_in_the_data),
        BOARD(a_meter_that_stands_still_is_told),
        BOARD(a_meter_that_fails_is_told),
        BOARD(cancelling_ends_the_watch_of_the_meter),
        BOARD(cancelling_ends_the_repetition),
        BOARD(a_repetition_that_fails_is_the_run_s_failure),
        BOARD(other_metrics_are_not_repeated),
        BOARD(the_meter_tells_by_its_moves),
        BOARD(visits_that_do_not_read_the_meter_count_up_to_the_last_that_does),
        BOARD(overlapping_visits_have_no_energy),
        BOARD(readings_are_of_the_visit),
        BOARD(what_nvml_does_not_tell_is_missing),
        BOARD(the_device_that_is_used_is_read),
        BOARD(a_part_has_the_heat_of_the_whole_and_no_energy),
        BOARD(a_device_that_nvml_does_not_know_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
