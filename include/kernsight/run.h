/**
 * @file run.h
 * The run: calls a body for each config, warm-up, pass and run, and measures its annotations.
 */
#ifndef KERNSIGHT_RUN_H
#define KERNSIGHT_RUN_H

#include "plan.h"
#include "results.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The work of one call: reads its parameters from `call`, enters annotations, returns KS_OK or a
 * failure with a message in `err` (see ks_fail()).
 *
 * Metrics that do not fit into one pass make the body be called again for each pass of a run; it
 * must do the same work each time. ks_call_pass() tells which one it is.
 */
typedef ks_status (*ks_body_fn)(const ks_call *call, void *user, ks_error *err);

/**
 * Measure a plan.
 *
 * The plan is checked first: an error then means that nothing was called. After that `*out` is
 * always set, also when the run stopped early; ks_results_complete() tells.
 *
 * @param[in]  plan  borrowed; not changed by others during the run, except by ks_plan_cancel()
 * @param[in]  body  called by this thread
 * @param[in]  user  handed to the body
 * @param[out] out   free with ks_results_free(); set to NULL if the plan was refused
 * @return KS_OK; KS_EINVAL, KS_ENOTFOUND, KS_UNAVAILABLE, KS_ELIMIT (the plan); KS_EBUSY (a run is
 *         active in this process); KS_ECANCELED (ks_plan_cancel()); the body's own failure, its
 *         message preceded by the config (strict plans); KS_ESTATE (the body entered no annotation,
 *         or left one open; a forked child); KS_ENOMEM
 *
 * Threads: one run at a time in a process. No lock is held while the body or a callback runs.
 */
KS_API ks_status ks_run(ks_plan *plan, ks_body_fn body, void *user, ks_results **out,
                        ks_error *err);

/**
 * The value of a parameter, borrowed for the call; NULL if the plan has no such parameter.
 *
 * The typed forms below give the value itself; if there is no such parameter, or its value has
 * another type or is missing, they return 0, NaN, NULL or false **and fail the call** with a
 * message that says so.
 */
KS_API const ks_value *ks_call_value(const ks_call *call, const char *name);
KS_API int64_t ks_call_i64(const ks_call *call, const char *name);
KS_API double ks_call_f64(const ks_call *call, const char *name); /**< KS_F64 or KS_I64 */
KS_API bool ks_call_bool(const ks_call *call, const char *name);
KS_API const char *ks_call_text(const ks_call *call, const char *name);
KS_API void *ks_call_object(const ks_call *call, const char *name);

/** Number of the config in the order of the plan, from 0. */
KS_API size_t ks_call_config(const ks_call *call);

/** Number of the run, or of the warm-up call, from 0. */
KS_API uint32_t ks_call_run(const ks_call *call);

/** Number of the pass, from 0. */
KS_API uint32_t ks_call_pass(const ks_call *call);

KS_API bool ks_call_is_warmup(const ks_call *call);

/** Whether ks_plan_cancel() was called: a long body may return early. */
KS_API bool ks_call_cancelled(const ks_call *call);

/**
 * The config as text, such as "n=64, kind=fast"; "" without parameters. Cut to `size` bytes, always
 * terminated.
 *
 * @return length of the whole text
 */
KS_API size_t ks_call_describe(const ks_call *call, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
