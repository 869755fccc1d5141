/* What can be said of a plan before anything runs. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "plan/plan.h"

/* nsight-python's columns: a parameter of such a name would replace one silently there. */
static const char *const reserved[] = {
    "Annotation",
    "Value",
    "Metric",
    "Kernel",
    "GPU",
    "Host",
    "ComputeClock",
    "MemoryClock",
    "Unit",
    "AvgValue",
    "StdDev",
    "MinValue",
    "MaxValue",
    "NumRuns",
    "CI95_Lower",
    "CI95_Upper",
    "Geomean",
    "Normalized",
    "NormalizationValue",
    "RelativeStdDevPct",
    "StableMeasurement",
};

bool ks_column_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcmp(reserved[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Number of configs of axes; false if it does not fit. */
static bool multiply(const ks_plan *plan, size_t *out)
{
    size_t count = 1;
    for (size_t i = 0; i < plan->param_count; i++) {
        if (count > SIZE_MAX / plan->params[i].count) {
            return false;
        }
        count *= plan->params[i].count;
    }
    *out = count;
    return true;
}

static ks_status count_zipped(const ks_plan *plan, size_t *out, ks_error *err)
{
    for (size_t i = 1; i < plan->param_count; i++) {
        if (plan->params[i].count != plan->params[0].count) {
            return ks_fail(err, KS_EINVAL, "plan", 0,
                           "zipped parameters must have as many values as each other: '%s' has "
                           "%zu, '%s' has %zu",
                           plan->params[0].name, plan->params[0].count, plan->params[i].name,
                           plan->params[i].count);
        }
    }
    *out = plan->params[0].count;
    return KS_OK;
}

ks_status ks_plan_count(const ks_plan *plan, size_t *out, ks_error *err)
{
    KS_ENTER_PLAN(plan, err);
    size_t count = 1;
    bool fits = true;
    if (plan->axes && plan->zip) {
        KS_TRY(count_zipped(plan, &count, err));
    } else if (plan->axes) {
        fits = multiply(plan, &count);
    } else if (plan->param_count > 0 || plan->given_configs > 0) {
        count = plan->given_configs;
    }
    if (count == 0) {
        return ks_fail(err, KS_EINVAL, "plan", 0,
                       "the plan has parameters but no configs; add some with ks_plan_config");
    }
    if (!fits || count > plan->max_configs) {
        char number[32];
        snprintf(number, sizeof number, "%zu", count);
        return ks_fail(err, KS_ELIMIT, "plan", 0,
                       "the plan has %s configs, more than the limit of %zu; take fewer values or "
                       "raise the limit (ks_plan_max_configs, --max-configs)",
                       fits ? number : "far too many", plan->max_configs);
    }
    *out = count;
    return KS_OK;
}

/* Whether a name is that of the info collector's column, or may be that of one of its four. */
static bool has_column(const ks_info *info, const char *name)
{
    static const char *const suffixes[] = {"", "_Avg", "_Std", "_Min", "_Max"};
    size_t length = strlen(info->name);
    if (strncmp(info->name, name, length) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(name + length, suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* No two columns of the results may have one name. */
static ks_status check_infos(const ks_plan *plan, ks_error *err)
{
    for (size_t i = 0; i < plan->info_count; i++) {
        const char *name = plan->infos[i].name;
        for (size_t p = 0; p < plan->param_count; p++) {
            if (has_column(&plan->infos[i], plan->params[p].name)) {
                return ks_fail(err, KS_EINVAL, "plan", 0,
                               "info collector '%s' has the name of a parameter, or would give a "
                               "column '%s' as that does; choose another",
                               name, plan->params[p].name);
            }
        }
        for (size_t k = 0; k < plan->info_count; k++) {
            if (k != i && has_column(&plan->infos[i], plan->infos[k].name)) {
                return ks_fail(err, KS_EINVAL, "plan", 0,
                               "info collectors '%s' and '%s' would give two columns of one name; "
                               "rename one",
                               name, plan->infos[k].name);
            }
        }
    }
    return KS_OK;
}

/* Rows that differ by their cache control alone need the column that tells it. */
static ks_status check_cache_column(const ks_plan *plan, ks_error *err)
{
    static const char column[] = "CacheControl";
    bool taken = ks_plan_find_param(plan, column) < plan->param_count;
    for (size_t i = 0; i < plan->info_count; i++) {
        taken = taken || strcmp(plan->infos[i].name, column) == 0;
    }
    return taken ? ks_fail(err, KS_EINVAL, "plan", 0,
                           "a parameter or info collector is named %s, the column that tells rows "
                           "of swept caches from others; choose another name",
                           column)
                 : KS_OK;
}

ks_status ks_plan_check(const ks_plan *plan, ks_error *err)
{
    size_t count = 0;
    KS_TRY(ks_plan_count(plan, &count, err));
    KS_TRY(check_infos(plan, err));
    return plan->cache == KS_CACHE_BOTH ? check_cache_column(plan, err) : KS_OK;
}

/* splitmix64 (Steele, Lea, Flood 2014): small, and good enough to shuffle. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

ks_status ks_plan_sequence(const ks_plan *plan, size_t count, uint64_t seed, uint32_t **out,
                           ks_error *err)
{
    uint32_t *sequence = ks_calloc(count, sizeof *sequence);
    if (sequence == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        sequence[i] = (uint32_t)i;
    }
    /* Fisher-Yates; the bias of the remainder is below 2^-32 for fewer than 2^32 configs */
    for (size_t i = count; plan->order == KS_ORDER_SHUFFLED && i > 1; i--) {
        size_t j = (size_t)(next_random(&seed) % i);
        uint32_t swap = sequence[i - 1];
        sequence[i - 1] = sequence[j];
        sequence[j] = swap;
    }
    *out = sequence;
    return KS_OK;
}
