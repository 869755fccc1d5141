#include <kernsight/kernsight.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

/* A C++ exception ends the annotations on its way; the body turns it into a failure. */
static ks_status body(const ks_call *call, void *, ks_error *err)
{
    try {
        KS_ANNOTATE("outer") {
            KS_ANNOTATE("inner") {
                if (ks_call_i64(call, "n") == 2) {
                    throw std::runtime_error("boom");
                }
            }
        }
    } catch (const std::exception &e) {
        return ks_fail(err, KS_EBODY, "cpp", 0, "%s", e.what());
    }
    return KS_OK;
}

int main()
{
    ks_plan *plan = nullptr;
    ks_results *results = nullptr;
    ks_error err = KS_ERROR_INIT;
    const int64_t n[] = {1, 2};
    ks_plan_new(&plan, &err);
    ks_plan_axis_i64(plan, "n", n, 2, &err);
    ks_plan_tolerant(plan, true, &err);
    ks_run(plan, body, nullptr, &results, &err);
    const ks_table *t = ks_results_table(results);
    const char *failure = ks_table_text(t, 1, ks_table_find(t, "Failure"));
    bool right = err.code == KS_OK && ks_table_rows(t) == 4 && failure != nullptr &&
                 std::strcmp(failure, "boom") == 0;
    if (!right) {
        std::fprintf(stderr, "%s, %s\n", failure != nullptr ? failure : "no failure", err.message);
    }
    ks_results_free(results);
    ks_plan_free(plan);
    return right ? 0 : 1;
}
