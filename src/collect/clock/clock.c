/*
 * The reference back end: one pass, which it shares; reads clocks at the begin and end of each
 * visit, and takes a program's usage from the kernel's account of it.
 */
#include "collect/clock/clock.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "collect/clock/metrics.h"

/* In a slot: no value. */
static const uint64_t MISSING = UINT64_MAX;

struct ks_collector {
    ks_target target;
    const uint32_t *numbers; /* of our metrics in the samples */
    uint32_t count;
    uint32_t first_slot;
    int slot[KS_READINGS]; /* where a reading lies among our slots; -1: not asked for */
    uint32_t slots;
    int clock_slot;  /* the opening thread's CPU clock; -1: not needed */
    bool rss_hidden; /* in some run of this batch a program's memory was below what can be told */
    ks_clock_costs costs;
    ks_clock_doubts doubts;
};

static uint64_t *slot_of(const ks_collector *self, ks_visit *visit, enum ks_reading reading)
{
    return &visit->slots[self->first_slot + (uint32_t)self->slot[reading]];
}

static uint64_t timeval_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

typedef struct usage {
    uint64_t now[KS_READINGS];
} usage;

static usage read_usage(void)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    return (usage){{[KS_READ_USER] = timeval_ns(now.ru_utime),
                    [KS_READ_SYSTEM] = timeval_ns(now.ru_stime),
                    [KS_READ_PEAK_GROWTH] = (uint64_t)now.ru_maxrss * 1024u}};
}

static bool wants_usage(const ks_collector *self)
{
    return self->slot[KS_READ_USER] >= 0 || self->slot[KS_READ_SYSTEM] >= 0 ||
           self->slot[KS_READ_PEAK_GROWTH] >= 0;
}

/* The time of the whole process cannot be divided among visits that overlap: later ones of them
 * have no value. */
static void begin_usage(const ks_collector *self, ks_visit *visit)
{
    bool overlaps = atomic_fetch_add(&visit->annotation->open, 1) > 0;
    usage begin = read_usage();
    for (enum ks_reading r = KS_READ_USER; r <= KS_READ_PEAK_GROWTH; r++) {
        if (self->slot[r] >= 0) {
            bool hidden = overlaps && r != KS_READ_PEAK_GROWTH;
            *slot_of(self, visit, r) = hidden ? MISSING : begin.now[r];
        }
    }
}

