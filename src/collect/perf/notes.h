/* What is remarkable about the values of a config, for the warnings in its rows. */
#ifndef KS_COLLECT_PERF_NOTES_H
#define KS_COLLECT_PERF_NOTES_H

#include "samples/samples.h"

typedef struct ks_perf_notes {
    uint32_t metric_count;
    double *shares; /* [annotation][metric]: the smallest share of time that was counted */
    size_t share_capacity;
    struct ks_perf_uncounted *uncounted; /* [annotation] */
    size_t uncounted_capacity;
    uint32_t count; /* annotations that there is room for */
} ks_perf_notes;

void ks_perf_notes_fini(ks_perf_notes *notes);

/** Make room for annotations with ids below `count`. */
ks_status ks_perf_notes_grow(ks_perf_notes *notes, uint32_t count, ks_error *err);

/** A value was scaled: its counter ran in this share of the time. */
void ks_perf_note_share(ks_perf_notes *notes, uint32_t annotation, uint32_t metric, double share);

/** CPU time that the process used in a visit, and that of the threads that were counted. */
void ks_perf_note_time(ks_perf_notes *notes, uint32_t annotation, double process_ns,
                       double counted_ns);

/** Put all of it into remarks, and forget it. @param[in] numbers  of the metrics in the samples */
ks_status ks_perf_notes_tell(ks_perf_notes *notes, const uint32_t *numbers, ks_samples *into,
                             ks_error *err);

#endif
