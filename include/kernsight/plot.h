/**
 * @file plot.h
 * Plots of results: lines or bars with error bars, as PNG, SVG, PDF or text. The program gnuplot
 * draws them (Debian: gnuplot-nox); without it everything else works. docs/plots.md says what is
 * chosen how.
 *
 * Threads: any thread may plot, also at the same time. gnuplot is a child process, started without
 * a shell and waited for.
 */
#ifndef KERNSIGHT_PLOT_H
#define KERNSIGHT_PLOT_H

#include <stdio.h>

#include "plan.h"
#include "results.h"
#include "run.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ks_plot_kind {
    KS_PLOT_AUTO = 0, /**< lines along a parameter that is a number, else bars */
    KS_PLOT_LINES,
    KS_PLOT_BARS,
} ks_plot_kind;

/** What is plotted, and how. */
typedef struct ks_plot_options {
    size_t struct_size;
    const char *const *metrics; /**< names and patterns, a row of panels each; NULL: the only one */
    size_t metric_count;
    const char *x;      /**< parameter along the x axis; NULL: the one with the most values */
    const char *panels; /**< parameter with a panel per value; NULL: one is chosen where it helps */
    const char *title;  /**< NULL: the annotation and parameters that are the same throughout */
    ks_plot_kind kind;
    bool inverse;  /**< with a baseline: baseline / value (of times: the speed-up) */
    bool ascii;    /**< no character outside ASCII of our own making */
    size_t width;  /**< of a plot as text, in characters; 0: 80 */
    size_t height; /**< of each of its panels, in lines; 0: as the width wants */
} ks_plot_options;

// clang-format off
#define KS_PLOT_OPTIONS_INIT {sizeof(ks_plot_options), NULL, 0, NULL, NULL, NULL, KS_PLOT_AUTO, \
                              false, false, 0, 0}
// clang-format on

/**
 * Plot results into a file, whole or not at all, under the rules of ks_results_write_csv().
 *
 * @param[in] path     ends in .png, .svg or .pdf
 * @param[in] options  NULL: all is chosen
 * @return KS_OK; KS_EINVAL (another ending; several metrics and none named: the message lists
 *         them); KS_ENOTFOUND (unknown metric or parameter, no value at all); KS_UNAVAILABLE (no
 *         gnuplot, or one that cannot draw this; the message says what to install); KS_EIO,
 * KS_EPERM
 */
KS_API ks_status ks_results_plot(const ks_results *results, const char *path,
                                 const ks_plot_options *options, ks_error *err);

/** As ks_results_plot(), as text of `options->width` columns, for a terminal. */
KS_API ks_status ks_results_plot_text(const ks_results *results, FILE *to,
                                      const ks_plot_options *options, ks_error *err);

/**
 * Whether the results of a plan can be plotted, before any work is spent: the file's ending and
 * folder, gnuplot and what it can draw, the names of metrics and parameters. The names that a
 * derive callback gives are only known afterwards, and are not refused.
 *
 * @param[in] body  what will be run: programs have other metrics by default
 * @param[in] path  NULL: a plot as text
 * @return as ks_results_plot(), and what ks_run() returns for unknown metrics of the plan
 */
KS_API ks_status ks_plot_check(const ks_plan *plan, ks_body_fn body, const char *path,
                               const ks_plot_options *options, ks_error *err);

#ifdef __cplusplus
}
#endif

#endif
