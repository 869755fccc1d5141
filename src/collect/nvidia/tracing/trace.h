/* CUPTI's activity records: switching them on and off, and reading what came. */
#ifndef KS_COLLECT_NVIDIA_TRACING_TRACE_H
#define KS_COLLECT_NVIDIA_TRACING_TRACE_H

#include <stddef.h>

#include "collect/nvidia/tracing/api.h"

/** A kernel that ran. */
typedef struct ks_traced_kernel {
    uint64_t start; /**< ns, with `end` 0: CUPTI could not tell */
    uint64_t end;
    uint32_t correlation;
    const char *name; /**< mangled; CUPTI's */
    ks_kernel_facts facts;
} ks_traced_kernel;

/** What is known of a call of the driver or the runtime. */
typedef struct ks_origin {
    uint32_t correlation;
    bool launches;  /**< it is one of those that launch, and it succeeded */
    bool copies;    /**< ... that copy or set memory */
    uint64_t start; /**< 0: not known */
    uint64_t id;    /**< the last one pushed on its thread; 0: none */
} ks_origin;

typedef struct ks_trace {
    const ks_activity_api *api;
    bool on;
    /* what the last ks_trace_collect() read: */
    ks_traced_kernel *kernels;
    size_t kernel_count;
    size_t kernel_capacity;
    ks_origin *origins; /**< by correlation */
    size_t origin_count;
    size_t origin_capacity;
    size_t calls;   /**< calls with a time */
    size_t dropped; /**< records that CUPTI had no room for */
} ks_trace;

void ks_trace_init(ks_trace *trace, const ks_activity_api *api);
void ks_trace_fini(ks_trace *trace);

/**
 * Whether another tool has CUPTI's records, as far as CUPTI tells. Changes nothing for that tool.
 *
 * @return KS_OK: nobody has; KS_EBUSY
 */
ks_status ks_trace_free(const ks_activity_api *api, ks_error *err);

/** Ask for records. @return KS_EBUSY: ks_trace_free(); KS_EVENDOR */
ks_status ks_trace_on(ks_trace *trace, ks_error *err);

/** Ask for no more records, and get back all buffers. What was in them is read by the next
 * ks_trace_collect(). */
void ks_trace_off(ks_trace *trace);

/** Read all records that are finished. @return KS_ENOMEM; KS_EVENDOR: they cannot be had */
ks_status ks_trace_collect(ks_trace *trace, ks_error *err);

/** The call that a kernel comes from; NULL: it is not known. */
const ks_origin *ks_trace_origin(const ks_trace *trace, uint32_t correlation);

#endif
