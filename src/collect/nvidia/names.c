#include "collect/nvidia/names.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/properties.h"
#include "collect/nvidia/sets.h"
#include "collect/nvidia/unknown.h"
#include "collect/registry.h"

/* ---- on a chip --------------------------------------------------------------------------------
 */

static ks_status tell_property(const char *name, ks_chip_metric_fn each, void *self, ks_error *err)
{
    ks_chip_metric metric = {.name = name, .kind = KS_PROPERTY};
    ks_property_texts(name, &metric.unit, &metric.description);
    return each(self, &metric, err);
}

/* A metric by its full name; nothing if there is none. */
static ks_status tell_one(ks_chip *chip, const char *name, ks_chip_metric_fn each, void *self,
                          bool *found, ks_error *err)
{
    if (ks_is_property(name)) {
        *found = true;
        return tell_property(name, each, self, err);
    }
    if (strchr(name, '.') == NULL || !ks_chip_has(chip, name)) {
        return KS_OK;
    }
    *found = true;
    return ks_chip_describe(chip, name, each, self, err);
}

static ks_status tell_set(ks_chip *chip, const ks_metric_set *set, ks_chip_metric_fn each,
                          void *self, bool *found, ks_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        KS_TRY(tell_one(chip, set->metrics[i], each, self, found, err));
    }
    return KS_OK;
}

/* Who is told, and whether anybody was. */
typedef struct teller {
    ks_chip_metric_fn each;
    void *self;
    bool any;
} teller;

static ks_status tell_matched(void *self, const ks_chip_metric *metric, ks_error *err)
{
    teller *t = self;
    t->any = true;
    return t->each != NULL ? t->each(t->self, metric, err) : KS_OK;
}

/* A sub-metric that one of the base metrics has that a name or pattern without a point stands for:
 * the first of those that are asked for most. */
static ks_status example_of(void *self, const ks_chip_metric *metric, ks_error *err)
{
    static const char *const usual[] = {".sum", ".avg.pct_of_peak_sustained_elapsed", ".ratio",
                                        ".pct"};
    const char **found = self;
    (void)err;
    for (size_t u = 0; u < sizeof usual / sizeof usual[0] && *found == NULL; u++) {
        for (size_t i = 0; i < metric->sub_count && *found == NULL; i++) {
            *found = strcmp(metric->subs[i], usual[u]) == 0 ? usual[u] : NULL;
        }
    }
    return KS_OK;
}

static ks_status fail_nothing(ks_chip *chip, const char *name, ks_error *err)
{
    const char *sub = NULL;
    if (strchr(name, '.') == NULL) {
        KS_TRY(ks_chip_each(chip, name, example_of, &sub, err));
    }
    return sub == NULL ? ks_chip_fail_unknown(chip, name, err)
                       : ks_fail(err, KS_ENOTFOUND, "metrics", 0,
                                 "%s lacks its sub-metric, which belongs behind it, as in %s%s; "
                                 "`kernsight metrics --chip %s '%s'` lists what there is",
                                 name, name, sub, ks_chip_name(chip), name);
}

ks_status ks_names_of(ks_chip *chip, const char *name, ks_chip_metric_fn each, void *self,
                      ks_error *err)
{
    bool found = false;
    if (name[0] == '@') {
        const ks_metric_set *set = ks_metric_set_find(name);
        if (set == NULL) {
            return ks_metric_set_fail(name, err);
        }
        KS_TRY(tell_set(chip, set, each, self, &found, err));
    } else if (!ks_is_pattern(name)) {
        KS_TRY(tell_one(chip, name, each, self, &found, err));
    } else if (strchr(name, '.') != NULL) {
        teller t = {each, self, false};
        KS_TRY(ks_chip_each(chip, name, tell_matched, &t, err));
        found = t.any;
    }
    return found ? KS_OK : fail_nothing(chip, name, err);
}

/* ---- the collector's list ---------------------------------------------------------------------
 */

ks_status ks_nvidia_list(const ks_metric_sink *to, ks_error *err)
{
    ks_metric_entry entry = {
        .kind = KS_PROPERTY, .reason = ks_cuda_absent(), .targets = KS_TARGET_REGION};
    for (size_t i = 0; i < ks_launch_metric_count(); i++) {
        const ks_launch_metric *metric = ks_launch_metric_at(i);
        entry.name = metric->name;
        entry.unit = metric->unit;
        entry.description = metric->description;
        KS_TRY(to->add(to->self, &entry, err));
    }
    entry.unit = NULL;
    for (size_t i = 0; i < ks_device_metric_count(); i++) {
        const ks_device_metric *metric = ks_device_metric_at(i);
        entry.name = metric->name;
        entry.description = metric->description;
        KS_TRY(to->add(to->self, &entry, err));
    }
    return KS_OK;
}

