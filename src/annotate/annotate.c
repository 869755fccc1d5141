/* Begin and end: the hot path. */
#include "kernsight/annotate.h"

#include <string.h>

#include "annotate/internal.h"
#include "base/alloc.h"
#include "base/error.h"

/* A token of an annotation that began outside a measured call: ending it does nothing. */
static const uint64_t OUTSIDE = UINT64_MAX;

static uint64_t current_call(void)
{
    return atomic_load_explicit(&ks_the_session.gate, memory_order_acquire);
}

static ks_annotation **cache_slot(ks_thread *thread, const char *name)
{
    uintptr_t address = (uintptr_t)name;
    return &thread->cache[(address ^ address >> 4 ^ address >> 9) % 8];
}

static ks_status find_annotation(ks_thread *thread, ks_annotation *parent, const char *name,
                                 ks_annotation **out, ks_error *err)
{
    /* the address only finds the slot: what it holds is compared by name, which may have changed */
    ks_annotation **slot = cache_slot(thread, name);
    if (*slot == NULL || (*slot)->parent != parent || strcmp((*slot)->name, name) != 0) {
        KS_TRY(ks_intern(parent, name, slot, err));
    }
    *out = *slot;
    return KS_OK;
}

static ks_status begin_visit(ks_thread *thread, const char *name, ks_visit **out, ks_error *err)
{
    ks_session *s = &ks_the_session;
    /* the user's own code: before the region opens, and annotations in it are inert */
    uint32_t info = s->hooks.enter != NULL ? s->hooks.enter(s->hooks.enter_self, name) : 0;
    ks_visit *parent = ks_innermost(atomic_load_explicit(&thread->top, memory_order_relaxed));
    ks_annotation *annotation = NULL;
    KS_TRY(find_annotation(thread, parent != NULL ? parent->annotation : NULL, name, &annotation,
                           err));
    ks_visit *visit = ks_thread_new_visit(thread);
    if (visit == NULL) {
        return ks_enomem(err);
    }
    visit->annotation = annotation;
    visit->parent = parent;
    visit->failure = NULL;
    visit->thread = thread->number;
    visit->info = info;
    atomic_init(&visit->state, KS_VISIT_OPEN);
    atomic_store_explicit(&thread->top, visit, memory_order_release);
    for (size_t i = s->hooks.count; i-- > 0;) {
        s->hooks.list[i].begin(s->hooks.list[i].self, visit);
    }
    *out = visit;
    return KS_OK;
}

/* A failure that nobody is told of is noted before the thread leaves, so that it is the present
 * call's and never the next one's. */
static ks_status leave(ks_thread *thread, ks_status status, const ks_error *told, bool scoped)
{
    if (scoped && status != KS_OK) {
        ks_session_fault(told);
    }
    ks_thread_leave(thread);
    return status;
}

static ks_status begin(const char *name, ks_token *out, bool scoped, ks_error *err)
{
    uint64_t call = current_call();
    ks_thread *thread = call != 0 ? ks_thread_enter(call) : NULL;
    if (thread == NULL) {
        *out = (ks_token){OUTSIDE, NULL};
        return KS_OK;
    }
    ks_visit *visit = NULL;
    ks_status status =
        name != NULL ? begin_visit(thread, name, &visit, err) : ks_intern(NULL, NULL, NULL, err);
    if (status == KS_OK) {
        *out = (ks_token){call, visit};
    }
    return leave(thread, status, err, scoped);
}

ks_status ks_annotate_begin(const char *name, ks_token *out, ks_error *err)
{
    return begin(name, out, false, err);
}

static ks_status end_visit(ks_token token, const char *failure, ks_error *err)
{
    ks_session *s = &ks_the_session;
    ks_visit *visit = token.visit;
    unsigned expected = KS_VISIT_OPEN;
    unsigned state = failure != NULL ? KS_VISIT_FAILED : KS_VISIT_ENDED;
    if (!atomic_compare_exchange_strong(&visit->state, &expected, state)) {
        return ks_fail(err, KS_ESTATE, "annotate", 0, "annotation '%s' was already ended",
                       visit->annotation->path);
    }
    visit->failure = failure;
    for (size_t i = 0; i < s->hooks.count; i++) {
        s->hooks.list[i].end(s->hooks.list[i].self, visit);
    }
    return KS_OK;
}

