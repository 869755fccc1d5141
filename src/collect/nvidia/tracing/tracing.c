/*
 * One pass of its own: recording slows launches down. Each visit gives the launches of its thread
 * an id that comes back with the records; those of other threads are told by their time (owners.h).
 * After each call of the body the records are read, and thrown away as a whole if anything makes
 * them doubtful: some are lost, another tool has them, or CUPTI's clock is not what it should be.
 */
#include "collect/nvidia/tracing/tracing.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/drain.h"
#include "collect/nvidia/tracing/faults.h"
#include "collect/nvidia/tracing/gaps.h"
#include "collect/nvidia/tracing/values.h"

/* A run of the pass. */
typedef struct traced_run {
    uint32_t last; /* correlation of its last call: they are numbered as they are made */
    bool late;     /* kernels of it came after its end */
} traced_run;

struct ks_collector {
    ks_trace trace;
    ks_owners owners;
    ks_tracing_wish wish;
    const ks_controls *controls;
    ks_nothing nothing;
    ks_gaps gaps;      /* of the batch */
    bool *ignored_any; /* by pattern: some kernel matched it */
    bool idle;         /* no annotation of the batch launched anything */
    ks_card card;
    uint32_t first_slot;
    char refusal[512]; /* why this pass has no values; empty: it has */
    ks_moment pass_began;
    uint32_t first_call; /* of the pass */
    traced_run *runs;    /* of the pass */
    size_t run_capacity;
    uint32_t run_count;
    uint32_t told;    /* of them, those that have ended */
    uint64_t unclear; /* kernels of the batch that could be several annotations' */
    /* of the call of the body that runs: */
    uint32_t call;
    uint64_t body;
    atomic_uint visits;
    ks_moment began;
};

/* Calls of the body are numbered through all runs: threads keep ids of earlier ones. */
static uint32_t last_call;

/* Each thread has another one. */
static _Thread_local char here __attribute__((tls_model("initial-exec")));

static uint64_t this_thread(void)
{
    return (uint64_t)(uintptr_t)&here;
}

/* ---- the hot hooks ----------------------------------------------------------------------------
 */

/* Take back the ids that this thread was left with. */
static void clear_ids(const ks_activity_api *api)
{
    enum {
        MOST = 1 << 16
    };
    uint64_t id = 0;
    for (int i = 0; i < MOST && api->pop(KS_EXTERNAL_IDS, &id) == 0; i++) {
    }
}

static void tracing_begin(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    const ks_activity_api *api = self->trace.api;
    uint64_t *words = &visit->slots[self->first_slot];
    memset(words, 0, KS_TRACED_SLOTS * sizeof *words);
    if (!self->trace.on) {
        return;
    }
    if (visit->parent == NULL) {
        clear_ids(api);
    }
    words[KS_TRACED_THREAD] = this_thread();
    words[KS_TRACED_ID] = ks_traced_id(self->call, atomic_fetch_add(&self->visits, 1) + 1);
    api->push(KS_EXTERNAL_IDS, words[KS_TRACED_ID]);
    api->timestamp(&words[KS_TRACED_BEGIN]);
}

/* The ids of a thread are a stack that only it reaches. One that lies below another one's stays;
 * its time tells that it is over. */
static void tracing_end(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    const ks_activity_api *api = self->trace.api;
    uint64_t *words = &visit->slots[self->first_slot];
    uint64_t id = 0;
    if (!self->trace.on) {
        return;
    }
    api->timestamp(&words[KS_TRACED_END]);
    if (words[KS_TRACED_THREAD] == this_thread() && api->pop(KS_EXTERNAL_IDS, &id) == 0 &&
        id != words[KS_TRACED_ID]) {
        api->push(KS_EXTERNAL_IDS, id);
    }
}

static void tracing_child(void *self, ks_visit *visit, const ks_child *child)
{
    (void)self;
    (void)visit;
    (void)child;
}

/* ---- opening and closing ----------------------------------------------------------------------
 */

static ks_status tracing_probe(const ks_fact_sink *to, ks_error *err)
{
    ks_activity_api *api = ks_activity_system();
    ks_error why = KS_ERROR_INIT;
    const char *absent = api->absent();
    ks_status status = absent != NULL ? KS_UNAVAILABLE : api->connect(api, &why);
    status = status == KS_OK ? ks_trace_free(api, &why) : status;
    if (ks_is_enomem(&why)) {
        return ks_enomem(err);
    }
    char text[sizeof why.message + 8];
    snprintf(text, sizeof text, "no: %s", absent != NULL ? absent : why.message);
    return to->add(to->self, "available", ks_text(status == KS_OK ? "yes" : text),
                   status == KS_OK ? NULL : "see nvidia below: it needs the same driver and CUPTI",
                   err);
}

