/*
 * The contract of a collector: a back end that yields the values of some metrics.
 *
 * The life of one: open; then for each config its warm-up calls, each between warm_begin and
 * warm_end, and its runs in one or several batches. A batch has no more runs than every collector
 * has room for, and goes through all passes, each with pass_begin, then for each run run_begin, the
 * hot hooks while the body runs, run_end; then pass_end; then drain. A call of the body that
 * failed, or about which something else did, ends with abort in place of run_end; the pass goes on
 * after the first. A run_begin or pass_begin that failed has nothing to end or abort; no other hook
 * of the pass follows. close ends it all.
 *
 * Values may be added to the samples in run_end or in drain. A collector that cannot tell a value
 * says why (ks_samples_missing); one that lost launches says how many it expected and got
 * (`launched`, `captured` of the samples); it never guesses, and never gives 0 for "unknown".
 *
 * Every slot is filled. docs/adding-a-collector.md walks through the smallest one, collect/clock.
 */
#ifndef KS_COLLECT_COLLECTOR_H
#define KS_COLLECT_COLLECTOR_H

#include <stdatomic.h>

#include "annotate/session.h"
#include "kernsight/plan.h"
#include "samples/ledger.h"
#include "samples/samples.h"

/** What is measured; also used as flags. */
typedef enum ks_target {
    KS_TARGET_REGION = 1,  /**< annotated regions of this process */
    KS_TARGET_PROGRAM = 2, /**< an unmodified program */
} ks_target;

/** A line of a collector's catalogue. Texts are borrowed for the call. */
typedef struct ks_metric_entry {
    const char *name;
    const char *unit; /**< NULL: none */
    ks_metric_kind kind;
    const char *description;
    const char *reason; /**< why it cannot be measured here; NULL: it can */
    unsigned targets;   /**< ks_target flags */
    bool cached;        /**< it depends on what a kernel finds in the GPU's caches */
} ks_metric_entry;

typedef struct ks_metric_sink {
    void *self;
    ks_status (*add)(void *self, const ks_metric_entry *entry, ks_error *err);
} ks_metric_sink;

/** A fact about a collector or about the run. */
typedef struct ks_fact_sink {
    void *self;
    ks_status (*add)(void *self, const char *fact, ks_value value, const char *cure, ks_error *err);
} ks_fact_sink;

/** What a plan says of GPUs. Borrowed from the plan. */
typedef struct ks_controls {
    ks_replay replay;
    ks_cache_control cache;     /**< never both: there is a collector for each then */
    bool one_of_two;            /**< there is */
    bool give_back;             /**< the counters, at close() */
    double drain_limit_s;       /**< that work on a GPU is waited for; 0: as long as it takes */
    const char *const *ignored; /**< patterns of kernels that are not measured */
    size_t ignored_count;
    const atomic_bool *cancelled; /**< the run is to stop, for those who wait; NULL: never */
} ks_controls;

/** What open() is asked for. Everything that it points to outlives the collector. */
typedef struct ks_collect_spec {
    ks_target target;
    ks_metric *const *metrics; /**< with names: open() fills in the rest */
    const uint32_t *numbers;   /**< of those metrics in the samples */
    uint32_t count;            /**< of them, at least 1 */
    ks_ledger *ledger;         /**< for collectors that see launches */
    const ks_controls *controls;
} ks_collect_spec;

/** What a collector needs from the run. */
typedef struct ks_needs {
    uint32_t passes;    /**< calls of the body per run; at least 1 */
    bool shares_first;  /**< it disturbs nobody: its passes coincide with those of others like it */
    uint32_t slots;     /**< words in each visit */
    double visit_ns;    /**< what its hooks cost, begin and end together; 0: not known */
    bool sees_launches; /**< it fills the ledger */
    bool holds_child;   /**< a program must be held before it is loaded, in a process of its own */
} ks_needs;

