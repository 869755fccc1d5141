/* Where measured runs go: results, later a store too. */
#ifndef KS_SAMPLES_SINK_H
#define KS_SAMPLES_SINK_H

#include "samples/info.h"
#include "samples/ledger.h"
#include "samples/samples.h"

/** Why a config got no more runs. */
typedef enum ks_stop {
    KS_STOP_NOT_YET = 0, /**< it may get more */
    KS_STOP_RUNS,        /**< it had all that were asked for */
    KS_STOP_PRECISION,   /**< its interval was narrow enough */
    KS_STOP_MAX_RUNS,    /**< it was not, after as many runs as are allowed */
    KS_STOP_BUDGET,      /**< ... or as much time */
    KS_STOP_NO_VALUES,   /**< no annotation had two values in the fewest runs */
} ks_stop;

/** Runs of a config that were measured together. Borrowed for the call. */
typedef struct ks_batch {
    uint32_t config;    /**< its number in the plan */
    uint32_t first_run; /**< the samples' and launches' run 0 is this one of the config */
    ks_stop stop;       /**< KS_STOP_NOT_YET: more of this config are to come */
    bool succeeded;     /**< no run of the config failed so far */
    const ks_samples *samples;
    const ks_ledger *ledger;
    const ks_info_values *once;  /**< of info collectors of the scope once */
    const ks_info_values *infos; /**< of the others */
    const char *const *paths;    /**< of annotations, by id */
    double waited_s;             /**< for a GPU to cool down; NaN: none is watched */
} ks_batch;

typedef struct ks_run_notes {
    bool complete; /**< every config of the plan had all its runs */
    const char *const *warnings;
    size_t warning_count;
    double waited_s; /**< as in ks_batch */
} ks_run_notes;

typedef struct ks_sink {
    void *self;
    ks_status (*batch_done)(void *self, const ks_batch *batch, ks_error *err);
    /** The run has ended. @param notes  what to tell about it as a whole, borrowed */
    ks_status (*finish)(void *self, const ks_run_notes *notes, ks_error *err);
} ks_sink;

#endif
