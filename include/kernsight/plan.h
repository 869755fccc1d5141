/**
 * @file plan.h
 * Plans: what to measure. Parameters and their configs, runs, metrics, and what to do with them.
 *
 * A plan is built by one thread, checked by ks_run() before anything runs, and can be run again.
 * Everything handed to it is copied, except the objects behind opaque values and `user` pointers.
 * Every function does nothing, and returns the failure, if `err` already holds one.
 */
#ifndef KERNSIGHT_PLAN_H
#define KERNSIGHT_PLAN_H

#include "status.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ks_plan ks_plan;

/** One call of the body, and the config it is for: see run.h. */
typedef struct ks_call ks_call;

/** A new plan: no parameters, 1 run, 1 warm-up call, combine by kind, strict. */
KS_API ks_status ks_plan_new(ks_plan **out, ks_error *err);

/** Accepts NULL and a plan that was built only half. */
KS_API void ks_plan_free(ks_plan *plan);

/* ---- parameters and configs: either axes, or ks_plan_param() and ks_plan_config() -------------
 */

/**
 * Add a parameter with all its values. Axes are multiplied, the last one changing fastest, or
 * paired after ks_plan_zip().
 *
 * @param[in] name    not empty, no control characters, not a column of the results that is reserved
 *                    (docs/results.md), not used yet
 * @param[in] values  n of them, n >= 1, of any types
 */
KS_API ks_status ks_plan_axis(ks_plan *plan, const char *name, const ks_value *values, size_t n,
                              ks_error *err);
KS_API ks_status ks_plan_axis_i64(ks_plan *plan, const char *name, const int64_t *values, size_t n,
                                  ks_error *err);
KS_API ks_status ks_plan_axis_f64(ks_plan *plan, const char *name, const double *values, size_t n,
                                  ks_error *err);
KS_API ks_status ks_plan_axis_text(ks_plan *plan, const char *name, const char *const *values,
                                   size_t n, ks_error *err);

/**
 * Add a parameter from its text: `name=values`, values separated by commas.
 *
 * A value is a number, a text, a `'quoted text'` (`''` is a quote in it), or a range, whose
 * end is a value too if a step meets it: `1..8`, `8..64+8`, `64..8-8`, `0..1+0.25`, `1..4096*2`.
 * All values are KS_I64 if each of them is a whole number, else KS_F64 if each is a number, else
 * KS_TEXT.
 *
 * @return KS_EINVAL with the place and what is expected there; KS_ELIMIT for over 1,000,000 values
 */
KS_API ks_status ks_plan_axis_spec(ks_plan *plan, const char *spec, ks_error *err);

/** Pair the axes (first with first, ...) instead of multiplying them; all must be equally long. */
KS_API ks_status ks_plan_zip(ks_plan *plan, bool zip, ks_error *err);

/** Name the next parameter of configs that are given one by one. */
KS_API ks_status ks_plan_param(ks_plan *plan, const char *name, ks_error *err);

/** Add a config: a value for each parameter, in their order. Equal configs are kept apart. */
KS_API ks_status ks_plan_config(ks_plan *plan, const ks_value *values, size_t n, ks_error *err);

/** The largest number of configs that is accepted; default 100,000. */
KS_API ks_status ks_plan_max_configs(ks_plan *plan, size_t max, ks_error *err);

/** Number of configs; 1 for a plan without parameters. KS_EINVAL, KS_ELIMIT as ks_run() would. */
KS_API ks_status ks_plan_count(const ks_plan *plan, size_t *out, ks_error *err);

/**
 * Hand the objects of opaque values over to the plan: `release` is called once for each value that
 * was added, when the plan is freed. For a value that was refused it is not called.
 */
KS_API ks_status ks_plan_release(ks_plan *plan, void (*release)(void *object, void *user),
                                 void *user, ks_error *err);

/* ---- how often and in which order -------------------------------------------------------------
 */

/** Measured calls of the body per config and pass; at least 1, default 1. */
KS_API ks_status ks_plan_runs(ks_plan *plan, uint32_t runs, ks_error *err);

/**
 * How long to go on when the number of runs is found out: until the 95 % interval of the mean is
 * narrow enough in every annotation (docs/statistics.md): that of the time (`*__time_duration.sum`)
 * if it is measured, else that of the first metric.
 */
typedef struct ks_auto_runs {
    size_t struct_size;
    double precision;  /**< half the interval's width, as a share of the mean: 0.01 is 1 % */
    uint32_t min_runs; /**< at least 2 */
    uint32_t max_runs;
    double budget_s; /**< a config that has taken that long gets no more runs; 0: no limit */
} ks_auto_runs;

