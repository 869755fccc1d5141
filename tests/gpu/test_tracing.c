/* Kernel tracing: how many kernels there were, how long each took, and how long all of them. */
#include <math.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

static const char count[] = "kernel__count.sum";
static const char time[] = "kernel__time_duration.sum";
static const char span[] = "kernel__span.max";
static const char counted_time[] = "gpu__time_duration.sum";

enum {
    SPIN = 200000, /* cycles */
    LAUNCHES = 5
};

static ks_status spins(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    const gt_ptr *out = user;
    gt_spin(*out, SPIN); /* nobody's */
    KS_ANNOTATE("outer") {
        gt_spin(*out, SPIN);
        KS_ANNOTATE("inner") {
            for (int i = 0; i < LAUNCHES; i++) {
                gt_spin(*out, SPIN);
            }
        }
    }
    KS_ANNOTATE("copies") {
        float value = 0;
        gt_copy_out(&value, *out, sizeof value);
    }
    gt_sync();
    return KS_OK;
}

/* A kernel that waits for so many cycles takes between 1/2.5 and 1/0.3 of a nanosecond for each. */
static void check_time(const ks_results *results, const char *annotation, int kernels)
{
    double cycles = (double)SPIN * kernels;
    double taken = gt_value(results, annotation, time);
    double whole = gt_value(results, annotation, span);
    TAP_CHECK(taken > cycles / 2.5 && taken < cycles / 0.3, "%s: %g ns for %g cycles", annotation,
              taken, cycles);
    TAP_CHECK(whole >= taken && whole < 2.0 * taken, "%s: kernels take %g ns, all of them %g",
              annotation, taken, whole);
}

static void kernels_are_counted_and_timed(void)
{
    gt_ptr out = gt_alloc(4096);
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "kernel__*", .runs = 5, .warmup = 1};
    ks_results *results = gt_measure(&options, spins, &out, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "outer/inner", count), LAUNCHES);
    TAP_EXACT(gt_value(results, "outer", count), LAUNCHES + 1);
    TAP_EXACT(gt_value(results, "copies", count), 0);
    TAP_CHECK(isnan(gt_value(results, "copies", time)), "copies have a time of kernels");
    check_time(results, "outer/inner", LAUNCHES);
    check_time(results, "outer", LAUNCHES + 1);
    ks_results_free(results);
    gt_free(out);
}

/* Both in one plan, in passes of their own: each time is right, and they are near each other. */
static void tracing_and_counters_go_together(void)
{
    gt_ptr out = gt_alloc(4096);
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics =
                              "kernel__time_duration.sum,gpu__time_duration.sum,kernel__count.sum",
                          .runs = 5,
                          .warmup = 1};
    ks_results *results = gt_measure(&options, spins, &out, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    TAP_EXACT(gt_value(results, "outer/inner", count), LAUNCHES);
    TAP_NEAR(gt_value(results, "outer/inner", time) /
                 gt_value(results, "outer/inner", counted_time),
             1.0, 0.1);
    TAP_EXACT(gt_number(results, "outer/inner", counted_time, "NumKernels"), LAUNCHES);
    TAP_CHECK(isnan(gt_value(results, "copies", counted_time)), "copies have counters");
    ks_results_free(results);
    gt_free(out);
}

int main(void)
{
    static const tap_test tests[] = {
        {"kernels are counted and timed", kernels_are_counted_and_timed},
        {"tracing and counters go together", tracing_and_counters_go_together},
    };
    const char *why = gt_open(GT_PTX);
    return why != NULL ? tap_skip_all(why) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
