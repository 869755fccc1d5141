/* Shared by the files of this folder alone. */
#ifndef KS_ANNOTATE_INTERNAL_H
#define KS_ANNOTATE_INTERNAL_H

#include <pthread.h>

#include "annotate/session.h"
#include "base/fault.h"
#include "base/pool.h"

/*
 * What a thread keeps while it annotates. It lies in thread-local storage, so that the hot path
 * allocates nothing and shares no cache line.
 *
 * How a call ends safely while other threads annotate: a thread raises `busy`, then looks at the
 * gate again; whoever closes the gate does so first and then waits until no thread is busy. Both
 * orders are sequentially consistent, so either the thread sees a closed gate or the closer sees it
 * busy.
 */
typedef struct ks_thread {
    atomic_uint busy;
    uint32_t number;
    uint64_t session;        /* the session that this thread is listed in; 0: none */
    _Atomic(ks_visit *) top; /* last visit begun; the first open one from here on up is innermost */
    struct ks_chunk *chunk;  /* where the next visit goes; NULL: none yet in this call */
    struct ks_chunk *first;  /* the thread's chunks of this session */
    struct ks_thread *next;  /* in the session's list */
    ks_annotation *cache[8]; /* recently begun, by address of the name */
} ks_thread;

/* Visits lie in chunks that stay where they are until the session ends. Those of a thread that has
 * ended go to other threads once their call is forgotten. */
typedef struct ks_chunk {
    struct ks_chunk *next;      /* of the session */
    struct ks_chunk *following; /* of the same thread, or of the free ones */
    bool abandoned;             /* its thread has ended */
    size_t used;                /* bytes */
    char bytes[];
} ks_chunk;

enum {
    KS_CHUNK_BYTES = 64 * 1024
};

typedef struct ks_session {
    atomic_uint_fast64_t gate; /* number of the call that runs; 0: closed */
    atomic_bool in_use;
    atomic_bool inert; /* a forked child of a process in a session */
    uint64_t number;   /* of the session */
    uint64_t calls;    /* of this session so far */
    size_t visit_bytes;
    ks_hooks hooks;         /* constant while the gate is open */
    ks_thread *body_thread; /* likewise */

    ks_fault fault;

    pthread_mutex_t lock; /* for all below */
    ks_thread *threads;
    uint32_t thread_count;
    ks_chunk *chunks;
    ks_chunk *last_chunk;
    ks_chunk *free_chunks;
    ks_pool texts; /* reasons of failed visits */

    /* annotations by (parent, name): open addressing, guarded by the lock */
    ks_annotation **slots;
    size_t slot_count;
    ks_annotation **list;
    size_t count;
    size_t capacity;
} ks_session;

/* The only session; its gate is what an annotation looks at first. */
extern ks_session ks_the_session;

/* The calling thread's state, listed in this session and busy; NULL if the gate closed meanwhile,
 * or if the thread is busy already. */
ks_thread *ks_thread_enter(uint64_t call);
void ks_thread_leave(ks_thread *thread);

/* The innermost open visit at or above `visit`; NULL if there is none. */
ks_visit *ks_innermost(ks_visit *visit);

/* Room for a visit in the thread's chunk. */
ks_visit *ks_thread_new_visit(ks_thread *thread);

/* The annotation `name` under `parent`, made if it is new; refuses bad names, and NULL. */
ks_status ks_intern(ks_annotation *parent, const char *name, ks_annotation **out, ks_error *err);
void ks_intern_fini(void);

#endif
