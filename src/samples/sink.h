/* Where finished configs go: results, later a store too. */
#ifndef KS_SAMPLES_SINK_H
#define KS_SAMPLES_SINK_H

#include "samples/info.h"
#include "samples/ledger.h"
#include "samples/samples.h"

/** All that is known of a config that was measured. Borrowed for the call. */
typedef struct ks_config_done {
    uint32_t config; /**< its number in the plan */
    const ks_samples *samples;
    const ks_ledger *ledger;
    const ks_info_values *once;  /**< of info collectors of the scope once */
    const ks_info_values *infos; /**< of the others */
    const char *const *paths;    /**< of annotations, by id */
    bool succeeded;              /**< no run of it failed */
} ks_config_done;

typedef struct ks_run_notes {
    bool complete; /**< every config of the plan was handed over */
    const char *const *warnings;
    size_t warning_count;
} ks_run_notes;

typedef struct ks_sink {
    void *self;
    ks_status (*config_done)(void *self, const ks_config_done *done, ks_error *err);
    /** The run has ended. @param notes  what to tell about it as a whole, borrowed */
    ks_status (*finish)(void *self, const ks_run_notes *notes, ks_error *err);
} ks_sink;

#endif
