#include "collect/nvidia/chip.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "collect/nvidia/units.h"

struct ks_chip {
    const ks_cupti *cupti;
    ks_cupti_host *host;
    const char *name;
    ks_pool full_names; /* that were offered as near ones */
};

/* ---- chips ------------------------------------------------------------------------------------
 */

ks_status ks_chip_names(const char *const **names, size_t *count, ks_error *err)
{
    const ks_cupti *cupti = NULL;
    KS_TRY(ks_cupti_get(&cupti, err));
    ks_cupti_chips chips = {.size = KS_KNOWN(ks_cupti_chips, names)};
    ks_cupti_result result = cupti->chips(&chips);
    if (result != 0) {
        return ks_cupti_fail(cupti, result, "cannot list the chips that CUPTI knows", err);
    }
    *names = chips.names;
    *count = chips.count;
    return KS_OK;
}

static ks_status fail_unknown(const char *name, const char *const *names, size_t count,
                              ks_error *err)
{
    ks_buf all;
    ks_buf_init(&all, 4096);
    for (size_t i = 0; i < count; i++) {
        ks_buf_addf(&all, "%s%s", i > 0 ? " " : "", names[i]);
    }
    ks_status status = ks_buf_status(&all, err);
    if (status == KS_OK) {
        status = ks_fail(err, KS_ENOTFOUND, "cupti", 0,
                         "this CUPTI knows no chip '%s'; it knows %s", name, ks_buf_text(&all));
    }
    ks_buf_fini(&all);
    return status;
}

static ks_status find_chip(const char *name, const char **out, ks_error *err)
{
    const char *const *names = NULL;
    size_t count = 0;
    KS_TRY(ks_chip_names(&names, &count, err));
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(names[i], name) == 0) {
            *out = names[i];
            return KS_OK;
        }
    }
    return fail_unknown(name, names, count, err);
}

/* A host object: it knows the metrics of a chip, and forgets none that was added to it. */
static ks_status open_host(const ks_cupti *cupti, const char *chip, ks_cupti_host **out,
                           ks_error *err)
{
    ks_cupti_host_init init = {.size = KS_KNOWN(ks_cupti_host_init, host),
                               .profiler = KS_CUPTI_RANGE_PROFILER,
                               .chip = chip};
    ks_cupti_result result = cupti->host_init(&init);
    if (result != 0) {
        return ks_cupti_fail(cupti, result, "cannot ask CUPTI about this chip", err);
    }
    *out = init.host;
    return KS_OK;
}

static void close_host(const ks_cupti *cupti, ks_cupti_host *host)
{
    ks_cupti_host_deinit deinit = {.size = KS_KNOWN(ks_cupti_host_deinit, host), .host = host};
    cupti->host_deinit(&deinit);
}

ks_status ks_chip_open(const char *name, ks_chip **out, ks_error *err)
{
    const char *known = NULL;
    const ks_cupti *cupti = NULL;
    KS_TRY(find_chip(name, &known, err));
    KS_TRY(ks_cupti_get(&cupti, err));
    ks_chip *chip = ks_calloc(1, sizeof *chip);
    if (chip == NULL) {
        return ks_enomem(err);
    }
    chip->cupti = cupti;
    chip->name = known;
    ks_status status = open_host(chip->cupti, known, &chip->host, err);
    if (status != KS_OK) {
        ks_free(chip);
        return status;
    }
    *out = chip;
    return KS_OK;
}

void ks_chip_close(ks_chip *chip)
{
    if (chip != NULL) {
        close_host(chip->cupti, chip->host);
        ks_pool_fini(&chip->full_names);
        ks_free(chip);
    }
}

const char *ks_chip_name(const ks_chip *chip)
{
    return chip->name;
}

/* ---- metrics ----------------------------------------------------------------------------------
 */

/* A base metric as CUPTI describes it, and what may follow it. */
typedef struct base_metric {
    int type;
    const char *name;
    const char *description;
    char unit[64];
    ks_cupti_sub_metrics subs;
} base_metric;