/* ---- names that it does not list --------------------------------------------------------------
 */

static ks_status tell_entry(void *self, const ks_chip_metric *metric, ks_error *err)
{
    const ks_metric_sink *const *sink = self;
    const ks_metric_sink *to = *sink;
    const ks_metric_entry entry = {.name = metric->name,
                                   .unit = metric->unit,
                                   .kind = metric->kind,
                                   .description = metric->description,
                                   .reason = metric->kind == KS_PROPERTY ? ks_cuda_absent() : NULL,
                                   .targets = KS_TARGET_REGION,
                                   .cached = metric->kind != KS_PROPERTY};
    return to->add(to->self, &entry, err);
}

/* The name is one of a GPU's, as far as can be told where there is none. */
static ks_status tell_unavailable(const char *name, const char *why, const ks_metric_sink *to,
                                  ks_error *err)
{
    const ks_metric_entry entry = {
        .name = name, .kind = KS_COUNT, .reason = why, .targets = KS_TARGET_REGION};
    return to->add(to->self, &entry, err);
}

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

static ks_status fail_property(const char *name, ks_error *err)
{
    if (ks_is_pattern(name)) { /* what it matches is in the list */
        return ks_fail(err, KS_ENOTFOUND, "metrics", 0,
                       "%s matches no metric of launches or devices", name);
    }
    const char *why = ks_launch_metric_refusal(name);
    why = why != NULL ? why : ks_device_metric_refusal(name);
    if (why != NULL) {
        return ks_fail(err, KS_ENOTFOUND, "metrics", 0,
                       "%s is one of ncu's that is not offered: %s", name, why);
    }
    ks_near near;
    ks_near_init(&near, name);
    for (size_t i = 0; i < ks_launch_metric_count(); i++) {
        ks_near_offer(&near, ks_launch_metric_at(i)->name);
    }
    for (size_t i = 0; i < ks_device_metric_count(); i++) {
        ks_near_offer(&near, ks_device_metric_at(i)->name);
    }
    return ks_fail(err, KS_ENOTFOUND, "metrics", 0, "%s is no metric of launches or devices%s%s",
                   name, near.count > 0 ? "; did you mean " : "",
                   near.count > 0 ? near.names[0] : "");
}

/* Names that are known, or known not to be, without a chip. `*done`: it is one of them. */
static ks_status look_up_without_chip(const char *name, const ks_metric_sink *to, bool *done,
                                      ks_error *err)
{
    *done = true;
    if (ks_is_property(name)) {
        return tell_property(name, tell_entry, &to, err);
    }
    if (begins_with(name, "launch__") || begins_with(name, "device__attribute_")) {
        return fail_property(name, err);
    }
    if (name[0] == '@' && ks_metric_set_find(name) == NULL) {
        return ks_metric_set_fail(name, err);
    }
    *done = !ks_is_gpu_metric(name) || begins_with(name, "kernel__") || begins_with(name, "nvml__");
    return KS_OK;
}

ks_status ks_nvidia_lookup(const char *name, const ks_metric_sink *to, ks_error *err)
{
    ks_gpu gpu;
    ks_chip *chip = NULL;
    bool done = false;
    ks_error none = KS_ERROR_INIT;
    ks_error unknown = KS_ERROR_INIT;
    ks_status status = look_up_without_chip(name, to, &done, err);
    if (status != KS_OK || done) {
        return status;
    }
    status = ks_gpu_here(&gpu, &none);
    if (status == KS_ENOMEM) {
        return ks_enomem(err);
    }
    if (status != KS_OK) {
        return tell_unavailable(name, none.message, to, err);
    }
    status = ks_gpu_chip(&gpu, &chip, &none);
    if (status == KS_ENOTFOUND) {
        ks_fail(&unknown, KS_UNAVAILABLE, "cupti", 0,
                "a newer CUPTI may know the GPU's chip (a newer CUDA toolkit, or `pip install -U "
                "nvidia-cuda-cupti`); kernel__time_duration.sum needs no counters; %s",
                none.message);
        return tell_unavailable(name, unknown.message, to, err);
    }
    return status == KS_OK ? ks_names_of(chip, name, tell_entry, &to, err)
                           : ks_fail(err, status, none.origin, none.native, "%s", none.message);
}
