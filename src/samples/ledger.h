/*
 * The ledger: every launch of a config, in the order in which it was made, with the run, pass and
 * annotation that it belongs to.
 *
 * A collector that sees launches holds the lock from before a launch until it was entered, so that
 * the ledger's order is the device's. Nothing else is called under the lock.
 */
#ifndef KS_SAMPLES_LEDGER_H
#define KS_SAMPLES_LEDGER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/pool.h"
#include "samples/kernel_sum.h"

/** Annotation of a launch that belongs to none. */
#define KS_NO_ANNOTATION UINT32_MAX

typedef struct ks_launch {
    uint32_t run;
    uint32_t pass;
    uint32_t annotation; /**< its id, or KS_NO_ANNOTATION */
    uint32_t thread;     /**< number of the launching thread */
    ks_text_id kernel;   /**< in the ledger's pool */
    uint32_t grid[3];
    uint32_t block[3];
    uint64_t stream;
    double ns; /**< how long it ran; 0: not known */
    ks_kernel_facts facts;
} ks_launch;

typedef struct ks_ledger {
    pthread_mutex_t guard; /**< of what the lock is made of */
    pthread_cond_t turns;
    uint64_t tickets;  /**< given out to those who want the lock ... */
    uint64_t serving;  /**< ... and the one that has it */
    const void *owner; /**< a thread's own address; NULL: nobody */
    unsigned depth;
    ks_launch *launches;
    size_t count;
    size_t capacity;
    ks_pool kernels;
    uint32_t first_pass; /**< the first one in which launches are seen */
    uint32_t run;        /**< of launches that come now */
    uint32_t pass;
    uint64_t lost; /**< launches that no memory was left for */
} ks_ledger;

void ks_ledger_init(ks_ledger *ledger);
void ks_ledger_fini(ks_ledger *ledger);

/** Served in the order in which they come: a thread that launches all the time would keep the
 * others waiting for ever. The thread that has it may have it again: a launch may cause another
 * one. */
void ks_ledger_lock(ks_ledger *ledger);
void ks_ledger_unlock(ks_ledger *ledger);
/** How many wait for it. */
uint64_t ks_ledger_waiting(ks_ledger *ledger);

/** Forget all launches: a config starts. */
void ks_ledger_start(ks_ledger *ledger, uint32_t first_pass);

/** Forget the launches of all but the first `runs` runs. */
void ks_ledger_keep_runs(ks_ledger *ledger, uint32_t runs);

/** Launches that come now belong to this run and pass. */
void ks_ledger_call(ks_ledger *ledger, uint32_t run, uint32_t pass);

/** Enter a launch of the run and pass; the caller holds the lock. */
void ks_ledger_add(ks_ledger *ledger, ks_launch launch, const char *kernel);

/**
 * Whether a pass made the same launches as the first one: kernel, grid, block and stream, in the
 * same order.
 *
 * @param[in] failed  by run: not 0 for runs that failed, which are left out
 * @return KS_OK; KS_ESTATE naming the first difference, and what to do
 */
ks_status ks_ledger_compare(const ks_ledger *ledger, uint32_t pass, const ks_text_id *failed,
                            ks_error *err);

#endif
