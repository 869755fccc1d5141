/* What the clock can read, and when its values are not to be trusted. */
#ifndef KS_COLLECT_CLOCK_METRICS_H
#define KS_COLLECT_CLOCK_METRICS_H

#include "collect/clock/calibrate.h"
#include "collect/collector.h"

enum ks_reading {
    KS_READ_WALL,
    KS_READ_THREAD,
    KS_READ_USER,
    KS_READ_SYSTEM,
    KS_READ_PEAK_GROWTH,
    KS_READ_MAX_RSS,
    KS_READ_STDOUT_BYTES,
    KS_READINGS
};

typedef struct ks_clock_metric {
    ks_metric_entry entry;
    ks_rule rule;
} ks_clock_metric;

extern const ks_clock_metric ks_clock_metrics[KS_READINGS];

/** The reading of that name; KS_READINGS if there is none. */
enum ks_reading ks_clock_find(const char *name);

/** Why a program's memory is missing: it was too small to be seen, in that run or another. */
extern const char ks_clock_rss_hidden[];

/** Texts that say why values are doubtful. */
typedef struct ks_clock_doubts {
    char wall[128];
    char usage[128];
} ks_clock_doubts;

/** Fill in all of a metric but its name. @param[out] doubts  must outlive the metric */
void ks_clock_fill(enum ks_reading reading, ks_target target, const ks_clock_costs *costs,
                   ks_clock_doubts *doubts, ks_metric *metric);

#endif
