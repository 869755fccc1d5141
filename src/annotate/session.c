/* The session's life, the threads in it, and what happens at a fork. */
#include "annotate/session.h"

#include <sched.h>
#include <string.h>

#include "annotate/internal.h"
#include "base/alloc.h"
#include "base/error.h"

ks_session ks_the_session = {.lock = PTHREAD_MUTEX_INITIALIZER, .fault = KS_FAULT_INIT};

static _Thread_local ks_thread this_thread __attribute__((tls_model("initial-exec")));

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key; /* tells of threads that end */
static bool has_exit_key;

static void after_fork_in_child(void)
{
    ks_session *s = &ks_the_session;
    if (!atomic_load(&s->in_use)) {
        return;
    }
    /* the parent's threads are gone, and with them whatever they held or were about to do */
    atomic_store(&s->gate, 0);
    atomic_store(&s->inert, true);
    pthread_mutex_init(&s->lock, NULL);
    ks_fault_init(&s->fault);
    s->threads = NULL;
    this_thread.session = 0;
    atomic_store(&this_thread.busy, 0);
}

/* Calls are numbered through; the upper half of a call's number is that of its session. */
static uint64_t session_of(uint64_t call)
{
    return call >> 32;
}

/* Tell the collectors that the calling thread ends, unless the call does so too: busy, so that the
 * call waits for it as for an annotation. */
static void tell_of_end(const ks_thread *thread)
{
    ks_session *s = &ks_the_session;
    uint64_t call = atomic_load(&s->gate);
    bool listed = call != 0 && thread->session == session_of(call);
    ks_thread *entered = listed ? ks_thread_enter(call) : NULL;
    if (entered == NULL) {
        return;
    }
    for (size_t i = 0; i < s->hooks.count; i++) {
        s->hooks.list[i].thread_end(s->hooks.list[i].self);
    }
    ks_thread_leave(entered);
}

/* A thread ends. Should it still annotate, in destructors that run later, it is listed again. */
static void unlist_thread(void *ending)
{
    ks_session *s = &ks_the_session;
    ks_thread *thread = ending;
    tell_of_end(thread);
    pthread_mutex_lock(&s->lock);
    for (ks_thread **at = &s->threads; *at != NULL; at = &(*at)->next) {
        if (*at == thread) {
            *at = thread->next;
            for (ks_chunk *chunk = thread->first; chunk != NULL; chunk = chunk->following) {
                chunk->abandoned = true;
            }
            break;
        }
    }
    thread->session = 0;
    pthread_mutex_unlock(&s->lock);
}

static void prepare(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
    has_exit_key = pthread_key_create(&exit_key, unlist_thread) == 0;
}

ks_status ks_session_open(size_t slots, ks_error *err)
{
    ks_session *s = &ks_the_session;
    pthread_once(&prepared, prepare);
    if (atomic_load(&s->inert)) {
        return ks_fail(
            err, KS_ESTATE, "run", 0,
            "this process was forked inside a run, where kernsight does nothing; start a "
            "new program (exec) to measure there");
    }
    if (!has_exit_key) {
        return ks_fail(err, KS_ELIMIT, "run", 0,
                       "this process has no thread-specific key left (PTHREAD_KEYS_MAX)");
    }
    bool idle = false;
    if (!atomic_compare_exchange_strong(&s->in_use, &idle, true)) {
        return ks_fail(err, KS_EBUSY, "run", 0,
                       "another run is active in this process; wait until it has ended");
    }
    s->number++;
    s->calls = 0;
    s->visit_bytes = sizeof(ks_visit) + slots * sizeof(uint64_t);
    s->thread_count = 0;
    ks_fault_take(&s->fault, NULL);
    ks_pool_init(&s->texts);
    return KS_OK;
}

void ks_session_close(void)
{
    ks_session *s = &ks_the_session;
    pthread_mutex_lock(&s->lock);
    s->threads = NULL;
    while (s->chunks != NULL) {
        ks_chunk *next = s->chunks->next;
        ks_free(s->chunks);
        s->chunks = next;
    }
    s->last_chunk = s->free_chunks = NULL;
    ks_intern_fini();
    ks_pool_fini(&s->texts);
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->in_use, false);
}

/* List the calling thread in the session, unless the gate closed meanwhile. */
static bool list_thread(ks_thread *thread, uint64_t call)
{
    ks_session *s = &ks_the_session;
    if (pthread_setspecific(exit_key, thread) != 0) {
        ks_error fault = KS_ERROR_INIT;
        ks_enomem(&fault);
        ks_session_fault(&fault);
        return false;
    }
    pthread_mutex_lock(&s->lock);
    bool open = atomic_load(&s->gate) == call;
    if (open) {
        thread->session = session_of(call);
        thread->number = s->thread_count++;
        thread->chunk = NULL;
        thread->first = NULL;
        atomic_store_explicit(&thread->top, NULL, memory_order_relaxed);
        memset(thread->cache, 0, sizeof thread->cache);
        thread->next = s->threads;
        s->threads = thread;
    }
    pthread_mutex_unlock(&s->lock);
    return open;
}

ks_thread *ks_thread_enter(uint64_t call)
{
    ks_thread *thread = &this_thread;
    if (thread->session != session_of(call) && !list_thread(thread, call)) {
        return NULL;
    }
    if (atomic_load_explicit(&thread->busy, memory_order_relaxed) != 0) {
        return NULL; /* called from within an annotation function, by a user's callback */
    }
    atomic_store(&thread->busy, 1);
    if (atomic_load(&ks_the_session.gate) != call) {
        ks_thread_leave(thread);
        return NULL;
    }
    return thread;
}

