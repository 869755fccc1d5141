/* Sets: metrics that answer one question together, asked for by one name with an @ before it. */
#ifndef KS_COLLECT_NVIDIA_SETS_H
#define KS_COLLECT_NVIDIA_SETS_H

#include <stddef.h>

#include "kernsight/status.h"

/** Texts are static. */
typedef struct ks_metric_set {
    const char *name; /**< with the @ */
    const char *description;
    const char *const *metrics; /**< full names; a chip may lack some */
    size_t count;
} ks_metric_set;

size_t ks_metric_set_count(void);

/** @param[in] index  below ks_metric_set_count() */
const ks_metric_set *ks_metric_set_at(size_t index);

/** The set of a name with an @; NULL: there is none. */
const ks_metric_set *ks_metric_set_find(const char *name);

/** Fail with a name that is none, and those that are. @return KS_ENOTFOUND, KS_ENOMEM */
ks_status ks_metric_set_fail(const char *name, ks_error *err);

#endif
