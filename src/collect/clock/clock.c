/*
 * The reference back end: one pass, which it shares; reads clocks at the begin and end of each
 * visit, and takes a program's usage from the kernel's account of it.
 */
#include "collect/clock/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/num.h"
#include "collect/clock/calibrate.h"

enum reading {
    WALL,
    THREAD,
    USER,
    SYSTEM,
    PEAK_GROWTH,
    MAX_RSS,
    STDOUT_BYTES,
    READINGS
};

enum {
    REGION = KS_TARGET_REGION,
    PROGRAM = KS_TARGET_PROGRAM
};

static const struct {
    ks_metric_entry entry;
    ks_rule rule;
} known[READINGS] = {
    [WALL] = {{"cpu__time_duration.sum", "ns", KS_DURATION,
               "wall time of the region (CLOCK_MONOTONIC); of a program from start to end", NULL,
               REGION | PROGRAM},
              KS_RULE_ADD},
    [THREAD] = {{"cpu__thread_time.sum", "ns", KS_DURATION,
                 "CPU time of the thread that opened the region", NULL, REGION},
                KS_RULE_ADD},
    [USER] = {{"cpu__user_time.sum", "ns", KS_DURATION,
               "CPU time in user mode: of the whole process; of a program and its waited-for "
               "children",
               NULL, REGION | PROGRAM},
              KS_RULE_ADD},
    [SYSTEM] = {{"cpu__system_time.sum", "ns", KS_DURATION,
                 "CPU time in the kernel: of the whole process; of a program and its waited-for "
                 "children",
                 NULL, REGION | PROGRAM},
                KS_RULE_ADD},
    [PEAK_GROWTH] = {{"cpu__peak_rss_growth.max", "byte", KS_EXTREMUM,
                      "how far the process's largest resident set grew during the region", NULL,
                      REGION},
                     KS_RULE_MAX},
    [MAX_RSS] = {{"cpu__max_rss.max", "byte", KS_EXTREMUM,
                  "largest resident set of the program or one of its waited-for children", NULL,
                  PROGRAM},
                 KS_RULE_MAX},
    [STDOUT_BYTES] = {{"program__stdout_bytes.sum", "byte", KS_COUNT,
                       "bytes that the program wrote to its standard output", NULL, PROGRAM},
                      KS_RULE_ADD},
};

/* In a slot: no value. */
static const uint64_t MISSING = UINT64_MAX;

struct ks_collector {
    ks_target target;
    const uint32_t *numbers; /* of our metrics in the samples */
    uint32_t count;
    uint32_t first_slot;
    int slot[READINGS]; /* where a reading lies among our slots; -1: not asked for */
    uint32_t slots;
    int clock_slot; /* the opening thread's CPU clock; -1: not needed */
    ks_clock_costs costs;
    char wall_doubt[128];
};

/* Ten ticks of a kernel with 250 Hz. */
static const double TICKS_NS = 40e6;

static uint64_t *slot_of(const ks_collector *self, ks_visit *visit, enum reading reading)
{
    return &visit->slots[self->first_slot + (uint32_t)self->slot[reading]];
}

static uint64_t timeval_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

/* Read what getrusage knows, into the slots or as the difference to what they hold. */
static void read_usage(const ks_collector *self, ks_visit *visit, bool difference)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const uint64_t now[READINGS] = {[USER] = timeval_ns(usage.ru_utime),
                                    [SYSTEM] = timeval_ns(usage.ru_stime),
                                    [PEAK_GROWTH] = (uint64_t)usage.ru_maxrss * 1024u};
    for (enum reading r = USER; r <= PEAK_GROWTH; r++) {
        if (self->slot[r] >= 0) {
            uint64_t *slot = slot_of(self, visit, r);
            *slot = difference ? now[r] - *slot : now[r];
        }
    }
}

