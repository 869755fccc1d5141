/* The perf collector with an imaginary kernel: visits, and threads that come and go. */
#include <pthread.h>

#include "fakes/perf_fixture.h"

static ks_status nested(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("outer") {
        fake_perf_work(1000);
        for (int i = 0; i < 3; i++) {
            KS_ANNOTATE("inner") {
                fake_perf_work(200);
            }
        }
        fake_perf_work(400);
    }
    return KS_OK;
}

static unsigned opened_by_visits;

static ks_status often(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    unsigned before = fake_perf.opened;
    for (int i = 0; i < 100; i++) {
        fake_perf_work(50);
        KS_ANNOTATE("often") {
            fake_perf_work(10);
        }
    }
    opened_by_visits = fake_perf.opened - before;
    return KS_OK;
}

static void a_thread_opens_its_counters_once_in_a_call(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES, FAULTS);
    run(often);
    KT_F64(mean("often", CYCLES), 100 * 10 * 2); /* nothing of what lies between the visits */
    KT_F64(mean("often", FAULTS), 100 * 10);
    assert_int_equal(opened_by_visits, 2);
}

static void nested_visits_read_the_same_counters(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES, FAULTS);
    run(nested);
    KT_F64(mean("outer/inner", CYCLES), 1200); /* 3 visits of 200 ns, 2 cycles each */
    KT_F64(mean("outer", CYCLES), 4000);
    KT_F64(mean("outer/inner", FAULTS), 600);
    assert_int_equal(fake_perf.most, 2);
}

static void an_empty_region_says_what_it_counts(void **state)
{
    (void)state;
    /* each system call looks like 10 ns in user mode. A nested visit is charged what passes between
     * its own readings of one counter: the call that read it at the begin, so 20 cycles; an inner
     * visit adds two of them to the outer: 40 */
    use((fake_perf_script){.counters = 4, .overhead_ns = 10});
    ASK(CYCLES);
    run(nested);
    KT_F64(mean("outer/inner", CYCLES), 1200 + 3 * 20);
    assert_null(text("outer/inner", CYCLES, "Warnings")); /* 400 a visit, above 10 times 20 */
    use_again((fake_perf_script){.counters = 4, .overhead_ns = 100});
    ASK(CYCLES);
    run(nested);
    KT_HAS(text("outer/inner", CYCLES, "Warnings"),
           "less than 10 times what an empty region counts (200): put more work into it");
    KT_HAS(text("outer", CYCLES, "Warnings"), "is what its 3 annotations inside cost");
}

static void *work_elsewhere(void *arg)
{
    (void)arg;
    KS_ANNOTATE("elsewhere") {
        fake_perf_work(300);
    }
    return NULL;
}

static ks_status on_two_threads(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    pthread_t thread;
    KS_ANNOTATE("here") {
        fake_perf_work(100);
        pthread_create(&thread, NULL, work_elsewhere, NULL);
        pthread_join(thread, NULL);
    }
    return KS_OK;
}

static void every_thread_has_counters_of_its_own(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .threads = 2});
    ASK(CYCLES);
    run(on_two_threads);
    KT_F64(mean("here", CYCLES), 200);
    KT_F64(mean("elsewhere", CYCLES), 600);
    /* "elsewhere" counts what "here" does not: there is nothing to warn of */
    assert_null(text("here", CYCLES, "Warnings"));
}

static void *work_silently(void *arg)
{
    (void)arg;
    fake_perf_work(3e6);
    return NULL;
}

static ks_status helped_by_others(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    pthread_t thread;
    KS_ANNOTATE("helped") {
        fake_perf_work(1e6);
        pthread_create(&thread, NULL, work_silently, NULL);
        pthread_join(thread, NULL);
    }
    return KS_OK;
}

static void threads_that_are_not_counted_are_told(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .threads = 2});
    ASK(CYCLES);
    run(helped_by_others);
    KT_F64(mean("helped", CYCLES), 2e6);
    KT_HAS(text("helped", CYCLES, "Warnings"),
           "threads that were running before it began are not counted: they used about 75 % of");
    use_again(
        (fake_perf_script){.counters = 4, .threads = 1}); /* it was the only one when it began */
    ASK(CYCLES);
    run(helped_by_others);
    assert_null(text("helped", CYCLES, "Warnings"));
}

