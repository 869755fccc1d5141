/*
 * What is done to a GPU around the calls of a run, beside measuring it: clocks that are locked,
 * waits until it is cool, and a look at what held its clocks down.
 *
 * All happens on the thread that runs the body. NULL is a run that wants nothing of it.
 */
#ifndef KS_COLLECT_CONTROL_H
#define KS_COLLECT_CONTROL_H

#include "collect/collector.h"

typedef struct ks_control ks_control;

typedef struct ks_control_spec {
    ks_clock_control clocks;
    const ks_thermal *thermal;    /**< copied */
    const atomic_bool *cancelled; /**< the run is to stop */
} ks_control_spec;

/** How a wait for a GPU to cool down stands. */
typedef struct ks_wait_state {
    double waited_s; /**< so far */
    double margin_c; /**< degrees below where it slows down ... */
    double wanted_c; /**< ... and how many it waits for */
} ks_wait_state;

/** Who is told of waits. */
typedef struct ks_wait_teller {
    void *self;
    void (*tell)(void *self, const ks_wait_state *now);
} ks_wait_teller;

/**
 * Lock the clocks, if the plan says so, and get ready for the rest. Where it says nothing a GPU is
 * looked at alone: it may come out as NULL.
 *
 * @return KS_EPERM, KS_UNAVAILABLE: the clocks cannot be locked, and KS_CLOCK_BASE was asked for;
 *         KS_ENOMEM
 */
ks_status ks_control_open(const ks_control_spec *spec, ks_control **out, ks_error *err);

/** Gives the clocks back. Accepts NULL. */
void ks_control_close(ks_control *control);

/** What the clocks are under: "base", or "none". Static text. */
const char *ks_control_clocks(const ks_control *control);

/** Whether heat is watched, as far as is known. */
bool ks_control_guards(const ks_control *control);

/** Before a call of the body: the device may be another one now. The guard waits before measured
 * ones. @param[in,out] waited_s  the wait is added */
ks_status ks_control_before(ks_control *control, bool warmup, const ks_wait_teller *teller,
                            double *waited_s, ks_error *err);

/** After a measured call, while the GPU is as it left it. */
void ks_control_after(ks_control *control);

/** Say what is to be known of the metrics of GPUs in this batch, and begin the next. */
ks_status ks_control_tell(ks_control *control, ks_samples *into, ks_error *err);

/** What is to be known of the run as a whole. */
ks_status ks_control_warn(const ks_control *control, ks_pool *warnings, ks_error *err);

#endif
