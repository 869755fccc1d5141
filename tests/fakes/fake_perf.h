/*
 * An imaginary kernel with performance counters, for the perf collector: so many counters, each
 * running a share of the time, refusals on demand. Its time goes on by fake_perf_work() alone.
 */
#ifndef FAKE_PERF_H
#define FAKE_PERF_H

#include "collect/perf/sys.h"

typedef struct fake_refusal {
    uint32_t type; /* of the event; -1: of all */
    uint64_t config;
    int number; /* errno; 0 ends the list */
} fake_refusal;

typedef struct fake_text {
    const char *path; /* NULL ends the list */
    const char *text;
} fake_text;

enum {
    FAKE_ANY = UINT32_MAX,
    FAKE_LIST_MAX = 16
};

typedef struct fake_perf_script {
    const char *absent;
    unsigned counters;   /* of the processor */
    bool watchdog;       /* one of them is held: a group that needs it opens, and does not run */
    double idle_share;   /* of the time in which the processor's counters do not run */
    double idle_from_ns; /* ... from this time of the kernel on */
    double overhead_ns;  /* work that each system call looks like to the counters */
    bool silent;         /* the kernel counts no time at all */
    fake_refusal refusals[FAKE_LIST_MAX];
    unsigned descriptors; /* that can be open at once; 0: any number */
    unsigned threads;     /* of the process, as the kernel says */
    const char *library;  /* of event names; NULL: there is none */
    fake_text files[FAKE_LIST_MAX];
} fake_perf_script;

typedef struct fake_perf_state {
    fake_perf_script script;
    unsigned open;   /* descriptors now, ... */
    unsigned most;   /* ... at most, ... */
    unsigned opened; /* ... so far */
    unsigned wrong;  /* calls that a kernel would not take, or that were made in a wrong way */
} fake_perf_state;

extern fake_perf_state fake_perf;

/** Start over with this script, and use this kernel from now on. */
void fake_perf_reset(fake_perf_script script);

/** Work for so many ns on this thread: 3 instructions, 2 cycles a ns; 1 of any other event. */
void fake_perf_work(double ns);

/** Time of this kernel: of all work so far. */
double fake_perf_now(void);

#endif