static bool wants_usage(const ks_collector *self)
{
    return self->slot[USER] >= 0 || self->slot[SYSTEM] >= 0 || self->slot[PEAK_GROWTH] >= 0;
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
        read_usage(self, visit, false);
    }
    if (self->clock_slot >= 0) {
        clockid_t clock = own_clock();
        visit->slots[self->first_slot + (uint32_t)self->clock_slot] = (uint64_t)(uint32_t)clock;
        *slot_of(self, visit, THREAD) = clock_ns(clock);
    }
    if (self->slot[WALL] >= 0) {
        *slot_of(self, visit, WALL) = ks_now_ns();
    }
}

static void clock_end(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    if (self->target == KS_TARGET_PROGRAM) {
        return;
    }
    if (self->slot[WALL] >= 0) {
        uint64_t now = ks_now_ns();
        uint64_t *slot = slot_of(self, visit, WALL);
        *slot = now - *slot;
    }
    if (self->clock_slot >= 0) {
        uint64_t id = visit->slots[self->first_slot + (uint32_t)self->clock_slot];
        uint64_t now = clock_ns((clockid_t)(uint32_t)id);
        uint64_t *slot = slot_of(self, visit, THREAD);
        *slot = now == MISSING || *slot == MISSING ? MISSING : now - *slot;
    }
    if (wants_usage(self)) {
        read_usage(self, visit, true);
    }
}

static void clock_child(void *collector, ks_visit *visit, const ks_child *child)
{
    ks_collector *self = collector;
    if (!child->ended || self->target != KS_TARGET_PROGRAM) {
        return;
    }
    const uint64_t usage[READINGS] = {
        [WALL] = child->wall_ns,
        [USER] = child->user_ns,
        [SYSTEM] = child->system_ns,
        [MAX_RSS] = child->max_rss_known ? child->max_rss_bytes : MISSING,
        [STDOUT_BYTES] = child->stdout_bytes,
    };
    for (enum reading r = WALL; r < READINGS; r++) {
        if (self->slot[r] >= 0) {
            *slot_of(self, visit, r) = usage[r];
        }
    }
}

static ks_status clock_list(const ks_metric_sink *to, ks_error *err)
{
    for (size_t i = 0; i < READINGS; i++) {
        KS_TRY(to->add(to->self, &known[i].entry, err));
    }
    return KS_OK;
}

static ks_status clock_probe(const ks_fact_sink *to, ks_error *err)
{
    ks_clock_costs costs;
    KS_TRY(to->add(to->self, "available", ks_text("yes"), NULL, err));
    ks_error told = KS_ERROR_INIT;
    ks_status status = ks_clock_calibrate(&costs, &told);
    if (status == KS_ENOMEM) {
        return ks_enomem(err);
    }
    if (status != KS_OK) {
        return to->add(to->self, "clock_cost_ns", ks_text("not measured: a run is active"), NULL,
                       err);
    }
    KS_TRY(to->add(to->self, "clock_resolution_ns", ks_f64(costs.resolution_ns), NULL, err));
    return to->add(to->self, "clock_cost_ns", ks_f64(costs.empty_ns), NULL, err);
}

static ks_status clock_facts(const ks_collector *self, const ks_fact_sink *to, ks_error *err)
{
    if (self->target == KS_TARGET_PROGRAM) {
        return KS_OK;
    }
    KS_TRY(to->add(to->self, "clock_resolution_ns", ks_f64(self->costs.resolution_ns), NULL, err));
    return to->add(to->self, "clock_cost_ns", ks_f64(self->costs.empty_ns), NULL, err);
}

