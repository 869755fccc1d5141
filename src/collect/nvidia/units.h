/* Units and kinds of metrics, from what CUPTI tells of them. */
#ifndef KS_COLLECT_NVIDIA_UNITS_H
#define KS_COLLECT_NVIDIA_UNITS_H

#include <stddef.h>

#include "kernsight/metrics.h"

/** CUPTI's unit in ncu's words: "nanosecond" is "ns". It writes products without anything between
 * their factors, which become "cycle*inst". */
void ks_unit_translate(const char *unit, char *to, size_t size);

/** The unit of a metric with a sub-metric, such as ".sum.per_second", from that of its base metric
 * in our words. CUPTI up to 13.0 tells it, 13.1 the base metric's whatever follows it. */
void ks_unit_of(const char *unit, const char *sub, char *to, size_t size);

/** What a metric with this type (KS_CUPTI_COUNTER, ...), unit and sub-metric is. */
ks_metric_kind ks_kind_of(int type, const char *unit, const char *sub);

#endif
