/* How many runs a config gets: a fixed number, or until its means are known well enough. */
#ifndef KS_RUN_STOPPING_H
#define KS_RUN_STOPPING_H

#include "plan/plan.h"
#include "samples/sink.h"

/** Count, mean and sum of squared deviations of an annotation's values while they come in. */
typedef struct ks_moments {
    uint32_t annotation;
    uint32_t n;
    double mean;
    double squares;
} ks_moments;

/** What is known of a config by now; start with zeros. */
typedef struct ks_stopping {
    uint32_t runs; /**< measured */
    double spent_s;
    bool failed;       /**< some run did */
    uint32_t look;     /**< judged next at so many runs; 0: at the fewest */
    bool confirming;   /**< it was precise enough at the last look */
    ks_stop stop;      /**< what the last judgement was */
    ks_moments *means; /**< of the deciding metric, of the annotations that were entered */
    size_t count;
    size_t capacity;
} ks_stopping;

void ks_stopping_fini(ks_stopping *stopping);

/** How many runs to measure now, before the config is judged again. */
uint32_t ks_stopping_batch(const ks_stopping *stopping, const ks_plan *plan);

/** Take in what a batch gave. */
ks_status ks_stopping_add(ks_stopping *stopping, const ks_plan *plan, const ks_samples *batch,
                          double spent_s, ks_error *err);

/** Whether the config has runs enough, and why. Called after each batch. */
ks_stop ks_stopping_judge(ks_stopping *stopping, const ks_plan *plan);

#endif
