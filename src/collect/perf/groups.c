#include "collect/perf/groups.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/perf/refusal.h"

enum {
    TRIED_MAX = 32 /* more than any processor has counters for one thread */
};

/* Events that are tried together. */
typedef struct trial {
    const ks_perf_event *events[TRIED_MAX];
    uint32_t count;
} trial;

static bool add_to_trial(trial *t, const ks_perf_event *event)
{
    if (t->count == TRIED_MAX) {
        return false;
    }
    t->events[t->count++] = event;
    return true;
}

/* Open a group, let it count for a moment, and see whether it did.
 *
 * The kernel checks a group against the processor's counters when it is opened. One that somebody
 * else holds for good, such as its own watchdog, is not missed before the group should run.
 *
 * @return 0, errno, or EAGAIN: it was opened, but did not run */
static int try_group(const trial *t)
{
    const ks_perf_sys *sys = ks_perf_system();
    int fds[TRIED_MAX] = {0};
    uint32_t opened = 0;
    int failed = 0;
    for (; opened < t->count && failed == 0; opened++) {
        struct perf_event_attr attr = ks_perf_attr(t->events[opened]);
        attr.disabled = opened == 0;
        fds[opened] = sys->open(&attr, 0, opened == 0 ? -1 : fds[0]);
        failed = fds[opened] < 0 ? -fds[opened] : 0;
    }
    opened -= failed != 0;
    ks_perf_count count = {0};
    if (failed == 0) {
        failed = sys->enable(fds[0]);
    }
    if (failed == 0) {
        failed = sys->read(fds[0], &count);
    }
    if (failed == 0 && count.enabled_ns > 0 && count.running_ns == 0) {
        failed = EAGAIN;
    }
    while (opened > 0) {
        sys->close(fds[--opened]);
    }
    return failed;
}

/* Whether some events fit beside those that a pass has already; 0, EAGAIN, or errno. */
static int try_with_pass(const ks_perf_groups *g, uint32_t pass, const ks_perf_event *events,
                         uint32_t count)
{
    trial t = {.count = 0};
    for (uint32_t i = 0; i < g->count; i++) {
        const ks_perf_counter *c = &g->counters[i];
        if (c->pass == pass && !c->event.soft && !add_to_trial(&t, &c->event)) {
            return ENOSPC;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!add_to_trial(&t, &events[i])) {
            return ENOSPC;
        }
    }
    return try_group(&t);
}

static bool has(const ks_perf_groups *g, const ks_perf_event *event, uint32_t pass)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->counters[i].pass == pass && ks_perf_same(&g->counters[i].event, event)) {
            return true;
        }
    }
    return false;
}

static void add(ks_perf_groups *g, const ks_perf_event *event, uint32_t pass)
{
    if (!has(g, event, pass)) {
        g->counters[g->count++] =
            (ks_perf_counter){.attr = ks_perf_attr(event), .event = *event, .pass = pass};
    }
}

/* Whether a pass has all events of a metric already. */
static bool is_served(const ks_perf_groups *g, const ks_perf_metric *metric, uint32_t pass)
{
    bool served = true;
    for (uint32_t i = 0; i < metric->event_count; i++) {
        served = served && has(g, &metric->events[i], pass);
    }
    return served;
}

/* A group that does not fit is refused when it is opened, or opened and does not run. */
static bool does_not_fit(int failed)
{
    return failed == EINVAL || failed == ENOSPC || failed == EAGAIN;
}

static ks_status refuse(const ks_perf_metric *metric, const ks_perf_event *event, int failed,
                        ks_error *err)
{
    char reason[KS_REASON_MAX];
    if (failed == ENOMEM) {
        return ks_enomem(err);
    }
    ks_perf_reason(event, failed, reason);
    ks_status status = failed == EACCES || failed == EPERM ? KS_EPERM : KS_UNAVAILABLE;
    return ks_fail(err, status, "perf", failed, "metric %.100s cannot be measured: %s",
                   metric->entry.name, reason);
}

/* Each event must open by itself, or the metric cannot be measured at all. */
static ks_status check_events(const ks_perf_metric *metric, ks_error *err)
{
    for (uint32_t i = 0; i < metric->event_count; i++) {
        int failed = ks_perf_try(&metric->events[i]);
        if (failed != 0) {
            return refuse(metric, &metric->events[i], failed, err);
        }
    }
    return KS_OK;
}

static uint32_t events_missing(const ks_perf_groups *g, const ks_perf_metric *metric, uint32_t pass,
                               ks_perf_event missing[KS_PERF_EVENTS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < metric->event_count; i++) {
        if (!has(g, &metric->events[i], pass)) {
            missing[count++] = metric->events[i];
        }
    }
    return count;
}

