/* How the values of several launches become one: by what a metric is, not by its last word alone.
 * docs/metrics.md has the table. */
#ifndef KS_COLLECT_NVIDIA_RULES_H
#define KS_COLLECT_NVIDIA_RULES_H

#include <stdbool.h>

#include "samples/samples.h"

enum {
    KS_WEIGHT_MAX = 160
};

typedef struct ks_combining {
    ks_rule rule;
    char weight[KS_WEIGHT_MAX]; /**< for KS_RULE_WEIGHTED: the metric that weighs a launch's value
                                   so that the result is exact; "": its time, which is close to that
                                 */
    bool approximate;           /**< the result is not what one launch of all the work would give */
} ks_combining;

/**
 * The rule of a metric.
 *
 * @param[in] name  full
 * @param[in] kind  of CUPTI: KS_PERCENT of a throughput too
 */
void ks_combining_of(const char *name, ks_metric_kind kind, ks_combining *out);

#endif
