/*
 * Samples: the values of one config while it is measured. Collectors add a value per launch or
 * visit; here they are combined into one value per (annotation, run, metric), or a reason why it is
 * missing.
 */
#ifndef KS_SAMPLES_SAMPLES_H
#define KS_SAMPLES_SAMPLES_H

#include <stdbool.h>

#include "base/pool.h"
#include "kernsight/metrics.h"
#include "kernsight/plan.h"
#include "samples/kernel_sum.h"

/** How several launches or visits become one value. */
typedef enum ks_rule {
    KS_RULE_ADD = 0,
    KS_RULE_WEIGHTED, /**< sum(value * weight) / sum(weight) */
    KS_RULE_RATIO,    /**< sum(value) / sum(weight): numerators over denominators */
    KS_RULE_MAX,
    KS_RULE_MIN,
    KS_RULE_SAME, /**< all must agree, else missing */
} ks_rule;

/** A GPU, as the rows of its metrics tell of it. */
typedef struct ks_card {
    char name[128];
    int64_t compute_khz, memory_khz; /**< rated top clocks; 0: not told */
    int64_t l2_bytes;                /**< 0: not told */
} ks_card;

/** A metric of a run. Texts are static or live as long as the collector. */
typedef struct ks_metric {
    const char *name;
    const char *unit; /**< NULL: none */
    ks_metric_kind kind;
    ks_rule rule;
    const char *source; /**< name of the collector */
    uint32_t passes;    /**< that its values were put together from */
    double floor;       /**< smaller values, in its unit, are doubtful; 0: none are */
    const char *doubt;  /**< why, for a warning in the row */
    double visit_floor; /**< the same for a visit's share of a value */
    const char *visit_doubt;
    const char *hidden; /**< a reason to be missing that, where one run has it, holds for all of the
                             config: NULL if there is none */
    bool costs_inside;  /**< the time of annotations inside a region is in the region's value */
    double inside_cost; /**< what else one of them adds to it, in its unit; 0: nothing */
    /* of a GPU's; NULL: it is none */
    const char *replay; /**< "user", "range" or "kernel" */
    const char *cache;  /**< "all" is swept, or "none" */
    bool warm;         /**< the second of two metrics of one name: the first is with swept caches */
    const char *clock; /**< what a GPU's clocks were under: "base" or "none" */
    const ks_card *card;
} ks_metric;

/** One value being combined. */
typedef struct ks_cell {
    double value;
    double weight;
    uint32_t count;    /**< launches or visits in it */
    ks_text_id why;    /**< reason why it is missing, whatever the value; 0: none */
    bool shares_added; /**< the plan's callback added percentages or ratios up */
} ks_cell;

/** How often an annotation was entered in a run, and what it launched. */
typedef struct ks_presence {
    uint32_t visits;
    uint32_t launches;
    uint32_t inside;    /**< visits of annotations inside it, at any depth */
    ks_text_id failure; /**< its work failed (ks_annotate_fail) */
    /* of its kernels whose clock is known, cycles over time: */
    uint32_t timed;
    double cycles;
    double ns;
} ks_presence;

/** What is to be known of a metric's values in an annotation. */
typedef struct ks_remark {
    uint32_t annotation;
    uint32_t metric;
    ks_text_id text;
    uint32_t kind;   /**< the collector's own number: of several of one kind the worst is told */
    double severity; /**< larger is worse */
} ks_remark;

/** A kernel that ran. */
typedef struct ks_kernel_run {
    const char *kernel; /**< mangled */
    double ns;          /**< 0: not known */
    ks_kernel_facts facts;
} ks_kernel_run;

/** Launches of a kernel in an annotation, in a run. */
typedef struct ks_kernel_count {
    uint32_t annotation;
    uint32_t run;
    ks_text_id kernel; /**< mangled */
    ks_kernel_sum sum;
} ks_kernel_count;

typedef struct ks_samples {
    const ks_metric *metrics;
    uint32_t metric_count;
    ks_combine combine;
    ks_combine_fn combine_fn;
    void *combine_user;

    uint32_t runs;
    uint32_t *entered; /**< ids of the annotations of this config, in order of appearance */
    uint32_t entered_count;
    size_t entered_capacity;
    uint32_t *places; /**< by id: place in `entered`, from 1; 0: not entered */
    size_t place_count;
    size_t place_capacity;
    ks_cell *cells; /**< [place][run][metric] */
    size_t cell_capacity;
    ks_presence *presence; /**< [place][run] */
    size_t presence_capacity;
    ks_text_id *failures; /**< [run]: why the call failed; 0: it did not */
    size_t failure_capacity;
    ks_remark *remarks;
    size_t remark_count;
    size_t remark_capacity;
    ks_pool texts;

    ks_kernel_count *kernels; /**< of collectors that keep no ledger: by run */
    size_t kernel_count;
    size_t kernel_capacity;

    ks_error spoiled;     /**< why the values of all runs are of no use, though no call failed */
    ks_error idle;        /**< no annotation did anything that a collector measures: a failure where
                               the plan is strict; elsewhere the values are missing */
    const char *replay;   /**< of metrics that counters tell, where it is not theirs; static text */
    uint64_t launched;    /**< what collectors expected to capture ... */
    uint64_t captured;    /**< ... and what they got */
    uint64_t unannotated; /**< launches that belong to no annotation, of a collector that keeps no
                               ledger */
} ks_samples;

