/*
 * Counting during a visit: the hot path.
 *
 * A thread's outermost visit opens the counters and the last one to end closes them; visits nested
 * in it read the same ones, and have the difference of two readings. So threads that the region
 * creates are counted too: they inherit what is open when they start.
 */
#ifndef KS_COLLECT_PERF_COUNTING_H
#define KS_COLLECT_PERF_COUNTING_H

#include <stdatomic.h>

#include "collect/perf/groups.h"

/** A counter in a visit. */
typedef struct ks_perf_reading {
    int64_t fd;          /**< of the visit that opened it; -1: closed */
    ks_perf_count count; /**< at its begin; at its end what was counted in it */
} ks_perf_reading;

/** What a visit keeps in its slots. */
typedef struct ks_perf_words {
    struct ks_perf_words
        *root;           /**< the visit whose counters these are; itself, if it opened them */
    atomic_uint users;   /**< of a root: open visits that use its counters */
    int failed;          /**< errno; 0: nothing */
    uint64_t process_ns; /**< CPU time of the process, as `count` */
    uint64_t roots;      /**< threads' outermost visits so far in this run, when it began */
    bool others;         /**< of a root: the process had other threads when it began */
    bool alone;          /**< no other thread had a visit of its own meanwhile */
    ks_perf_reading readings[]; /**< of the counters of the pass */
} ks_perf_words;

/** What is counted now. */
typedef struct ks_perf_counting {
    const ks_perf_sys *sys;
    const ks_perf_counter *counters; /**< of the present pass */
    uint32_t count;
    uint32_t first_slot;    /**< of our words in a visit */
    atomic_ulong roots;     /**< outermost visits so far ... */
    atomic_uint roots_open; /**< ... and those still open */
} ks_perf_counting;

/** Words in a visit for so many counters. */
uint32_t ks_perf_slots(uint32_t counters);

ks_perf_words *ks_perf_words_of(const ks_perf_counting *counting, ks_visit *visit);

void ks_perf_enter(ks_perf_counting *counting, ks_visit *visit);
void ks_perf_exit(ks_perf_counting *counting, ks_visit *visit);

/** A visit that runs a program: nothing is counted before there is one. */
void ks_perf_begin_program(ks_perf_counting *counting, ks_visit *visit);
/** Count a held process, and what it starts, from its exec on; then read what was counted. */
void ks_perf_child(ks_perf_counting *counting, ks_visit *visit, const ks_child *child);
void ks_perf_end_program(ks_perf_counting *counting, ks_visit *visit);

/** Close the counters of visits that were left open. */
void ks_perf_abandon(ks_perf_counting *counting);

#endif