static void end_usage(const ks_collector *self, ks_visit *visit)
{
    usage end = read_usage();
    for (enum ks_reading r = KS_READ_USER; r <= KS_READ_PEAK_GROWTH; r++) {
        if (self->slot[r] < 0) {
            continue;
        }
        uint64_t *slot = slot_of(self, visit, r);
        if (*slot != MISSING) {
            *slot = end.now[r] - *slot;
        }
    }
    atomic_fetch_sub(&visit->annotation->open, 1);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) {
        return MISSING; /* the thread is gone */
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The kernel's number for the CPU clock of a thread, good on every thread (clock_getcpuclockid(3)).
 */
static clockid_t own_clock(void)
{
    return (clockid_t)((~(unsigned)syscall(SYS_gettid) << 3) | 6u);
}

static void clock_begin(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    if (self->target == KS_TARGET_PROGRAM) {
        for (uint32_t i = 0; i < self->slots; i++) {
            visit->slots[self->first_slot + i] = MISSING;
        }
        return;
    }
    if (wants_usage(self)) {
        begin_usage(self, visit);
    }
    if (self->clock_slot >= 0) {
        clockid_t clock = own_clock();
        visit->slots[self->first_slot + (uint32_t)self->clock_slot] = (uint64_t)(uint32_t)clock;
        *slot_of(self, visit, KS_READ_THREAD) = clock_ns(clock);
    }
    if (self->slot[KS_READ_WALL] >= 0) {
        *slot_of(self, visit, KS_READ_WALL) = ks_now_ns();
    }
}

static void clock_end(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    if (self->target == KS_TARGET_PROGRAM) {
        return;
    }
    if (self->slot[KS_READ_WALL] >= 0) {
        uint64_t now = ks_now_ns();
        uint64_t *slot = slot_of(self, visit, KS_READ_WALL);
        *slot = now - *slot;
    }
    if (self->clock_slot >= 0) {
        uint64_t id = visit->slots[self->first_slot + (uint32_t)self->clock_slot];
        uint64_t now = clock_ns((clockid_t)(uint32_t)id);
        uint64_t *slot = slot_of(self, visit, KS_READ_THREAD);
        *slot = now == MISSING || *slot == MISSING ? MISSING : now - *slot;
    }
    if (wants_usage(self)) {
        end_usage(self, visit);
    }
}

static void clock_child(void *collector, ks_visit *visit, const ks_child *child)
{
    ks_collector *self = collector;
    if (!child->ended || self->target != KS_TARGET_PROGRAM) {
        return;
    }
    const uint64_t ended[KS_READINGS] = {
        [KS_READ_WALL] = child->wall_ns,
        [KS_READ_USER] = child->user_ns,
        [KS_READ_SYSTEM] = child->system_ns,
        [KS_READ_MAX_RSS] = child->max_rss_known ? child->max_rss_bytes : MISSING,
        [KS_READ_STDOUT_BYTES] = child->stdout_bytes,
    };
    for (enum ks_reading r = KS_READ_WALL; r < KS_READINGS; r++) {
        if (self->slot[r] >= 0) {
            *slot_of(self, visit, r) = ended[r];
        }
    }
}

static ks_status clock_list(const ks_metric_sink *to, ks_error *err)
{
    for (size_t i = 0; i < KS_READINGS; i++) {
        KS_TRY(to->add(to->self, &ks_clock_metrics[i].entry, err));
    }
    return KS_OK;
}

/* Its metrics are all in the list. */
static ks_status clock_lookup(const char *name, const ks_metric_sink *to, ks_error *err)
{
    (void)name;
    (void)to;
    (void)err;
    return KS_OK;
}

static void ignore_child(void *self, ks_visit *visit, const ks_child *child)
{
    (void)self;
    (void)visit;
    (void)child;
}

static void clock_thread_end(void *self)
{
    (void)self;
}

static ks_status calibrate(ks_collector *self, ks_error *err)
{
    const ks_hook hook = {clock_begin, clock_end, ignore_child, clock_thread_end, self};
    return ks_clock_calibrate(&hook, self->slots, self->slot[KS_READ_WALL], &self->costs, err);
}

static void no_readings(ks_collector *self)
{
    self->clock_slot = -1;
    for (size_t i = 0; i < KS_READINGS; i++) {
        self->slot[i] = -1;
    }
}

static ks_status clock_probe(const ks_fact_sink *to, ks_error *err)
{
    ks_collector wall = {.target = KS_TARGET_REGION, .slots = 1};
    ks_error told = KS_ERROR_INIT;
    KS_TRY(to->add(to->self, "available", ks_text("yes"), NULL, err));
    no_readings(&wall);
    wall.slot[KS_READ_WALL] = 0;
    ks_status status = calibrate(&wall, &told);
    if (status == KS_ENOMEM) {
        return ks_enomem(err);
    }
    if (status != KS_OK) {
        return to->add(to->self, "clock_cost_ns", ks_text("not measured: a run is active"), NULL,
                       err);
    }
    KS_TRY(to->add(to->self, "clock_resolution_ns", ks_f64(wall.costs.resolution_ns), NULL, err));
    KS_TRY(to->add(to->self, "clock_cost_ns", ks_f64(wall.costs.empty_ns), NULL, err));
    return to->add(to->self, "annotation_cost_ns", ks_f64(wall.costs.visit_ns), NULL, err);
}

static ks_status clock_facts(const ks_collector *self, const ks_fact_sink *to, ks_error *err)
{
    if (self->target == KS_TARGET_PROGRAM) {
        return KS_OK;
    }
    KS_TRY(to->add(to->self, "clock_resolution_ns", ks_f64(self->costs.resolution_ns), NULL, err));
    if (self->slot[KS_READ_WALL] >= 0) {
        KS_TRY(to->add(to->self, "clock_cost_ns", ks_f64(self->costs.empty_ns), NULL, err));
    }
    return to->add(to->self, "annotation_cost_ns", ks_f64(self->costs.visit_ns), NULL, err);
}

/* Give each metric its slot. */
static ks_status take_metrics(ks_collector *self, const ks_collect_spec *spec, ks_error *err)
{
    for (uint32_t i = 0; i < spec->count; i++) {
        enum ks_reading reading = ks_clock_find(spec->metrics[i]->name);
        if (reading == KS_READINGS) {
            return ks_fail(err, KS_ENOTFOUND, "clock", 0, "there is no metric %s",
                           spec->metrics[i]->name);
        }
        self->slot[reading] = (int)self->slots++;
    }
    if (self->slot[KS_READ_THREAD] >= 0) {
        self->clock_slot = (int)self->slots++;
    }
    return spec->target == KS_TARGET_REGION ? calibrate(self, err) : KS_OK;
}

static void clock_close(ks_collector *self)
{
    ks_free(self);
}

static ks_status clock_open(const ks_collect_spec *spec, ks_collector **out, ks_error *err)
{
    ks_collector *self = ks_calloc(1, sizeof *self);
    if (self == NULL) {
        return ks_enomem(err);
    }
    self->target = spec->target;
    self->numbers = spec->numbers;
    self->count = spec->count;
    no_readings(self);
    ks_status status = take_metrics(self, spec, err);
    if (status != KS_OK) {
        clock_close(self);
        return status;
    }
    for (uint32_t i = 0; i < spec->count; i++) {
        ks_clock_fill(ks_clock_find(spec->metrics[i]->name), self->target, &self->costs,
                      &self->doubts, spec->metrics[i]);
    }
    *out = self;
    return KS_OK;
}

static ks_needs clock_needs(const ks_collector *self)
{
    /* a spawned program starts with the peak memory of this process, a forked one with next to
     * none; but forking takes longer */
    return (ks_needs){.passes = 1,
                      .shares_first = true,
                      .slots = self->slots,
                      .visit_ns = self->costs.visit_ns,
                      .holds_child = self->slot[KS_READ_MAX_RSS] >= 0};
}

static ks_status clock_pass_begin(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err)
{
    (void)err;
    self->first_slot = ctx->first_slot;
    self->rss_hidden = false;
    return KS_OK;
}

static ks_status clock_run_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *err)
{
    (void)self;
    (void)ctx;
    (void)err;
    return KS_OK;
}

