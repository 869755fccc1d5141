#include "collect/perf/counting.h"

uint32_t ks_perf_slots(uint32_t counters)
{
    size_t bytes = sizeof(ks_perf_words) + counters * sizeof(ks_perf_reading);
    return (uint32_t)((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

ks_perf_words *ks_perf_words_of(const ks_perf_counting *counting, ks_visit *visit)
{
    return (ks_perf_words *)(void *)&visit->slots[counting->first_slot];
}

/* Which visit opened this thread's counters, and in which call. */
typedef struct opener {
    uint64_t call;
    ks_perf_words *owner;
} opener;

static _Thread_local opener of_thread __attribute__((tls_model("initial-exec")));

void ks_perf_start_call(ks_perf_counting *counting)
{
    static atomic_ulong calls;
    counting->call = atomic_fetch_add(&calls, 1) + 1;
    atomic_store(&counting->entered, 0);
    atomic_store(&counting->inside, 0);
}

void ks_perf_end_call(const ks_perf_counting *counting)
{
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        ks_perf_words *w = ks_perf_words_of(counting, v);
        for (uint32_t i = 0; i < counting->count && w->owner == w; i++) {
            if (w->readings[i].fd >= 0) {
                counting->sys->close((int)w->readings[i].fd);
                w->readings[i].fd = -1;
            }
        }
    }
}

/* Counters of this visit's own, none of which is open. */
static void become_owner(const ks_perf_counting *c, ks_perf_words *w)
{
    w->owner = w;
    w->failed = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        w->readings[i] = (ks_perf_reading){.fd = -1};
    }
}

/* Open every counter for the calling thread, group by group, then let them count from 0. */
static void open_all(const ks_perf_counting *c, ks_perf_words *w)
{
    int leader = -1;
    for (uint32_t i = 0; i < c->count && w->failed == 0; i++) {
        int fd = c->sys->open(&c->counters[i].attr, 0, c->counters[i].leads ? -1 : leader);
        w->readings[i].fd = fd;
        leader = c->counters[i].leads ? fd : leader;
        w->failed = fd < 0 ? -fd : 0;
    }
    for (uint32_t i = 0; i < c->count && w->failed == 0; i++) {
        if (c->counters[i].leads) {
            w->failed = c->sys->enable((int)w->readings[i].fd);
        }
    }
}

static void read_all(const ks_perf_counting *c, ks_perf_words *w)
{
    for (uint32_t i = 0; i < c->count && w->failed == 0; i++) {
        w->failed = c->sys->read((int)w->owner->readings[i].fd, &w->readings[i].count);
    }
}

static void read_differences(const ks_perf_counting *c, ks_perf_words *w)
{
    for (uint32_t i = 0; i < c->count && w->failed == 0; i++) {
        ks_perf_count now = {0};
        ks_perf_count *was = &w->readings[i].count;
        w->failed = c->sys->read((int)w->owner->readings[i].fd, &now);
        *was = (ks_perf_count){now.count - was->count, now.enabled_ns - was->enabled_ns,
                               now.running_ns - was->running_ns};
    }
}

/* Who else is there: what is needed to tell whether all work of the process is counted. */
static void look_around(ks_perf_counting *c, ks_perf_words *w, const ks_visit *visit)
{
    w->outermost = visit->parent == NULL;
    if (w->outermost) {
        w->others = c->sys->threads() > 1;
        w->alone = atomic_fetch_add(&c->inside, 1) == 0;
        w->entered = atomic_fetch_add(&c->entered, 1) + 1;
    } else {
        w->others = ks_perf_words_of(c, visit->parent)->others;
        w->alone = atomic_load(&c->inside) == 1;
        w->entered = atomic_load(&c->entered);
    }
}

void ks_perf_enter(ks_perf_counting *counting, ks_visit *visit)
{
    ks_perf_words *w = ks_perf_words_of(counting, visit);
    look_around(counting, w, visit);
    if (of_thread.call != counting->call) {
        of_thread = (opener){counting->call, w};
        become_owner(counting, w);
        open_all(counting, w);
    } else {
        w->owner = of_thread.owner;
        w->failed = w->owner->failed;
        read_all(counting, w);
    }
    w->process_ns = counting->sys->process_ns();
}

void ks_perf_leave(ks_perf_counting *counting, ks_visit *visit)
{
    ks_perf_words *w = ks_perf_words_of(counting, visit);
    w->process_ns = counting->sys->process_ns() - w->process_ns;
    read_differences(counting, w);
    w->alone = w->alone && atomic_load(&counting->entered) == w->entered;
    if (w->outermost) {
        atomic_fetch_sub(&counting->inside, 1);
    }
}

void ks_perf_enter_program(const ks_perf_counting *counting, ks_visit *visit)
{
    become_owner(counting, ks_perf_words_of(counting, visit));
}

/* Not in groups: a group that does not fit would not count at all, and the program runs on. */
static void open_for_child(const ks_perf_counting *c, ks_perf_words *w, pid_t pid)
{
    for (uint32_t i = 0; i < c->count && w->failed == 0; i++) {
        struct perf_event_attr attr = c->counters[i].attr;
        attr.disabled = 1;
        attr.enable_on_exec = 1;
        int fd = c->sys->open(&attr, pid, -1);
        w->readings[i].fd = fd;
        w->failed = fd < 0 ? -fd : 0;
    }
}

void ks_perf_child(const ks_perf_counting *counting, ks_visit *visit, const ks_child *child)
{
    ks_perf_words *w = ks_perf_words_of(counting, visit);
    if (child->ended) {
        read_all(counting, w);
    } else {
        open_for_child(counting, w, (pid_t)child->pid);
    }
}