/* Keep a reason, as one line of UTF-8, until the session ends. */
static ks_status keep_reason(const char *why, const char **out, ks_error *err)
{
    ks_text_id id = 0;
    ks_error line = KS_ERROR_INIT;
    ks_fail(&line, KS_EBODY, "annotate", 0, "%s", why);
    pthread_mutex_lock(&ks_the_session.lock);
    ks_status status = ks_pool_add(&ks_the_session.texts, line.message, &id, err);
    *out = ks_pool_text(&ks_the_session.texts, id);
    pthread_mutex_unlock(&ks_the_session.lock);
    return status;
}

/* The token's call is the one that runs now. */
static ks_status end_here(ks_token token, const char *why, ks_error *err)
{
    const char *failure = NULL;
    if (why != NULL) {
        KS_TRY(keep_reason(why, &failure, err));
    }
    return end_visit(token, failure, err);
}

static ks_status end(ks_token token, const char *why, bool scoped, ks_error *err)
{
    uint64_t call = current_call();
    ks_thread *thread = call != 0 && token.run != OUTSIDE ? ks_thread_enter(call) : NULL;
    if (thread == NULL) {
        return KS_OK;
    }
    ks_status status = KS_OK;
    if (token.run == call) {
        status = end_here(token, why, err);
    } else if (token.run == 0) {
        status =
            ks_fail(err, KS_ESTATE, "annotate", 0, "this token is of no annotation that was begun");
    } else if (!scoped) {
        /* of a block it is known already: it was left open when its call ended */
        status = ks_fail(err, KS_ESTATE, "annotate", 0,
                         "this annotation was begun in an earlier call of the body");
    }
    return leave(thread, status, err, scoped);
}

ks_status ks_annotate_end(ks_token token, ks_error *err)
{
    return end(token, NULL, false, err);
}

ks_status ks_annotate_fail(ks_token token, const char *why, ks_error *err)
{
    return end(token, why != NULL ? why : "failed", false, err);
}

ks_scope ks_scope_open(const char *name)
{
    ks_scope scope = {{OUTSIDE, NULL}, 1};
    if (current_call() != 0) {
        ks_error fault = KS_ERROR_INIT;
        begin(name, &scope.token, true, &fault);
    }
    return scope;
}

void ks_scope_close(ks_scope *scope)
{
    if (scope->token.run != OUTSIDE) {
        ks_error fault = KS_ERROR_INIT;
        end(scope->token, NULL, true, &fault);
    }
}

void ks_session_child(ks_token token, const ks_child *child)
{
    ks_hooks *hooks = &ks_the_session.hooks;
    for (size_t i = 0; token.visit != NULL && i < hooks->count; i++) {
        hooks->list[i].child(hooks->list[i].self, token.visit, child);
    }
}

bool ks_session_holds_child(ks_token token)
{
    return token.visit != NULL && ks_the_session.hooks.hold_child;
}

static ks_visit *innermost_of(const ks_thread *thread)
{
    return ks_innermost(atomic_load_explicit(&thread->top, memory_order_acquire));
}

/* The innermost visit open on the thread of the body; else the only one open on any thread. */
static ks_visit *open_elsewhere(ks_session *s, uint64_t session)
{
    ks_visit *found = NULL;
    size_t open = 0;
    pthread_mutex_lock(&s->lock);
    if (s->body_thread->session == session) {
        found = innermost_of(s->body_thread);
    }
    ks_thread *other = found == NULL ? s->threads : NULL;
    for (; other != NULL; other = other->next) {
        ks_visit *candidate = innermost_of(other);
        open += candidate != NULL;
        found = candidate != NULL ? candidate : found;
    }
    pthread_mutex_unlock(&s->lock);
    return open > 1 ? NULL : found;
}

bool ks_session_owner(ks_owner *out)
{
    uint64_t call = current_call();
    ks_thread *thread = call != 0 ? ks_thread_enter(call) : NULL;
    if (thread == NULL) {
        return false;
    }
    ks_visit *visit = innermost_of(thread);
    if (visit == NULL) {
        visit = open_elsewhere(&ks_the_session, thread->session);
    }
    out->annotation = visit != NULL ? visit->annotation : NULL;
    out->thread = thread->number;
    ks_thread_leave(thread);
    return true;
}
