/* Which range of counters holds which launch. */
#ifndef KS_COLLECT_NVIDIA_TRACKING_H
#define KS_COLLECT_NVIDIA_TRACKING_H

#include "collect/nvidia/measuring.h"

/** All are called by ks_launches_watch(): `self` is the ks_measuring. */
void ks_tracking_enter(void *self, const ks_api_launch *launch);
void ks_tracking_leave(void *self, const ks_api_launch *launch, bool succeeded);
void ks_tracking_instead(void *self, ks_instead what);

/** Measure in this context too, from the next batch on. */
ks_status ks_tracking_add_context(ks_measuring *m, ks_cuda_context context, ks_error *err);

/** Begin and end a range of a pass that has begun. */
ks_status ks_tracking_empty_range(ks_measuring *m, ks_track *track, ks_error *err);

/** Read the ranges of the image that is full, or was stopped for the last time. */
ks_status ks_tracking_read(ks_measuring *m, ks_track *track, ks_error *err);

#endif
