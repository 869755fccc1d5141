/* What info collectors gave for one config. */
#ifndef KS_SAMPLES_INFO_H
#define KS_SAMPLES_INFO_H

#include "kernsight/plan.h"

/** One value; its texts are owned by the values below. */
typedef struct ks_info_value {
    uint32_t info;       /**< number of the collector in the plan */
    uint32_t run;        /**< scopes run and annotation */
    uint32_t annotation; /**< scope annotation: its id; KS_NO_ANNOTATION if it never opened */
    ks_value value;
} ks_info_value;

typedef struct ks_info_values {
    ks_info_value *list;
    size_t count;
    size_t capacity;
} ks_info_values;

/** Add a value; its text is copied. */
ks_status ks_info_values_add(ks_info_values *values, uint32_t info, uint32_t run,
                             uint32_t annotation, const ks_value *value, ks_error *err);
/** Keep the first `count` values; the memory of the list stays. */
void ks_info_values_truncate(ks_info_values *values, size_t count);
void ks_info_values_fini(ks_info_values *values);

#endif
