/* Annotations against a session: case C04, threads, forks. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "annotate/session.h"

static ks_error err;

/* A hook that counts and marks: slot 0 holds 1 after begin, 2 after end. */
static atomic_size_t begun;
static atomic_size_t ended;

static void on_begin(void *self, ks_visit *visit)
{
    (void)self;
    visit->slots[0] = 1;
    atomic_fetch_add(&begun, 1);
}

static void on_end(void *self, ks_visit *visit)
{
    (void)self;
    visit->slots[0]++;
    atomic_fetch_add(&ended, 1);
}

static void on_child(void *self, ks_visit *visit, const ks_child *child)
{
    (void)self;
    (void)visit;
    (void)child;
}

static const ks_hooks hooks = {.list = {{on_begin, on_end, on_child, NULL}}, .count = 1};

static int open_session(void **state)
{
    (void)state;
    ks_error_clear(&err);
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    KT_OK(ks_session_open(1, &err));
    ks_session_begin_call(&hooks);
    return 0;
}

static int close_session(void **state)
{
    (void)state;
    ks_session_end_call(NULL); /* a test that failed leaves its call open */
    ks_session_close();
    return 0;
}

/* Visits of a path in the last call. */
static size_t visits_of(const char *path)
{
    size_t count = 0;
    for (ks_visit *v = ks_session_next_visit(NULL); v != NULL; v = ks_session_next_visit(v)) {
        count += strcmp(v->annotation->path, path) == 0;
    }
    return count;
}

static void nested_and_repeated_annotations_have_paths_and_visits(void **state) /* C04 a, b */
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        KS_ANNOTATE("outer") {
            KS_ANNOTATE("in/ner") {
            }
            KS_ANNOTATE("b\\s") {
            }
        }
    }
    KS_ANNOTATE("in/ner") {
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("outer"), 3);
    assert_int_equal(visits_of("outer/in\\/ner"), 3);
    assert_int_equal(visits_of("outer/b\\\\s"), 3);
    assert_int_equal(visits_of("in\\/ner"), 1);
    assert_int_equal(ks_session_annotation_count(), 4);
    assert_string_equal(ks_session_annotation(0)->path, "outer");
    assert_int_equal(atomic_load(&begun), 10);
    assert_int_equal(atomic_load(&ended), 10);
}

static int leave(int how)
{
    for (int i = 0; i < 2; i++) {
        KS_ANNOTATE("left") {
            if (how == 0) {
                break;
            }
            if (how == 1) {
                continue;
            }
            if (how == 2) {
                return 1;
            }
            goto out;
        }
    }
    return 0;
out:
    return 2;
}

static void a_block_ends_however_it_is_left(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        leave(how);
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(atomic_load(&begun), atomic_load(&ended));
    assert_true(atomic_load(&begun) >= 4);
}

static void ending_what_is_not_open_is_an_error_and_harms_nobody(void **state) /* C04 c */
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    KT_FAILS(ks_annotate_end(token, &err), KS_ESTATE, "no annotation that was begun");
    KT_OK(ks_annotate_begin("a", &token, &err));
    KT_OK(ks_annotate_end(token, &err));
    KT_FAILS(ks_annotate_end(token, &err), KS_ESTATE, "'a' was already ended");
    KT_OK(ks_annotate_begin("b", &token, &err));
    KT_OK(ks_annotate_end(token, &err));
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("a"), 1);
    assert_int_equal(visits_of("b"), 1);
}

static void an_annotation_left_open_is_named(void **state) /* C04 d */
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    KT_OK(ks_annotate_begin("outer", &token, &err));
    KT_FAILS(ks_session_end_call(&err), KS_ESTATE, "'outer' was still open");
    KT_OK(ks_annotate_end(token, &err)); /* outside a call nothing happens */
    ks_session_forget_call();
    ks_session_begin_call(&hooks);
    KT_FAILS(ks_annotate_end(token, &err), KS_ESTATE, "earlier call");
    KS_ANNOTATE("next") {
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("next"), 1);
    assert_int_equal(visits_of("outer"), 0);
}