typedef struct ks_pass_ctx {
    uint32_t pass;       /**< of this collector, from 0 */
    uint32_t runs;       /**< in this batch */
    uint32_t first_slot; /**< of its words in a visit */
} ks_pass_ctx;

typedef struct ks_run_ctx {
    uint32_t run;  /**< of the batch, from 0: the samples' */
    uint32_t pass; /**< of this collector, from 0 */
} ks_run_ctx;

typedef struct ks_collector ks_collector;

typedef struct ks_collector_ops {
    const char *name;
    /** State of this back end for `doctor`: cheap; a fact "available" first, with a cure if not. */
    ks_status (*probe)(const ks_fact_sink *to, ks_error *err);
    /** Every metric that it knows, in any order. */
    ks_status (*list)(const ks_metric_sink *to, ks_error *err);
    /** A name that is not in the list: adds its entry if names of its kind are this collector's. So
     * does a pattern with the entries that it matches beyond the list, a set ("@name") with its
     * own; where they cannot be told, an entry of the pattern's or set's name says why.
     * KS_ENOTFOUND: they are, but there is nothing of that name, and why. */
    ks_status (*lookup)(const char *name, const ks_metric_sink *to, ks_error *err);
    ks_status (*open)(const ks_collect_spec *spec, ks_collector **out, ks_error *err);
    ks_needs (*needs)(const ks_collector *self);
    /** Facts for the results' environment. */
    ks_status (*facts)(const ks_collector *self, const ks_fact_sink *to, ks_error *err);
    /** Around each warm-up call: nothing is measured, but what is launched may be counted. `first`:
     * of a config. */
    ks_status (*warm_begin)(ks_collector *self, bool first, ks_error *err);
    ks_status (*warm_end)(ks_collector *self, ks_error *err);
    /** How many runs of the config fit into the next batch, at least 1: asked before each. */
    uint32_t (*room)(const ks_collector *self);
    ks_status (*pass_begin)(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err);
    ks_status (*run_begin)(ks_collector *self, const ks_run_ctx *ctx, ks_error *err);
    /** Hooks of the session; `self` is the collector. Hot, on any thread: no allocation, no log, no
     * lock that waits for other work. */
    void (*begin)(void *self, ks_visit *visit);
    void (*end)(void *self, ks_visit *visit);
    /** A program that the visit runs: held before it is loaded (if any collector's needs say so),
     * and after its end. */
    void (*child)(void *self, ks_visit *visit, const ks_child *child);
    /** On a thread that entered a region and ends during the call, where visits that it began may
     * still be open: what it holds that is scarce is given back. As hot. */
    void (*thread_end)(void *self);
    /** Whether the body is to be called once more for the same run, in a pass that nobody shares:
     * asked after each call of it that succeeded, with its visits still there. The last call's stay
     * for run_end; of those before it the collector adds up what it needs. NULL: never. */
    ks_status (*again)(ks_collector *self, bool *out, ks_error *err);
    ks_status (*run_end)(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                         ks_error *err);
    ks_status (*pass_end)(ks_collector *self, ks_error *err);
    ks_status (*drain)(ks_collector *self, ks_samples *into, ks_error *err);
    void (*abort)(ks_collector *self, const ks_run_ctx *ctx);
    /** What is to be known of the run as a whole, after its last call; NULL: never anything. */
    ks_status (*warn)(const ks_collector *self, ks_pool *warnings, ks_error *err);
    void (*close)(ks_collector *self); /**< accepts NULL, never fails */
} ks_collector_ops;

/** For those that nothing has to be told, and that have room for any number of runs. */
ks_status ks_no_warm_begin(ks_collector *self, bool first, ks_error *err);
ks_status ks_no_warm_end(ks_collector *self, ks_error *err);
uint32_t ks_any_room(const ks_collector *self);

/** The collectors of this build, NULL at the end. */
extern const ks_collector_ops *const ks_collectors[];

#endif