void ks_thread_leave(ks_thread *thread)
{
    atomic_store_explicit(&thread->busy, 0, memory_order_release);
}

ks_visit *ks_innermost(ks_visit *visit)
{
    while (visit != NULL &&
           atomic_load_explicit(&visit->state, memory_order_relaxed) != KS_VISIT_OPEN) {
        visit = visit->parent;
    }
    return visit;
}

/* Add a new chunk to the session; the caller holds the lock. */
static ks_chunk *make_chunk(ks_session *s)
{
    size_t room = s->visit_bytes > KS_CHUNK_BYTES ? s->visit_bytes : KS_CHUNK_BYTES;
    ks_chunk *chunk = ks_alloc(sizeof *chunk + room);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->next = NULL;
    chunk->used = 0;
    if (s->last_chunk != NULL) {
        s->last_chunk->next = chunk;
    } else {
        s->chunks = chunk;
    }
    s->last_chunk = chunk;
    return chunk;
}

/* One more chunk for the thread. */
static ks_chunk *take_chunk(ks_thread *thread)
{
    ks_session *s = &ks_the_session;
    pthread_mutex_lock(&s->lock);
    ks_chunk *chunk = s->free_chunks;
    if (chunk != NULL) {
        s->free_chunks = chunk->following;
    } else {
        chunk = make_chunk(s);
    }
    if (chunk != NULL) {
        chunk->following = NULL;
        chunk->abandoned = false;
    }
    pthread_mutex_unlock(&s->lock);
    if (chunk != NULL && thread->chunk != NULL) {
        thread->chunk->following = chunk;
    } else if (chunk != NULL) {
        thread->first = chunk;
    }
    return chunk;
}

ks_visit *ks_thread_new_visit(ks_thread *thread)
{
    size_t bytes = ks_the_session.visit_bytes;
    ks_chunk *chunk = thread->chunk;
    if (chunk == NULL || chunk->used + bytes > KS_CHUNK_BYTES) {
        ks_chunk *next = chunk != NULL ? chunk->following : thread->first;
        chunk = next != NULL ? next : take_chunk(thread);
        if (chunk == NULL) {
            return NULL;
        }
        thread->chunk = chunk;
    }
    ks_visit *visit = (ks_visit *)(void *)(chunk->bytes + chunk->used);
    chunk->used += bytes;
    return visit;
}

void ks_session_begin_call(const ks_hooks *hooks)
{
    ks_session *s = &ks_the_session;
    s->hooks = *hooks;
    s->body_thread = &this_thread;
    atomic_store(&s->gate, s->number << 32 | ++s->calls);
}

/* Wait until no thread is inside an annotation function: they are short and never wait for us. */
static void wait_for_threads(void)
{
    ks_session *s = &ks_the_session;
    pthread_mutex_lock(&s->lock);
    ks_thread *thread = s->threads;
    while (thread != NULL) {
        if (atomic_load(&thread->busy) == 0) {
            thread = thread->next;
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        sched_yield();
        pthread_mutex_lock(&s->lock);
        thread = s->threads; /* it may have left the list meanwhile */
    }
    pthread_mutex_unlock(&s->lock);
}

static void find_left_open(ks_error *err)
{
    ks_visit *open = NULL;
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        if (atomic_load(&v->state) == KS_VISIT_OPEN) {
            atomic_store(&v->state, KS_VISIT_ENDED);
            open = open != NULL ? open : v;
        }
    }
    if (open != NULL) {
        ks_fail(err, KS_ESTATE, "annotate", 0,
                "annotation '%s' was still open when the body returned; end it with "
                "ks_annotate_end() on every way out",
                open->annotation->path);
    }
}

bool ks_session_in_child(void)
{
    return atomic_load(&ks_the_session.inert);
}

ks_status ks_session_end_call(ks_error *err)
{
    ks_session *s = &ks_the_session;
    if (ks_session_in_child()) {
        return ks_fail(err, KS_ESTATE, "run", 0,
                       "the body returned in a child that it had forked; the child must leave with "
                       "_exit() or exec");
    }
    atomic_store(&s->gate, 0);
    wait_for_threads();
    ks_error left_open = KS_ERROR_INIT;
    find_left_open(&left_open);
    KS_TRY(ks_fault_take(&s->fault, err));
    if (left_open.code != KS_OK) {
        return ks_fail(err, left_open.code, left_open.origin, 0, "%s", left_open.message);
    }
    return KS_OK;
}

void ks_session_forget_call(void)
{
    ks_session *s = &ks_the_session;
    pthread_mutex_lock(&s->lock);
    s->free_chunks = NULL;
    for (ks_chunk *chunk = s->chunks; chunk != NULL; chunk = chunk->next) {
        chunk->used = 0;
        if (chunk->abandoned) {
            chunk->following = s->free_chunks;
            s->free_chunks = chunk;
        }
    }
    for (ks_thread *thread = s->threads; thread != NULL; thread = thread->next) {
        thread->chunk = thread->first;
        atomic_store_explicit(&thread->top, NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&s->lock);
}

void ks_session_fault(const ks_error *fault)
{
    ks_fault_note(&ks_the_session.fault, fault);
}

ks_visits ks_session_visits(void)
{
    return (ks_visits){.chunk = ks_the_session.chunks};
}

ks_visit *ks_next_visit(ks_visits *walk)
{
    while (walk->chunk != NULL && walk->at >= walk->chunk->used) {
        walk->chunk = walk->chunk->next;
        walk->at = 0;
    }
    if (walk->chunk == NULL) {
        return NULL;
    }
    ks_visit *visit = (ks_visit *)(void *)(walk->chunk->bytes + walk->at);
    walk->at += ks_the_session.visit_bytes;
    return visit;
}
