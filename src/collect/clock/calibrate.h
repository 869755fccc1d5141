/* What the clock costs and resolves on this machine. */
#ifndef KS_COLLECT_CLOCK_CALIBRATE_H
#define KS_COLLECT_CLOCK_CALIBRATE_H

#include "annotate/session.h"

typedef struct ks_clock_costs {
    double resolution_ns; /**< smallest step seen between readings */
    double empty_ns;      /**< median of the wall time that an empty annotation reads */
    double visit_ns;      /**< begin and end of one, with all that is read */
} ks_clock_costs;

/**
 * Measure them, in a session of its own: some 50 us to 1 ms. KS_EBUSY while a run is active.
 *
 * @param[in] hook   what a visit calls
 * @param[in] slots  its words
 * @param[in] wall   the slot in which it leaves the wall time; -1: it does not read it
 */
ks_status ks_clock_calibrate(const ks_hook *hook, uint32_t slots, int wall, ks_clock_costs *out,
                             ks_error *err);

#endif
