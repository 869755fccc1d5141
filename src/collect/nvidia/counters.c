#include "collect/nvidia/counters.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static size_t find(const ks_counters *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->metrics[i], name) == 0) {
            return i;
        }
    }
    return KS_NOT_READ;
}

static ks_status add(ks_counters *c, const char *name, ks_error *err)
{
    ks_text_id id = 0;
    KS_TRY(ks_pool_add(&c->names, name, &id, err));
    KS_TRY(KS_GROW(c->metrics, c->capacity, c->count + 1, err));
    c->metrics[c->count++] = ks_pool_text(&c->names, id);
    return KS_OK;
}

static ks_status configure(ks_counters *c, ks_error *err)
{
    ks_chip_config config;
    KS_TRY(ks_chip_configure(c->chip, c->metrics, c->count, &config, err));
    ks_chip_config_fini(&c->config);
    c->config = config;
    return KS_OK;
}

/* Read a metric along if the chip has it and that needs no pass more. `*at` becomes its index, or
 * stays as it is. */
static ks_status read_along(ks_counters *c, const char *name, size_t *at, ks_error *err)
{
    size_t known = find(c, name);
    if (known != KS_NOT_READ) {
        *at = known;
        return KS_OK;
    }
    size_t passes = 0;
    if (!ks_chip_has(c->chip, name)) {
        return KS_OK;
    }
    KS_TRY(add(c, name, err));
    ks_error refused = KS_ERROR_INIT;
    ks_status status = ks_chip_count_passes(c->chip, c->metrics, c->count, &passes, &refused);
    if (status == KS_ENOMEM) {
        return ks_enomem(err);
    }
    if (status != KS_OK || passes > c->config.passes) {
        c->count--;
        return KS_OK;
    }
    *at = c->count - 1;
    return KS_OK;
}

static ks_status add_asked(ks_counters *c, const char *const *names, size_t count, ks_error *err)
{
    for (size_t i = 0; i < count; i++) {
        KS_TRY(add(c, names[i], err));
    }
    c->asked = c->count;
    c->combining = ks_calloc(count, sizeof *c->combining);
    c->weights = ks_calloc(count, sizeof *c->weights);
    return c->combining != NULL && c->weights != NULL ? KS_OK : ks_enomem(err);
}

static ks_status add_weights(ks_counters *c, ks_error *err)
{
    for (size_t i = 0; i < c->asked; i++) {
        ks_metric_kind kind = ks_chip_kind(c->chip, c->metrics[i]);
        ks_combining *combining = &c->combining[i];
        ks_combining_of(c->metrics[i], kind, combining);
        c->weights[i] = c->duration;
        if (combining->weight[0] != '\0') {
            size_t weight = KS_NOT_READ;
            KS_TRY(read_along(c, combining->weight, &weight, err));
            combining->approximate = combining->approximate || weight == KS_NOT_READ;
            c->weights[i] = weight != KS_NOT_READ ? weight : c->duration;
        }
    }
    return KS_OK;
}

/* Whether anything but the time was asked for. The time alone needs no hardware counters: a pass of
 * it starts and stops in 0.3 ms, with any other counter it takes 8 ms (docs/accuracy.md). */
static bool needs_hardware(const ks_counters *c)
{
    bool needs = false;
    for (size_t i = 0; i < c->asked; i++) {
        needs = needs || strncmp(c->metrics[i], "gpu__time_duration.", 19) != 0;
    }
    return needs;
}

static ks_status init(ks_counters *c, const char *const *names, size_t count, ks_error *err)
{
    KS_TRY(add_asked(c, names, count, err));
    c->duration = find(c, "gpu__time_duration.sum");
    if (c->duration == KS_NOT_READ) {
        KS_TRY(add(c, "gpu__time_duration.sum", err));
        c->duration = c->count - 1;
    }
    KS_TRY(configure(c, err)); /* so many passes, and no more for what is read along */
    size_t configured = c->count;
    if (needs_hardware(c)) {
        KS_TRY(read_along(c, "gpc__cycles_elapsed.max", &c->cycles, err));
    }
    KS_TRY(add_weights(c, err));
    return c->count > configured ? configure(c, err) : KS_OK;
}

ks_status ks_counters_init(const char *chip, const char *const *names, size_t count,
                           ks_counters *out, ks_error *err)
{
    *out = (ks_counters){.duration = KS_NOT_READ, .cycles = KS_NOT_READ};
    ks_pool_init(&out->names);
    ks_status status = ks_chip_open(chip, &out->chip, err);
    if (status == KS_OK) {
        status = init(out, names, count, err);
    }
    if (status != KS_OK) {
        ks_counters_fini(out);
    }
    return status;
}

void ks_counters_fini(ks_counters *counters)
{
    ks_chip_config_fini(&counters->config);
    ks_chip_close(counters->chip);
    ks_free(counters->combining);
    ks_free(counters->weights);
    ks_free(counters->metrics);
    ks_pool_fini(&counters->names);
    *counters = (ks_counters){0};
}
