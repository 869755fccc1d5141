/*
 * A collector for tests of the contract: an imaginary device that runs kernels, with a metric in
 * each of three passes. What goes wrong is up to the script.
 */
#ifndef FAKE_COLLECTOR_H
#define FAKE_COLLECTOR_H

#include "collect/collector.h"

/** Metrics, each in a pass of its own: fake__duration.sum (ns), fake__bytes.sum (byte),
 * fake__busy.pct
 *  (%, weighted by duration). */
extern const ks_collector_ops fake_ops;

/** fake_ops alone, NULL at the end. */
extern const ks_collector_ops *const fake_collectors[];

enum fake_fault {
    FAKE_NONE,
    FAKE_FAIL_OPEN,
    FAKE_FAIL_PASS_BEGIN,
    FAKE_FAIL_RUN_BEGIN,
    FAKE_FAIL_RUN_END,
    FAKE_FAIL_PASS_END,
    FAKE_FAIL_DRAIN
};

typedef struct fake_script {
    enum fake_fault fault;
    bool shares_first;      /* with the clock */
    unsigned lose_every;    /* the device loses every n-th launch; 0: none */
    unsigned lose_until;    /* ... in so many first configs or repeats of one; 0: always */
    unsigned invent;        /* launches that the device adds to each config */
    unsigned reorder_pass;  /* swap the first two launches of this pass (from 1); 0: never */
    unsigned reorder_until; /* ... in so many first configs or repeats; 0: always */
    double floor_ns;        /* shorter durations are "too short to tell"; 0: none are */
} fake_script;

/** What happens next; also counts. Set before ks_run_with(), read after it. */
typedef struct fake_state {
    fake_script script;
    unsigned opened, closed, passes, runs, aborts, drains;
} fake_state;

extern fake_state fake;

/** Start over with this script. */
void fake_reset(fake_script script);

/** Run a kernel: for the body of a test, on any thread. */
void fake_launch(const char *kernel, double duration_ns, double bytes, double busy_pct);

#endif
