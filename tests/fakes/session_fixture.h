/* A session with one hook, whose call is open: what tests of annotations share. */
#ifndef SESSION_FIXTURE_H
#define SESSION_FIXTURE_H

#include "harness.h"

#include <stdatomic.h>

#include "annotate/session.h"

static ks_error err;

/* A hook that counts and marks: slot 0 holds 1 after begin, 2 after end. */
static atomic_size_t begun;
static atomic_size_t ended;
static atomic_size_t threads_ended;

static inline void on_begin(void *self, ks_visit *visit)
{
    (void)self;
    visit->slots[0] = 1;
    atomic_fetch_add(&begun, 1);
}

static inline void on_end(void *self, ks_visit *visit)
{
    (void)self;
    visit->slots[0]++;
    atomic_fetch_add(&ended, 1);
}

static inline void on_child(void *self, ks_visit *visit, const ks_child *child)
{
    (void)self;
    (void)visit;
    (void)child;
}

static inline void on_thread_end(void *self)
{
    (void)self;
    atomic_fetch_add(&threads_ended, 1);
}

static const ks_hooks hooks = {.list = {{on_begin, on_end, on_child, on_thread_end, NULL}},
                               .count = 1};

static inline int open_session(void **state)
{
    (void)state;
    ks_error_clear(&err);
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    atomic_store(&threads_ended, 0);
    KT_OK(ks_session_open(1, &err));
    ks_session_begin_call(&hooks);
    return 0;
}

static inline int close_session(void **state)
{
    (void)state;
    ks_session_end_call(NULL); /* a test that failed leaves its call open */
    ks_session_close();
    return 0;
}

/* Visits of a path in the last call. */
static inline size_t visits_of(const char *path)
{
    size_t count = 0;
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        count += strcmp(v->annotation->path, path) == 0;
    }
    return count;
}

#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, open_session, close_session)

#endif
