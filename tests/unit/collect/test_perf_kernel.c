/* The perf collector with the real kernel: events whose numbers are known beforehand. */
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/perf/events.h"
#include "collect/perf/refusal.h"

enum {
    PAGES = 1000,
    SLEEPS = 20,
    THREADS = 3
};

static ks_error err;

static const char *const FAULTS = "cpu__minor_faults.sum";
static const char *const SWITCHES = "cpu__context_switches.sum";

/* Touch so many pages that were never touched: each is a fault that needs no input or output. */
static void touch_pages(size_t pages)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *block =
        mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    madvise(block, pages * size, MADV_NOHUGEPAGE); /* one fault would bring several pages */
    for (size_t i = 0; i < pages; i++) {
        ((volatile char *)block)[i * size] = 1;
    }
    munmap(block, pages * size);
}

static void sleep_often(int times)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < times; i++) {
        nanosleep(&pause, NULL);
    }
}

static void *touch_elsewhere(void *arg)
{
    (void)arg;
    touch_pages(PAGES);
    return NULL;
}

static ks_status body(const ks_call *call, void *user, ks_error *e)
{
    pthread_t threads[THREADS];
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("touch") {
        touch_pages(PAGES);
    }
    KS_ANNOTATE("sleep") {
        sleep_often(SLEEPS);
    }
    KS_ANNOTATE("outer") {
        touch_pages(PAGES);
        KS_ANNOTATE("inner") {
            touch_pages(PAGES);
        }
        touch_pages(PAGES);
    }
    KS_ANNOTATE("threads") {
        for (int i = 0; i < THREADS; i++) {
            pthread_create(&threads[i], NULL, touch_elsewhere, NULL);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    return KS_OK;
}

static ks_results *measure(ks_body_fn what, void *user, const char *const *metrics)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_runs(plan, 3, &err));
    for (size_t i = 0; metrics[i] != NULL; i++) {
        KT_OK(ks_plan_metric(plan, metrics[i], &err));
    }
    KT_OK(ks_run(plan, what, user, &results, &err));
    ks_plan_free(plan);
    return results;
}

static double least(const ks_results *results, const char *annotation, const char *metric)
{
    return kt_number(ks_results_table(results), (kt_key){annotation, metric, KT_ANY}, "MinValue");
}

static void skip_if_refused(void)
{
    ks_refusal refusal;
    int failed = ks_perf_try(&ks_perf_faults);
    if (failed != 0) {
        ks_perf_refusal(&ks_perf_faults, failed, &refusal);
        print_message("skipped: %s\n", refusal.why);
        skip();
    }
}

/* The least of three runs: others may take the processor, or the kernel a page, and never the other
 * way round. A thread that starts touches some pages of its own stack and of the allocator. */
static void faults_and_switches_of_regions_are_known_numbers(void **state)
{
    (void)state;
    skip_if_refused();
    ks_results *r = measure(body, NULL, (const char *const[]){FAULTS, SWITCHES, NULL});
    double touched = least(r, "touch", FAULTS);
    assert_true(touched >= PAGES && touched <= PAGES + 8);
    assert_true(least(r, "sleep", FAULTS) <= 8);
    double slept = least(r, "sleep", SWITCHES);
    assert_true(slept >= SLEEPS && slept <= 3 * SLEEPS);
    double inner = least(r, "outer/inner", FAULTS);
    double outer = least(r, "outer", FAULTS);
    assert_true(inner >= PAGES && inner <= PAGES + 8);
    assert_true(outer >= 3 * PAGES && outer <= 3 * PAGES + 16);
    /* threads that are created while it is open are counted with it */
    double threads = least(r, "threads", FAULTS);
    assert_true(threads >= THREADS * PAGES && threads <= THREADS * (PAGES + 64));
    ks_results_free(r);
}

static pthread_barrier_t ready;
static pthread_barrier_t done;

/* Long enough that the kernel has accounted for most of it while it goes on: it does so by its
 * tick. */
