#include "collect/perf/counting.h"

#include <errno.h>

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

static void close_all(const ks_perf_counting *c, ks_perf_words *owner)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (owner->readings[i].fd >= 0) {
            c->sys->close(owner->readings[i].fd);
            owner->readings[i].fd = -EBADF;
        }
    }
}

void ks_perf_end_call(const ks_perf_counting *counting)
{
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        ks_perf_words *w = ks_perf_words_of(counting, v);
        if (w->owner == w) {
            close_all(counting, w);
        }
    }
}

/* Whoever is the last to need them closes them: a visit may end on another thread, after its own.
 */
static void release(const ks_perf_counting *c, ks_perf_words *owner)
{
    if (atomic_fetch_sub(&owner->users, 1) == 1) {
        close_all(c, owner);
    }
}

void ks_perf_thread_end(const ks_perf_counting *counting)
{
    if (of_thread.call == counting->call) {
        release(counting, of_thread.owner);
    }
    of_thread = (opener){0, NULL}; /* destructors that run later may annotate */
}

/* Counters of this visit's own, none of which is open. */
static void become_owner(const ks_perf_counting *c, ks_perf_words *w)
{
    w->owner = w;
    atomic_init(&w->users, 1);
    for (uint32_t i = 0; i < c->count; i++) {
        w->readings[i] = (ks_perf_reading){.fd = -EBADF};
    }
}

/* Open every counter for the calling thread, group by group, then let them count from 0. */
static void open_all(const ks_perf_counting *c, ks_perf_words *w)
{
    int leader = -1;
    for (uint32_t i = 0; i < c->count; i++) {
        bool leads = c->counters[i].leads;
        int fd = leads || leader >= 0 ? c->sys->open(&c->counters[i].attr, 0, leads ? -1 : leader)
                                      : leader; /* a group is not without its leader */
        w->readings[i].fd = fd;
        w->readings[i].failed = fd < 0 ? -fd : 0;
        leader = leads ? fd : leader;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->counters[i].leads && w->readings[i].fd >= 0) {
            w->readings[i].failed = c->sys->enable(w->readings[i].fd);
        }
    }
}

static int read_counter(const ks_perf_counting *c, const ks_perf_words *w, uint32_t i,
                        ks_perf_count *out)
{
    int fd = w->owner->readings[i].fd;
    return fd >= 0 ? c->sys->read(fd, out) : -fd;
}

static void read_all(const ks_perf_counting *c, ks_perf_words *w)
{
    for (uint32_t i = 0; i < c->count; i++) {
        w->readings[i].failed = read_counter(c, w, i, &w->readings[i].count);
    }
}

static void read_differences(const ks_perf_counting *c, ks_perf_words *w)
{
    for (uint32_t i = 0; i < c->count; i++) {
        ks_perf_count now = {0};
        ks_perf_count *was = &w->readings[i].count;
        if (w->readings[i].failed == 0) {
            w->readings[i].failed = read_counter(c, w, i, &now);
            *was = (ks_perf_count){now.count - was->count, now.enabled_ns - was->enabled_ns,
                                   now.running_ns - was->running_ns};
        }
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
        read_all(counting, w);
    }
    atomic_fetch_add(&w->owner->users, 1);
    w->process_ns = counting->sys->process_ns();
}

void ks_perf_leave(ks_perf_counting *counting, ks_visit *visit)
{
    ks_perf_words *w = ks_perf_words_of(counting, visit);
    w->process_ns = counting->sys->process_ns() - w->process_ns;
    read_differences(counting, w);
    release(counting, w->owner);
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
    for (uint32_t i = 0; i < c->count; i++) {
        struct perf_event_attr attr = c->counters[i].attr;
        attr.disabled = 1;
        attr.enable_on_exec = 1;
        w->readings[i].fd = c->sys->open(&attr, pid, -1);
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