static const char *missing_reason(enum ks_reading reading)
{
    return reading == KS_READ_THREAD
               ? "the thread that opened the region had ended before the region did"
               : "its visits overlapped, and the time of the whole process cannot be divided among "
                 "them; ask for cpu__thread_time.sum";
}

/* Visits that were left open count no more. */
static void close_visits(void)
{
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        atomic_store(&v->annotation->open, 0);
    }
}

static ks_status take_reading(ks_collector *self, const ks_visit *visit, enum ks_reading reading,
                              const ks_run_ctx *ctx, ks_samples *into, ks_error *err)
{
    uint32_t slot = (uint32_t)self->slot[reading]; /* slots are given in the order of the metrics */
    uint64_t value = visit->slots[self->first_slot + slot];
    uint32_t annotation = visit->annotation->id;
    if (reading == KS_READ_MAX_RSS && value == MISSING) {
        self->rss_hidden = true; /* drain() says so */
        return KS_OK;
    }
    return value == MISSING ? ks_samples_missing(into, annotation, ctx->run, self->numbers[slot],
                                                 missing_reason(reading), err)
                            : ks_samples_add(into, annotation, ctx->run, self->numbers[slot],
                                             (double)value, 1.0, err);
}

static ks_status clock_run_end(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                               ks_error *err)
{
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        for (enum ks_reading r = KS_READ_WALL; r < KS_READINGS; r++) {
            if (self->slot[r] >= 0) {
                KS_TRY(take_reading(self, v, r, ctx, into, err));
            }
        }
    }
    return KS_OK;
}

static ks_status clock_pass_end(ks_collector *self, ks_error *err)
{
    (void)self;
    (void)err;
    return KS_OK;
}

/* The mean of those runs alone whose memory was large enough to be seen would be too large. */
static ks_status clock_drain(ks_collector *self, ks_samples *into, ks_error *err)
{
    if (!self->rss_hidden) {
        return KS_OK;
    }
    uint32_t metric = self->numbers[self->slot[KS_READ_MAX_RSS]];
    return ks_samples_missing_all(into, metric, ks_clock_rss_hidden, err);
}

static void clock_abort(ks_collector *self, const ks_run_ctx *ctx)
{
    (void)self;
    (void)ctx;
    close_visits();
}

const ks_collector_ops ks_clock_ops = {
    .name = "clock",
    .probe = clock_probe,
    .list = clock_list,
    .lookup = clock_lookup,
    .open = clock_open,
    .needs = clock_needs,
    .facts = clock_facts,
    .warm_begin = ks_no_warm_begin,
    .warm_end = ks_no_warm_end,
    .room = ks_any_room,
    .pass_begin = clock_pass_begin,
    .run_begin = clock_run_begin,
    .begin = clock_begin,
    .end = clock_end,
    .child = clock_child,
    .thread_end = clock_thread_end,
    .run_end = clock_run_end,
    .pass_end = clock_pass_end,
    .drain = clock_drain,
    .abort = clock_abort,
    .close = clock_close,
};