static ks_status tracing_list(const ks_metric_sink *to, ks_error *err)
{
    return ks_tracing_list(to, ks_activity_system()->absent(), err);
}

/* Its metrics are all in the list. */
static ks_status tracing_lookup(const char *name, const ks_metric_sink *to, ks_error *err)
{
    (void)name;
    (void)to;
    (void)err;
    return KS_OK;
}

static void tracing_close(ks_collector *self)
{
    if (self == NULL) {
        return;
    }
    ks_trace_off(&self->trace);
    ks_trace_fini(&self->trace);
    ks_drain_stop();
    ks_owners_fini(&self->owners);
    ks_nothing_fini(&self->nothing);
    ks_gaps_fini(&self->gaps);
    ks_free(self->ignored_any);
    ks_free(self->runs);
    ks_free(self);
}

static ks_status tracing_open(const ks_collect_spec *spec, ks_collector **out, ks_error *err)
{
    ks_activity_api *api = ks_activity_system();
    KS_TRY(api->connect(api, err));
    KS_TRY(ks_trace_free(api, err));
    ks_collector *self = ks_calloc(1, sizeof *self);
    if (self == NULL) {
        return ks_enomem(err);
    }
    ks_trace_init(&self->trace, api);
    ks_owners_init(&self->owners);
    self->controls = spec->controls;
    self->nothing.ledger = spec->ledger;
    self->nothing.sees_copies = true;
    self->ignored_any = ks_calloc(spec->controls->ignored_count + 1, sizeof *self->ignored_any);
    ks_status status = self->ignored_any != NULL ? api->card(&self->card, err) : ks_enomem(err);
    status = status == KS_OK ? ks_drain_start(spec->controls->drain_limit_s, err) : status;
    for (uint32_t i = 0; i < spec->count && status == KS_OK; i++) {
        spec->metrics[i]->card = &self->card;
        status = ks_tracing_take(&self->wish, spec->metrics[i], spec->numbers[i],
                                 ks_tracing_ops.name, err);
    }
    if (status != KS_OK) {
        tracing_close(self);
        return status;
    }
    *out = self;
    return KS_OK;
}

static ks_needs tracing_needs(const ks_collector *self)
{
    (void)self;
    return (ks_needs){.passes = 1, .shares_first = false, .slots = KS_TRACED_SLOTS};
}

static ks_status tracing_facts(const ks_collector *self, const ks_fact_sink *to, ks_error *err)
{
    (void)self;
    (void)to;
    (void)err;
    return KS_OK;
}

/* ---- passes and runs --------------------------------------------------------------------------
 */

/* Another tool that began to record after open() costs this batch its values, not the sweep. */
static ks_status tracing_pass_begin(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err)
{
    ks_error why = KS_ERROR_INIT;
    self->first_slot = ctx->first_slot;
    self->first_call = last_call + 1;
    self->run_count = ctx->runs;
    self->told = 0;
    self->unclear = 0;
    self->idle = true;
    ks_nothing_start(&self->nothing);
    self->gaps.count = 0;
    self->refusal[0] = '\0';
    KS_TRY(KS_GROW(self->runs, self->run_capacity, ctx->runs, err));
    memset(self->runs, 0, ctx->runs * sizeof *self->runs);
    self->pass_began = ks_moment_now(self->trace.api);
    if (ks_trace_on(&self->trace, &why) != KS_OK) {
        snprintf(self->refusal, sizeof self->refusal, "%s", why.message);
    }
    return KS_OK;
}

static ks_status tracing_run_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *err)
{
    (void)ctx;
    (void)err;
    self->call = ++last_call;
    self->body = this_thread();
    atomic_store(&self->visits, 0);
    clear_ids(self->trace.api);
    self->began = ks_moment_now(self->trace.api);
    return KS_OK;
}

/* A kernel that an earlier run of the pass launched: its record was not there when it was due. That
 * of its call may have been. */
static bool is_late(ks_collector *self, const ks_traced_kernel *kernel, const ks_origin *origin)
{
    uint32_t run = 0;
    if (origin != NULL) {
        uint32_t call = (uint32_t)(origin->id >> 32);
        run = origin->id != 0 && call >= self->first_call ? call - self->first_call : self->told;
    } else {
        while (run < self->told && self->runs[run].last < kernel->correlation) {
            run++;
        }
    }
    if (run < self->told) {
        self->runs[run].late = true;
    }
    return run < self->told;
}