static void names_are_any_text_without_control_characters(void **state) /* C04 e */
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    char *longest = calloc(1, 70000);
    assert_non_null(longest);
    memset(longest, 'x', 10000);
    const char *const good[] = {"", "a/b", "a,b", "🚀 é", longest};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        KT_OK(ks_annotate_begin(good[i], &token, &err));
        KT_OK(ks_annotate_end(token, &err));
    }
    KT_FAILS(ks_annotate_begin("a\nb", &token, &err), KS_EINVAL, "control character");
    KT_FAILS(ks_annotate_begin("\xff", &token, &err), KS_EINVAL, "not UTF-8");
    KT_FAILS(ks_annotate_begin(NULL, &token, &err), KS_EINVAL, "missing (NULL)");
    memset(longest, 'x', 65536);
    KT_FAILS(ks_annotate_begin(longest, &token, &err), KS_EINVAL, "65536 bytes");
    KT_OK(ks_session_end_call(&err)); /* what the caller was told spoils nothing */
    assert_int_equal(ks_session_annotation_count(), 5);
    assert_string_equal(ks_session_annotation(2)->path, "a,b");
    longest[10000] = '\0';
    assert_string_equal(ks_session_annotation(4)->path, longest);
    free(longest);
}

static void nesting_without_end_is_refused(void **state)
{
    (void)state;
    ks_token tokens[70];
    char name[1001] = {0};
    memset(name, 'n', 1000);
    size_t depth = 0;
    while (depth < 70 && ks_annotate_begin(name, &tokens[depth], &err) == KS_OK) {
        depth++;
    }
    assert_int_equal(err.code, KS_ELIMIT);
    KT_HAS(err.message, "nested too deep");
    assert_int_equal(depth, 65);
    ks_error_clear(&err);
    while (depth-- > 0) {
        KT_OK(ks_annotate_end(tokens[depth], &err));
    }
    KT_OK(ks_session_end_call(&err));
}

static void a_bad_name_in_a_block_fails_the_call(void **state)
{
    (void)state;
    int entered = 0;
    KS_ANNOTATE("bad\n") {
        entered++;
    }
    assert_int_equal(entered, 1); /* the work itself is done */
    KT_FAILS(ks_session_end_call(&err), KS_EINVAL, "control character");
}

static void a_name_is_compared_by_its_text(void **state)
{
    (void)state;
    char name[8] = "one";
    for (int i = 0; i < 4; i++) {
        memcpy(name, i % 2 ? "two" : "one", 4); /* the same address each time */
        KS_ANNOTATE(name) {
        }
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("one"), 2);
    assert_int_equal(visits_of("two"), 2);
}

static void work_that_failed_is_marked(void **state)
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    KT_OK(ks_annotate_begin("a", &token, &err));
    KT_OK(ks_annotate_fail(token, "out of\nmemory", &err));
    KT_OK(ks_session_end_call(&err));
    ks_visit *visit = ks_session_next_visit(NULL);
    assert_string_equal(visit->failure, "out of memory");
    assert_int_equal(visit->slots[0], 2);
}

static void many_visits_are_all_kept(void **state)
{
    (void)state;
    enum {
        COUNT = 100000
    };
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            KS_ANNOTATE(i % 3 == 0 ? "a" : "b") {
            }
        }
        KT_OK(ks_session_end_call(&err));
        assert_int_equal(visits_of("a") + visits_of("b"), COUNT);
        assert_int_equal(visits_of("a"), COUNT / 3 + 1);
        ks_session_forget_call();
        ks_session_begin_call(&hooks);
    }
    KT_OK(ks_session_end_call(&err));
}

/* ---- threads ----------------------------------------------------------------------------------
 */

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
    assert_null(ks_session_next_visit(NULL));
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
#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, open_session, close_session)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outside_a_session_nothing_happens),
        IN_SESSION(nested_and_repeated_annotations_have_paths_and_visits),
        IN_SESSION(a_block_ends_however_it_is_left),
        IN_SESSION(ending_what_is_not_open_is_an_error_and_harms_nobody),
        IN_SESSION(an_annotation_left_open_is_named),
        IN_SESSION(names_are_any_text_without_control_characters),
        IN_SESSION(nesting_without_end_is_refused),
        IN_SESSION(a_bad_name_in_a_block_fails_the_call),
        IN_SESSION(a_name_is_compared_by_its_text),
        IN_SESSION(work_that_failed_is_marked),
        IN_SESSION(many_visits_are_all_kept),
        IN_SESSION(threads_annotate_at_once),
        IN_SESSION(a_thread_may_outlive_calls_and_sessions),
        IN_SESSION(another_thread_may_end_an_annotation_once),
        IN_SESSION(work_belongs_to_the_nearest_annotation),
        IN_SESSION(the_only_open_annotation_owns_what_nobody_else_does),
        IN_SESSION(a_forked_child_is_inert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
