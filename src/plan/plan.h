/* The plan as the rest of the library sees it. Filled by plan.c and axis*.c, judged by check.c. */
#ifndef KS_PLAN_PLAN_H
#define KS_PLAN_PLAN_H

#include <stdatomic.h>

#include "base/error.h"
#include "base/pool.h"
#include "kernsight/plan.h"

typedef struct ks_param {
    const char *name; /**< in the plan's pool */
    ks_value *values; /**< an axis has its values here; NULL when configs are given one by one */
    size_t count;
    size_t capacity;
} ks_param;

typedef struct ks_derive {
    const char *name;
    ks_derive_fn fn;
    void *user;
} ks_derive;

typedef struct ks_info {
    const char *name;
    ks_info_scope scope;
    ks_info_fn fn;
    void *user;
} ks_info;

typedef struct ks_fact_text {
    const char *key;
    const char *text;
} ks_fact_text;

typedef struct ks_text_list {
    const char **texts;
    size_t count;
    size_t capacity;
} ks_text_list;

struct ks_plan {
    ks_pool pool; /**< owns every text below */

    ks_param *params;
    size_t param_count;
    size_t param_capacity;
    bool axes;       /**< the params are axes */
    bool zip;        /**< ... and paired */
    ks_value *cells; /**< configs given one by one: param_count values each */
    size_t cell_count;
    size_t cell_capacity;
    size_t given_configs;
    size_t max_configs;
    void (*release)(void *object, void *user);
    void *release_user;

    uint32_t runs;  /**< at least; all, unless it is found out */
    bool auto_runs; /**< go on after these until `until` is met */
    ks_auto_runs until;
    uint32_t warmup;
    bool warmup_set; /**< else it depends on the target: 1, for a program 0 */
    ks_order order;
    uint64_t seed;

    ks_text_list metrics; /**< as asked for: names and patterns */
    ks_derive *derives;
    size_t derive_count;
    size_t derive_capacity;
    const char *normalize; /**< baseline annotation, or NULL */
    ks_combine combine;
    ks_combine_fn combine_fn; /**< wins over `combine` */
    void *combine_user;
    bool tolerant;
    ks_replay replay;
    ks_cache_control cache;
    ks_clock_control clocks;
    ks_thermal thermal;
    bool give_back; /**< the counters, when the run ends */
    double drain_limit_s;
    ks_text_list ignored; /**< patterns of kernels */

    ks_info *infos;
    size_t info_count;
    size_t info_capacity;
    ks_fact_text *facts;
    size_t fact_count;
    size_t fact_capacity;

    ks_progress_fn progress;
    void *progress_user;
    atomic_bool cancelled; /**< set by ks_plan_cancel(), taken back when a run ends */
};

/** No thermal guard. */
extern const ks_thermal ks_thermal_off;

/** KS_ENTER() of a function that builds a plan. */
#define KS_ENTER_PLAN(plan, err)    \
    do {                            \
        KS_ENTER(err);              \
        if ((plan) == NULL) {       \
            return ks_no_plan(err); \
        }                           \
    } while (0)

ks_status ks_no_plan(ks_error *err);

/** A text in the plan's pool, once it was seen to be UTF-8; `what` names it in the message. */
ks_status ks_plan_keep(ks_plan *plan, const char *what, const char *text, const char **out,
                       ks_error *err);

/** Value of a parameter in a config, borrowed. */
const ks_value *ks_plan_value(const ks_plan *plan, size_t config, size_t param);

/** Index of a parameter; param_count if there is none. */
size_t ks_plan_find_param(const ks_plan *plan, const char *name);

/** All that can be judged without knowing the collectors. */
ks_status ks_plan_check(const ks_plan *plan, ks_error *err);

/** Whether a name is a column of the results that parameters and info collectors must not use. */
bool ks_column_reserved(const char *name);

/** The configs in working order: `*out` has `count` indices, to be freed with ks_free(). */
ks_status ks_plan_sequence(const ks_plan *plan, size_t count, uint64_t seed, uint32_t **out,
                           ks_error *err);

#endif
