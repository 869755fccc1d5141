/* ks_run() with collectors of one's choice, for tests of the contract. */
#ifndef KS_API_RUN_H
#define KS_API_RUN_H

#include "collect/collector.h"
#include "kernsight/run.h"

/** @param[in] collectors  NULL at the end */
ks_status ks_run_with(const ks_collector_ops *const *collectors, ks_plan *plan, ks_body_fn body,
                      void *user, ks_results **out, ks_error *err);

#endif
