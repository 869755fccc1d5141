#include "collect/nvidia/nvidia.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/measuring.h"
#include "collect/nvidia/names.h"
#include "collect/nvidia/probe.h"
#include "collect/nvidia/properties.h"
#include "collect/nvidia/values.h"

struct ks_collector {
    ks_gpu gpu;
    ks_metric **counted; /* metrics that need counters ... */
    uint32_t *numbers;   /* ... and theirs in the samples */
    uint32_t counted_count;
    ks_counters counters;
    ks_properties properties; /* the others */
    ks_measuring measuring;
    bool measuring_ready;
    bool give_back;
};

/* ---- life -------------------------------------------------------------------------------------
 */

/* Collectors that are open: two where caches are swept and not. */
static unsigned opened;

static void nvidia_close(ks_collector *self)
{
    if (self == NULL) {
        return;
    }
    if (self->measuring_ready) {
        ks_measuring_fini(&self->measuring);
    }
    bool last = --opened == 0; /* others still use the counters */
    if (last && (self->give_back || ks_profilers_wanted())) {
        ks_profilers_give_back();
    }
    ks_counters_fini(&self->counters);
    ks_properties_fini(&self->properties);
    ks_free(self->counted);
    ks_free(self->numbers);
    ks_free(self);
}

static const char *replay_name(ks_replay replay)
{
    return replay == KS_REPLAY_RANGE ? "range" : replay == KS_REPLAY_KERNEL ? "kernel" : "user";
}

/* A metric to be filled in, and who keeps its texts. */
typedef struct description {
    ks_metric *metric;
    ks_pool *texts;
} description;

static ks_status describe(void *self, const ks_chip_metric *from, ks_error *err)
{
    const description *d = self;
    ks_text_id unit = 0;
    KS_TRY(ks_pool_add(d->texts, from->unit, &unit, err));
    d->metric->unit = ks_pool_text(d->texts, unit);
    d->metric->kind = from->kind;
    return KS_OK;
}

static ks_status describe_counter(ks_collector *self, uint32_t i, ks_error *err)
{
    ks_metric *metric = self->counted[i];
    description to = {metric, &self->counters.names};
    KS_TRY(ks_chip_describe(self->counters.chip, metric->name, describe, &to, err));
    metric->rule = self->counters.combining[i].rule;
    if (metric->rule == KS_RULE_MAX || metric->rule == KS_RULE_MIN) {
        metric->kind = KS_EXTREMUM;
    }
    return KS_OK;
}

static void describe_property(ks_metric *metric)
{
    const char *text = NULL;
    ks_property_texts(metric->name, &metric->unit, &text);
    metric->kind = KS_PROPERTY;
    metric->rule = KS_RULE_SAME;
}

static ks_status describe_metrics(ks_collector *self, const ks_collect_spec *spec, ks_error *err)
{
    for (uint32_t i = 0; i < self->counted_count; i++) {
        KS_TRY(describe_counter(self, i, err));
    }
    for (uint32_t i = 0; i < spec->count; i++) {
        ks_metric *metric = spec->metrics[i];
        bool property = ks_is_property(metric->name);
        if (property) {
            describe_property(metric);
        } else {
            metric->cache = spec->controls->cache == KS_CACHE_FLUSH ? "all" : "none";
        }
        metric->source = ks_nvidia_ops.name;
        metric->passes = property ? 1 : (uint32_t)self->counters.config.passes;
        metric->replay = replay_name(spec->controls->replay);
        metric->card = &self->gpu.card;
    }
    return KS_OK;
}

static ks_status split(ks_collector *self, const ks_collect_spec *spec, ks_error *err)
{
    self->counted = ks_calloc(spec->count, sizeof *self->counted);
    self->numbers = ks_calloc(spec->count, sizeof *self->numbers);
    if (self->counted == NULL || self->numbers == NULL) {
        return ks_enomem(err);
    }
    for (uint32_t i = 0; i < spec->count; i++) {
        if (!ks_is_property(spec->metrics[i]->name)) {
            self->counted[self->counted_count] = spec->metrics[i];
            self->numbers[self->counted_count++] = spec->numbers[i];
        }
    }
    return ks_properties_init(&self->gpu, spec, &self->properties, err);
}

