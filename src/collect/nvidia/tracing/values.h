/* The metrics of kernel tracing, and their values in a run. */
#ifndef KS_COLLECT_NVIDIA_TRACING_VALUES_H
#define KS_COLLECT_NVIDIA_TRACING_VALUES_H

#include "collect/nvidia/nothing.h"
#include "collect/nvidia/tracing/owners.h"

enum ks_tracing_metric {
    KS_KERNEL_TIME,
    KS_KERNEL_SPAN,
    KS_KERNEL_COUNT,
    KS_TRACING_METRICS
};

/** What is asked for. */
typedef struct ks_tracing_wish {
    bool wanted[KS_TRACING_METRICS];
    uint32_t numbers[KS_TRACING_METRICS]; /**< in the samples */
} ks_tracing_wish;

/** Tell all metrics. @param[in] reason  why they cannot be measured here; NULL: they can */
ks_status ks_tracing_list(const ks_metric_sink *to, const char *reason, ks_error *err);

/** Take a metric that is asked for, and fill in all but its name. @return KS_ENOTFOUND */
ks_status ks_tracing_take(ks_tracing_wish *wish, ks_metric *metric, uint32_t number,
                          const char *source, ks_error *err);

/** A kernel that a visit launched. */
ks_status ks_tracing_add(const ks_tracing_wish *wish, ks_traced_visit *to,
                         const ks_traced_kernel *kernel, uint32_t run, ks_samples *into,
                         ks_error *err);

/** What is known of all visits once all their kernels were added. */
ks_status ks_tracing_finish(const ks_tracing_wish *wish, const ks_owners *owners,
                            const ks_nothing *nothing, uint32_t run, ks_samples *into,
                            ks_error *err);

/** Nothing is known of a run, nor of what the last call of the body entered. */
ks_status ks_tracing_missing(const ks_tracing_wish *wish, uint32_t run, const char *why,
                             ks_samples *into, ks_error *err);

/** The same of a run that was told: its values were wrong. */
ks_status ks_tracing_withdraw(const ks_tracing_wish *wish, uint32_t run, const char *why,
                              ks_samples *into, ks_error *err);

/** Warn of kernels that could be several annotations'. */
ks_status ks_tracing_unclear(const ks_tracing_wish *wish, uint64_t kernels, ks_samples *into,
                             ks_error *err);

#endif
