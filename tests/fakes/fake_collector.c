#include "fakes/fake_collector.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    PASSES = 3,
    LAUNCHES_MAX = 4096
};

static const char *const names[PASSES] = {"fake__duration.sum", "fake__bytes.sum",
                                          "fake__busy.pct"};

/* One kernel as the device saw it: what the pass measured of it. */
typedef struct range {
    double value;
    double duration;
} range;

struct ks_collector {
    const uint32_t *numbers;
    uint32_t count;
    uint32_t wanted[PASSES]; /* number of the metric + 1; 0: not asked for */
    ks_ledger *ledger;
    uint32_t pass; /* own, from 0 */
    range *ranges[PASSES];
    size_t captured[PASSES];
    size_t launched[PASSES];
    uint32_t first_pass;     /* of the run, as the ledger counts */
    const char *held_kernel; /* a launch held back, to be swapped with the next one */
    double held[PASSES];
    unsigned attempts;
};

fake_state fake;
const ks_collector_ops *const fake_collectors[] = {&fake_ops, NULL};

/* The collector in whose pass the body runs now. */
static _Atomic(ks_collector *) active;

void fake_reset(fake_script script)
{
    fake = (fake_state){.script = script};
    atomic_store(&active, NULL);
}

static bool applies(unsigned until, const ks_collector *self)
{
    return until == 0 || self->attempts < until;
}

/* The caller holds the ledger's lock. */
static void run_kernel(ks_collector *self, const char *kernel, const double values[PASSES])
{
    ks_owner owner = {NULL, 0};
    uint32_t pass = self->pass;
    if (!ks_session_owner(&owner)) {
        return;
    }
    ks_launch launch = {.annotation =
                            owner.annotation != NULL ? owner.annotation->id : KS_NO_ANNOTATION,
                        .thread = owner.thread,
                        .grid = {1, 1, 1},
                        .block = {32, 1, 1},
                        .stream = 7};
    ks_ledger_add(self->ledger, launch, kernel);
    size_t number = ++self->launched[pass];
    bool lost = fake.script.lose_every != 0 && number % fake.script.lose_every == 0 &&
                applies(fake.script.lose_until, self);
    if (!lost && self->captured[pass] < LAUNCHES_MAX) {
        self->ranges[pass][self->captured[pass]++] = (range){values[pass], values[0]};
    }
}

void fake_launch(const char *kernel, double duration_ns, double bytes, double busy_pct)
{
    ks_collector *self = atomic_load(&active);
    const double values[PASSES] = {duration_ns, bytes, busy_pct};
    if (self == NULL) {
        return;
    }
    ks_ledger_lock(self->ledger);
    bool reorder = fake.script.reorder_pass == self->pass + 1 &&
                   applies(fake.script.reorder_until, self) && self->launched[self->pass] == 0;
    if (reorder && self->held_kernel == NULL) {
        self->held_kernel = kernel;
        memcpy(self->held, values, sizeof values);
    } else {
        run_kernel(self, kernel, values);
        if (self->held_kernel != NULL) {
            run_kernel(self, self->held_kernel, self->held);
            self->held_kernel = NULL;
        }
    }
    ks_ledger_unlock(self->ledger);
}

static ks_status fault_at(enum fake_fault here, ks_error *err)
{
    return fake.script.fault == here
               ? ks_fail(err, KS_EVENDOR, "fake", 13, "the fake device broke at step %d", (int)here)
               : KS_OK;
}

static ks_status fake_probe(const ks_fact_sink *to, ks_error *err)
{
    return to->add(to->self, "available", ks_text("yes"), NULL, err);
}

static ks_status fake_list(const ks_metric_sink *to, ks_error *err)
{
    static const ks_metric_entry entries[] = {
        {"fake__duration.sum", "ns", KS_DURATION, "time", NULL, KS_TARGET_REGION},
        {"fake__bytes.sum", "byte", KS_COUNT, "traffic", NULL, KS_TARGET_REGION},
        {"fake__busy.pct", "%", KS_PERCENT, "share", NULL, KS_TARGET_REGION},
        {"fake__broken.sum", NULL, KS_COUNT, "never there", "the fake has no such unit",
         KS_TARGET_REGION},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        KS_TRY(to->add(to->self, &entries[i], err));
    }
    return KS_OK;
}

static ks_status fake_lookup(const char *name, const ks_metric_sink *to, ks_error *err)
{
    (void)name;
    (void)to;
    (void)err;
    return KS_OK;
}

static void fake_close(ks_collector *self)
{
    if (self != NULL) {
        atomic_store(&active, NULL);
        for (size_t i = 0; i < PASSES; i++) {
            ks_free(self->ranges[i]);
        }
        ks_free(self);
        fake.closed++;
    }
}

