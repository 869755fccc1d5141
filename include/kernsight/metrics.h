/**
 * @file metrics.h
 * Metrics and the collectors that measure them: what can be asked for on this machine.
 */
#ifndef KERNSIGHT_METRICS_H
#define KERNSIGHT_METRICS_H

#include "status.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a metric's number is; how launches and visits combine follows from it (docs/concepts.md).
 */
typedef enum ks_metric_kind {
    KS_COUNT = 0, /**< adds up */
    KS_DURATION,  /**< adds up */
    KS_RATIO,     /**< numerators over denominators */
    KS_PERCENT,   /**< weighted by each launch's time */
    KS_RATE,      /**< weighted by each launch's time */
    KS_EXTREMUM,  /**< largest, or smallest for a name that ends in `.min` */
    KS_PROPERTY,  /**< must agree, else missing */
} ks_metric_kind;

/** Name of a kind, such as "duration". Static text. */
KS_API const char *ks_metric_kind_name(ks_metric_kind kind);

/**
 * All metrics whose name matches a pattern.
 *
 * Shape: a row per metric, sorted by name; text columns `Metric`, `Unit` (missing if it has none),
 * `Kind`, `Collector`, `Target` ("region", "program" or "region, program"), `Reason` (why it cannot
 * be measured here), `Description`; bool column `Available`.
 *
 * @param[in]  pattern  `*` and `?` as in a shell; NULL means all
 * @param[out] out      new table, free with ks_table_free(); untouched on failure
 * @return KS_OK, KS_ENOTFOUND (nothing matches; the message has near names), KS_ENOMEM
 *
 * Threads: safe; touches no device.
 */
KS_API ks_status ks_metrics_table(const char *pattern, ks_table **out, ks_error *err);

/**
 * What a GPU's chip can count, by CUPTI's knowledge of all chips: no GPU is needed.
 *
 * Shape: a row per metric, counters before ratios before throughputs; text columns `Metric`, `Unit`
 * (missing if it has none), `Kind`, `Submetrics` (what may follow the name, separated by blanks;
 * missing for a full name), `Description`.
 *
 * @param[in]  chip     such as "GH100", in any case
 * @param[in]  pattern  `*` and `?` as in a shell; with a point in it full names are matched, and
 *                      base metrics without one; a set ("@memory") for its full names, launches'
 *                      and devices' too; NULL means all base metrics
 * @param[out] out      new table, free with ks_table_free(); untouched on failure
 * @return KS_OK; KS_UNAVAILABLE (no CUPTI); KS_ENOTFOUND (unknown chip, or nothing matches: the
 *         message has near names, and other chips that have it); KS_EVENDOR, KS_ENOMEM
 *
 * Threads: safe.
 */
KS_API ks_status ks_chip_metrics_table(const char *chip, const char *pattern, ks_table **out,
                                       ks_error *err);

/**
 * Sets of metrics that answer one question together. ks_plan_metric() and the functions below take
 * their names; of each the metrics that the chip has are measured.
 *
 * Shape: a row per set; text columns `Set` ("@memory"), `Description`, `Metrics` (full names,
 * separated by blanks).
 *
 * @param[out] out  new table, free with ks_table_free(); untouched on failure
 * @return KS_OK, KS_ENOMEM
 *
 * Threads: safe; touches no device.
 */
KS_API ks_status ks_metric_sets_table(ks_table **out, ks_error *err);

/** What measuring some metrics costs. The times are an estimate, from what it cost on an H200
 * (docs/gpu.md). */
typedef struct ks_chip_estimate {
    size_t metrics;   /**< that need counters */
    size_t passes;    /**< calls of the body for each run; a device may need more */
    double config_ms; /**< added for each config, all its passes together, however many runs */
    double launch_ms; /**< added for each kernel that a run launches, likewise, with the sweep of
                         the caches before it */
} ks_chip_estimate;

/**
 * What measuring these metrics costs, on a chip of which all counters can be had.
 *
 * @param[in]  metrics  full names, patterns with a point in them, sets; `count` >= 1 of them.
 *                      Metrics of launches and devices need no counter, and no pass beyond the
 * first
 * @param[out] out      untouched on failure
 * @return as ks_chip_metrics_table(); KS_EINVAL (no metrics)
 *
 * Threads: safe.
 */
KS_API ks_status ks_chip_cost(const char *chip, const char *const *metrics, size_t count,
                              ks_chip_estimate *out, ks_error *err);

/** The passes of ks_chip_cost() alone. */
KS_API ks_status ks_chip_passes(const char *chip, const char *const *metrics, size_t count,
                                size_t *passes, ks_error *err);

/**
 * The state of every collector of this build, and of the program that draws plots ("plots"), for
 * `kernsight doctor`.
 *
 * Shape: a row per fact; text columns `Collector`, `Fact`, `Value`, `Cure`. Each collector has a
 * fact `available` ("yes" or "no: reason"), and so have plots; others as there are.
 *
 * @param[out] out  new table, free with ks_table_free(); untouched on failure
 * @return KS_OK, KS_ENOMEM
 */
KS_API ks_status ks_probe_table(ks_table **out, ks_error *err);

/**
 * Give back what is held between runs: the counters of GPUs, and the memory for them.
 *
 * @return KS_OK; KS_EBUSY (a run is active)
 */
KS_API ks_status ks_release(ks_error *err);

/**
 * Give back the clocks of GPUs that this process has locked (ks_plan_clock_control()), and those
 * that processes of this user left locked when they were killed. A run gives back its own: this is
 * for a process that ends in another way than by exit(), and for cleaning up. A run that goes on
 * locks them again before its next call.
 *
 * @return KS_OK, also where there was nothing to do; KS_EPERM, KS_UNAVAILABLE: the driver refuses
 *
 * Threads: any; not in a signal handler.
 */
KS_API ks_status ks_clock_restore(ks_error *err);

#ifdef __cplusplus
}
#endif

#endif
