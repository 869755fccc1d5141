/**
 * @file annotate.h
 * Annotations: names for the regions of a program that are measured.
 *
 * Outside a run an annotation costs a few nanoseconds, measures nothing and never fails. Inside a
 * run they nest (the inner one is called `outer/inner`; a `/` or `\` inside a name is escaped with
 * a
 * `\`) and repeat (each entry is a *visit*; visits of one run are combined by the metric's kind).
 *
 * A name is any UTF-8 text of at most 65,535 bytes without control characters; so is a whole path.
 * It is copied when it is first seen.
 *
 * Threads: all functions may be called from any thread, at any time. An annotation belongs to the
 * thread that began it, and may be ended by another.
 */
#ifndef KERNSIGHT_ANNOTATE_H
#define KERNSIGHT_ANNOTATE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One open annotation. Copy it as you like; it owns nothing. */
typedef struct ks_token {
    uint64_t run; /**< the run it belongs to; private */
    void *visit;  /**< private */
} ks_token;

// clang-format off
#define KS_TOKEN_INIT {0, NULL}
// clang-format on

/**
 * Begin an annotation.
 *
 * @param[in]  name  borrowed for the call
 * @param[out] out   hand it to ks_annotate_end() or ks_annotate_fail(), once
 * @param[out] err   may be NULL
 * @return KS_OK, also outside a run; KS_EINVAL (name), KS_ELIMIT (path too long), KS_ENOMEM. After
 * a failure nothing was opened, and annotations that were open stay open.
 */
KS_API ks_status ks_annotate_begin(const char *name, ks_token *out, ks_error *err);

/**
 * End an annotation, from any thread.
 *
 * @return KS_OK, also outside a run; KS_ESTATE inside a run if the token is not that of an open
 *         annotation of this run (never begun, already ended, begun in an earlier run).
 */
KS_API ks_status ks_annotate_end(ks_token token, ks_error *err);

/**
 * End an annotation whose work failed: in this run it has no value, for the reason given, and the
 * run goes on.
 *
 * @param[in] why  copied; NULL means "failed"
 * @return as ks_annotate_end()
 */
KS_API ks_status ks_annotate_fail(ks_token token, const char *why, ks_error *err);

/** What KS_ANNOTATE keeps in its block; private. */
typedef struct ks_scope {
    ks_token token;
    int once;
} ks_scope;

KS_API ks_scope ks_scope_open(const char *name);
KS_API void ks_scope_close(ks_scope *scope);

#define KS_SCOPE_NAME_(line) ks_scope_##line
#define KS_SCOPE_NAME(line)  KS_SCOPE_NAME_(line)

/**
 * Annotate a block: `KS_ANNOTATE("triad") { triad(a, b, c, n); }`, in C and C++.
 *
 * The annotation ends when the block is left: at its end, by return, goto or a C++ exception (not
 * by longjmp). break and continue leave this block alone, not a loop around it. A failure to begin
 * is kept and fails the run once the body returns.
 */
#define KS_ANNOTATE(name)                                                    \
    for (ks_scope KS_SCOPE_NAME(__LINE__)                                    \
             __attribute__((cleanup(ks_scope_close))) = ks_scope_open(name); \
         KS_SCOPE_NAME(__LINE__).once; KS_SCOPE_NAME(__LINE__).once = 0)

#ifdef __cplusplus
}
#endif

#endif
