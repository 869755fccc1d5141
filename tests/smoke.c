/* The least that every build can do: measure one region. */
#include <kernsight/kernsight.h>

#include <stdio.h>

static ks_status body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)user;
    (void)err;
    KS_ANNOTATE("region") {
    }
    return KS_OK;
}

int main(void)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_error err = KS_ERROR_INIT;
    ks_plan_new(&plan, &err);
    ks_run(plan, body, NULL, &results, &err);
    ks_results_csv(results, stdout, &err);
    ks_results_free(results);
    ks_plan_free(plan);
    if (err.code != KS_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    return err.code == KS_OK ? 0 : 1;
}
