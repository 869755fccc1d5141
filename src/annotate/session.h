/*
 * The session: what connects annotations with the run that measures them.
 *
 * One session at a time in a process. Within it a gate is open while a measured call of the body
 * runs; annotations that begin while it is closed are inert.
 */
#ifndef KS_ANNOTATE_SESSION_H
#define KS_ANNOTATE_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernsight/annotate.h"

/** A path of names, the same object for all its visits in a session. */
typedef struct ks_annotation {
    uint32_t id;                  /**< from 0 in order of appearance */
    struct ks_annotation *parent; /**< NULL at the top */
    const char *name;
    const char *path; /**< names joined by '/', those in names escaped */
    atomic_uint open; /**< a collector's count of its open visits */
} ks_annotation;

enum ks_visit_state {
    KS_VISIT_OPEN,
    KS_VISIT_ENDED,
    KS_VISIT_FAILED
};

/** One entry into an annotation during a call. */
typedef struct ks_visit {
    ks_annotation *annotation;
    struct ks_visit *parent; /**< the visit it is nested in, on the same thread */
    const char *failure;     /**< why its work failed, if it did */
    uint32_t thread;         /**< number of the thread in this session, from 0 */
    uint32_t info;           /**< what ks_hooks.enter returned */
    atomic_uint state;
    uint64_t slots[]; /**< the collectors' own words: ks_session_open() says how many */
} ks_visit;

/** A program that a visit runs: held before it is loaded (if ks_hooks.hold_child), and after its
 * end.
 */
typedef struct ks_child {
    long pid;
    bool ended;
    /* once it has ended: */
    uint64_t wall_ns;       /**< from its beginning to its end */
    uint64_t user_ns;       /**< of it and the processes that it waited for */
    uint64_t system_ns;     /**< likewise */
    uint64_t max_rss_bytes; /**< likewise, the largest */
    bool max_rss_known;     /**< it is above what the measuring process left in it */
    uint64_t stdout_bytes;
} ks_child;

/** What is called at each visit. `begin` runs from the last collector to the first, `end` the other
 *  way, so that the first one is the innermost. */
typedef struct ks_hook {
    void (*begin)(void *self, ks_visit *visit);
    void (*end)(void *self, ks_visit *visit);
    void (*child)(void *self, ks_visit *visit, const ks_child *child);
    void (*thread_end)(void *self); /**< on a thread that annotated and ends during the call */
    void *self;
} ks_hook;

enum {
    KS_HOOKS_MAX = 8
};

typedef struct ks_hooks {
    ks_hook list[KS_HOOKS_MAX];
    size_t count;
    bool hold_child; /**< a program is held before it is loaded, until `child` has seen it */
    uint32_t (*enter)(void *self, const char *name); /**< before anything is measured; or NULL */
    void *enter_self;
} ks_hooks;

/** Start a session whose visits have `slots` words. KS_EBUSY; KS_ESTATE in a forked child. */
ks_status ks_session_open(size_t slots, ks_error *err);
/** End the session and forget all about it. Its gate must be closed. */
void ks_session_close(void);

/** Open the gate for one call. The calling thread is the one that runs the body. */
void ks_session_begin_call(const ks_hooks *hooks);
/**
 * Close the gate, once no thread is inside an annotation function.
 *
 * @return KS_OK; the first fault that ks_session_fault() was given; KS_ESTATE for an annotation
 * that was left open; KS_ESTATE in a child that the body forked
 */
ks_status ks_session_end_call(ks_error *err);
/** Whether this is a child that was forked inside the session. */
bool ks_session_in_child(void);
/** Forget the visits of the last call. */
void ks_session_forget_call(void);

/** A failure inside a call that nobody else hears of. Safe from any thread; the first one stays. */
void ks_session_fault(const ks_error *fault);

/** Tell the collectors about the program that an open annotation runs. */
void ks_session_child(ks_token token, const ks_child *child);
/** Whether one of them wants to see it before it is loaded. */
bool ks_session_holds_child(ks_token token);

/** A walk over the visits of the last call: those of a thread come in order of entry. */
typedef struct ks_visits {
    struct ks_chunk *chunk;
    size_t at;
} ks_visits;

ks_visits ks_session_visits(void);
/** NULL at the end. */
ks_visit *ks_next_visit(ks_visits *walk);

/** Annotations seen in this session so far. */
uint32_t ks_session_annotation_count(void);
const ks_annotation *ks_session_annotation(uint32_t id);

/** Who a piece of work that this thread starts now belongs to. */
typedef struct ks_owner {
    const ks_annotation *annotation; /**< NULL: none */
    uint32_t thread;                 /**< number of the thread in this session */
} ks_owner;

/**
 * The owner of work started by the calling thread: the innermost annotation open on it; else on the
 * thread that runs the body; else the only one open in the process; else none.
 *
 * @return false while the gate is closed
 */
bool ks_session_owner(ks_owner *out);

#endif