// clang-format off
#define KS_AUTO_RUNS_INIT {sizeof(ks_auto_runs), 0.01, 10, 1000, 0}
// clang-format on

/**
 * Measure each config until it is known well enough, in place of a fixed number of runs.
 *
 * A config that had precision enough gets half as many runs again, which had no say in the
 * decision: else its interval would be too narrow. The results say why each config ended.
 *
 * @param[in] options  NULL: the defaults of KS_AUTO_RUNS_INIT
 */
KS_API ks_status ks_plan_auto_runs(ks_plan *plan, const ks_auto_runs *options, ks_error *err);

/** Unmeasured calls of the body per config, before its runs; default 1, for a program 0. */
KS_API ks_status ks_plan_warmup(ks_plan *plan, uint32_t calls, ks_error *err);

typedef enum ks_order {
    KS_ORDER_GIVEN = 0,
    KS_ORDER_SHUFFLED,    /**< rows of the results stay in the order of the plan */
    KS_ORDER_INTERLEAVED, /**< one run of every config, then the next: drift hits all alike */
} ks_order;

/** @param[in] seed  of the shuffle, below 2^63, kept in the results; 0 draws one */
KS_API ks_status ks_plan_order(ks_plan *plan, ks_order order, uint64_t seed, ks_error *err);

/* ---- what to measure --------------------------------------------------------------------------
 */

/**
 * Ask for a metric, or for all that a pattern with `*` or `?` matches. Blanks around the name are
 * ignored, and so is a second request. No metric asked for means `cpu__time_duration.sum`, and for
 * a program its times and the bytes it writes. Names are checked by ks_run(), all at once.
 */
KS_API ks_status ks_plan_metric(ks_plan *plan, const char *name, ks_error *err);

/** One evaluation of a derived metric: an annotation in a run. Valid during the callback only. */
typedef struct ks_derivation ks_derivation;

/**
 * Compute metrics from the measured ones.
 *
 * It is called once per annotation, config and run, in the order of the plan, by the thread that
 * called ks_run(), after the config was measured. It reads values with ks_derivation_metric() and
 * the parameters with ks_call_i64() and the like, and gives values with ks_derivation_set().
 *
 * A failure makes the derived value of this run missing, with its message; measured metrics stay.
 */
typedef ks_status (*ks_derive_fn)(ks_derivation *derivation, const ks_call *call, void *user,
                                  ks_error *err);

/** @param[in] name  of the metric it gives, unless ks_derivation_set() names another */
KS_API ks_status ks_plan_derive(ks_plan *plan, const char *name, ks_derive_fn derive, void *user,
                                ks_error *err);

/** Path of the annotation, borrowed. */
KS_API const char *ks_derivation_annotation(const ks_derivation *derivation);

/**
 * Value of a measured metric in this run, in the metric's unit.
 *
 * @return KS_OK; KS_ENOTFOUND (no such metric in the plan); KS_UNAVAILABLE (missing in this run,
 * the message says why): then `*out` is untouched
 */
KS_API ks_status ks_derivation_metric(const ks_derivation *derivation, const char *name,
                                      double *out, ks_error *err);

/**
 * Give a value. NaN and infinity make the value missing, with that as the reason.
 *
 * @param[in] name  NULL: the name given to ks_plan_derive(); otherwise any name that is no measured
 *                  metric. Names may differ from call to call; where a name was not given the value
 *                  is missing.
 * @param[in] unit  NULL: none
 */
KS_API ks_status ks_derivation_set(ks_derivation *derivation, const char *name, double value,
                                   const char *unit, ks_error *err);

/**
 * Divide by a baseline: each row's statistics become ratios to the mean of the same metric and
 * config under this annotation. Rows without a baseline stay, with the reason.
 */
KS_API ks_status ks_plan_normalize(ks_plan *plan, const char *annotation, ks_error *err);

typedef enum ks_combine {
    KS_COMBINE_BY_KIND = 0, /**< by the metric's kind: docs/concepts.md */
    KS_COMBINE_REFUSE,      /**< several launches or visits in a run are a failure */
} ks_combine;

/** How the launches and visits of an annotation in one run become one value. */
KS_API ks_status ks_plan_combine(ks_plan *plan, ks_combine combine, ks_error *err);

/** Combine two values of one metric into `*out`; folded from the first launch or visit on. */
typedef ks_status (*ks_combine_fn)(double sum, double next, double *out, void *user, ks_error *err);

KS_API ks_status ks_plan_combine_fn(ks_plan *plan, ks_combine_fn combine, void *user,
                                    ks_error *err);

/**
 * Tolerant: a body that fails spoils only its own run, and the sweep goes on. Default: strict, the
 * first failure ends the sweep; finished configs are kept.
 */