/* A run has ended, and its records were read. */
static void note_told(ks_collector *self)
{
    const ks_trace *t = &self->trace;
    uint32_t last = self->told > 0 ? self->runs[self->told - 1].last : 0;
    for (size_t i = 0; i < t->origin_count; i++) {
        last = t->origins[i].correlation > last ? t->origins[i].correlation : last;
    }
    if (self->told < self->run_count) {
        self->runs[self->told++].last = last;
    }
}

static bool is_ignored(ks_collector *self, const char *kernel)
{
    return ks_nothing_ignores(self->controls, self->ignored_any, kernel);
}

/* Give each call to the visit that it belongs to: those that launch are counted, copies noted. */
static ks_status give_out_calls(ks_collector *self, ks_error *err)
{
    const ks_trace *t = &self->trace;
    bool several = false;
    for (size_t i = 0; i < t->origin_count; i++) {
        const ks_origin *call = &t->origins[i];
        ks_traced_visit *to =
            call->launches || call->copies ? ks_owner_of(&self->owners, call, &several) : NULL;
        if (to != NULL && call->copies) {
            KS_TRY(ks_nothing_note(&self->nothing, to->visit->annotation, KS_DID_COPY, err));
        }
        for (; to != NULL && call->launches; to = ks_owner_around(&self->owners, to)) {
            to->launches++;
        }
    }
    return KS_OK;
}

/* A kernel that the plan leaves out: its launch is none. */
static ks_status take_out(ks_collector *self, const ks_origin *origin, ks_error *err)
{
    bool several = false;
    ks_traced_visit *of = ks_owner_of(&self->owners, origin, &several);
    if (of == NULL) {
        return KS_OK;
    }
    KS_TRY(ks_nothing_note(&self->nothing, of->visit->annotation, KS_DID_IGNORED, err));
    for (; of != NULL; of = ks_owner_around(&self->owners, of)) {
        of->launches -= of->launches > 0 && origin->launches;
    }
    return KS_OK;
}

/* Give each kernel to the visit that it belongs to. */
static ks_status give_out(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                          ks_error *err)
{
    static const ks_origin unknown = {0};
    const ks_trace *t = &self->trace;
    bool several = false;
    self->nothing.outside = 0;
    for (size_t i = 0; i < t->kernel_count; i++) {
        const ks_traced_kernel *kernel = &t->kernels[i];
        const ks_origin *known = ks_trace_origin(t, kernel->correlation);
        const ks_origin *origin = known != NULL ? known : &unknown;
        if (is_ignored(self, kernel->name)) {
            KS_TRY(take_out(self, origin, err));
            continue;
        }
        if (is_late(self, kernel, known)) {
            continue;
        }
        ks_traced_visit *to = ks_owner_of(&self->owners, origin, &several);
        if (to == NULL) {
            into->unannotated++;
            self->nothing.outside++;
            self->unclear += several;
            continue;
        }
        for (; to != NULL; to = ks_owner_around(&self->owners, to)) {
            KS_TRY(ks_tracing_add(&self->wish, to, kernel, ctx->run, into, err));
        }
    }
    return KS_OK;
}

/* Read what the call left. @param[out] why  the reason why it is no good; empty: it is good */
static ks_status read_call(ks_collector *self, char *why, size_t size, ks_error *err)
{
    const ks_activity_api *api = self->trace.api;
    ks_error failure = KS_ERROR_INIT;
    uint64_t now = 0;
    ks_cuda_result result = api->synchronize();
    bool agrees = ks_clock_agrees(api, &self->began) && api->timestamp(&now) == 0;
    ks_status status = ks_trace_collect(&self->trace, &failure);
    why[0] = '\0';
    if (status == KS_ENOMEM) {
        return ks_enomem(err);
    }
    if (status != KS_OK) {
        snprintf(why, size, "%s", failure.message);
    } else if (result != 0) {
        snprintf(why, size, "the device failed (the driver's result %d): its kernels are not known",
                 result);
    } else {
        ks_trace_loss(&self->trace, why, size);
    }
    const char *fault = ks_trace_clock_fault(&self->trace, &self->pass_began, &self->began, now);
    fault = agrees ? fault : ks_wrong_clock;
    if (why[0] == '\0' && fault != NULL) {
        snprintf(why, size, "%s", fault);
    }
    return KS_OK;
}

