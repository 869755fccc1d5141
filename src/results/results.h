/*
 * Results inside the library.
 *
 * While the run goes on, batch_done() keeps what each batch gave (keep.c, derive.c). At its end
 * finish() puts the batches of each config together (join.c), walks over the rows that come of it
 * (rows.h) and makes a table of them (build.c).
 */
#ifndef KS_RESULTS_RESULTS_H
#define KS_RESULTS_RESULTS_H

#include "kernsight/results.h"
#include "plan/plan.h"
#include "samples/sink.h"
#include "stats/summary.h"
#include "table/table.h"

/** A derived metric, as far as its name is known. */
typedef struct ks_derived {
    ks_text_id name;
    ks_text_id unit;   /**< 0: none */
    uint32_t derive;   /**< number of the plan's callback that gives it */
    bool unit_known;   /**< some call gave a value, with its unit or none */
    bool unit_changed; /**< later calls gave another unit; the first one is shown */
} ks_derived;

/** The runs of a derived metric in a region: `runs` values from `first_value` on. */
typedef struct ks_derived_runs {
    uint32_t derived; /**< index */
    size_t first_value;
} ks_derived_runs;

/** An annotation in a batch; once batches are joined, in a config. */
typedef struct ks_region {
    uint32_t config;
    uint32_t annotation; /**< index: its path is text index + 1 of `paths` */
    uint32_t first_run;
    uint32_t runs;
    uint32_t visits; /**< per run, where they agree */
    bool visits_differ;
    uint32_t entered;  /**< runs that entered it */
    uint32_t failed;   /**< runs that failed, whether as a whole or in it */
    uint32_t inside;   /**< visits of annotations inside it, in the first of those runs */
    uint32_t launches; /**< per run, where they agree */
    bool launches_differ;
    double cycles;        /**< of its kernels, whose clock is known ... */
    double clock_ns;      /**< ... and the time that they took */
    double clock_low;     /**< MHz, of the runs in which it is known well; 0: in none ... */
    double clock_high;    /**< ... and highest */
    ks_text_id kernels;   /**< names of those of its first run, joined by '|' */
    ks_text_id differing; /**< what of them differs between runs; 0: nothing */
    size_t first_value;   /**< of its values: [metric][run] */
    size_t first_derived; /**< of its ks_derived_runs */
    size_t derived_count;
    size_t first_silence; /**< of its ks_silences: `runs` for each callback that gave nothing */
    size_t silence_count;
    size_t first_remark; /**< of its ks_remarks */
    size_t remark_count;
    uint64_t shares_added; /**< metrics whose percentages a callback added: bits, first 64 */
} ks_region;

/** Why a callback gave nothing in a run of a batch: told under its names once all are known. */
typedef struct ks_silence {
    uint32_t derive; /**< number of the callback; its runs lie together */
    bool failed;     /**< it said so, and did not just pass the run over */
    ks_text_id why;
} ks_silence;

/** Why a value is missing. Sorted by value. */
typedef struct ks_why {
    size_t value;
    ks_text_id text;
} ks_why;

/** A run that failed as a whole. */
typedef struct ks_run_failure {
    uint32_t run; /**< of the config */
    ks_text_id why;
} ks_run_failure;

/** A batch that was handed over; once batches are joined, a config. */
typedef struct ks_config_record {
    uint32_t config;
    uint32_t first_run;
    uint32_t runs;
    ks_stop stop;         /**< KS_STOP_NOT_YET: the sweep ended before it had all its runs */
    size_t first_failure; /**< of its failed runs */
    uint32_t failed_runs;
    const char *replay; /**< as in ks_samples */
    double waited_s;    /**< for a GPU to cool down; NaN: none was watched */
    uint32_t unplaced;  /**< of them those in which no annotation said that its work failed */
    size_t first_info;  /**< of its info values */
    size_t info_count;
} ks_config_record;

typedef struct ks_launch_record {
    uint32_t config;
    uint32_t annotation; /**< index, or KS_NO_ANNOTATION */
    ks_launch launch;    /**< its kernel is in our pool */
} ks_launch_record;

/** What a kernel did in an annotation, in all runs of a batch that did not fail. The first record
 * of an annotation is of no kernel: it has the runs that launched something. */
typedef struct ks_kernel_record {
    uint32_t config;
    uint32_t annotation; /**< index */
    ks_text_id kernel;   /**< mangled, in our pool; 0: none */
    uint32_t runs;
    bool traced; /**< by a collector that keeps no ledger */
    ks_kernel_sum sum;
} ks_kernel_record;

