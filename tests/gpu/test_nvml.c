/*
 * What NVML tells, against other sources: energy against NVML's own power over time, the clock
 * against cycles over time, heat against what is possible; a guard that never has to wait. Nothing
 * is changed on the GPU: clocks are locked in tests with fakes alone.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

#define ENERGY      "nvml__energy.sum"
#define POWER       "nvml__power.avg"
#define SM_CLOCK    "nvml__clock_sm.avg"
#define TEMPERATURE "nvml__temperature.max"
#define MARGIN      "nvml__temperature_margin.min"
#define CPU_TIME    "cpu__time_duration.sum"
#define GPU_TIME    "gpu__time_duration.sum"

static const int64_t SECOND = 1900000000; /* cycles of about a second, at the clock of an H200 */

/* ---- NVML, for ourselves ----------------------------------------------------------------------
 */

static struct {
    int (*init)(void);
    int (*by_uuid)(const char *, void **);
    int (*power)(void *, unsigned *);
    void *device;
} nvml;

/* Whether it is there, and knows the GPU of that UUID. */
static bool open_nvml(const char *uuid)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || uuid == NULL) {
        return false;
    }
    *(void **)&nvml.init = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.by_uuid = dlsym(library, "nvmlDeviceGetHandleByUUID");
    *(void **)&nvml.power = dlsym(library, "nvmlDeviceGetPowerUsage");
    return nvml.init != NULL && nvml.by_uuid != NULL && nvml.power != NULL && nvml.init() == 0 &&
           nvml.by_uuid(uuid, &nvml.device) == 0;
}

/* The mean of the power that NVML tells, 20 ms apart, from the second half of the watch on: what it
 * tells is itself a mean of the last second. */
typedef struct watch {
    pthread_t thread;
    atomic_bool over;
    double sum_w;
    unsigned readings;
} watch;

static void *watch_power(void *user)
{
    watch *w = user;
    for (unsigned i = 0; !atomic_load(&w->over); i++) {
        unsigned mw = 0;
        if (i >= 75 && nvml.power(nvml.device, &mw) == 0) {
            w->sum_w += mw / 1e3;
            w->readings++;
        }
        usleep(20000);
    }
    return NULL;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

typedef struct spin {
    gt_ptr out;
    int64_t cycles;
    unsigned calls;
} spin;

static ks_status spin_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    spin *s = user;
    s->calls++;
    KS_ANNOTATE("spin") {
        gt_spin(s->out, s->cycles);
        gt_sync();
    }
    return KS_OK;
}

static void tell_missing(const ks_results *results, const char *metric)
{
    tap_note("%s: %s", metric, gt_shown(gt_text(results, "spin", metric, "Failure")));
}

static void the_energy_of_a_second_is_power_times_time(void)
{
    spin s = {gt_alloc(4096), 3 * SECOND, 0};
    watch w = {.sum_w = 0.0};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = ENERGY "," POWER "," CPU_TIME, .warmup = 1};
    bool watched = nvml.device != NULL && pthread_create(&w.thread, NULL, watch_power, &w) == 0;
    ks_results *results = gt_measure(&options, spin_body, &s, &err);
    atomic_store(&w.over, true);
    if (watched) {
        pthread_join(w.thread, NULL);
    }
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double joules = gt_value(results, "spin", ENERGY);
    double watts = gt_value(results, "spin", POWER);
    double seconds = gt_value(results, "spin", CPU_TIME) / 1e9;
    const ks_value period =
        ks_table_fact(results != NULL ? ks_results_table(results) : NULL, "nvml_energy_update_ms");
    tap_note("%g J, %g W, %g s, the meter moves every %g ms, %u calls", joules, watts, seconds,
             period.type == KS_F64 ? period.as.f64 : NAN, s.calls);
    tell_missing(results, ENERGY);
    /* its time is that of another pass, a spin of as many cycles */
    TAP_NEAR(joules, watts * seconds, 0.05);
    TAP_CHECK(watts > 20.0 && watts < 1500.0, "%g W", watts);
    if (watched && w.readings > 0) {
        tap_note("NVML's own power: %g W, mean of %u readings", w.sum_w / w.readings, w.readings);
        TAP_NEAR(watts, w.sum_w / w.readings, 0.15);
    }
    ks_results_free(results);
    gt_free(s.out);
}

/* 1 ms, so that it is repeated; the annotation is all that the body does. */
static void short_work_is_repeated_until_it_can_be_told(void)
{
    spin s = {gt_alloc(4096), SECOND / 1000, 0};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = ENERGY "," POWER "," CPU_TIME, .warmup = 1, .runs = 2};
    ks_results *results = gt_measure(&options, spin_body, &s, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double joules = gt_value(results, "spin", ENERGY);
    double watts = gt_value(results, "spin", POWER);
    double seconds = gt_value(results, "spin", CPU_TIME) / 1e9;
    tap_note("%g J, %g W, %g s, %u calls", joules, watts, seconds, s.calls);
    tell_missing(results, ENERGY);
    TAP_CHECK(s.calls > 100, "only %u calls", s.calls);
    TAP_NEAR(joules, watts * seconds, 0.15);
    TAP_CHECK(watts > 20.0 && watts < 1500.0, "%g W", watts);
    TAP_EXACT(gt_number(results, "spin", ENERGY, "Visits"), 1.0);
    ks_results_free(results);
    gt_free(s.out);
}

