/*
 * The kernel's counters: of the threads of a region while it is open, of a program from its exec
 * to its end. Events that do not fit into the processor's counters together become more passes.
 */
#include "collect/perf/perf.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/num.h"
#include "base/str.h"
#include "collect/calibrate.h"
#include "collect/perf/counting.h"
#include "collect/perf/names.h"
#include "collect/perf/notes.h"
#include "collect/perf/probe.h"
#include "collect/perf/refusal.h"

/* A metric that is measured. */
typedef struct measured {
    uint32_t counters[KS_PERF_EVENTS_MAX]; /* in the groups */
    bool seen;                             /* an empty region, and so ... */
    double empty;                          /* ... what it counts */
    double inside;                         /* what an annotation in a region adds to its count */
    char doubt[128];
} measured;

struct ks_collector {
    ks_target target;
    const uint32_t *numbers; /* of our metrics in the samples */
    uint32_t count;
    ks_perf_metric *metrics;
    measured *measured;
    ks_perf_groups groups;
    ks_perf_counting counting;
    uint32_t first; /* counter of the present pass */
    ks_perf_notes notes;
    uint32_t slots;
    double visit_ns;
};

/* ---- what there is ----------------------------------------------------------------------------
 */

/* An entry, with the reason why it cannot be measured here: what one of its events failed with; 0:
 * it can. */
static ks_status tell_entry(const ks_perf_metric *metric, const ks_perf_event *event, int failed,
                            const ks_metric_sink *to, ks_error *err)
{
    char reason[KS_REASON_MAX];
    ks_metric_entry entry = metric->entry;
    if (failed != 0) {
        ks_perf_reason(event, failed, reason);
        entry.reason = reason;
    }
    return to->add(to->self, &entry, err);
}

/* Try the events of a metric until one is refused. @return that one or the last; its errno or 0 */
static const ks_perf_event *try_events(const ks_perf_metric *metric, int *failed)
{
    uint32_t i = 0;
    *failed = ks_perf_try(&metric->events[0]);
    while (*failed == 0 && i + 1 < metric->event_count) {
        *failed = ks_perf_try(&metric->events[++i]);
    }
    return &metric->events[i];
}

/* Those of the kernel are all there or none is, and trying takes time where they are. */
static ks_status perf_list(const ks_metric_sink *to, ks_error *err)
{
    bool tried = false;
    int soft = 0;
    for (size_t i = 0; i < ks_perf_metric_count; i++) {
        const ks_perf_metric *metric = &ks_perf_metrics[i];
        const ks_perf_event *event = &metric->events[0];
        int failed = 0;
        if (!event->soft) {
            event = try_events(metric, &failed);
        } else {
            soft = tried ? soft : ks_perf_try(event);
            failed = soft;
            tried = true;
        }
        KS_TRY(tell_entry(metric, event, failed, to, err));
    }
    return KS_OK;
}

static ks_status perf_lookup(const char *name, const ks_metric_sink *to, ks_error *err)
{
    ks_perf_metric found;
    int failed = 0;
    if (!ks_perf_is_open_name(name) || ks_is_pattern(name)) {
        return KS_OK;
    }
    KS_TRY(ks_perf_find(name, &found, err));
    const ks_perf_event *event = try_events(&found, &failed);
    return tell_entry(&found, event, failed, to, err);
}

/* ---- while the body runs ----------------------------------------------------------------------
 */

static void use_pass(ks_collector *self, uint32_t pass, uint32_t first_slot)
{
    self->counting.count = ks_perf_groups_pass(&self->groups, pass, &self->first);
    self->counting.counters = self->groups.counters + self->first;
    self->counting.first_slot = first_slot;
}

/* The value of a counter in a visit, as if it had run all the time. @return whether there is one */
static bool scaled(const ks_perf_count *count, double *value, double *share)
{
    if (count->running_ns == 0) {
        return false;
    }
    *share = (double)count->running_ns / (double)count->enabled_ns;
    *value = count->running_ns >= count->enabled_ns ? (double)count->count
                                                    : (double)count->count / *share;
    return true;
}

static void perf_begin(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    if (self->target == KS_TARGET_PROGRAM) {
        ks_perf_enter_program(&self->counting, visit);
    } else {
        ks_perf_enter(&self->counting, visit);
    }
}

static void perf_end(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    if (self->target == KS_TARGET_REGION) {
        ks_perf_leave(&self->counting, visit);
    }
}

static void perf_thread_end(void *collector)
{
    ks_collector *self = collector;
    ks_perf_thread_end(&self->counting);
}

static void perf_child(void *collector, ks_visit *visit, const ks_child *child)
{
    ks_collector *self = collector;
    if (self->target == KS_TARGET_PROGRAM) {
        ks_perf_child(&self->counting, visit, child);
    }
}

/* ---- what empty regions count -----------------------------------------------------------------
 */

enum {
    EMPTY_VISITS = 101
};

/* Times what an empty region counts that a visit should count. */
static const double TIMES_EMPTY = 10.0;

