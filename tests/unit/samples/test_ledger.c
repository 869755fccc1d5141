/* The ledger's lock: who waits for it is served in turn, and its owner may have it again. */
#include "harness.h"

#include <pthread.h>
#include <sched.h>

#include "samples/ledger.h"

static ks_ledger ledger;
static char order[8];
static size_t came;

static int start(void **state)
{
    (void)state;
    ks_ledger_init(&ledger);
    memset(order, 0, sizeof order);
    came = 0;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ks_ledger_fini(&ledger);
    return 0;
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

static void *sign(void *name)
{
    ks_ledger_lock(&ledger);
    order[came++] = *(const char *)name;
    ks_ledger_unlock(&ledger);
    return NULL;
}

/* A thread that waits for the lock, which the caller has, behind those that do already. */
static pthread_t start_waiting(const char *name)
{
    pthread_t thread;
    uint64_t before = ks_ledger_waiting(&ledger);
    assert_int_equal(pthread_create(&thread, NULL, sign, (void *)(uintptr_t)name), 0);
    while (ks_ledger_waiting(&ledger) == before) {
        sched_yield();
    }
    return thread;
}

/* As a thread does that launches all the time: it wants the lock again as soon as it gave it. */
static void who_came_first_is_served_first(void **state)
{
    (void)state;
    ks_ledger_lock(&ledger);
    pthread_t a = start_waiting("a");
    pthread_t b = start_waiting("b");
    ks_ledger_unlock(&ledger);
    sign((void *)(uintptr_t) "m");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert_string_equal(order, "abm");
}

static void its_owner_may_have_it_again(void **state)
{
    (void)state;
    ks_ledger_lock(&ledger);
    pthread_t a = start_waiting("a");
    sign((void *)(uintptr_t) "m");
    assert_int_equal(ks_ledger_waiting(&ledger), 1);
    ks_ledger_unlock(&ledger);
    pthread_join(a, NULL);
    assert_string_equal(order, "ma");
    assert_int_equal(ks_ledger_waiting(&ledger), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(who_came_first_is_served_first),
        T(its_owner_may_have_it_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
