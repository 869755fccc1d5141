/* The run: configs, passes, runs, and the order in which everybody is told of them. */
#ifndef KS_RUN_LOOP_H
#define KS_RUN_LOOP_H

#include "collect/collector.h"
#include "collect/control.h"
#include "kernsight/run.h"
#include "plan/plan.h"
#include "samples/sink.h"

/** A collector that takes part. */
typedef struct ks_member {
    const ks_collector_ops *ops;
    ks_collector *collector;
    const uint32_t *numbers; /**< of its metrics among those of the run */
    uint32_t metric_count;
    ks_needs needs;
    uint32_t first_slot; /**< its words in a visit */
    uint32_t first_pass; /**< its pass 0 is this pass of the run */
} ks_member;

enum {
    KS_MEMBERS_MAX = KS_HOOKS_MAX
};

typedef struct ks_run_spec {
    const ks_plan *plan;
    ks_body_fn body;
    void *user;
    uint32_t warmup;
    const uint32_t *sequence; /**< configs in working order */
    size_t configs;
    const ks_metric *metrics;
    uint32_t metric_count;
    ks_member *members;
    size_t member_count;
    ks_ledger *ledger;
    ks_control *control; /**< NULL: no GPU is measured or controlled */
    ks_sink *sinks;
    size_t sink_count;
} ks_run_spec;

/** Give every member its passes. @return how many the run has */
uint32_t ks_schedule(ks_member *members, size_t count);

/**
 * Run it all. Sinks hear of every finished config, and of the end however it came.
 *
 * A session must be open.
 */
ks_status ks_run_loop(const ks_run_spec *spec, uint32_t passes, ks_error *err);

#endif
