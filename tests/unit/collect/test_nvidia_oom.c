/* Every allocation of a measurement on a GPU fails in turn: nothing leaks, nothing is half done. */
#include "fakes/nvidia/fixture.h"

/* What a scene measures. */
typedef struct scene {
    ks_replay replay;
    const char *metric;
    unsigned launches;
    ks_cache_control caches;
} scene;

static ks_status body(const ks_call *call, void *user, ks_error *e)
{
    const scene *s = user;
    (void)call;
    KS_ANNOTATE("outer") {
        for (unsigned i = 0; i < s->launches; i++) {
            KS_TRY(launch("A", e));
        }
        KS_ANNOTATE("inner") {
            KS_TRY(launch("B", e));
        }
    }
    return KS_OK;
}

static ks_status build(const scene *s, ks_plan **out, ks_error *e)
{
    KS_TRY(ks_plan_new(out, e));
    ks_plan_runs(*out, 2, e);
    ks_plan_metric(*out, s->metric, e);
    ks_plan_metric(*out, TIME, e);
    ks_plan_ignore_kernel(*out, "nothing", e);
    ks_plan_cache_control(*out, s->caches, e);
    return ks_plan_replay(*out, s->replay, e);
}

static ks_status measure_once(void *arg, ks_error *e)
{
    ks_plan *p = NULL;
    ks_results *r = NULL;
    ks_error none = KS_ERROR_INIT;
    ks_status status = build(arg, &p, e);
    if (status == KS_OK) {
        status = ks_run(p, body, arg, &r, e);
    }
    ks_results_free(r);
    ks_plan_free(p);
    KT_OK(ks_release(&none));
    assert_int_equal(fake_count_alive().profilers, 0);
    assert_int_equal(fake_count_alive().subscribers, 0);
    assert_int_equal(fake_count_alive().hosts, 0);
    assert_int_equal(fake_count_alive().allocations, 0);
    return status;
}

static void measuring_a_gpu_survives_every_failed_allocation(void **state)
{
    (void)state;
    scene scenes[] = {{KS_REPLAY_USER, THROUGHPUT, 3},
                      {KS_REPLAY_USER, READ, 40}, /* in segments */
                      {KS_REPLAY_RANGE, READ, 3},
                      {KS_REPLAY_KERNEL, THROUGHPUT, 3},
                      {KS_REPLAY_USER, "launch__*", 3},
                      {KS_REPLAY_USER, "@occupancy", 1},
                      {KS_REPLAY_USER, "dram__bytes*.sum", 1},
                      {KS_REPLAY_USER, READ, 3, KS_CACHE_BOTH}};
    fake_use_device(0);
    know_kernels();
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        size_t allocations = kt_oom_sweep(measure_once, &scenes[i]);
        print_message("%zu allocations\n", allocations);
        assert_true(allocations > 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measuring_a_gpu_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
