/* All metrics of some collectors, and the choice that a plan makes of them. */
#ifndef KS_API_CATALOGUE_H
#define KS_API_CATALOGUE_H

#include "base/buf.h"
#include "base/pool.h"
#include "collect/collector.h"
#include "plan/plan.h"

typedef struct ks_catalogue_entry {
    ks_metric_entry entry; /**< its texts lie in the catalogue's pool */
    size_t collector;      /**< index of the collector that has it */
} ks_catalogue_entry;

typedef struct ks_catalogue {
    ks_pool pool;
    const ks_collector_ops *const *collectors;
    ks_catalogue_entry *entries; /**< sorted by name; those that were looked up lie behind */
    size_t count;
    size_t capacity;
} ks_catalogue;

/** @param[in] collectors  NULL at the end */
ks_status ks_catalogue_init(ks_catalogue *catalogue, const ks_collector_ops *const *collectors,
                            ks_error *err);
void ks_catalogue_fini(ks_catalogue *catalogue);

/** Add the entry of a name that no list has, if a collector knows it (some have names without end);
 * all those that a pattern or a set stands for. */
ks_status ks_catalogue_look_up(ks_catalogue *catalogue, const char *name, ks_error *err);

/** Entries that a plan asks for, as indices, in the order in which it asks. */
typedef struct ks_choice {
    size_t *entries;
    size_t count;
    size_t capacity;
} ks_choice;

/**
 * Find what a plan asks for; what it takes by default if it asks for nothing.
 *
 * @return KS_ENOTFOUND with all unknown names and what is near them; KS_UNAVAILABLE for one that is
 *         known but cannot be measured here, or not of this target; KS_ENOMEM
 */
ks_status ks_catalogue_choose(ks_catalogue *catalogue, const ks_plan *plan, ks_target target,
                              ks_choice *out, ks_error *err);

/** What to say of an unknown name: what the collector of its kind does, or "did you mean a, b or
 * c";
 * "" if there is nothing. */
void ks_catalogue_hint(const ks_catalogue *catalogue, const char *name, ks_buf *to);

#endif
