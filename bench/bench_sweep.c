/* bench_sweep CONFIGS RUNS: seconds per config of a whole sweep whose body does nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernsight/kernsight.h"

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    KS_ANNOTATE("a") {
    }
    KS_ANNOTATE("b") {
    }
    return KS_OK;
}

int main(int argc, char **argv)
{
    struct timespec start;
    struct timespec end;
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error err = KS_ERROR_INIT;
    char spec[64];
    unsigned long configs = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    uint32_t runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    snprintf(spec, sizeof spec, "n=1..%lu", configs);
    ks_plan_new(&plan, &err);
    ks_plan_axis_spec(plan, spec, &err);
    ks_plan_max_configs(plan, 1000000, &err);
    ks_plan_runs(plan, runs, &err);
    clock_gettime(CLOCK_MONOTONIC, &start);
    ks_run(plan, body, NULL, &results, &err);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (err.code != KS_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    double seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    printf("%.3e\n", seconds / (double)configs);
    ks_results_free(results);
    ks_plan_free(plan);
    return 0;
}