/** The metric by whose precision the number of runs is found out: the time if it is measured (a
 * name that ends in `__time_duration.sum`), else the first. */
uint32_t ks_deciding_metric(const ks_metric *metrics, uint32_t count);

/** @param[in] metrics  borrowed for the life of the samples */
void ks_samples_init(ks_samples *samples, const ks_metric *metrics, uint32_t metric_count);
void ks_samples_fini(ks_samples *samples);

/** Forget everything and make room for a config of so many runs. */
ks_status ks_samples_start(ks_samples *samples, uint32_t runs, ks_error *err);

/** Forget all but the first `runs` runs. */
void ks_samples_keep_runs(ks_samples *samples, uint32_t runs);

/** Make room for an annotation, by its id. All that follows is for annotations that have room. */
ks_status ks_samples_enter(ks_samples *samples, uint32_t annotation, ks_error *err);

/**
 * Add the value of one launch or visit.
 *
 * @param[in] weight  for KS_RULE_WEIGHTED and KS_RULE_RATIO, else ignored
 */
ks_status ks_samples_add(ks_samples *samples, uint32_t annotation, uint32_t run, uint32_t metric,
                         double value, double weight, ks_error *err);

/** Say why a value is missing; wins over any value, the first reason stays. */
ks_status ks_samples_missing(ks_samples *samples, uint32_t annotation, uint32_t run,
                             uint32_t metric, const char *why, ks_error *err);

/** Likewise in every run and annotation of the config. */
ks_status ks_samples_missing_all(ks_samples *samples, uint32_t metric, const char *why,
                                 ks_error *err);

/** Say something about a metric's values in this config, for the warnings in its row.
 * @param[in] remark  all but its text, which is copied */
ks_status ks_samples_remark(ks_samples *samples, ks_remark remark, const char *text, ks_error *err);

/** Count a launch of a kernel in an annotation, of a collector that keeps no ledger. Runs come in
 * their order. */
ks_status ks_samples_kernel(ks_samples *samples, uint32_t annotation, uint32_t run,
                            const ks_kernel_run *kernel, ks_error *err);

/** No kernel of a run is known after all. */
void ks_samples_forget_kernels(ks_samples *samples, uint32_t run);

/** Count cycles of a launch and the time that they took, for the clock of an annotation's kernels.
 */
void ks_samples_clock(ks_samples *samples, uint32_t annotation, uint32_t run, double cycles,
                      double ns);

/** Whether ks_samples_enter() made room for an annotation. */
bool ks_samples_has(const ks_samples *samples, uint32_t annotation);

/** The call of this run failed: these metrics of all annotations are missing in it. */
ks_status ks_samples_fail_run(ks_samples *samples, uint32_t run, const uint32_t *metrics,
                              uint32_t count, const char *why, ks_error *err);

ks_presence *ks_samples_presence(const ks_samples *samples, uint32_t annotation, uint32_t run);
const ks_cell *ks_samples_cell(const ks_samples *samples, uint32_t annotation, uint32_t run,
                               uint32_t metric);

/**
 * The combined value.
 *
 * @param[out] out  untouched where there is none
 * @param[out] why  NULL, or the reason why there is none, borrowed from the samples
 * @return whether there is a value; it is finite then
 */
bool ks_samples_value(const ks_samples *samples, uint32_t annotation, uint32_t run, uint32_t metric,
                      double *out, const char **why);

/**
 * The combined values of all runs; NaN where there is none.
 *
 * @param[out] out  `runs` values
 * @return how many are missing
 */
uint32_t ks_samples_series(const ks_samples *samples, uint32_t annotation, uint32_t metric,
                           double *out);

/** Reason of a value that is missing because the run did not enter the annotation: no failure. */
#define KS_NOT_ENTERED "not entered in this run"

/** Reason of a derived value that the callback did not give. */
#define KS_NO_SUCH_VALUE "the callback gave no value of this name"

/** What to say of a number that is not finite; NULL for one that is. Static text. */
const char *ks_not_finite(double value);

#endif
