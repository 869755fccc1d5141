/*
 * Whether the GPU waits for launches: the time between the kernels of a visit against that of the
 * kernels. Tracing itself makes launches slower, so some time is taken off for each.
 */
#ifndef KS_COLLECT_NVIDIA_TRACING_GAPS_H
#define KS_COLLECT_NVIDIA_TRACING_GAPS_H

#include "collect/nvidia/tracing/values.h"

/** All visits of an annotation that launched several kernels. */
typedef struct ks_gap_sum {
    uint32_t annotation;
    double kernels; /**< ns, those that overlap each */
    double spans;   /**< from the start of the first to the end of the last, without what tracing
                         adds at most */
} ks_gap_sum;

typedef struct ks_gaps {
    ks_gap_sum *sums;
    size_t count;
    size_t capacity;
} ks_gaps;

void ks_gaps_fini(ks_gaps *gaps);

/** Note the visits of a call, once all their kernels are known. */
ks_status ks_gaps_note(ks_gaps *gaps, const ks_owners *owners, ks_error *err);

/** Warn in the rows of annotations whose gaps are longer than their kernels. */
ks_status ks_gaps_tell(const ks_gaps *gaps, const ks_tracing_wish *wish, ks_samples *into,
                       ks_error *err);

#endif
