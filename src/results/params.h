#ifndef KS_RESULTS_PARAMS_H
#define KS_RESULTS_PARAMS_H

#include "results/results.h"

/** One column for each parameter of the plan, of the narrowest type that holds all its values. */
ks_status ks_params_add_columns(const ks_results *r, ks_table *table, ks_error *err);

/** The values of one config, in columns that ks_params_add_columns() added from `first_column` on.
 */
ks_status ks_params_fill(const ks_results *r, uint32_t config, ks_table *table, size_t row,
                         size_t first_column, ks_error *err);

#endif
