#include "collect/nvidia/tracing/values.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

typedef struct known {
    const char *name;
    const char *unit;
    ks_metric_kind kind;
    ks_rule rule;
    const char *description;
} known;

static const known all[KS_TRACING_METRICS] = {
    [KS_KERNEL_TIME] = {"kernel__time_duration.sum", "ns", KS_DURATION, KS_RULE_ADD,
                        "time of kernels, traced: less than gpu__time_duration.sum of counters"},
    [KS_KERNEL_SPAN] =
        {"kernel__span.max", "ns", KS_EXTREMUM, KS_RULE_MAX,
         "start of a visit's first kernel to end of its last one; longest of several visits"},
    [KS_KERNEL_COUNT] = {"kernel__count.sum", NULL, KS_COUNT, KS_RULE_ADD,
                         "kernels that ran, those of graphs too"},
};

ks_status ks_tracing_list(const ks_metric_sink *to, const char *reason, ks_error *err)
{
    for (size_t i = 0; i < KS_TRACING_METRICS; i++) {
        const ks_metric_entry entry = {.name = all[i].name,
                                       .unit = all[i].unit,
                                       .kind = all[i].kind,
                                       .description = all[i].description,
                                       .reason = reason,
                                       .targets = KS_TARGET_REGION};
        KS_TRY(to->add(to->self, &entry, err));
    }
    return KS_OK;
}

ks_status ks_tracing_take(ks_tracing_wish *wish, ks_metric *metric, uint32_t number,
                          const char *source, ks_error *err)
{
    for (size_t i = 0; i < KS_TRACING_METRICS; i++) {
        if (strcmp(all[i].name, metric->name) == 0) {
            metric->unit = all[i].unit;
            metric->kind = all[i].kind;
            metric->rule = all[i].rule;
            metric->source = source;
            metric->passes = 1;
            wish->wanted[i] = true;
            wish->numbers[i] = number;
            return KS_OK;
        }
    }
    return ks_fail(err, KS_ENOTFOUND, source, 0, "there is no metric %s", metric->name);
}

static ks_status add(const ks_tracing_wish *wish, enum ks_tracing_metric metric,
                     const ks_traced_visit *of, uint32_t run, double value, ks_samples *into,
                     ks_error *err)
{
    return !wish->wanted[metric] ? KS_OK
                                 : ks_samples_add(into, of->visit->annotation->id, run,
                                                  wish->numbers[metric], value, 1.0, err);
}

static ks_status miss(const ks_tracing_wish *wish, enum ks_tracing_metric metric,
                      uint32_t annotation, uint32_t run, const char *why, ks_samples *into,
                      ks_error *err)
{
    return !wish->wanted[metric]
               ? KS_OK
               : ks_samples_missing(into, annotation, run, wish->numbers[metric], why, err);
}

static ks_status miss_all(const ks_tracing_wish *wish, uint32_t annotation, uint32_t run,
                          const char *why, ks_samples *into, ks_error *err)
{
    for (enum ks_tracing_metric m = 0; m < KS_TRACING_METRICS; m++) {
        KS_TRY(miss(wish, m, annotation, run, why, into, err));
    }
    return KS_OK;
}

static ks_status miss_times(const ks_tracing_wish *wish, uint32_t annotation, uint32_t run,
                            const char *why, ks_samples *into, ks_error *err)
{
    KS_TRY(miss(wish, KS_KERNEL_TIME, annotation, run, why, into, err));
    return miss(wish, KS_KERNEL_SPAN, annotation, run, why, into, err);
}

ks_status ks_tracing_add(const ks_tracing_wish *wish, ks_traced_visit *to,
                         const ks_traced_kernel *kernel, uint32_t run, ks_samples *into,
                         ks_error *err)
{
    bool first = to->kernels == to->untimed;
    const ks_kernel_run ran = {kernel->name, (double)(kernel->end - kernel->start), kernel->facts};
    KS_TRY(ks_samples_kernel(into, to->visit->annotation->id, run, &ran, err));
    to->kernels++;
    if (kernel->start == 0 && kernel->end == 0) {
        to->untimed++;
        return KS_OK;
    }
    to->ns += (double)(kernel->end - kernel->start);
    to->first = first || kernel->start < to->first ? kernel->start : to->first;
    to->last = first || kernel->end > to->last ? kernel->end : to->last;
    return add(wish, KS_KERNEL_TIME, to, run, (double)(kernel->end - kernel->start), into, err);
}