static ks_status open_counters(ks_collector *self, ks_error *err)
{
    uint32_t count = self->counted_count;
    const char **names = ks_calloc(count, sizeof *names);
    if (names == NULL) {
        return ks_enomem(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        names[i] = self->counted[i]->name;
    }
    ks_status status = ks_counters_init(self->gpu.chip, names, count, &self->counters, err);
    ks_free(names);
    return status;
}

static ks_status open_all(ks_collector *self, const ks_collect_spec *spec, ks_error *err)
{
    KS_TRY(ks_gpu_here(&self->gpu, err));
    KS_TRY(split(self, spec, err));
    bool counts = self->counted_count > 0;
    if (counts) {
        KS_TRY(open_counters(self, err));
    }
    KS_TRY(describe_metrics(self, spec, err));
    self->measuring_ready = true;
    KS_TRY(ks_measuring_init(&self->measuring, spec, counts ? &self->counters : NULL, err));
    self->measuring.properties = self->properties.count > 0 ? &self->properties : NULL;
    return KS_OK;
}

static ks_status nvidia_open(const ks_collect_spec *spec, ks_collector **out, ks_error *err)
{
    ks_collector *self = ks_calloc(1, sizeof *self);
    if (self == NULL) {
        return ks_enomem(err);
    }
    self->give_back = spec->controls->give_back;
    opened++;
    ks_status status = open_all(self, spec, err);
    if (status != KS_OK) {
        nvidia_close(self);
        return status;
    }
    *out = self;
    return KS_OK;
}

static ks_needs nvidia_needs(const ks_collector *self)
{
    return (ks_needs){.passes = self->measuring.passes, .sees_launches = true};
}

static ks_status nvidia_facts(const ks_collector *self, const ks_fact_sink *to, ks_error *err)
{
    const ks_cuda *cuda = self->gpu.cuda;
    const ks_cupti *cupti = self->gpu.cupti;
    char text[600];
    int version = 0;
    cuda->version(&version);
    KS_TRY(to->add(to->self, "gpu", ks_text(self->gpu.card.name), NULL, err));
    KS_TRY(to->add(to->self, "gpu_uuid", ks_text(self->gpu.uuid), NULL, err));
    KS_TRY(to->add(to->self, "gpu_chip", ks_text(self->gpu.chip), NULL, err));
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    KS_TRY(to->add(to->self, "cuda_driver", ks_text(text), NULL, err));
    snprintf(text, sizeof text, "%s, API version %u", cupti->library.path, cupti->api_version);
    return to->add(to->self, "cupti", ks_text(text), NULL, err);
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static ks_status nvidia_warm_begin(ks_collector *self, bool first, ks_error *err)
{
    return ks_measuring_warm_begin(&self->measuring, first, err);
}

static ks_status nvidia_warm_end(ks_collector *self, ks_error *err)
{
    return ks_measuring_warm_end(&self->measuring, err);
}

static uint32_t nvidia_room(const ks_collector *self)
{
    return ks_measuring_room(&self->measuring);
}

static ks_status nvidia_pass_begin(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err)
{
    if (ctx->pass == 0) {
        ks_properties_forget(&self->properties);
    }
    return ks_measuring_pass_begin(&self->measuring, ctx->pass, err);
}

static ks_status nvidia_run_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *err)
{
    (void)err;
    ks_measuring_run_begin(&self->measuring, ctx->run);
    return KS_OK;
}

static void nvidia_begin(void *self, ks_visit *visit)
{
    ks_measuring_enter(&((ks_collector *)self)->measuring, visit);
}

static void nvidia_end(void *self, ks_visit *visit)
{
    ks_measuring_leave(&((ks_collector *)self)->measuring, visit);
}

static void nvidia_child(void *self, ks_visit *visit, const ks_child *child)
{
    (void)self; /* no metric of ours is one of programs */
    (void)visit;
    (void)child;
}

static void nvidia_thread_end(void *self)
{
    (void)self; /* nothing of ours belongs to a thread */
}

static ks_status nvidia_run_end(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                                ks_error *err)
{
    (void)ctx;
    (void)into;
    return ks_measuring_run_end(&self->measuring, err);
}

static ks_status nvidia_pass_end(ks_collector *self, ks_error *err)
{
    return ks_measuring_pass_end(&self->measuring, err);
}

/* Whether nothing is known where nothing was launched: no counter, and nothing of the device. */
static bool is_of_launches(const ks_collector *self)
{
    bool all = true;
    for (uint32_t i = 0; i < self->properties.count; i++) {
        all = all && self->properties.list[i].of_launch != NULL;
    }
    return self->counted_count > 0 || all;
}

static bool launched_any(const ks_ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger->launches[i].annotation != KS_NO_ANNOTATION) {
            return true;
        }
    }
    return false;
}

static ks_status nvidia_drain(ks_collector *self, ks_samples *into, ks_error *err)
{
    const ks_measuring *m = &self->measuring;
    KS_TRY(ks_nvidia_values(m, self->numbers, into, err));
    if (into->spoiled.code != KS_OK || into->launched != into->captured) {
        return KS_OK;
    }
    KS_TRY(ks_properties_tell(&self->properties, &m->nothing, into, err));
    return is_of_launches(self) && !launched_any(m->ledger)
               ? ks_nothing_idle(&m->nothing, into, err)
               : KS_OK;
}

static void nvidia_abort(ks_collector *self, const ks_run_ctx *ctx)
{
    (void)ctx;
    ks_measuring_abort_run(&self->measuring);
}

static ks_status nvidia_warn(const ks_collector *self, ks_pool *warnings, ks_error *err)
{
    const ks_measuring *m = &self->measuring;
    return ks_nothing_matched(m->controls, m->ignored_any, warnings, err);
}

void ks_nvidia_release(void)
{
    ks_profilers_give_back();
    ks_gpu_forget_chip();
}

const ks_collector_ops ks_nvidia_ops = {
    .name = "nvidia",
    .probe = ks_nvidia_probe,
    .list = ks_nvidia_list,
    .lookup = ks_nvidia_lookup,
    .open = nvidia_open,
    .needs = nvidia_needs,
    .facts = nvidia_facts,
    .warm_begin = nvidia_warm_begin,
    .warm_end = nvidia_warm_end,
    .room = nvidia_room,
    .pass_begin = nvidia_pass_begin,
    .run_begin = nvidia_run_begin,
    .begin = nvidia_begin,
    .end = nvidia_end,
    .child = nvidia_child,
    .thread_end = nvidia_thread_end,
    .run_end = nvidia_run_end,
    .pass_end = nvidia_pass_end,
    .drain = nvidia_drain,
    .abort = nvidia_abort,
    .warn = nvidia_warn,
    .close = nvidia_close,
};