/* ---- clocks and heat --------------------------------------------------------------------------
 */

static void the_clock_is_cycles_over_time(void)
{
    spin s = {gt_alloc(4096), SECOND / 4, 0};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = SM_CLOCK ",nvml__clock_memory.avg,"
                                              "gpc__cycles_elapsed.max," GPU_TIME,
                          .warmup = 1,
                          .runs = 3};
    ks_results *results = gt_measure(&options, spin_body, &s, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double mhz = gt_value(results, "spin", SM_CLOCK);
    double counted = gt_number(results, "spin", GPU_TIME, "ClockMHz");
    tap_note("NVML: %g MHz, memory %g MHz; cycles over time: %g MHz", mhz,
             gt_value(results, "spin", "nvml__clock_memory.avg"), counted);
    TAP_NEAR(mhz, counted, 0.03);
    TAP_CHECK(gt_equal(gt_text(results, "spin", GPU_TIME, "ClockControl"), "none"),
              "ClockControl is not none");
    const char *warnings = gt_text(results, "spin", GPU_TIME, "Warnings");
    tap_note("warnings: %s", gt_shown(warnings));
    ks_results_free(results);
    gt_free(s.out);
}

static void heat_is_in_a_sane_range(void)
{
    spin s = {gt_alloc(4096), SECOND / 4, 0};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = TEMPERATURE "," MARGIN, .warmup = 1};
    ks_results *results = gt_measure(&options, spin_body, &s, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double celsius = gt_value(results, "spin", TEMPERATURE);
    double margin = gt_value(results, "spin", MARGIN);
    tap_note("%g degrees, %g below where it slows down", celsius, margin);
    TAP_CHECK(celsius >= 10.0 && celsius <= 100.0, "%g degrees", celsius);
    if (isnan(margin)) {
        tell_missing(results, MARGIN);
        TAP_HAS(gt_text(results, "spin", MARGIN, "Failure"), "NVML's result");
    } else {
        TAP_CHECK(margin >= -5.0 && margin <= 100.0, "%g degrees", margin);
    }
    ks_results_free(results);
    gt_free(s.out);
}

/* ---- the guard --------------------------------------------------------------------------------
 */

static void count_waits(const ks_progress *now, void *user)
{
    *(unsigned *)user += now->phase == KS_PHASE_WAIT;
}

static void a_guard_with_a_far_threshold_never_waits(void)
{
    spin s = {gt_alloc(4096), SECOND / 100, 0};
    ks_error err = KS_ERROR_INIT;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    unsigned waits = 0;
    ks_thermal thermal = KS_THERMAL_INIT;
    thermal.mode = KS_THERMAL_MANUAL;
    thermal.wait_c = -1000;
    thermal.cont_c = -999;
    ks_plan_new(&plan, &err);
    ks_plan_metric(plan, GPU_TIME, &err);
    ks_plan_runs(plan, 5, &err);
    ks_plan_thermal(plan, &thermal, &err);
    ks_plan_progress(plan, count_waits, &waits, &err);
    ks_run(plan, spin_body, &s, &results, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_CHECK(waits == 0, "%u waits", waits);
    if (gt_warned(results, "the thermal guard is off")) {
        tap_note("this GPU does not tell its margin");
    } else {
        TAP_EXACT(gt_number(results, "spin", GPU_TIME, "ThermalWait"), 0.0);
    }
    ks_results_free(results);
    ks_plan_free(plan);
    gt_free(s.out);
}

/* The UUID of the GPU that is measured, as the results tell it; static. */
static const char *uuid_of_gpu(void)
{
    static char uuid[64];
    spin s = {gt_alloc(4096), 1000, 0};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "launch__grid_size"};
    ks_results *results = gt_measure(&options, spin_body, &s, &err);
    if (results != NULL) {
        ks_value fact = ks_table_fact(ks_results_table(results), "gpu_uuid");
        snprintf(uuid, sizeof uuid, "%s", fact.type == KS_TEXT ? fact.text : "");
    }
    ks_results_free(results);
    gt_free(s.out);
    return uuid;
}

int main(void)
{
    static const tap_test tests[] = {
        {"the energy of a second is power times time", the_energy_of_a_second_is_power_times_time},
        {"short work is repeated until it can be told",
         short_work_is_repeated_until_it_can_be_told},
        {"the clock is cycles over time", the_clock_is_cycles_over_time},
        {"heat is in a sane range", heat_is_in_a_sane_range},
        {"a guard with a far threshold never waits", a_guard_with_a_far_threshold_never_waits},
    };
    const char *why = gt_open(GT_PTX);
    if (why != NULL) {
        return tap_skip_all(why);
    }
    if (!open_nvml(uuid_of_gpu())) {
        return tap_skip_all("there is no NVML that knows this GPU");
    }
    return tap_main(tests, sizeof tests / sizeof tests[0]);
}
