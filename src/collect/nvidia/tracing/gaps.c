#include "collect/nvidia/tracing/gaps.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    LAUNCH_NS = 10000 /* twice what tracing was seen to add to a launch on an H200's host */
};

void ks_gaps_fini(ks_gaps *gaps)
{
    ks_free(gaps->sums);
    *gaps = (ks_gaps){0};
}

static ks_status sum_of(ks_gaps *gaps, uint32_t annotation, ks_gap_sum **out, ks_error *err)
{
    size_t at = 0;
    while (at < gaps->count && gaps->sums[at].annotation != annotation) {
        at++;
    }
    if (at == gaps->count) {
        KS_TRY(KS_GROW(gaps->sums, gaps->capacity, at + 1, err));
        gaps->sums[gaps->count++] = (ks_gap_sum){.annotation = annotation};
    }
    *out = &gaps->sums[at];
    return KS_OK;
}

ks_status ks_gaps_note(ks_gaps *gaps, const ks_owners *owners, ks_error *err)
{
    for (size_t i = 0; i < owners->count; i++) {
        const ks_traced_visit *v = &owners->visits[i];
        if (v->visit == NULL || v->kernels < 2 || v->untimed > 0) {
            continue;
        }
        ks_gap_sum *sum = NULL;
        KS_TRY(sum_of(gaps, v->visit->annotation->id, &sum, err));
        double span = (double)(v->last - v->first);
        double added = v->launches > 1 ? (double)LAUNCH_NS * (v->launches - 1) : 0.0;
        sum->kernels += v->ns;
        sum->spans += span > added ? span - added : 0.0;
    }
    return KS_OK;
}

/* The first of its rows that there is. */
static uint32_t row_of(const ks_tracing_wish *wish)
{
    size_t metric = 0;
    while (!wish->wanted[metric]) {
        metric++;
    }
    return wish->numbers[metric];
}

ks_status ks_gaps_tell(const ks_gaps *gaps, const ks_tracing_wish *wish, ks_samples *into,
                       ks_error *err)
{
    for (size_t i = 0; i < gaps->count; i++) {
        const ks_gap_sum *sum = &gaps->sums[i];
        if (sum->spans <= 2.0 * sum->kernels) {
            continue;
        }
        char text[320];
        snprintf(text, sizeof text,
                 "launch-bound: kernels ran in at most %d %% of the time from the start of the "
                 "first to the end of the last one (%d us a launch are taken off for tracing); "
                 "launch larger kernels or a CUDA graph, or have the host do less between launches",
                 (int)(100.0 * sum->kernels / sum->spans + 0.5), LAUNCH_NS / 1000);
        const ks_remark remark = {.annotation = sum->annotation,
                                  .metric = row_of(wish),
                                  .severity = sum->spans / sum->kernels};
        KS_TRY(ks_samples_remark(into, remark, text, err));
    }
    return KS_OK;
}