/* The sub-metrics of a base metric. */
static ks_cupti_result get_subs(const ks_chip *chip, const char *base, int type,
                                ks_cupti_sub_metrics *subs)
{
    *subs = (ks_cupti_sub_metrics){.size = KS_KNOWN(ks_cupti_sub_metrics, names),
                                   .host = chip->host,
                                   .type = type,
                                   .base = base};
    return chip->cupti->sub_metrics(subs);
}

static ks_cupti_result get_bases(const ks_chip *chip, int type, ks_cupti_base_metrics *bases)
{
    *bases = (ks_cupti_base_metrics){
        .size = KS_KNOWN(ks_cupti_base_metrics, count), .host = chip->host, .type = type};
    return chip->cupti->base_metrics(bases);
}

static ks_status describe(const ks_chip *chip, const char *name, int type, base_metric *out,
                          ks_error *err)
{
    ks_cupti_metric_properties p = {
        .size = KS_KNOWN(ks_cupti_metric_properties, type), .host = chip->host, .name = name};
    ks_cupti_result result = get_subs(chip, name, type, &out->subs);
    result = result != 0 ? result : chip->cupti->properties(&p);
    if (result != 0) {
        return ks_cupti_fail(chip->cupti, result, name, err);
    }
    bool described = p.description != NULL && p.description[0] != '\0';
    out->type = type;
    out->name = name;
    out->description = described ? p.description : NULL;
    ks_unit_translate(p.unit != NULL ? p.unit : "", out->unit, sizeof out->unit);
    return KS_OK;
}

static ks_status tell_base(const base_metric *base, ks_chip_metric_fn each, void *self,
                           ks_error *err)
{
    const ks_chip_metric metric = {.name = base->name,
                                   .description = base->description,
                                   .unit = base->unit[0] != '\0' ? base->unit : NULL,
                                   .kind = ks_kind_of(base->type, base->unit, ""),
                                   .subs = (const char *const *)base->subs.names,
                                   .sub_count = base->subs.count};
    return each(self, &metric, err);
}

/* The full names of a base metric that the pattern matches. */
static ks_status tell_full(const base_metric *base, const char *pattern, ks_chip_metric_fn each,
                           void *self, ks_error *err)
{
    for (size_t i = 0; i < base->subs.count; i++) {
        char name[512];
        char unit[80];
        const char *sub = base->subs.names[i];
        int length = snprintf(name, sizeof name, "%s%s", base->name, sub);
        if (length < 0 || (size_t)length >= sizeof name || !ks_match(pattern, name)) {
            continue;
        }
        ks_unit_of(base->unit, sub, unit, sizeof unit);
        const ks_chip_metric metric = {.name = name,
                                       .description = base->description,
                                       .unit = unit[0] != '\0' ? unit : NULL,
                                       .kind = ks_kind_of(base->type, unit, sub)};
        KS_TRY(each(self, &metric, err));
    }
    return KS_OK;
}

ks_status ks_chip_each(const ks_chip *chip, const char *pattern, ks_chip_metric_fn each, void *self,
                       ks_error *err)
{
    bool full = pattern != NULL && strchr(pattern, '.') != NULL;
    for (int type = KS_CUPTI_COUNTER; type < KS_CUPTI_METRIC_TYPES; type++) {
        ks_cupti_base_metrics bases;
        ks_cupti_result result = get_bases(chip, type, &bases);
        if (result != 0) {
            return ks_cupti_fail(chip->cupti, result, "cannot list the chip's metrics", err);
        }
        for (size_t i = 0; i < bases.count; i++) {
            base_metric base;
            if (!full && pattern != NULL && !ks_match(pattern, bases.names[i])) {
                continue;
            }
            KS_TRY(describe(chip, bases.names[i], type, &base, err));
            KS_TRY(full ? tell_full(&base, pattern, each, self, err)
                        : tell_base(&base, each, self, err));
        }
    }
    return KS_OK;
}

bool ks_chip_has(const ks_chip *chip, const char *name)
{
    ks_cupti_metric_properties p = {
        .size = KS_KNOWN(ks_cupti_metric_properties, type), .host = chip->host, .name = name};
    return chip->cupti->properties(&p) == 0;
}