static ks_status finish_visit(const ks_tracing_wish *wish, const ks_traced_visit *v, uint32_t run,
                              ks_samples *into, ks_error *err)
{
    uint32_t annotation = v->visit->annotation->id;
    if (v->kernels == 0 && v->launches > 0) {
        return miss_all(wish, annotation, run,
                        "no kernel came of what it launched: it was captured into a graph, or "
                        "another tool has CUPTI's records",
                        into, err);
    }
    KS_TRY(add(wish, KS_KERNEL_COUNT, v, run, v->kernels, into, err));
    if (v->untimed > 0) {
        char why[128];
        snprintf(why, sizeof why, "CUPTI could not tell the time of %u of its %u kernels",
                 v->untimed, v->kernels);
        return miss_times(wish, annotation, run, why, into, err);
    }
    return v->kernels == 0
               ? KS_OK
               : add(wish, KS_KERNEL_SPAN, v, run, (double)(v->last - v->first), into, err);
}

/* No launch is a count of 0, and no time. */
static ks_status explain_no_kernel(const ks_tracing_wish *wish, const ks_traced_visit *v,
                                   const ks_nothing *nothing, uint32_t run, ks_samples *into,
                                   ks_error *err)
{
    char why[KS_NOTHING_MAX] = "";
    uint32_t annotation = v->visit->annotation->id;
    for (enum ks_tracing_metric m = KS_KERNEL_TIME; m <= KS_KERNEL_SPAN; m++) {
        if (wish->wanted[m] &&
            ks_samples_cell(into, annotation, run, wish->numbers[m])->count == 0) {
            ks_nothing_reason(nothing, annotation, why);
            KS_TRY(miss(wish, m, annotation, run, why, into, err));
        }
    }
    return KS_OK;
}

ks_status ks_tracing_finish(const ks_tracing_wish *wish, const ks_owners *owners,
                            const ks_nothing *nothing, uint32_t run, ks_samples *into,
                            ks_error *err)
{
    for (size_t i = 0; i < owners->count; i++) {
        if (owners->visits[i].visit != NULL) {
            KS_TRY(finish_visit(wish, &owners->visits[i], run, into, err));
        }
    }
    for (size_t i = 0; i < owners->count; i++) {
        if (owners->visits[i].visit != NULL) {
            KS_TRY(explain_no_kernel(wish, &owners->visits[i], nothing, run, into, err));
        }
    }
    return KS_OK;
}

ks_status ks_tracing_missing(const ks_tracing_wish *wish, uint32_t run, const char *why,
                             ks_samples *into, ks_error *err)
{
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        KS_TRY(miss_all(wish, v->annotation->id, run, why, into, err));
    }
    return KS_OK;
}

ks_status ks_tracing_withdraw(const ks_tracing_wish *wish, uint32_t run, const char *why,
                              ks_samples *into, ks_error *err)
{
    ks_samples_forget_kernels(into, run);
    for (uint32_t i = 0; i < into->entered_count; i++) {
        for (enum ks_tracing_metric m = 0; m < KS_TRACING_METRICS; m++) {
            uint32_t annotation = into->entered[i];
            const ks_cell *cell =
                wish->wanted[m] ? ks_samples_cell(into, annotation, run, wish->numbers[m]) : NULL;
            if (cell != NULL && (cell->count > 0 || cell->why != 0)) {
                KS_TRY(miss(wish, m, annotation, run, why, into, err));
            }
        }
    }
    return KS_OK;
}

ks_status ks_tracing_unclear(const ks_tracing_wish *wish, uint64_t kernels, ks_samples *into,
                             ks_error *err)
{
    char text[160];
    snprintf(text, sizeof text,
             "%llu kernels were launched by threads without an annotation while several were open: "
             "they are in no row",
             (unsigned long long)kernels);
    for (uint32_t i = 0; i < into->entered_count; i++) {
        for (size_t m = 0; m < KS_TRACING_METRICS; m++) {
            const ks_remark remark = {.annotation = into->entered[i],
                                      .metric = wish->numbers[m],
                                      .severity = (double)kernels};
            if (wish->wanted[m]) {
                KS_TRY(ks_samples_remark(into, remark, text, err));
            }
        }
    }
    return KS_OK;
}
