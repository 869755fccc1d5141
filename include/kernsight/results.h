/**
 * @file results.h
 * Results: what a run gives. A table with one row per annotation, metric and config.
 *
 * Results do not need the plan any more once ks_run() has returned.
 *
 * Threads: results never change; reading them is safe from any thread.
 */
#ifndef KERNSIGHT_RESULTS_H
#define KERNSIGHT_RESULTS_H

#include "status.h"
#include "table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ks_results ks_results;

/** Accepts NULL. */
KS_API void ks_results_free(ks_results *results);

/**
 * The table, borrowed from the results. Its columns are described in docs/results.md; facts of the
 * plan (`plan.runs`, ...) and of the environment (`host`, `start`, ...) travel with it. NULL only
 * for NULL.
 */
KS_API const ks_table *ks_results_table(const ks_results *results);

/** Whether every config of the plan was measured, or failed and was noted as such. */
KS_API bool ks_results_complete(const ks_results *results);

/** Configs of the plan; those that are finished; finished ones in which every run succeeded. */
KS_API size_t ks_results_planned(const ks_results *results);
KS_API size_t ks_results_finished(const ks_results *results);
KS_API size_t ks_results_succeeded(const ks_results *results);

/**
 * Every sample.
 *
 * Shape: a row per annotation, config, run and metric: text columns `Annotation`, `Metric`, `Unit`;
 * the parameters; `Config` and `Run` (KS_I64, from 0), `Value` (KS_F64, missing if there is none)
 * and `Reason` (why it is missing). Where both cache controls were measured (KS_CACHE_BOTH) also
 * text `CacheControl`.
 *
 * @param[out] out  new table, free with ks_table_free(); untouched on failure
 */
KS_API ks_status ks_results_samples(const ks_results *results, ks_table **out, ks_error *err);

/**
 * Every kernel launch that a collector saw, in the first pass that saw launches.
 *
 * Shape: a row per launch, in launch order within a run: `Config`, `Run`, `Order` (KS_I64, from 0),
 * text `Annotation` (missing: outside any), `Kernel`, KS_I64 `Thread` (from 0 in order of
 * appearance), `Stream`, `GridX`, `GridY`, `GridZ`, `BlockX`, `BlockY`, `BlockZ`, text `Mangled`
 * (the kernel's name as the compiler wrote it), and what is known of it, as in
 * ks_results_kernels(): `Time` (KS_F64, ns, of counters in user and kernel replay), `Registers`,
 * `SharedBytes`, `LocalBytes` (KS_I64), `OccupancyPct` (KS_F64).
 *
 * @param[out] out  new table, free with ks_table_free(); untouched on failure
 */
KS_API ks_status ks_results_launches(const ks_results *results, ks_table **out, ks_error *err);

/**
 * Which kernels ran in each annotation, how often and how long: those of the annotations inside it
 * too, and those of CUDA graphs where `kernel__` metrics were asked for.
 *
 * Shape: a row per annotation, config and kernel, in this order, of the kernels those that took
 * most time first. Columns:
 *  - text `Annotation`; the parameters; `Config` (KS_I64, from 0); text `Kernel` (its whole name);
 *  - `Launches` and `Runs` (KS_I64): launches in all runs together, and how many runs those are:
 *    runs that failed are left out, and so are those in which the annotation launched nothing;
 *  - `TimeAvg`, `TimeMin`, `TimeMax`, `TimePerRun` (KS_F64, ns): mean, shortest and longest launch,
 *    and all launches of a run together; missing unless the time of each launch is known;
 *  - `SharePct` (KS_F64): of the time of all kernels in the annotation and config; of kernels that
 *    overlap each counts whole;
 *  - `Registers` (of a thread), `SharedBytes` (of a block: what the kernel declares and what the
 *    launch adds), `LocalBytes` (of a thread: registers that did not fit, arrays and stack), all
 *    KS_I64, `OccupancyPct` (KS_F64: most warps on a multiprocessor, of those that it can hold);
 *    missing where they are not known, or differ between the launches;
 *  - text `TimeSource`: the metric whose time it is, `gpu__time_duration.sum` or
 *    `kernel__time_duration.sum`; text `Mangled`.
 * Without rows where no collector saw a launch, as on a CPU.
 *
 * @param[out] out  new table, free with ks_table_free(); untouched on failure
 */
KS_API ks_status ks_results_kernels(const ks_results *results, ks_table **out, ks_error *err);

/**
 * Print the results for people: a line per annotation and config, for each metric the mean with
 * half the width of its 95 % confidence interval and the number of runs, and footnotes for all that
 * needs attention. Units are scaled, names shortened to fit the width.
 *
 * Behind them come the three kernels that took most time in each annotation, over all configs, if
 * it launched several, or one whose registers did not suffice; `options->launches` has all of
 * ks_results_kernels() instead.
 */
KS_API ks_status ks_results_print(const ks_results *results, FILE *to,
                                  const ks_print_options *options, ks_error *err);

/** The table as CSV. See ks_table_csv(). */
KS_API ks_status ks_results_csv(const ks_results *results, FILE *to, ks_error *err);

/**
 * As ks_results_csv(), to a file, whole or not at all. Results that are not complete go to a file
 * of that name with `.partial` at its end, and a complete file of that name stays as it is;
 * complete ones remove it.
 */
KS_API ks_status ks_results_write_csv(const ks_results *results, const char *path, ks_error *err);

/** Everything as one JSON object: docs/results.md. Non-finite numbers are null. */
KS_API ks_status ks_results_json(const ks_results *results, FILE *to, ks_error *err);

/** As ks_results_json(), to a file, under the rules of ks_results_write_csv(). */
KS_API ks_status ks_results_write_json(const ks_results *results, const char *path, ks_error *err);

#ifdef __cplusplus
}
#endif

#endif