/* The unit of a full name; false if the chip has no such metric. */
static bool read_full(const ks_chip *chip, const char *name, ks_cupti_metric_properties *p,
                      char *unit, size_t size)
{
    const char *sub = strchr(name, '.');
    *p = (ks_cupti_metric_properties){
        .size = KS_KNOWN(ks_cupti_metric_properties, type), .host = chip->host, .name = name};
    char own[64];
    if (sub == NULL || chip->cupti->properties(p) != 0) {
        return false;
    }
    char base[256];
    ks_cupti_metric_properties of_base = *p;
    snprintf(base, sizeof base, "%.*s", (int)(sub - name), name);
    of_base.name = base;
    bool described = chip->cupti->properties(&of_base) == 0 && of_base.unit != NULL;
    ks_unit_translate(described ? of_base.unit : "", own, sizeof own);
    ks_unit_of(own, sub, unit, size);
    return true;
}

ks_status ks_chip_describe(const ks_chip *chip, const char *name, ks_chip_metric_fn each,
                           void *self, ks_error *err)
{
    char unit[80];
    ks_cupti_metric_properties p;
    if (!read_full(chip, name, &p, unit, sizeof unit)) {
        return ks_fail(err, KS_ENOTFOUND, "cupti", 0, "chip %s has no metric '%s'", chip->name,
                       name);
    }
    const ks_chip_metric metric = {.name = name,
                                   .description = p.description,
                                   .unit = unit[0] != '\0' ? unit : NULL,
                                   .kind = ks_kind_of(p.type, unit, strchr(name, '.'))};
    return each(self, &metric, err);
}

ks_metric_kind ks_chip_kind(const ks_chip *chip, const char *name)
{
    char unit[80];
    ks_cupti_metric_properties p;
    bool known = read_full(chip, name, &p, unit, sizeof unit);
    return known ? ks_kind_of(p.type, unit, strchr(name, '.')) : KS_COUNT;
}

/* ---- near names -------------------------------------------------------------------------------
 */

/* The full names of a base metric, whose text the pool keeps: a search holds on to the near ones.
 */
static void offer_full(ks_chip *chip, const char *base, int type, ks_near *near)
{
    ks_cupti_sub_metrics subs;
    if (get_subs(chip, base, type, &subs) != 0) {
        return;
    }
    for (size_t i = 0; i < subs.count; i++) {
        char name[512];
        ks_text_id id = 0;
        int length = snprintf(name, sizeof name, "%s%s", base, subs.names[i]);
        if (length > 0 && (size_t)length < sizeof name &&
            ks_pool_add(&chip->full_names, name, &id, NULL) == KS_OK) {
            ks_near_offer(near, ks_pool_text(&chip->full_names, id));
        }
    }
}

void ks_chip_offer(ks_chip *chip, ks_near *near)
{
    char first[256];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(near->wanted, "."), near->wanted);
    bool full = strchr(near->wanted, '.') != NULL;
    for (int type = KS_CUPTI_COUNTER; type < KS_CUPTI_METRIC_TYPES; type++) {
        ks_cupti_base_metrics bases;
        if (get_bases(chip, type, &bases) != 0) {
            continue;
        }
        for (size_t i = 0; i < bases.count; i++) {
            if (!full) {
                ks_near_offer(near, bases.names[i]);
            } else if (ks_distance(first, bases.names[i]) <= 2) {
                offer_full(chip, bases.names[i], type, near);
            }
        }
    }
}

/* ---- passes -----------------------------------------------------------------------------------
 */

/* Whether a host object takes a name; after one that it does not know it is of no more use. */
static ks_cupti_result try_metric(const ks_chip *chip, const char *name, ks_error *err)
{
    ks_cupti_host *host = NULL;
    if (open_host(chip->cupti, chip->name, &host, err) != KS_OK) {
        return KS_CUPTI_OUT_OF_MEMORY;
    }
    ks_cupti_add_metrics add = {
        .size = KS_KNOWN(ks_cupti_add_metrics, count), .host = host, .names = &name, .count = 1};
    ks_cupti_result result = chip->cupti->add_metrics(&add);
    close_host(chip->cupti, host);
    return result;
}

