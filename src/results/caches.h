/* Whether what kernels read from memory agrees with what the caches were under. */
#ifndef KS_RESULTS_CACHES_H
#define KS_RESULTS_CACHES_H

#include "base/buf.h"
#include "results/rows.h"

/** Whether the bytes that a row's annotation read from DRAM contradict the row's cache control:
 * then `to` gets how (docs/results.md has the rules). */
bool ks_caches_contradict(const ks_results *r, const ks_row *row, ks_buf *to);

#endif
