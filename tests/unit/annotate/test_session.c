/* Threads that annotate, whose work is whose, forks, and the session around it all. */
#include "fakes/session_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "annotate/internal.h"

static void *annotate_often(void *name)
{
    for (int i = 0; i < 2000; i++) {
        KS_ANNOTATE(name) {
            KS_ANNOTATE("inner") {
            }
        }
    }
    return NULL;
}

static void threads_annotate_at_once(void **state)
{
    (void)state;
    enum {
        THREADS = 8
    };
    pthread_t threads[THREADS];
    static char names[THREADS][8];
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i % 4);
        pthread_create(&threads[i], NULL, annotate_often, names[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    KT_OK(ks_session_end_call(&err));
    for (int i = 0; i < 4; i++) {
        char path[16];
        snprintf(path, sizeof path, "t%d/inner", i);
        assert_int_equal(visits_of(path), 4000);
        path[2] = '\0';
        assert_int_equal(visits_of(path), 4000);
    }
    assert_int_equal(ks_session_annotation_count(), 8);
}

static atomic_bool stop;

static void *annotate_until_stopped(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        KS_ANNOTATE("stray") {
        }
    }
    return NULL;
}

/* A thread that goes on annotating across calls: whatever it does, calls end cleanly. */
static void a_thread_may_outlive_calls_and_sessions(void **state)
{
    (void)state;
    pthread_t threads[2];
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, annotate_until_stopped, NULL);
    }
    for (int call = 0; call < 200; call++) {
        KS_ANNOTATE("body") {
        }
        ks_status status = ks_session_end_call(&err);
        assert_true(status == KS_OK || strstr(err.message, "'stray' was still open") != NULL);
        ks_error_clear(&err);
        assert_int_equal(visits_of("body"), 1);
        ks_session_forget_call();
        if (call % 10 == 9) {
            ks_session_close();
            KT_OK(ks_session_open(1, &err));
        }
        ks_session_begin_call(&hooks);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    ks_session_end_call(NULL);
}

static void *end_it(void *token)
{
    ks_error told = KS_ERROR_INIT;
    return ks_annotate_end(*(ks_token *)token, &told) == KS_OK ? token : NULL;
}

static void another_thread_may_end_an_annotation_once(void **state)
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    size_t ends = 0;
    pthread_t threads[4];
    KT_OK(ks_annotate_begin("handed over", &token, &err));
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, end_it, &token);
    }
    for (int i = 0; i < 4; i++) {
        void *ok = NULL;
        pthread_join(threads[i], &ok);
        ends += ok != NULL;
    }
    assert_int_equal(ends, 1);
    KS_ANNOTATE("after") { /* on this thread the ended one is no parent any more */
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("after"), 1);
}

static void *annotate_once(void *arg)
{
    (void)arg;
    KS_ANNOTATE("short") {
    }
    return NULL;
}

static void run_thread(void *(*work)(void *arg))
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    pthread_join(thread, NULL);
}

static void *annotate_nothing(void *arg)
{
    return arg;
}

static void collectors_are_told_of_a_thread_that_annotated_and_ends_in_the_call(void **state)
{
    (void)state;
    run_thread(annotate_once);
    assert_int_equal(threads_ended, 1);
    run_thread(annotate_nothing);
    assert_int_equal(threads_ended, 1);
    KT_OK(ks_session_end_call(&err));
    run_thread(annotate_once); /* outside a call */
    assert_int_equal(threads_ended, 1);
}

static void threads_that_end_leave_their_memory_to_others(void **state)
{
    (void)state;
    size_t chunks = 0;
    for (int call = 0; call < 50; call++) {
        run_thread(annotate_once);
        run_thread(annotate_once);
        KT_OK(ks_session_end_call(&err));
        assert_int_equal(visits_of("short"), 2); /* both are there until the call is forgotten */
        ks_session_forget_call();
        ks_session_begin_call(&hooks);
    }
    for (ks_chunk *chunk = ks_the_session.chunks; chunk != NULL; chunk = chunk->next) {
        chunks++;
    }
    assert_int_equal(chunks, 2);
}

/* Its destructor runs after that of the session's key, or before: in both cases it annotates. */
static pthread_key_t late_key;

static void annotate_late(void *rounds)
{
    KS_ANNOTATE("late") {
    }
    uintptr_t left = (uintptr_t)rounds - 1;
    if (left > 0) {
        pthread_setspecific(late_key, (void *)left);
    }
}

static void *annotate_and_end(void *arg)
{
    pthread_setspecific(late_key, (void *)(uintptr_t)2);
    return annotate_once(arg);
}

static void a_thread_may_annotate_while_it_ends(void **state)
{
    (void)state;
    assert_int_equal(pthread_key_create(&late_key, annotate_late), 0);
    run_thread(annotate_and_end);
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("short"), 1);
    assert_int_equal(visits_of("late"), 2);
    assert_null(ks_the_session.threads); /* nobody waits for a thread that is gone */
    pthread_key_delete(late_key);
}