static void *touch_when_told(void *arg)
{
    struct timespec now = {0};
    (void)arg;
    pthread_barrier_wait(&ready);
    while (now.tv_sec == 0 && now.tv_nsec < 40000000) {
        touch_pages(PAGES);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
    pthread_barrier_wait(&done);
    return NULL;
}

/* A thread that was there before works while the region is open. */
static ks_status with_an_older_thread(const ks_call *call, void *user, ks_error *e)
{
    pthread_t older;
    (void)call;
    (void)user;
    (void)e;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    pthread_create(&older, NULL, touch_when_told, NULL);
    KS_ANNOTATE("older") {
        pthread_barrier_wait(&ready);
        pthread_barrier_wait(&done);
    }
    pthread_join(older, NULL);
    pthread_barrier_destroy(&ready);
    pthread_barrier_destroy(&done);
    return KS_OK;
}

static void threads_that_were_running_before_are_not_counted_and_told(void **state)
{
    (void)state;
    skip_if_refused();
    ks_results *r = measure(with_an_older_thread, NULL, (const char *const[]){FAULTS, NULL});
    kt_key key = {"older", FAULTS, KT_ANY};
    assert_true(least(r, "older", FAULTS) < PAGES / 2);
    KT_HAS(kt_text(ks_results_table(r), key, "Warnings"),
           "threads that were running before it began are not counted");
    ks_results_free(r);
}

/* A pool that starts in one region and works in the next one. */
static ks_status with_a_pool(const ks_call *call, void *user, ks_error *e)
{
    pthread_t worker;
    (void)call;
    (void)user;
    (void)e;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    KS_ANNOTATE("start") {
        pthread_create(&worker, NULL, touch_when_told, NULL);
    }
    KS_ANNOTATE("work") {
        pthread_barrier_wait(&ready);
        pthread_barrier_wait(&done);
    }
    pthread_join(worker, NULL);
    pthread_barrier_destroy(&ready);
    pthread_barrier_destroy(&done);
    return KS_OK;
}

static void threads_of_an_earlier_region_of_the_call_are_counted(void **state)
{
    (void)state;
    skip_if_refused();
    ks_results *r = measure(with_a_pool, NULL, (const char *const[]){FAULTS, NULL});
    kt_key key = {"work", FAULTS, KT_ANY};
    assert_true(least(r, "work", FAULTS) >= PAGES);
    assert_true(least(r, "start", FAULTS) < PAGES);
    assert_null(kt_text(ks_results_table(r), key, "Warnings"));
    ks_results_free(r);
}

static ks_status touch_in_a_child(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("child") {
        pid_t child = fork();
        if (child == 0) {
            touch_pages(PAGES);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return KS_OK;
}

static void processes_that_a_region_forks_are_counted(void **state)
{
    (void)state;
    skip_if_refused();
    ks_results *r = measure(touch_in_a_child, NULL, (const char *const[]){FAULTS, NULL});
    assert_true(least(r, "child", FAULTS) >= PAGES);
    ks_results_free(r);
}

static ks_results *measure_program(const char *const *argv, size_t count)
{
    ks_program *program = NULL;
    if (!kt_has_programs()) {
        skip();
    }
    ks_error_clear(&err);
    KT_OK(ks_program_new(argv, count, NULL, &program, &err));
    ks_results *r =
        measure(ks_program_body, program, (const char *const[]){SWITCHES, FAULTS, NULL});
    ks_program_free(program);
    return r;
}

/* Each `sleep` leaves its processor once to sleep, and the shell once to wait for it. */
static void switches_of_a_program_and_its_children_are_counted(void **state)
{
    (void)state;
    skip_if_refused();
    const char *none[] = {"sh", "-c", ":"};
    const char *ten[] = {"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01; done"};
    ks_results *before = measure_program(none, 3);
    ks_results *after = measure_program(ten, 3);
    assert_true(least(after, "sh", SWITCHES) >= 20);
    /* an exec alone takes tens of faults, and is counted: the program's own */
    assert_true(least(before, "sh", FAULTS) >= 10);
    assert_true(least(after, "sh", FAULTS) >= least(before, "sh", FAULTS) + 10 * 10);
    ks_results_free(before);
    ks_results_free(after);
}

static void no_descriptor_is_left_open(void **state)
{
    (void)state;
    skip_if_refused();
    int before = dup(0);
    close(before);
    ks_results_free(measure(body, NULL, (const char *const[]){FAULTS, SWITCHES, NULL}));
    int after = dup(0);
    close(after);
    assert_int_equal(before, after); /* the lowest free one is the same */
}

static void events_of_libpfm4_are_the_kernels(void **state)
{
    (void)state;
    skip_if_refused();
    if (ks_perf_system()->encoder() == NULL) {
        print_message("skipped: libpfm4 is not installed\n");
        skip();
    }
    const char *const metrics[] = {"perf::MINOR-FAULTS", "perf::CONTEXT-SWITCHES.sum", NULL};
    ks_results *r = measure(body, NULL, metrics);
    double touched = least(r, "touch", "perf::MINOR-FAULTS");
    assert_true(touched >= PAGES && touched <= PAGES + 8);
    assert_true(least(r, "sleep", "perf::CONTEXT-SWITCHES.sum") >= SLEEPS);
    ks_results_free(r);
}

/* Programs start with a copy of our memory, and their own peak is known above it alone. */
static void libpfm4_does_not_stay_in_memory(void **state)
{
    (void)state;
    struct perf_event_attr attr;
    if (ks_perf_system()->encoder() == NULL) {
        print_message("skipped: libpfm4 is not installed\n");
        skip();
    }
    assert_true(ks_perf_system()->encode("perf::MINOR-FAULTS", &attr));
    assert_null(dlopen("libpfm.so.4", RTLD_NOW | RTLD_NOLOAD));
    void *of_another = dlopen("libpfm.so.4", RTLD_NOW); /* whose it is then */
    assert_true(ks_perf_system()->encode("perf::MINOR-FAULTS", &attr));
    void *still = dlopen("libpfm.so.4", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(still);
    dlclose(still);
    dlclose(of_another);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_and_switches_of_regions_are_known_numbers),
        cmocka_unit_test(threads_that_were_running_before_are_not_counted_and_told),
        cmocka_unit_test(threads_of_an_earlier_region_of_the_call_are_counted),
        cmocka_unit_test(processes_that_a_region_forks_are_counted),
        cmocka_unit_test(switches_of_a_program_and_its_children_are_counted),
        cmocka_unit_test(no_descriptor_is_left_open),
        cmocka_unit_test(events_of_libpfm4_are_the_kernels),
        cmocka_unit_test(libpfm4_does_not_stay_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
