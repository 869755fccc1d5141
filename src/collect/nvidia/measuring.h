/*
 * Measuring one batch: which launches came, in which range of counters each of them is, and what
 * the counters say. Launches come in callbacks on any thread, under the ledger's lock; all else
 * happens on the thread that runs the body.
 */
#ifndef KS_COLLECT_NVIDIA_MEASURING_H
#define KS_COLLECT_NVIDIA_MEASURING_H

#include "base/fault.h"
#include "collect/collector.h"
#include "collect/nvidia/counters.h"
#include "collect/nvidia/kernel_facts.h"
#include "collect/nvidia/launches.h"
#include "collect/nvidia/profiler.h"
#include "collect/nvidia/properties.h"

/** What a range of counters holds. */
typedef enum ks_range_kind {
    KS_RANGE_OTHER, /**< nothing that is measured: our own kernel, one outside any annotation */
    KS_RANGE_KERNEL,
    KS_RANGE_VISIT, /**< all that a visit of an annotation launched */
    KS_RANGE_EMPTY, /**< nothing: how long a range is in which nothing happens */
} ks_range_kind;

typedef struct ks_range {
    ks_range_kind kind;
    uint32_t annotation;
    uint32_t run;
    bool filled;   /**< of a visit: something was launched in it */
    size_t launch; /**< of a kernel: its place in the ledger, from 1; 0: it has none */
    bool graph;    /**< of a visit: it launched one */
} ks_range;

/** A context in which something is measured. */
typedef struct ks_track {
    ks_profiler *profiler;
    unsigned long long context_id; /**< when the batch began */
    ks_range *ranges;              /**< of the first pass, in the device's order */
    size_t count;
    size_t capacity;
    size_t at;      /**< range that the present pass has come to */
    size_t segment; /**< first range of the image that is being filled */
    double *values; /**< [range][metric] */
    size_t value_capacity;
    bool measured;         /**< in this batch: of several contexts of a device one has counters */
    uint64_t last_launch;  /**< number of the last one in it, of all; 0: there was none */
    bool differs;          /**< a later pass has other ranges than the first */
    bool captured_wrongly; /**< there are more or fewer ranges than launches */
    bool lost;             /**< its context was destroyed in the batch */
    bool complete;         /**< the counters need no further pass */
    size_t captured;       /**< ranges that the counters have */
} ks_track;

/** What cannot be measured kernel by kernel. */
typedef enum ks_whole {
    KS_WHOLE_NOTHING = 0,
    KS_WHOLE_GRAPH, /**< takes no range, and breaks the session where hardware counters run */
    KS_WHOLE_NCCL,  /**< kernels that wait for each other, and would for ever one by one */
} ks_whole;

typedef enum ks_measuring_mode {
    KS_MEASURING_OFF,
    KS_MEASURING_WARM_UP, /**< launches are counted, and that is all */
    KS_MEASURING_PASS,
} ks_measuring_mode;

typedef struct ks_measuring {
    const ks_cuda *cuda;
    const ks_cupti *cupti;
    ks_ledger *ledger;
    const ks_controls *controls;
    const ks_counters *counters; /**< NULL: launches are seen, and nothing is counted */
    ks_properties *properties;   /**< NULL: none is asked for; set before the first pass */
    ks_profile_spec spec;
    uint32_t passes; /**< of the counters, as calls of the body */

    ks_measuring_mode mode;
    uint32_t pass;
    uint32_t run;
    ks_track *tracks;
    size_t track_count;
    size_t track_capacity;
    bool *ignored_any;      /**< by pattern: some kernel matched it */
    ks_nothing nothing;     /**< what annotations without a kernel did */
    bool launches_seen;     /**< in this config; else copies are looked at too */
    ks_kernel_memo kernels; /**< of this batch */
    /* of the launch between its beginning and its end: */
    ks_range_kind now;
    ks_track *now_in;   /**< NULL: in a context that was not known */
    ks_owner now_owner; /**< its annotation NULL: none */
    bool now_owned;     /**< it is of the present call */
    bool now_ignored;   /**< the plan leaves it out */

    uint64_t launches;    /**< so far */
    uint64_t outside;     /**< launches in contexts that are not measured */
    bool beside;          /**< ... one of which is on a device that is measured in another one */
    size_t calls_ranges;  /**< ranges of the present call, of the one context that has most */
    size_t most_ranges;   /**< of any call of this config */
    size_t calls_visits;  /**< of outermost annotations in the present call ... */
    size_t most_visits;   /**< ... and in any of this config that was measured */
    uint32_t open_visits; /**< in a user range */
    ks_profiler *open_in; /**< that has the range; NULL: none has */
    bool overlapping;     /**< visits on several threads at once */
    bool elsewhere;       /**< a visit launched in another context than its range is in */
    ks_whole of_config;   /**< what its calls so far launched */
    ks_whole of_batch;    /**< likewise, in ranges of visits */
    bool chosen;          /**< they are ranges because of that, and nobody asked for it */
    bool needless;        /**< ... and none came */
    double empty_ns;      /**< how long an empty range is; NaN: not known */
    bool broken;          /**< the counters of this pass are lost */
    ks_whole whole;       /**< launched where a range is a kernel: there are no values */
    bool one_by_one;      /**< a run failed in some pass: batches of one run, so that the others are
                               not harmed */
    ks_fault fault;
} ks_measuring;

/** @param[in] counters  NULL: none */
ks_status ks_measuring_init(ks_measuring *m, const ks_collect_spec *spec,
                            const ks_counters *counters, ks_error *err);
void ks_measuring_fini(ks_measuring *m);

ks_status ks_measuring_warm_begin(ks_measuring *m, bool first, ks_error *err);
ks_status ks_measuring_warm_end(ks_measuring *m, ks_error *err);
uint32_t ks_measuring_room(const ks_measuring *m);
/** Whether a full image can be read, and another begun, in the middle of a pass. */
bool ks_measuring_can_segment(const ks_measuring *m);
/** Whether each kernel has a range of its own. */
bool ks_measuring_by_kernel(const ks_measuring *m);
ks_status ks_measuring_pass_begin(ks_measuring *m, uint32_t pass, ks_error *err);
void ks_measuring_run_begin(ks_measuring *m, uint32_t run);
ks_status ks_measuring_run_end(ks_measuring *m, ks_error *err);
void ks_measuring_abort_run(ks_measuring *m);
ks_status ks_measuring_pass_end(ks_measuring *m, ks_error *err);

/** An annotation is entered or left: in range replay its launches go into one range. */
void ks_measuring_enter(ks_measuring *m, ks_visit *visit);
void ks_measuring_leave(ks_measuring *m, ks_visit *visit);

#endif