enum {
    SHORT_LIVED = 100
};

static ks_status with_many_threads(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    for (int i = 0; i < SHORT_LIVED; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work_elsewhere, NULL);
        pthread_join(thread, NULL);
    }
    return KS_OK;
}

static void a_thread_that_ends_gives_its_descriptors_back(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .descriptors = 4});
    ASK(CYCLES, FAULTS);
    run(with_many_threads);
    KT_F64(mean("elsewhere", CYCLES), SHORT_LIVED * 600);
    KT_F64(mean("elsewhere", FAULTS), SHORT_LIVED * 300);
    assert_null(text("elsewhere", CYCLES, "Failure"));
    assert_int_equal(fake_perf.most, 2);
}

enum {
    AT_ONCE = 10
};

static pthread_t late[AT_ONCE]; /* of the last call */
static bool has_late;

static void join_late(void)
{
    for (int i = 0; i < AT_ONCE && has_late; i++) {
        pthread_join(late[i], NULL);
    }
    has_late = false;
}

/* Half of them end with the call, or after it. */
static ks_status with_threads_at_once(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    pthread_t threads[AT_ONCE];
    join_late();
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_create(&threads[i], NULL, work_elsewhere, NULL);
        pthread_create(&late[i], NULL, work_elsewhere, NULL);
    }
    has_late = true;
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_join(threads[i], NULL);
    }
    return KS_OK;
}

/* Whether their visits are still open when the call ends is up to them: nothing may break. */
static void threads_that_end_together_or_with_the_call_leave_nothing_open(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES, FAULTS);
    KT_OK(ks_plan_runs(plan, 10, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    run(with_threads_at_once);
    join_late();
    assert_int_equal(fake_perf.open, 0);
}

static ks_token handed;

static void *end_outer(void *arg)
{
    (void)arg;
    ks_annotate_end(handed, NULL);
    return NULL;
}

/* The outer visit ends first, on another thread, and the inner one goes on. */
static ks_status crosswise(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    ks_token inner = KS_TOKEN_INIT;
    pthread_t thread;
    ks_annotate_begin("outer", &handed, e);
    fake_perf_work(100);
    ks_annotate_begin("inner", &inner, e);
    fake_perf_work(200);
    pthread_create(&thread, NULL, end_outer, NULL);
    pthread_join(thread, NULL);
    fake_perf_work(400);
    return ks_annotate_end(inner, e);
}

static void visits_may_end_in_any_order_and_on_any_thread(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES);
    run(crosswise);
    KT_F64(mean("outer", CYCLES), 600);
    KT_F64(mean("outer/inner", CYCLES), 1200);
}

static void *begin_only(void *token)
{
    ks_annotate_begin("handed", token, NULL);
    fake_perf_work(100);
    return NULL;
}

static unsigned open_after_thread, open_after_visit;

/* A visit that outlives its thread. */
static ks_status handed_on(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    ks_token token = KS_TOKEN_INIT;
    pthread_t thread;
    pthread_create(&thread, NULL, begin_only, &token);
    pthread_join(thread, NULL);
    open_after_thread = fake_perf.open;
    ks_status status = ks_annotate_end(token, e);
    open_after_visit = fake_perf.open;
    return status;
}

static void a_visit_that_outlives_its_thread_keeps_the_counters(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES);
    run(handed_on);
    KT_F64(mean("handed", CYCLES), 200);
    assert_int_equal(open_after_thread, 1);
    assert_int_equal(open_after_visit, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_thread_opens_its_counters_once_in_a_call),
        T(nested_visits_read_the_same_counters),
        T(an_empty_region_says_what_it_counts),
        T(every_thread_has_counters_of_its_own),
        T(threads_that_are_not_counted_are_told),
        T(a_thread_that_ends_gives_its_descriptors_back),
        T(threads_that_end_together_or_with_the_call_leave_nothing_open),
        T(visits_may_end_in_any_order_and_on_any_thread),
        T(a_visit_that_outlives_its_thread_keeps_the_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