/* Which name it was that was not known, or cannot be measured. */
static ks_status fail_metrics(const ks_chip *chip, const char *const *metrics, size_t count,
                              ks_cupti_result result, ks_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = metrics[i];
        char what[320];
        if (try_metric(chip, name, NULL) == 0) {
            continue;
        }
        if (strchr(name, '.') == NULL || !ks_chip_has(chip, name)) {
            return ks_fail(err, KS_ENOTFOUND, "cupti", result,
                           "'%s' is no full name: a sub-metric belongs behind it, as in %s.sum; "
                           "`kernsight metrics --chip %s %s` lists them",
                           name, name, chip->name, name);
        }
        snprintf(what, sizeof what, "chip %s cannot measure '%.200s'", chip->name, name);
        return ks_cupti_fail(chip->cupti, result, what, err);
    }
    return ks_cupti_fail(chip->cupti, result, "cannot put the metrics together", err);
}

/* All in one call: added one by one they would not share passes. */
static ks_status add_metrics(const ks_chip *chip, ks_cupti_host *host, const char *const *metrics,
                             size_t count, ks_error *err)
{
    ks_cupti_add_metrics add = {.size = KS_KNOWN(ks_cupti_add_metrics, count),
                                .host = host,
                                .names = metrics,
                                .count = count};
    ks_cupti_result result = chip->cupti->add_metrics(&add);
    return result == 0 ? KS_OK : fail_metrics(chip, metrics, count, result, err);
}

/* The configuration of a host object's metrics, and the passes that it needs. */
static ks_status read_config(const ks_chip *chip, ks_chip_config *out, ks_error *err)
{
    ks_cupti_config_size size = {.size = KS_KNOWN(ks_cupti_config_size, bytes), .host = out->host};
    ks_cupti_result result = chip->cupti->config_size(&size);
    if (result != 0) {
        return ks_cupti_fail(chip->cupti, result, "cannot plan the passes", err);
    }
    out->bytes = size.bytes;
    out->image = ks_alloc(size.bytes);
    if (out->image == NULL) {
        return ks_enomem(err);
    }
    ks_cupti_config config = {.size = KS_KNOWN(ks_cupti_config, image),
                              .host = out->host,
                              .bytes = out->bytes,
                              .image = out->image};
    ks_cupti_passes p = {
        .size = KS_KNOWN(ks_cupti_passes, passes), .bytes = out->bytes, .image = out->image};
    result = chip->cupti->config(&config);
    result = result != 0 ? result : chip->cupti->passes(&p);
    if (result != 0) {
        return ks_cupti_fail(chip->cupti, result, "cannot plan the passes", err);
    }
    out->passes = p.passes;
    return KS_OK;
}

ks_status ks_chip_configure(const ks_chip *chip, const char *const *metrics, size_t count,
                            ks_chip_config *out, ks_error *err)
{
    *out = (ks_chip_config){.cupti = chip->cupti};
    KS_TRY(open_host(chip->cupti, chip->name, &out->host, err));
    ks_status status = add_metrics(chip, out->host, metrics, count, err);
    if (status == KS_OK) {
        status = read_config(chip, out, err);
    }
    if (status == KS_OK && out->passes == 0) { /* nothing would be read, and be taken for a value */
        status = ks_fail(err, KS_UNAVAILABLE, "cupti", 0,
                         "CUPTI knows '%.200s' on chip %s, and no pass that measures it",
                         metrics[0], chip->name);
    }
    if (status != KS_OK) {
        ks_chip_config_fini(out);
    }
    return status;
}

void ks_chip_config_fini(ks_chip_config *config)
{
    if (config->host != NULL) {
        close_host(config->cupti, config->host);
    }
    ks_free(config->image);
    *config = (ks_chip_config){0};
}

ks_status ks_chip_count_passes(const ks_chip *chip, const char *const *metrics, size_t count,
                               size_t *passes, ks_error *err)
{
    ks_chip_config config;
    KS_TRY(ks_chip_configure(chip, metrics, count, &config, err));
    *passes = config.passes;
    ks_chip_config_fini(&config);
    return KS_OK;
}
