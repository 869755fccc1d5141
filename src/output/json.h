/* Results as one JSON object. */
#ifndef KS_OUTPUT_JSON_H
#define KS_OUTPUT_JSON_H

#include "kernsight/table.h"

/** Version of the layout, in the object's key "schema". */
#define KS_JSON_SCHEMA "kernsight-results/1"

/**
 * @param[in] table    its facts become "plan" (keys that start with `plan.`) and "environment"
 * @param[in] configs  a row per config: its parameters
 * @param[in] samples  as ks_results_samples() gives it, ordered by annotation, metric and config
 */
ks_status ks_json_results(const ks_table *table, const ks_table *configs, const ks_table *samples,
                          FILE *to, ks_error *err);

#endif