/* Below what its values are not to be trusted. */
static void set_doubt(ks_collector *self, ks_metric *metric, enum reading reading)
{
    if (reading == WALL && self->target == KS_TARGET_REGION) {
        char cost[KS_NUM_MAX];
        ks_num_fixed(self->costs.empty_ns, 0, cost);
        snprintf(self->wall_doubt, sizeof self->wall_doubt,
                 "shorter than 10 times what an empty region reads (%s ns): put more work into it",
                 cost);
        metric->floor = 10.0 * self->costs.empty_ns;
        metric->doubt = self->wall_doubt;
    } else if (reading == USER || reading == SYSTEM) {
        metric->floor = TICKS_NS;
        metric->doubt =
            "below 40 ms: the kernel may tell user from system time by its tick (1 to 10 "
            "ms); their sum is exact";
    }
}

/* Fill in a metric and give it its slot. */
static ks_status take_metric(ks_collector *self, ks_metric *metric, ks_error *err)
{
    for (size_t i = 0; i < READINGS; i++) {
        if (strcmp(known[i].entry.name, metric->name) == 0) {
            metric->unit = known[i].entry.unit;
            metric->kind = known[i].entry.kind;
            metric->rule = known[i].rule;
            metric->source = ks_clock_ops.name;
            metric->passes = 1;
            set_doubt(self, metric, (enum reading)i);
            self->slot[i] = (int)self->slots++;
            return KS_OK;
        }
    }
    return ks_fail(err, KS_ENOTFOUND, "clock", 0, "there is no metric %s", metric->name);
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
    self->clock_slot = -1;
    for (size_t i = 0; i < READINGS; i++) {
        self->slot[i] = -1;
    }
    ks_status status = KS_OK;
    if (spec->target == KS_TARGET_REGION) {
        status = ks_clock_calibrate(&self->costs, err);
    }
    for (uint32_t i = 0; i < spec->count && status == KS_OK; i++) {
        status = take_metric(self, spec->metrics[i], err);
    }
    if (status != KS_OK) {
        clock_close(self);
        return status;
    }
    if (self->slot[THREAD] >= 0) {
        self->clock_slot = (int)self->slots++;
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
                      .holds_child = self->slot[MAX_RSS] >= 0};
}

static ks_status clock_pass_begin(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err)
{
    (void)err;
    self->first_slot = ctx->first_slot;
    return KS_OK;
}

static ks_status clock_run_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *err)
{
    (void)self;
    (void)ctx;
    (void)err;
    return KS_OK;
}

static const char *missing_reason(const ks_collector *self)
{
    return self->target == KS_TARGET_PROGRAM
               ? "below the memory that the measuring process itself needs to start a program"
               : "the thread that opened the region had ended before the region did";
}

static ks_status clock_run_end(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                               ks_error *err)
{
    for (ks_visit *v = ks_session_next_visit(NULL); v != NULL; v = ks_session_next_visit(v)) {
        /* slots are given in the order of the metrics */
        for (uint32_t i = 0; i < self->count; i++) {
            uint64_t value = v->slots[self->first_slot + i];
            uint32_t metric = self->numbers[i];
            KS_TRY(value == MISSING ? ks_samples_missing(into, v->annotation->id, ctx->run, metric,
                                                         missing_reason(self), err)
                                    : ks_samples_add(into, v->annotation->id, ctx->run, metric,
                                                     (double)value, 1.0, err));
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

static ks_status clock_drain(ks_collector *self, ks_samples *into, ks_error *err)
{
    (void)self;
    (void)into;
    (void)err;
    return KS_OK;
}

static void clock_abort(ks_collector *self, const ks_run_ctx *ctx)
{
    (void)self;
    (void)ctx;
}

const ks_collector_ops ks_clock_ops = {
    .name = "clock",
    .probe = clock_probe,
    .list = clock_list,
    .open = clock_open,
    .needs = clock_needs,
    .facts = clock_facts,
    .pass_begin = clock_pass_begin,
    .run_begin = clock_run_begin,
    .begin = clock_begin,
    .end = clock_end,
    .child = clock_child,
    .run_end = clock_run_end,
    .pass_end = clock_pass_end,
    .drain = clock_drain,
    .abort = clock_abort,
    .close = clock_close,
};