/* The first event of a metric in a visit of the present pass. */
static bool first_value(const ks_collector *self, const measured *m, const ks_perf_words *words,
                        double *value)
{
    double share = 0.0;
    uint32_t counter = m->counters[0] - self->first;
    return m->counters[0] >= self->first && counter < self->counting.count &&
           words->readings[counter].failed == 0 &&
           scaled(&words->readings[counter].count, value, &share);
}

/* Of the empty visits the smallest, because interrupts come in between; of the one around them,
 * what each of them added to it. */
static void note_empty(const ks_collector *self, measured *m, ks_visit *visit)
{
    double value = 0.0;
    if (!first_value(self, m, ks_perf_words_of(&self->counting, visit), &value)) {
        return;
    }
    if (visit->parent == NULL) {
        m->inside = value / EMPTY_VISITS;
    } else if (!m->seen || value < m->empty) {
        m->empty = value;
        m->seen = true;
    }
}

/* The events of the kernel are none of ours: an empty visit has none. */
static void note_all_empty(void *collector)
{
    ks_collector *self = collector;
    ks_perf_end_call(&self->counting);
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        for (uint32_t i = 0; i < self->count; i++) {
            if (!self->metrics[i].events[0].soft) {
                note_empty(self, &self->measured[i], v);
            }
        }
    }
}

static ks_status calibrate(ks_collector *self, ks_error *err)
{
    const ks_hook hook = {perf_begin, perf_end, perf_child, perf_thread_end, self};
    for (uint32_t pass = self->groups.passes; pass-- > 0;) {
        use_pass(self, pass, 0);
        ks_perf_start_call(&self->counting);
        KS_TRY(ks_visit_nothing(&hook, self->slots, EMPTY_VISITS, &self->visit_ns, note_all_empty,
                                self, err));
    }
    return KS_OK;
}

/* ---- open and close ---------------------------------------------------------------------------
 */

static void fill(const ks_collector *self, uint32_t index, ks_metric *to)
{
    const ks_perf_metric *from = &self->metrics[index];
    measured *m = &self->measured[index];
    to->unit = from->entry.unit;
    to->kind = from->entry.kind;
    to->rule = from->rule;
    to->source = ks_perf_ops.name;
    to->passes = 1;
    if (from->event_count == 1 && m->empty > 0.0) {
        char empty[KS_NUM_MAX];
        ks_num_fixed(m->empty, 0, empty);
        snprintf(m->doubt, sizeof m->doubt,
                 "less than 10 times what an empty region counts (%s): put more work into it",
                 empty);
        to->visit_floor = TIMES_EMPTY * m->empty;
        to->visit_doubt = m->doubt;
        to->inside_cost = m->inside;
    }
}

static ks_status find_metrics(ks_collector *self, const ks_collect_spec *spec, ks_error *err)
{
    self->metrics = ks_calloc(spec->count, sizeof *self->metrics);
    self->measured = ks_calloc(spec->count, sizeof *self->measured);
    if (self->metrics == NULL || self->measured == NULL) {
        return ks_enomem(err);
    }
    for (uint32_t i = 0; i < spec->count; i++) {
        KS_TRY(ks_perf_find(spec->metrics[i]->name, &self->metrics[i], err));
    }
    KS_TRY(ks_perf_groups_make(self->metrics, spec->count, &self->groups, err));
    for (uint32_t i = 0; i < spec->count; i++) {
        ks_perf_groups_find(&self->groups, &self->metrics[i], self->measured[i].counters);
    }
    uint32_t most = 0;
    for (uint32_t pass = 0; pass < self->groups.passes; pass++) {
        uint32_t first = 0;
        uint32_t count = ks_perf_groups_pass(&self->groups, pass, &first);
        most = count > most ? count : most;
    }
    self->slots = ks_perf_slots(most);
    return spec->target == KS_TARGET_REGION ? calibrate(self, err) : KS_OK;
}

static void perf_close(ks_collector *self)
{
    if (self == NULL) {
        return;
    }
    ks_perf_groups_fini(&self->groups);
    ks_perf_notes_fini(&self->notes);
    ks_free(self->metrics);
    ks_free(self->measured);
    ks_free(self);
}

static ks_status perf_open(const ks_collect_spec *spec, ks_collector **out, ks_error *err)
{
    ks_collector *self = ks_calloc(1, sizeof *self);
    if (self == NULL) {
        return ks_enomem(err);
    }
    self->target = spec->target;
    self->numbers = spec->numbers;
    self->count = spec->count;
    self->notes.metric_count = spec->count;
    self->counting.sys = ks_perf_system();
    ks_status status = find_metrics(self, spec, err);
    if (status != KS_OK) {
        perf_close(self);
        return status;
    }
    for (uint32_t i = 0; i < spec->count; i++) {
        fill(self, i, spec->metrics[i]);
    }
    *out = self;
    return KS_OK;
}

static ks_needs perf_needs(const ks_collector *self)
{
    return (ks_needs){.passes = self->groups.passes,
                      .shares_first = true,
                      .slots = self->slots,
                      .visit_ns = self->visit_ns,
                      .holds_child = true};
}