static ks_status fake_open(const ks_collect_spec *spec, ks_collector **out, ks_error *err)
{
    static const ks_metric shapes[PASSES] = {
        {.unit = "ns", .kind = KS_DURATION, .rule = KS_RULE_ADD},
        {.unit = "byte", .kind = KS_COUNT, .rule = KS_RULE_ADD},
        {.unit = "%", .kind = KS_PERCENT, .rule = KS_RULE_WEIGHTED},
    };
    KS_TRY(fault_at(FAKE_FAIL_OPEN, err));
    ks_collector *self = ks_calloc(1, sizeof *self);
    if (self == NULL) {
        return ks_enomem(err);
    }
    fake.opened++;
    self->ledger = spec->ledger;
    for (uint32_t i = 0; i < spec->count; i++) {
        for (uint32_t p = 0; p < PASSES; p++) {
            if (strcmp(spec->metrics[i]->name, names[p]) == 0) {
                const char *name = spec->metrics[i]->name;
                *spec->metrics[i] = shapes[p];
                spec->metrics[i]->name = name;
                spec->metrics[i]->source = "fake";
                spec->metrics[i]->passes = p == 2 ? 2 : 1; /* the share needs the duration too */
                if (p == 0) {
                    spec->metrics[i]->floor = fake.script.floor_ns;
                    spec->metrics[i]->doubt = "too short to tell";
                }
                self->wanted[p] = spec->numbers[i] + 1;
            }
        }
    }
    for (size_t p = 0; p < PASSES; p++) {
        self->ranges[p] = ks_alloc(LAUNCHES_MAX * sizeof **self->ranges);
        if (self->ranges[p] == NULL) {
            fake_close(self);
            return ks_enomem(err);
        }
    }
    *out = self;
    return KS_OK;
}

static ks_needs fake_needs(const ks_collector *self)
{
    (void)self;
    return (ks_needs){.passes = PASSES,
                      .shares_first = fake.script.shares_first,
                      .slots = 1,
                      .sees_launches = true};
}

static ks_status fake_facts(const ks_collector *self, const ks_fact_sink *to, ks_error *err)
{
    (void)self;
    return to->add(to->self, "fake_device", ks_text("imaginary"), NULL, err);
}

static ks_status fake_pass_begin(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err)
{
    KS_TRY(fault_at(FAKE_FAIL_PASS_BEGIN, err));
    self->pass = ctx->pass;
    self->captured[ctx->pass] = 0;
    self->launched[ctx->pass] = 0;
    fake.passes++;
    return KS_OK;
}

static ks_status fake_run_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *err)
{
    (void)ctx;
    KS_TRY(fault_at(FAKE_FAIL_RUN_BEGIN, err));
    atomic_store(&active, self);
    fake.runs++;
    return KS_OK;
}

static void fake_begin(void *self, ks_visit *visit)
{
    (void)self;
    (void)visit;
}

static void fake_child(void *self, ks_visit *visit, const ks_child *child)
{
    (void)self;
    (void)visit;
    (void)child;
}

static void fake_thread_end(void *self)
{
    (void)self;
}

static ks_status fake_run_end(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                              ks_error *err)
{
    (void)self;
    (void)ctx;
    (void)into;
    atomic_store(&active, NULL);
    return fault_at(FAKE_FAIL_RUN_END, err);
}

static void fake_abort(ks_collector *self, const ks_run_ctx *ctx)
{
    (void)self;
    (void)ctx;
    atomic_store(&active, NULL);
    fake.aborts++;
}

static ks_status fake_pass_end(ks_collector *self, ks_error *err)
{
    (void)self;
    return fault_at(FAKE_FAIL_PASS_END, err);
}

/* Range i of a pass is launch i of that pass: by exact order, as counters come. */
static ks_status decode_pass(ks_collector *self, uint32_t pass, uint32_t metric, ks_samples *into,
                             ks_error *err)
{
    const ks_ledger *ledger = self->ledger;
    size_t number = 0;
    for (size_t i = 0; i < ledger->count && number < self->captured[pass]; i++) {
        const ks_launch *l = &ledger->launches[i];
        if (l->pass != self->first_pass + pass) {
            continue;
        }
        const range *r = &self->ranges[pass][number++];
        if (l->annotation != KS_NO_ANNOTATION) {
            KS_TRY(ks_samples_add(into, l->annotation, l->run, metric, r->value, r->duration, err));
        }
    }
    return KS_OK;
}

static ks_status fake_drain(ks_collector *self, ks_samples *into, ks_error *err)
{
    KS_TRY(fault_at(FAKE_FAIL_DRAIN, err));
    fake.drains++;
    self->attempts++;
    self->first_pass = self->ledger->count > 0 ? self->ledger->launches[0].pass : 0;
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        into->launched += self->launched[pass];
        into->captured += self->captured[pass];
        if (self->wanted[pass] != 0) {
            KS_TRY(decode_pass(self, pass, self->wanted[pass] - 1, into, err));
        }
    }
    into->captured += fake.script.invent;
    return KS_OK;
}

const ks_collector_ops fake_ops = {
    .name = "fake",
    .probe = fake_probe,
    .list = fake_list,
    .lookup = fake_lookup,
    .open = fake_open,
    .needs = fake_needs,
    .facts = fake_facts,
    .warm_begin = ks_no_warm_begin,
    .warm_end = ks_no_warm_end,
    .room = ks_any_room,
    .pass_begin = fake_pass_begin,
    .run_begin = fake_run_begin,
    .begin = fake_begin,
    .end = fake_begin,
    .child = fake_child,
    .thread_end = fake_thread_end,
    .run_end = fake_run_end,
    .pass_end = fake_pass_end,
    .drain = fake_drain,
    .abort = fake_abort,
    .close = fake_close,
};
