/**
 * @file kernsight.h
 * All of kernsight: measure annotated regions of a program across parameter sweeps.
 *
 *     static ks_status body(const ks_call *call, void *user, ks_error *err)
 *     {
 *         int64_t n = ks_call_i64(call, "n");
 *         KS_ANNOTATE("triad") { triad(a, b, c, n); }
 *         return KS_OK;
 *     }
 *
 *     ks_plan *plan = NULL;
 *     ks_results *res = NULL;
 *     ks_error err = KS_ERROR_INIT;
 *     ks_plan_new(&plan, &err);
 *     ks_plan_axis_i64(plan, "n", (int64_t[]){1 << 10, 1 << 20}, 2, &err);
 *     ks_plan_runs(plan, 10, &err);
 *     ks_run(plan, body, NULL, &res, &err);
 *     ks_results_print(res, stdout, NULL, &err);
 *     ks_results_write_csv(res, "triad.csv", &err);
 *     ks_results_free(res);
 *     ks_plan_free(plan);
 */
#ifndef KERNSIGHT_KERNSIGHT_H
#define KERNSIGHT_KERNSIGHT_H

#define KS_VERSION_MAJOR 0
#define KS_VERSION_MINOR 1
#define KS_VERSION_PATCH 0
#define KS_VERSION       "0.1.0"

#include "annotate.h"
#include "compare.h"
#include "metrics.h"
#include "plan.h"
#include "plot.h"
#include "program.h"
#include "results.h"
#include "run.h"
#include "status.h"
#include "table.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the library that is loaded, such as "0.1.0". Static text. */
KS_API const char *ks_version(void);

/** Memory functions. Each must be safe from any thread. */
typedef struct ks_allocator {
    size_t struct_size;
    void *(*realloc)(void *ptr, size_t size,
                     void *user);        /**< ptr NULL: allocate; size is never 0 */
    void (*free)(void *ptr, void *user); /**< ptr is never NULL */
    void *user;
} ks_allocator;

// clang-format off
#define KS_ALLOCATOR_INIT {sizeof(ks_allocator), NULL, NULL, NULL}
// clang-format on

/**
 * Replace malloc for everything that this library allocates, for the whole process.
 *
 * @param[in] allocator  copied; NULL goes back to the C library's
 * @return KS_OK; KS_EINVAL (a function is missing); KS_ESTATE while anything is still allocated
 *
 * Threads: call it while no other thread uses the library.
 */
KS_API ks_status ks_set_allocator(const ks_allocator *allocator, ks_error *err);

#ifdef __cplusplus
}
#endif

#endif
