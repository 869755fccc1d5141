/* What the counters of a batch say, as samples. */
#ifndef KS_COLLECT_NVIDIA_VALUES_H
#define KS_COLLECT_NVIDIA_VALUES_H

#include "collect/nvidia/measuring.h"

/**
 * Add the values of every launch; say why there are none where there are none; spoil the samples
 * where ranges and launches do not agree.
 *
 * @param[in] numbers  of the counters that were asked for, in the samples
 */
ks_status ks_nvidia_values(const ks_measuring *m, const uint32_t *numbers, ks_samples *into,
                           ks_error *err);

#endif