static ks_status tell_call(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                           ks_error *err)
{
    char why[512];
    KS_TRY(read_call(self, why, sizeof why, err));
    if (why[0] != '\0') {
        self->idle = false;
        return ks_tracing_missing(&self->wish, ctx->run, why, into, err);
    }
    KS_TRY(ks_owners_take(&self->owners, self->first_slot, self->call, atomic_load(&self->visits),
                          self->body, err));
    KS_TRY(give_out_calls(self, err));
    KS_TRY(give_out(self, ctx, into, err));
    self->idle = self->idle && ks_owners_idle(&self->owners);
    KS_TRY(ks_gaps_note(&self->gaps, &self->owners, err));
    return ks_tracing_finish(&self->wish, &self->owners, &self->nothing, ctx->run, into, err);
}

static ks_status tracing_run_end(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                                 ks_error *err)
{
    clear_ids(self->trace.api);
    self->idle = self->idle && self->trace.on;
    KS_TRY(self->trace.on ? tell_call(self, ctx, into, err)
                          : ks_tracing_missing(&self->wish, ctx->run, self->refusal, into, err));
    note_told(self);
    return KS_OK;
}

/* What still comes belongs to runs that were told already. */
static void note_late(ks_collector *self)
{
    const ks_trace *t = &self->trace;
    for (size_t i = 0; i < t->kernel_count; i++) {
        const ks_traced_kernel *kernel = &t->kernels[i];
        if (!is_ignored(self, kernel->name)) {
            is_late(self, kernel, ks_trace_origin(t, kernel->correlation));
        }
    }
}

static void tracing_abort(ks_collector *self, const ks_run_ctx *ctx)
{
    (void)ctx;
    clear_ids(self->trace.api);
    if (self->trace.on) {
        self->trace.api->synchronize();
        ks_trace_collect(&self->trace, NULL);
        note_late(self);
    }
    note_told(self);
}

static ks_status tracing_pass_end(ks_collector *self, ks_error *err)
{
    if (!self->trace.on) {
        return KS_OK;
    }
    ks_error failure = KS_ERROR_INIT;
    ks_cuda_result result = self->trace.api->synchronize();
    ks_trace_off(&self->trace);
    ks_status status = ks_trace_collect(&self->trace, &failure);
    note_late(self);
    return status == KS_ENOMEM ? ks_enomem(err) : ks_trace_device(self->trace.api, result, err);
}

static ks_status tracing_drain(ks_collector *self, ks_samples *into, ks_error *err)
{
    for (uint32_t run = 0; run < self->run_count; run++) {
        if (self->runs[run].late) {
            self->gaps.count = 0; /* they miss what came late */
            KS_TRY(ks_tracing_withdraw(&self->wish, run,
                                       "some of its kernels were not done when the body's own "
                                       "context was: wait for every device before the body returns",
                                       into, err));
        }
    }
    KS_TRY(ks_gaps_tell(&self->gaps, &self->wish, into, err));
    bool times = self->wish.wanted[KS_KERNEL_TIME] || self->wish.wanted[KS_KERNEL_SPAN];
    if (self->idle && times) {
        KS_TRY(ks_nothing_idle(&self->nothing, into, err));
    }
    return self->unclear > 0 ? ks_tracing_unclear(&self->wish, self->unclear, into, err) : KS_OK;
}

static ks_status tracing_warn(const ks_collector *self, ks_pool *warnings, ks_error *err)
{
    return ks_nothing_matched(self->controls, self->ignored_any, warnings, err);
}

static void tracing_thread_end(void *self)
{
    (void)self; /* nothing of ours belongs to a thread */
}

const ks_collector_ops ks_tracing_ops = {
    .name = "nvidia-trace",
    .probe = tracing_probe,
    .list = tracing_list,
    .lookup = tracing_lookup,
    .open = tracing_open,
    .needs = tracing_needs,
    .facts = tracing_facts,
    .warm_begin = ks_no_warm_begin,
    .warm_end = ks_no_warm_end,
    .room = ks_any_room,
    .pass_begin = tracing_pass_begin,
    .run_begin = tracing_run_begin,
    .begin = tracing_begin,
    .end = tracing_end,
    .child = tracing_child,
    .thread_end = tracing_thread_end,
    .run_end = tracing_run_end,
    .pass_end = tracing_pass_end,
    .drain = tracing_drain,
    .abort = tracing_abort,
    .warn = tracing_warn,
    .close = tracing_close,
};
