/* What a collector's hooks cost and read when there is nothing to measure. */
#ifndef KS_COLLECT_CALIBRATE_H
#define KS_COLLECT_CALIBRATE_H

#include "annotate/session.h"

/**
 * Make some empty visits inside another one (the one without a parent), in a session of its own.
 *
 * @param[in]  slots     words in each visit
 * @param[out] visit_ns  what a visit took, begin and end together, to three digits
 * @param[in]  done      called once behind them, however it went, while their slots are there
 * @return KS_EBUSY while a run is active; KS_ENOMEM
 */
ks_status ks_visit_nothing(const ks_hook *hook, uint32_t slots, uint32_t visits, double *visit_ns,
                           void (*done)(void *arg), void *arg, ks_error *err);

#endif