/* Put a metric's events into the first pass that has room for them, or into a new one. `hard` is
 * the number of passes that have events of the processor. */
static ks_status place(ks_perf_groups *g, const ks_perf_metric *metric, uint32_t *hard,
                       ks_error *err)
{
    KS_TRY(check_events(metric, err));
    for (uint32_t pass = 0; pass <= *hard; pass++) {
        ks_perf_event missing[KS_PERF_EVENTS_MAX];
        uint32_t count = events_missing(g, metric, pass, missing);
        int failed = count > 0 ? try_with_pass(g, pass, missing, count) : 0;
        if (failed != 0 && !does_not_fit(failed)) {
            return refuse(metric, &metric->events[0], failed, err);
        }
        bool alone = pass == *hard;
        if (failed != 0 && alone && failed != EAGAIN) {
            return ks_fail(err, KS_UNAVAILABLE, "perf", failed,
                           "metric %.100s cannot be measured: its %u events do not fit into the "
                           "processor's counters together",
                           metric->entry.name, metric->event_count);
        }
        if (failed == 0 || alone) { /* one that does not run even alone may do so later */
            for (uint32_t i = 0; i < count; i++) {
                add(g, &missing[i], pass);
            }
            *hard += alone;
            return KS_OK;
        }
    }
    return KS_OK;
}

static int by_pass(const void *a, const void *b)
{
    const ks_perf_counter *x = a;
    const ks_perf_counter *y = b;
    if (x->pass != y->pass) {
        return x->pass < y->pass ? -1 : 1;
    }
    return (int)y->event.soft - (int)x->event.soft;
}

/* Order them by pass, those of the kernel first, and say where groups start. */
static void arrange(ks_perf_groups *g)
{
    if (g->count > 1) {
        qsort(g->counters, g->count, sizeof *g->counters, by_pass);
    }
    for (uint32_t i = 0; i < g->count; i++) {
        ks_perf_counter *c = &g->counters[i];
        c->leads = i == 0 || c->pass != c[-1].pass || c->event.soft != c[-1].event.soft;
        c->attr.disabled = c->leads;
    }
}

static ks_status place_all(ks_perf_groups *g, const ks_perf_metric *metrics, uint32_t count,
                           ks_error *err)
{
    uint32_t hard = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (metrics[i].events[0].soft) {
            KS_TRY(check_events(&metrics[i], err));
            add(g, &metrics[i].events[0], 0);
        }
    }
    /* ratios first: what they need serves the others too */
    for (uint32_t size = KS_PERF_EVENTS_MAX; size > 0; size--) {
        for (uint32_t i = 0; i < count; i++) {
            bool served = false;
            for (uint32_t pass = 0; pass < hard && !served; pass++) {
                served = is_served(g, &metrics[i], pass);
            }
            if (!served && !metrics[i].events[0].soft && metrics[i].event_count == size) {
                KS_TRY(place(g, &metrics[i], &hard, err));
            }
        }
    }
    g->passes = hard > 0 ? hard : 1;
    return KS_OK;
}

ks_status ks_perf_groups_make(const ks_perf_metric *metrics, uint32_t count, ks_perf_groups *out,
                              ks_error *err)
{
    *out = (ks_perf_groups){.passes = 1};
    out->counters = ks_calloc((size_t)count * KS_PERF_EVENTS_MAX, sizeof *out->counters);
    if (out->counters == NULL) {
        return ks_enomem(err);
    }
    KS_TRY(place_all(out, metrics, count, err));
    arrange(out);
    return KS_OK;
}

void ks_perf_groups_fini(ks_perf_groups *groups)
{
    ks_free(groups->counters);
    *groups = (ks_perf_groups){.passes = 1};
}

uint32_t ks_perf_groups_pass(const ks_perf_groups *groups, uint32_t pass, uint32_t *first)
{
    uint32_t start = 0;
    while (start < groups->count && groups->counters[start].pass < pass) {
        start++;
    }
    uint32_t end = start;
    while (end < groups->count && groups->counters[end].pass == pass) {
        end++;
    }
    *first = start;
    return end - start;
}

void ks_perf_groups_find(const ks_perf_groups *groups, const ks_perf_metric *metric,
                         uint32_t counters[KS_PERF_EVENTS_MAX])
{
    uint32_t pass = 0;
    while (pass < groups->passes && !is_served(groups, metric, pass)) {
        pass++;
    }
    for (uint32_t e = 0; e < metric->event_count; e++) {
        uint32_t i = 0;
        while (groups->counters[i].pass != pass ||
               !ks_perf_same(&groups->counters[i].event, &metric->events[e])) {
            i++;
        }
        counters[e] = i;
    }
}
