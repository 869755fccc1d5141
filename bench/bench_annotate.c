/* What an annotation costs, outside a run and in one: ns per begin and end, the best of ten rounds.
 */
#include <stdio.h>
#include <time.h>

#include "kernsight/kernsight.h"

enum {
    ROUNDS = 10,
    OUTSIDE = 10000000,
    INSIDE = 200000
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double annotate(int count)
{
    double start = now_ns();
    for (int i = 0; i < count; i++) {
        KS_ANNOTATE("region") {
            __asm__ volatile("" ::: "memory");
        }
    }
    return (now_ns() - start) / count;
}

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    double *best = user;
    (void)call;
    (void)err;
    double cost = annotate(INSIDE);
    *best = cost < *best ? cost : *best;
    return KS_OK;
}

int main(void)
{
    double outside = 1e9;
    double inside = 1e9;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error err = KS_ERROR_INIT;
    for (int i = 0; i < ROUNDS; i++) {
        double cost = annotate(OUTSIDE);
        outside = cost < outside ? cost : outside;
    }
    ks_plan_new(&plan, &err);
    ks_plan_runs(plan, ROUNDS, &err);
    ks_plan_warmup(plan, 0, &err);
    ks_run(plan, body, &inside, &results, &err);
    ks_results_free(results);
    ks_plan_free(plan);
    if (err.code != KS_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%.1f %.1f\n", outside, inside);
    return 0;
}
