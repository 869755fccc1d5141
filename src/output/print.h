/* Results for people. */
#ifndef KS_OUTPUT_PRINT_H
#define KS_OUTPUT_PRINT_H

#include "kernsight/table.h"

/** @param[in] table  with the columns of results: docs/results.md */
ks_status ks_print_results(const ks_table *table, FILE *to, const ks_print_options *options,
                           ks_error *err);

#endif
