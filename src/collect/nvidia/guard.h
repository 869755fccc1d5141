/*
 * The thermal guard: no call is measured on a GPU that is about to slow down from heat. Margin is
 * how many degrees Celsius it is below that: high is cool.
 *
 * At `wait` or less of it the guard waits until there is `cont`. In auto mode `cont` follows what
 * is seen: 3 degrees more (50 at most) where fewer than 5 calls fitted between two waits, 3 less
 * (12 at least) where over 50 did, or where a wait took longer than is allowed. A wait in vain at
 * 12, or in manual mode any, ends the run.
 */
#ifndef KS_COLLECT_NVIDIA_GUARD_H
#define KS_COLLECT_NVIDIA_GUARD_H

#include <stdatomic.h>

#include "collect/control.h"
#include "collect/nvidia/nvml.h"

typedef struct ks_guard {
    ks_thermal with;     /**< its cont_c is the present one */
    unsigned iterations; /**< calls since the last wait */
    bool counting;
} ks_guard;

/**
 * Before a measured call: wait if need be.
 *
 * @param[in]     teller    told at the begin of a wait and twice a second; NULL: nobody
 * @param[in,out] waited_s  the wait is added
 * @return KS_ELIMIT: it does not get cool; KS_ECANCELED; KS_UNAVAILABLE: the margin cannot be read
 */
ks_status ks_guard_before(ks_guard *guard, const ks_board *board, const atomic_bool *cancelled,
                          const ks_wait_teller *teller, double *waited_s, ks_error *err);

#endif
