/* Results for people. */
#ifndef KS_OUTPUT_PRINT_H
#define KS_OUTPUT_PRINT_H

#include "kernsight/table.h"

/** @param[in] table  with the columns of results: docs/results.md */
ks_status ks_print_results(const ks_table *table, FILE *to, const ks_print_options *options,
                           ks_error *err);

/**
 * Print kernels behind results.
 *
 * @param[in] table  of ks_results_kernel_table()
 * @param[in] most   0: all of them; else those of each annotation that took most time, and only of
 *                   annotations of several kernels, or of one whose registers did not suffice
 */
ks_status ks_print_kernels(const ks_table *table, size_t most, FILE *to,
                           const ks_print_options *options, ks_error *err);

#endif
