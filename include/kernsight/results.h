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
 * (the kernel's name as the compiler wrote it).
 *
 * @param[out] out  new table, free with ks_table_free(); untouched on failure
 */
KS_API ks_status ks_results_launches(const ks_results *results, ks_table **out, ks_error *err);

/**
 * Print the results for people: a line per annotation and config, for each metric the mean with
 * half the width of its 95 % confidence interval and the number of runs, and footnotes for all that
 * needs attention. Units are scaled, names shortened to fit the width.
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
