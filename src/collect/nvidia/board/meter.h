/*
 * A GPU's meter of energy, which moves some ten times a second: how often it does, and what can be
 * said of work from what it showed at the begin and end of each visit.
 */
#ifndef KS_COLLECT_NVIDIA_BOARD_METER_H
#define KS_COLLECT_NVIDIA_BOARD_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/nvidia/nvml.h"

/** Room for why there is no value, terminator included. */
#define KS_METER_WHY_MAX 320

/**
 * The longest time between two moves of the meter, of four.
 *
 * @param[in] cancelled  stop looking when it becomes true; NULL: never
 * @return KS_UNAVAILABLE: it cannot be read, or stands still; KS_ECANCELED
 */
ks_status ks_meter_period(const ks_board *board, const atomic_bool *cancelled, uint64_t *out_ns,
                          ks_error *err);

/** How long work must last to be told from the meter: it moves so often meanwhile that what is not
 * seen of a move is 5 %. */
uint64_t ks_meter_need_ns(uint64_t period_ns);

/** How long to wait between two calls whose visits read the meter: reading takes some ms. */
uint64_t ks_meter_rest_ns(uint64_t period_ns);

/** The visits of an annotation in a run, and what the meter showed around those that read it. */
typedef struct ks_metered {
    uint32_t visits;
    uint32_t calls; /**< of the body that entered it */
    uint32_t last_call;
    uint64_t ended_ns;  /**< the last one */
    uint64_t inside_ns; /**< of all together */
    uint64_t shortest_ns;
    uint64_t first_ns, first_mj;
    uint64_t last_ns, last_mj; /**< of those that read the meter ... */
    uint64_t inside_mj;
    uint32_t read_calls; /**< ... and `calls` and `inside_ns` up to the last of them */
    uint64_t read_ns;
} ks_metered;

/** A visit. `begin_mj`, `end_mj`: what the meter showed, if it was read. */
typedef struct ks_metered_visit {
    uint64_t begin_ns, end_ns;
    uint64_t begin_mj, end_mj;
    bool read;
} ks_metered_visit;

/** Add a visit; the first call's read the meter. @param[in] call  of the body, from 1 */
void ks_metered_add(ks_metered *m, uint32_t call, const ks_metered_visit *visit);

/** Whether more calls of the body can tell it: not where it is too small a part of their time. */
bool ks_metered_has_hope(const ks_metered *m, uint64_t period_ns);

/**
 * The energy of a call of the body, and the power meanwhile.
 *
 * @param[out] why  where there is none
 * @return whether they are known
 */
bool ks_metered_tell(const ks_metered *m, uint64_t period_ns, double *joules, double *watts,
                     char why[KS_METER_WHY_MAX]);

#endif