/** What batches gave, one after the other. */
typedef struct ks_kept {
    ks_region *regions;
    size_t region_count;
    size_t region_capacity;
    double *values; /**< NaN: missing */
    size_t value_count;
    size_t value_capacity;
    ks_why *whys;
    size_t why_count;
    size_t why_capacity;
    ks_derived_runs *derived_runs;
    size_t derived_run_count;
    size_t derived_run_capacity;
    ks_silence *silences;
    size_t silence_count;
    size_t silence_capacity;
    ks_remark *remarks; /**< their texts are in our pool */
    size_t remark_count;
    size_t remark_capacity;
    ks_config_record *records;
    size_t record_count;
    size_t record_capacity;
    ks_run_failure *failures;
    size_t failure_count;
    size_t failure_capacity;
    ks_info_values infos;
    ks_launch_record *launches;
    size_t launch_count;
    size_t launch_capacity;
    ks_kernel_record *kernels;
    size_t kernel_count;
    size_t kernel_capacity;
} ks_kept;

struct ks_results {
    /* known from the start; borrowed until finish() has returned */
    const ks_plan *plan;
    const ks_metric *metrics;

    uint32_t metric_count;
    bool sees_launches;
    double visit_ns; /* what an annotation costs in the first pass */
    size_t planned;
    size_t finished;
    size_t succeeded;
    bool complete;
    bool baseline_seen;

    ks_pool pool; /* texts of all below */
    ks_text_id *metric_names;
    ks_text_id *metric_units;
    ks_text_id *metric_sources;
    ks_text_id *metric_caches; /* NULL: no two metrics have the same name */
    ks_pool paths;             /* of annotations, in order of appearance */
    ks_derived *derived;
    size_t derived_count;
    size_t derived_capacity;

    ks_kept kept;
    ks_info_values once;

    ks_table *configs; /* a row per config of the plan: its parameters */
    ks_table *table;
};

/** Path of an annotation, by index. */
static inline const char *ks_results_path(const ks_results *results, uint32_t annotation)
{
    return ks_pool_text(&results->paths, annotation + 1);
}

/** Name the kernels of an annotation in a batch, and what differs between its runs. */
ks_status ks_results_name_kernels(ks_results *results, ks_region *region, const ks_batch *batch,
                                  uint32_t annotation, ks_error *err);

/** Whether a launch was made in an annotation, or in one inside it. */
bool ks_results_launched_in(const ks_batch *batch, const ks_launch *launch, uint32_t annotation);

/** kernel_sums.c: keep what each kernel did in an annotation. @param[in] index  the annotation's */
ks_status ks_results_keep_kernels(ks_results *results, const ks_batch *batch, uint32_t annotation,
                                  uint32_t index, ks_error *err);

/** kernel_table.c: the table of ks_results_kernels(), of each config or of all together: then
 * without parameters and `Config`. */
ks_status ks_results_kernel_table(const ks_results *results, bool all_configs, ks_table **out,
                                  ks_error *err);

/** tables.c: the parameters as columns, and those of a config in a row. */
ks_status ks_results_add_params(const ks_results *results, ks_table *table, ks_error *err);
ks_status ks_results_set_params(const ks_results *results, ks_table *table, size_t row,
                                size_t first_param, size_t config, ks_error *err);

/** Results of a plan that was accepted. The table exists from now on, empty, and takes facts. */
ks_status ks_results_new(const ks_plan *plan, size_t planned, const ks_metric *metrics,
                         uint32_t metric_count, ks_results **out, ks_error *err);

void ks_kept_free(ks_kept *kept);

/* The sink (samples/sink.h); `results` is the ks_results. */
ks_status ks_results_batch_done(void *results, const ks_batch *batch, ks_error *err);
ks_status ks_results_finish(void *results, const ks_run_notes *notes, ks_error *err);

/* derive.c: evaluate the plan's callbacks for a region that was kept. */
ks_status ks_results_derive(ks_results *results, const ks_batch *batch, ks_region *region,
                            uint32_t annotation, ks_error *err);

/* The derived metric of a callback's own name, new or known. */
ks_status ks_results_own_derived(ks_results *results, uint32_t derive, uint32_t *out,
                                 ks_error *err);

/* Whether a callback gave a value of any name so far. */
bool ks_results_derive_named(const ks_results *results, uint32_t derive);

/* keep.c: widen the range of a region's clock by another one; 0, 0: by nothing. */
void ks_results_clock_range(ks_region *region, double low, double high);

/* keep.c: store a value, or why there is none, at the end of `values`. */
ks_status ks_results_keep_value(ks_results *results, bool valid, double value, const char *why,
                                ks_error *err);

/* join.c: one record per config, one region per config and annotation. */
ks_status ks_results_join(ks_results *results, ks_error *err);

/* build.c */
ks_status ks_results_build(ks_results *results, ks_error *err);
ks_status ks_results_build_configs(ks_results *results, ks_error *err);

/** Reason why value number `value` is missing; 0 if none was kept. */
ks_text_id ks_results_why(const ks_results *results, size_t value);

#endif