static ks_status perf_facts(const ks_collector *self, const ks_fact_sink *to, ks_error *err)
{
    KS_TRY(to->add(to->self, "perf_passes", ks_i64(self->groups.passes), NULL, err));
    return self->target == KS_TARGET_PROGRAM
               ? KS_OK
               : to->add(to->self, "perf_annotation_cost_ns", ks_f64(self->visit_ns), NULL, err);
}

/* ---- run --------------------------------------------------------------------------------------
 */

static ks_status perf_pass_begin(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err)
{
    (void)err;
    use_pass(self, ctx->pass, ctx->first_slot);
    return KS_OK;
}

static ks_status perf_run_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *err)
{
    (void)ctx;
    (void)err;
    ks_perf_start_call(&self->counting);
    return KS_OK;
}

/* Why a counter that was open has no value. */
static void say_silent(const ks_collector *self, const ks_perf_count *count, char to[KS_REASON_MAX])
{
    const char *why =
        count->enabled_ns > 0
            ? "the kernel let its counter run 0 % of the time, because others hold the counters of "
              "the processor"
        : self->target == KS_TARGET_PROGRAM
            ? "the kernel did not count the program, as it does not where a program has more "
              "rights than who measures it (setuid)"
            : "it was too short for the kernel to count in";
    bool watchdog = count->enabled_ns > 0 && ks_perf_watchdog();
    snprintf(to, KS_REASON_MAX, "%s%s", why,
             watchdog ? ": its NMI watchdog has one (as root, sysctl kernel.nmi_watchdog=0)" : "");
}

/* The value of a metric in a visit. */
static ks_status take_value(ks_collector *self, uint32_t metric, const ks_visit *visit,
                            const ks_perf_words *words, const ks_run_ctx *ctx, ks_samples *into,
                            ks_error *err)
{
    const ks_perf_metric *of = &self->metrics[metric];
    double values[KS_PERF_EVENTS_MAX] = {0.0, 1.0};
    char reason[KS_REASON_MAX];
    reason[0] = '\0';
    for (uint32_t e = 0; e < of->event_count && reason[0] == '\0'; e++) {
        const ks_perf_reading *reading =
            &words->readings[self->measured[metric].counters[e] - self->first];
        double share = 1.0;
        if (reading->failed != 0) {
            ks_perf_reason(&of->events[e], reading->failed, reason);
        } else if (!scaled(&reading->count, &values[e], &share)) {
            say_silent(self, &reading->count, reason);
        } else {
            ks_perf_note_share(&self->notes, visit->annotation->id, metric, share);
        }
    }
    return reason[0] != '\0' ? ks_samples_missing(into, visit->annotation->id, ctx->run,
                                                  self->numbers[metric], reason, err)
                             : ks_samples_add(into, visit->annotation->id, ctx->run,
                                              self->numbers[metric], values[0], values[1], err);
}

/* The time of the counted threads is what the kernel had the first counter enabled for. */
static void note_time(ks_collector *self, const ks_visit *visit, const ks_perf_words *words)
{
    if (self->target == KS_TARGET_REGION && words->readings[0].failed == 0 && words->others &&
        words->alone) {
        ks_perf_note_time(&self->notes, visit->annotation->id, (double)words->process_ns,
                          (double)words->readings[0].count.enabled_ns);
    }
}

static ks_status perf_run_end(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                              ks_error *err)
{
    ks_perf_end_call(&self->counting);
    KS_TRY(ks_perf_notes_grow(&self->notes, ks_session_annotation_count(), err));
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; self->counting.count > 0 && (v = ks_next_visit(&walk)) != NULL;) {
        const ks_perf_words *words = ks_perf_words_of(&self->counting, v);
        note_time(self, v, words);
        for (uint32_t m = 0; m < self->count; m++) {
            uint32_t counter = self->measured[m].counters[0];
            if (counter >= self->first && counter < self->first + self->counting.count) {
                KS_TRY(take_value(self, m, v, words, ctx, into, err));
            }
        }
    }
    return KS_OK;
}

static ks_status perf_pass_end(ks_collector *self, ks_error *err)
{
    (void)self;
    (void)err;
    return KS_OK;
}

static ks_status perf_drain(ks_collector *self, ks_samples *into, ks_error *err)
{
    return ks_perf_notes_tell(&self->notes, self->numbers, into, err);
}

static void perf_abort(ks_collector *self, const ks_run_ctx *ctx)
{
    (void)ctx;
    ks_perf_end_call(&self->counting);
}

const ks_collector_ops ks_perf_ops = {
    .name = "perf",
    .probe = ks_perf_probe,
    .list = perf_list,
    .lookup = perf_lookup,
    .open = perf_open,
    .needs = perf_needs,
    .facts = perf_facts,
    .warm_begin = ks_no_warm_begin,
    .warm_end = ks_no_warm_end,
    .room = ks_any_room,
    .pass_begin = perf_pass_begin,
    .run_begin = perf_run_begin,
    .begin = perf_begin,
    .end = perf_end,
    .child = perf_child,
    .thread_end = perf_thread_end,
    .run_end = perf_run_end,
    .pass_end = perf_pass_end,
    .drain = perf_drain,
    .abort = perf_abort,
    .close = perf_close,
};