KS_API ks_status ks_plan_tolerant(ks_plan *plan, bool tolerant, ks_error *err);

/* ---- of GPU metrics ---------------------------------------------------------------------------
 */

/** How counters that do not fit into one pass are all read. */
typedef enum ks_replay {
    KS_REPLAY_AUTO = 0, /**< KS_REPLAY_USER; KS_REPLAY_RANGE for configs that launch CUDA graphs, or
                             kernels of NCCL, which wait for each other. There the time of a visit,
                             which spans gaps, is missing, and what is divided by it unless it is
                             50 times as long as an empty one */
    KS_REPLAY_USER,     /**< the body is called again for each pass: a value per kernel */
    KS_REPLAY_RANGE,    /**< likewise, but a value per visit of an annotation, over all that it
                             launches: its times span the gaps between kernels */
    KS_REPLAY_KERNEL,   /**< each kernel is repeated where it stands, and memory is put back before
                             each repetition: slow, and the body is called once per run */
} ks_replay;

KS_API ks_status ks_plan_replay(ks_plan *plan, ks_replay replay, ks_error *err);

/** What a kernel finds in the GPU's caches. */
typedef enum ks_cache_control {
    KS_CACHE_FLUSH = 0, /**< nothing of its own: they are swept before each annotated kernel */
    KS_CACHE_NONE,      /**< what was left there */
    KS_CACHE_BOTH,      /**< each in turn: passes with swept caches, then passes without; two rows
                             for each metric that counters tell, and the column `CacheControl` says
                             which is which. ks_derivation_metric() gives those of swept caches */
} ks_cache_control;

KS_API ks_status ks_plan_cache_control(ks_plan *plan, ks_cache_control control, ks_error *err);

/** What the GPU's clocks are under while a plan runs. */
typedef enum ks_clock_control {
    KS_CLOCK_NONE = 0, /**< left alone */
    KS_CLOCK_BASE,     /**< locked to the base clock, which the GPU can keep up; needs an
                            administrator */
    KS_CLOCK_TRY_BASE, /**< likewise if it can be done; else left alone, with a warning */
} ks_clock_control;

/**
 * Lock the clocks of the GPU that is used: that of the context that is current on the thread that
 * calls ks_run(), before each call of the body; the first one while there is none. A lock counts
 * for all processes. It is given back when the run ends, however it does, and at the end of the
 * process; a process that is killed leaves it (`kernsight doctor` says so): see ks_clock_restore().
 *
 * ks_run() fails (KS_EPERM, KS_UNAVAILABLE) before it calls anything where KS_CLOCK_BASE cannot be
 * had. Column `ClockControl`: `base` or `none`, as it was.
 */
KS_API ks_status ks_plan_clock_control(ks_plan *plan, ks_clock_control control, ks_error *err);

typedef enum ks_thermal_mode {
    KS_THERMAL_OFF = 0, /**< no waiting */
    KS_THERMAL_AUTO,    /**< `cont_c` follows what is seen */
    KS_THERMAL_MANUAL,  /**< it does not */
} ks_thermal_mode;

/** When measuring waits for a GPU to cool down. Degrees Celsius are those below the temperature at
 * which it slows down: many are cool. */
typedef struct ks_thermal {
    size_t struct_size;
    ks_thermal_mode mode;
    int32_t wait_c;   /**< wait with so many degrees or fewer ... */
    int32_t cont_c;   /**< ... until there are so many */
    double timeout_s; /**< for so long; in mode auto until fewer are enough, down to 12 */
    int32_t device;   /**< CUDA's number of the GPU to watch; -1: the one that is used */
} ks_thermal;

// clang-format off
#define KS_THERMAL_INIT {sizeof(ks_thermal), KS_THERMAL_AUTO, 10, 20, 180.0, -1}
// clang-format on

/**
 * Watch the heat of a GPU, and wait before a measured call while it is too hot. Default: off. Where
 * the driver does not tell, nothing is waited for, and a warning says so. Waits are told
 * (KS_PHASE_WAIT), are in the column `ThermalWait` and end when the plan is cancelled; one that is
 * in vain ends the run (KS_ELIMIT, origin "thermal").
 *
 * @param[in] options  NULL: the defaults of KS_THERMAL_INIT
 * @return KS_EINVAL: `cont_c` is not above `wait_c`, or another is out of its range
 */
KS_API ks_status ks_plan_thermal(ks_plan *plan, const ks_thermal *options, ks_error *err);

/**
 * Whether the GPU's counters stay with this process after a run, so that the next one with the same
 * metrics starts at once. Default: true. While they are held no other process can have them, unless
 * it waits for them: kernsight does, and they are given up at the end of the next run. See
 * ks_release().
 */
