/*
 * Counting during a visit: the hot path.
 *
 * A thread opens its counters when it enters a region for the first time in a call of the body, and
 * they stay open until it has ended, or the call: opening costs some 0.1 ms each. A visit has the
 * difference of two readings. Threads and processes that a thread starts while its counters are
 * open inherit them, so that their work is counted with its own.
 */
#ifndef KS_COLLECT_PERF_COUNTING_H
#define KS_COLLECT_PERF_COUNTING_H

#include <stdatomic.h>

#include "collect/perf/groups.h"

/** A counter in a visit. */
typedef struct ks_perf_reading {
    int fd;              /**< if this visit opened it; negative: -errno, it is not open */
    int failed;          /**< errno, the count is none; 0: nothing */
    ks_perf_count count; /**< at its begin; at its end what was counted in it */
} ks_perf_reading;

/** What a visit keeps in its slots. */
typedef struct ks_perf_words {
    struct ks_perf_words *owner; /**< of the visit that opened the thread's counters */
    atomic_uint users; /**< of the counters that it opened: the thread, until it ends, and visits */
    uint64_t process_ns;        /**< CPU time of the process, as `count` */
    uint64_t entered;           /**< outermost visits of all threads so far, when it began */
    bool outermost;             /**< on its thread */
    bool others;                /**< the process had other threads when the outermost one began */
    bool alone;                 /**< no other thread was in a region meanwhile */
    ks_perf_reading readings[]; /**< of the counters of the pass */
} ks_perf_words;

/** What is counted now. */
typedef struct ks_perf_counting {
    const ks_perf_sys *sys;
    const ks_perf_counter *counters; /**< of the present pass */
    uint32_t count;
    uint32_t first_slot;  /**< of our words in a visit */
    uint64_t call;        /**< number of the present call, unlike that of any other */
    atomic_ulong entered; /**< outermost visits of the call so far ... */
    atomic_uint inside;   /**< ... and those still open */
} ks_perf_counting;

/** Words in a visit for so many counters. */
uint32_t ks_perf_slots(uint32_t counters);

ks_perf_words *ks_perf_words_of(const ks_perf_counting *counting, ks_visit *visit);

/** A call of the body begins: no thread has counters. */
void ks_perf_start_call(ks_perf_counting *counting);
/** It has ended, however: close all counters left. The visits keep their counts. */
void ks_perf_end_call(const ks_perf_counting *counting);

void ks_perf_enter(ks_perf_counting *counting, ks_visit *visit);
void ks_perf_leave(ks_perf_counting *counting, ks_visit *visit);
/** The calling thread ends: its counters are closed, once no visit reads them. */
void ks_perf_thread_end(const ks_perf_counting *counting);

/** A visit that runs a program: nothing is counted before there is one. */
void ks_perf_enter_program(const ks_perf_counting *counting, ks_visit *visit);
/** Count a held process, and what it starts, from its exec on; then read what was counted. */
void ks_perf_child(const ks_perf_counting *counting, ks_visit *visit, const ks_child *child);

#endif
