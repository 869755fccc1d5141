#include <kernsight/kernsight.h>

#include <stdio.h>
#include <string.h>

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    volatile double sum = 0.0;
    (void)user;
    (void)err;
    KS_ANNOTATE("sum") {
        for (int64_t i = 0; i < ks_call_i64(call, "n"); i++) {
            sum += (double)i;
        }
    }
    return KS_OK;
}

int main(void)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error err = KS_ERROR_INIT;
    ks_plan_new(&plan, &err);
    ks_plan_axis_i64(plan, "n", (const int64_t[]){1000, 100000}, 2, &err);
    ks_plan_runs(plan, 3, &err);
    ks_run(plan, body, NULL, &results, &err);
    int rows = results != NULL ? (int)ks_table_rows(ks_results_table(results)) : -1;
    ks_results_free(results);
    ks_plan_free(plan);
    if (err.code != KS_OK || rows != 2 || strcmp(ks_version(), KS_VERSION) != 0) {
        fprintf(stderr, "%d rows, %s\n", rows, err.message);
        return 1;
    }
    return 0;
}