KS_API ks_status ks_plan_hold_counters(ks_plan *plan, bool hold, ks_error *err);

/**
 * How long to wait, after a call of the body has returned, for what it launched on a GPU. A kernel
 * that waits for another one, which cannot run beside it while counters are read, never ends: the
 * run fails then (KS_ELIMIT) and names the kernel launched last, keeps the configs before it, and
 * the CUDA context is not to be used again.
 *
 * @param[in] seconds  default 60; 0: as long as it takes
 */
KS_API ks_status ks_plan_drain_limit(ks_plan *plan, double seconds, ks_error *err);

/**
 * Leave out kernels that annotations launch besides those to be measured. One that no kernel
 * matched is told in a warning.
 *
 * @param[in] pattern  `*` and `?` as in a shell, against the kernel's name: mangled, or demangled
 *                     with or without its arguments
 */
KS_API ks_status ks_plan_ignore_kernel(ks_plan *plan, const char *pattern, ks_error *err);

/* ---- what to note beside it -------------------------------------------------------------------
 */

/** When an info collector is called. Never in a warm-up call. */
typedef enum ks_info_scope {
    KS_SCOPE_ONCE = 0,   /**< before the first config; `call` is NULL */
    KS_SCOPE_CONFIG,     /**< before the first run of each config */
    KS_SCOPE_RUN,        /**< before each run (in the first pass only) */
    KS_SCOPE_ANNOTATION, /**< at each entry, before the region opens, on the entering thread */
} ks_info_scope;

/**
 * Give one value that travels with the rows.
 *
 * @param[in]  annotation  name of the annotation being entered; NULL in other scopes
 * @param[out] out         its text is copied after the return, so it must outlive that; left alone
 *                        means missing
 * @return anything but KS_OK makes the value missing and adds one warning per collector
 */
typedef ks_status (*ks_info_fn)(const ks_call *call, const char *annotation, ks_value *out,
                                void *user, ks_error *err);

/** Add an info collector; its name becomes a column, or several: docs/results.md. */
KS_API ks_status ks_plan_info(ks_plan *plan, const char *name, ks_info_scope scope, ks_info_fn info,
                              void *user, ks_error *err);

/** Add a fact to the results' environment, such as the command line. */
KS_API ks_status ks_plan_fact(ks_plan *plan, const char *key, const char *text, ks_error *err);

/* ---- while it runs ----------------------------------------------------------------------------
 */

typedef enum ks_phase {
    KS_PHASE_START = 0, /**< everything was checked, nothing was called yet */
    KS_PHASE_WARMUP,    /**< before a warm-up call */
    KS_PHASE_RUN,       /**< before a measured call */
    KS_PHASE_END,       /**< after the last call, however the run ended */
    KS_PHASE_WAIT,      /**< before a measured call, while a GPU cools down: twice a second */
} ks_phase;

typedef struct ks_progress {
    ks_phase phase;
    size_t config;       /**< place of the config in working order, from 0 */
    size_t configs;      /**< of the plan */
    uint32_t run, runs;  /**< the call's run (or warm-up call), from 0, and how many there are so
                              far */
    uint32_t most_runs;  /**< how many there may be: more than `runs` when it is found out */
    uint32_t pass;       /**< the call's pass, from 0 */
    uint32_t passes;     /**< calls of the body that one run needs */
    uint64_t calls_done; /**< calls of the body so far, warm-up calls included */
    uint64_t calls;      /**< calls of the body in all; at least, when it is found out; lowered for
                              each config that a time budget ends before its fewest runs */
    double elapsed_s;    /**< since KS_PHASE_START */
    double remaining_s;  /**< estimate, without waits to come; NaN while unknown */
    const ks_call *call; /**< the call; NULL at KS_PHASE_START and KS_PHASE_END */
    double waited_s;     /**< for a GPU to cool down, since KS_PHASE_START */
    double margin_c;     /**< at KS_PHASE_WAIT: degrees below where it slows down; else NaN ... */
    double wanted_c;     /**< ... and how many it waits for */
} ks_progress;

/** Called by the thread that called ks_run(), never while something is measured. */
typedef void (*ks_progress_fn)(const ks_progress *progress, void *user);

KS_API ks_status ks_plan_progress(ks_plan *plan, ks_progress_fn progress, void *user,
                                  ks_error *err);

/**
 * Stop the run of this plan as soon as its current call returns, or the next run before its first
 * call. A program that is being measured is ended at once. Safe in a signal handler and from any
 * thread.
 */
KS_API void ks_plan_cancel(ks_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
