/* What the clock costs and resolves on this machine. */
#ifndef KS_COLLECT_CLOCK_CALIBRATE_H
#define KS_COLLECT_CLOCK_CALIBRATE_H

#include "kernsight/status.h"

typedef struct ks_clock_costs {
    double resolution_ns; /**< smallest step seen between readings */
    double empty_ns;      /**< median of what an empty annotation reads */
} ks_clock_costs;

/** Measure both, in a session of its own: some 50 us. KS_EBUSY while a run is active. */
ks_status ks_clock_calibrate(ks_clock_costs *out, ks_error *err);

#endif
