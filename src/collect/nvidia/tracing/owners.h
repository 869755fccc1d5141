/*
 * Whose a kernel is. The order is that of ks_session_owner(), found out afterwards: the innermost
 * annotation that was open on the thread that launched it, by the id that CUPTI noted with the
 * call; else on the thread that runs the body, by the time of the call; else the only one open in
 * the process; else nobody's.
 */
#ifndef KS_COLLECT_NVIDIA_TRACING_OWNERS_H
#define KS_COLLECT_NVIDIA_TRACING_OWNERS_H

#include "annotate/session.h"
#include "collect/nvidia/tracing/trace.h"

/** Our words in a visit. */
enum {
    KS_TRACED_BEGIN,  /**< on CUPTI's clock */
    KS_TRACED_END,    /**< likewise; 0: it is open */
    KS_TRACED_THREAD, /**< anything that is the thread's own while it lives */
    KS_TRACED_ID,
    KS_TRACED_SLOTS
};

/** An id: the call of the body in the upper half, the visit's number in it, from 1, in the lower.
 */
static inline uint64_t ks_traced_id(uint32_t call, uint32_t visit)
{
    return (uint64_t)call << 32 | visit;
}

/** What a visit launched. */
typedef struct ks_traced_visit {
    const ks_visit *visit;
    uint32_t kernels;
    uint32_t untimed;  /**< kernels without a time */
    uint32_t launches; /**< calls that launch */
    uint64_t first;    /**< start of the first kernel with a time */
    uint64_t last;     /**< end of the last one */
    double ns;         /**< of all kernels with a time */
} ks_traced_visit;

typedef struct ks_timed_visit {
    uint64_t begin;
    uint32_t thread; /**< its number in the session */
    uint32_t number;
    size_t end; /**< of the first one of a thread: where the next thread's begin */
} ks_timed_visit;

/** The visits of one call of the body. */
typedef struct ks_owners {
    uint32_t first_slot;
    uint32_t call;           /**< in ids */
    uint64_t body;           /**< KS_TRACED_THREAD of the thread that runs it */
    ks_traced_visit *visits; /**< by number - 1 */
    size_t count;
    size_t capacity;
    ks_timed_visit *times; /**< by thread, then by begin */
    size_t time_count;
    size_t time_capacity;
} ks_owners;

void ks_owners_init(ks_owners *owners);
void ks_owners_fini(ks_owners *owners);

/**
 * Take the visits of the last call.
 *
 * @param[in] count  how many numbers were given out
 * @param[in] body   KS_TRACED_THREAD of the thread that ran it
 */
ks_status ks_owners_take(ks_owners *owners, uint32_t first_slot, uint32_t call, uint32_t count,
                         uint64_t body, ks_error *err);

/** @param[out] several  several annotations were open, and none of them is more likely than the
 * others
 * @return the visit that a call's work belongs to; NULL: none */
ks_traced_visit *ks_owner_of(const ks_owners *owners, const ks_origin *origin, bool *several);

/** The visit around another one, whose work is its work too; NULL: none. */
ks_traced_visit *ks_owner_around(const ks_owners *owners, const ks_traced_visit *inner);

/** Whether no visit of the call launched anything. */
bool ks_owners_idle(const ks_owners *owners);

#endif