static void *owner_here(void *arg)
{
    ks_owner *owner = arg;
    assert_true(ks_session_owner(owner));
    return NULL;
}

static const char *owner_on_new_thread(void)
{
    ks_owner owner = {NULL, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, owner_here, &owner);
    pthread_join(thread, NULL);
    return owner.annotation != NULL ? owner.annotation->path : NULL;
}

static void *own_annotation(void *arg)
{
    KS_ANNOTATE("worker") {
        owner_here(arg);
    }
    return NULL;
}

static void work_belongs_to_the_nearest_annotation(void **state) /* design 3.3 */
{
    (void)state;
    ks_owner owner = {NULL, 0};
    pthread_t thread;
    assert_null(owner_on_new_thread()); /* none is open */
    KS_ANNOTATE("body") {
        KS_ANNOTATE("inner") {
            owner_here(&owner);
            assert_string_equal(owner.annotation->path, "body/inner");
            /* a thread without one: the body's thread counts */
            assert_string_equal(owner_on_new_thread(), "body/inner");
            /* a thread with one: its own counts */
            pthread_create(&thread, NULL, own_annotation, &owner);
            pthread_join(thread, NULL);
            assert_string_equal(owner.annotation->path, "worker");
        }
        owner_here(&owner);
        assert_string_equal(owner.annotation->path, "body");
    }
    KT_OK(ks_session_end_call(&err));
    assert_false(ks_session_owner(&owner));
}

typedef struct holder {
    const char *name;
    pthread_barrier_t step; /* with the main thread: it is open now; it may end now */
    pthread_t thread;
} holder;

static void *hold_open(void *arg)
{
    holder *h = arg;
    KS_ANNOTATE(h->name) {
        pthread_barrier_wait(&h->step);
        pthread_barrier_wait(&h->step);
    }
    return NULL;
}

static void start_holding(holder *h)
{
    pthread_barrier_init(&h->step, NULL, 2);
    pthread_create(&h->thread, NULL, hold_open, h);
    pthread_barrier_wait(&h->step);
}

static void stop_holding(holder *h)
{
    pthread_barrier_wait(&h->step);
    pthread_join(h->thread, NULL);
    pthread_barrier_destroy(&h->step);
}

static void the_only_open_annotation_owns_what_nobody_else_does(void **state)
{
    (void)state;
    holder first = {.name = "first"};
    holder second = {.name = "second"};
    start_holding(&first);
    assert_string_equal(owner_on_new_thread(), "first");
    start_holding(&second);
    assert_null(owner_on_new_thread()); /* two: nobody can tell */
    stop_holding(&first);
    assert_string_equal(owner_on_new_thread(), "second");
    stop_holding(&second);
    KT_OK(ks_session_end_call(&err));
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static void outside_a_session_nothing_happens(void **state)
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    ks_error_clear(&err);
    KS_ANNOTATE("a\nb") {
    }
    KT_OK(ks_annotate_begin("x", &token, &err));
    KT_OK(ks_session_open(1, &err));
    ks_session_begin_call(&hooks);
    KT_OK(ks_annotate_end(token, &err)); /* begun outside: ending it inside is no mistake */
    KT_OK(ks_session_end_call(&err));
    ks_visits walk = ks_session_visits();
    assert_null(ks_next_visit(&walk));
    KT_FAILS(ks_session_open(1, &err), KS_EBUSY, "another run is active");
    ks_session_close();
}

static void a_forked_child_is_inert(void **state)
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    KT_OK(ks_annotate_begin("parent", &token, &err));
    pid_t child = fork();
    if (child == 0) {
        size_t before = atomic_load(&begun);
        KS_ANNOTATE("child") {
        }
        bool inert = atomic_load(&begun) == before && ks_annotate_end(token, NULL) == KS_OK &&
                     ks_session_in_child() && ks_session_end_call(NULL) == KS_ESTATE &&
                     ks_session_open(1, NULL) == KS_ESTATE;
        _exit(inert ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    KT_OK(ks_annotate_end(token, &err));
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("parent"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outside_a_session_nothing_happens),
        IN_SESSION(threads_annotate_at_once),
        IN_SESSION(a_thread_may_outlive_calls_and_sessions),
        IN_SESSION(another_thread_may_end_an_annotation_once),
        IN_SESSION(collectors_are_told_of_a_thread_that_annotated_and_ends_in_the_call),
        IN_SESSION(threads_that_end_leave_their_memory_to_others),
        IN_SESSION(a_thread_may_annotate_while_it_ends),
        IN_SESSION(work_belongs_to_the_nearest_annotation),
        IN_SESSION(the_only_open_annotation_owns_what_nobody_else_does),
        IN_SESSION(a_forked_child_is_inert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
