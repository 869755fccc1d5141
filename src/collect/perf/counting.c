#include "collect/perf/counting.h"

#include <errno.h>
#include <string.h>

uint32_t ks_perf_slots(uint32_t counters)
{
    size_t bytes = sizeof(ks_perf_words) + counters * sizeof(ks_perf_reading);
    return (uint32_t)((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

ks_perf_words *ks_perf_words_of(const ks_perf_counting *counting, ks_visit *visit)
{
    return (ks_perf_words *)(void *)&visit->slots[counting->first_slot];
}

static void close_all(const ks_perf_counting *c, ks_perf_words *root)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (root->readings[i].fd >= 0) {
            c->sys->close((int)root->readings[i].fd);
            root->readings[i].fd = -1;
        }
    }
}

/* Open every counter for the calling thread, group by group; they do not count yet. */
static void open_all(const ks_perf_counting *c, ks_perf_words *root)
{
    int leader = -1;
    for (uint32_t i = 0; i < c->count && root->failed == 0; i++) {
        int fd = c->sys->open(&c->counters[i].attr, 0, c->counters[i].leads ? -1 : leader);
        root->readings[i].fd = fd;
        leader = c->counters[i].leads ? fd : leader;
        root->failed = fd < 0 ? -fd : 0;
    }
    for (uint32_t i = 0; i < c->count && root->failed == 0; i++) {
        if (c->counters[i].leads) {
            root->failed = c->sys->enable((int)root->readings[i].fd);
        }
    }
}

static void read_all(const ks_perf_counting *c, const ks_perf_words *root, ks_perf_words *to,
                     bool difference)
{
    for (uint32_t i = 0; i < c->count && to->failed == 0; i++) {
        ks_perf_count *was = &to->readings[i].count;
        ks_perf_count now = {0};
        to->failed = c->sys->read((int)root->readings[i].fd, &now);
        if (difference) {
            now.count -= was->count;
            now.enabled_ns -= was->enabled_ns;
            now.running_ns -= was->running_ns;
        }
        *was = now;
    }
}

/* Use the counters of an outer visit, unless another thread has just ended it. */
static bool join(ks_perf_words *root)
{
    unsigned users = atomic_load(&root->users);
    while (users > 0) {
        if (atomic_compare_exchange_weak(&root->users, &users, users + 1)) {
            return true;
        }
    }
    return false;
}

static void leave(ks_perf_counting *c, ks_perf_words *root)
{
    if (atomic_fetch_sub(&root->users, 1) == 1) {
        close_all(c, root);
        atomic_fetch_sub(&c->roots_open, 1);
    }
}

/* A visit with counters of its own, none of which is open. */
static void become_root(ks_perf_counting *c, ks_perf_words *w)
{
    w->root = w;
    atomic_init(&w->users, 1);
    w->failed = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        w->readings[i] = (ks_perf_reading){.fd = -1};
    }
    w->others = false;
    w->alone = atomic_fetch_add(&c->roots_open, 1) == 0;
    w->roots = atomic_fetch_add(&c->roots, 1) + 1;
}

void ks_perf_enter(ks_perf_counting *counting, ks_visit *visit)
{
    ks_perf_words *w = ks_perf_words_of(counting, visit);
    ks_perf_words *root =
        visit->parent != NULL ? ks_perf_words_of(counting, visit->parent)->root : NULL;
    if (root == NULL || !join(root)) {
        become_root(counting, w);
        w->others = counting->sys->threads() > 1;
        open_all(counting, w); /* what is open counts from 0 */
    } else {
        w->root = root;
        w->failed = root->failed;
        w->alone = atomic_load(&counting->roots_open) == 1;
        w->roots = atomic_load(&counting->roots);
        read_all(counting, root, w, false);
    }
    w->process_ns = counting->sys->process_ns();
}

void ks_perf_exit(ks_perf_counting *counting, ks_visit *visit)
{
    ks_perf_words *w = ks_perf_words_of(counting, visit);
    w->process_ns = counting->sys->process_ns() - w->process_ns;
    read_all(counting, w->root, w, true);
    w->alone = w->alone && atomic_load(&counting->roots) == w->roots;
    leave(counting, w->root);
}

void ks_perf_begin_program(ks_perf_counting *counting, ks_visit *visit)
{
    become_root(counting, ks_perf_words_of(counting, visit));
}

/* Not in groups: a group that does not fit would not count at all, and the program runs on. */
static void open_for_child(ks_perf_counting *c, ks_perf_words *w, pid_t pid)
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

void ks_perf_child(ks_perf_counting *counting, ks_visit *visit, const ks_child *child)
{
    ks_perf_words *w = ks_perf_words_of(counting, visit);
    if (child->ended) {
        read_all(counting, w, w, false);
    } else {
        open_for_child(counting, w, (pid_t)child->pid);
    }
}

void ks_perf_end_program(ks_perf_counting *counting, ks_visit *visit)
{
    leave(counting, ks_perf_words_of(counting, visit));
}

void ks_perf_abandon(ks_perf_counting *counting)
{
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        ks_perf_words *w = ks_perf_words_of(counting, v);
        if (w->root == w && atomic_exchange(&w->users, 0) > 0) {
            close_all(counting, w);
            atomic_fetch_sub(&counting->roots_open, 1);
        }
    }
}
