/* What each kernel did in an annotation: launches of a batch added up by kernel. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "results/results.h"

/* Adding up for one annotation in a batch. */
typedef struct adder {
    ks_results *results;
    const ks_batch *batch;
    uint32_t annotation; /* its id in the batch, */
    uint32_t index;      /* and in the results */
    bool traced;
    size_t *places; /* by kernel: of its record in `kernels`, from 1; 0: it has none */
    size_t own;     /* likewise of the annotation's record */
    uint32_t last_run;
    ks_error *err;
} adder;

static bool counts(const adder *a, uint32_t run)
{
    const ks_samples *samples = a->batch->samples;
    return run < samples->runs && samples->failures[run] == 0 &&
           ks_samples_presence(samples, a->annotation, run)->failure == 0;
}

/* The record of a kernel (NULL: the annotation's own), new or known: its place, from 1. */
static ks_status find_record(adder *a, const char *kernel, size_t *place)
{
    ks_kept *kept = &a->results->kept;
    if (*place != 0) {
        return KS_OK;
    }
    ks_kernel_record record = {
        .config = a->batch->config, .annotation = a->index, .traced = a->traced};
    KS_TRY(ks_pool_add(&a->results->pool, kernel, &record.kernel, a->err));
    KS_TRY(KS_GROW(kept->kernels, kept->kernel_capacity, kept->kernel_count + 1, a->err));
    kept->kernels[kept->kernel_count++] = record;
    *place = kept->kernel_count;
    return KS_OK;
}

/* Runs come in their order. */
static ks_status add(adder *a, uint32_t run, const char *name, size_t *place,
                     const ks_kernel_sum *sum)
{
    bool first = a->own == 0;
    KS_TRY(find_record(a, NULL, &a->own));
    KS_TRY(find_record(a, name, place));
    ks_kernel_record *records = a->results->kept.kernels;
    records[a->own - 1].runs += first || a->last_run != run;
    a->last_run = run;
    ks_kernel_sum_add(&records[*place - 1].sum, sum);
    return KS_OK;
}

static ks_status add_ledger(adder *a)
{
    const ks_ledger *ledger = a->batch->ledger;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        const ks_launch *l = &ledger->launches[i];
        if (counts(a, l->run) && ks_results_launched_in(a->batch, l, a->annotation)) {
            ks_kernel_sum one = {0};
            ks_kernel_sum_launch(&one, l->ns, &l->facts);
            KS_TRY(add(a, l->run, ks_pool_text(&ledger->kernels, l->kernel), &a->places[l->kernel],
                       &one));
        }
    }
    return KS_OK;
}

static ks_status add_traced(adder *a)
{
    const ks_samples *samples = a->batch->samples;
    for (size_t i = 0; i < samples->kernel_count; i++) {
        const ks_kernel_count *k = &samples->kernels[i];
        if (k->annotation == a->annotation && counts(a, k->run) && k->sum.launches > 0) {
            KS_TRY(add(a, k->run, ks_pool_text(&samples->texts, k->kernel), &a->places[k->kernel],
                       &k->sum));
        }
    }
    return KS_OK;
}

static ks_status add_all(adder of, size_t kernels, ks_status (*fill)(adder *))
{
    of.places = ks_calloc(kernels + 1, sizeof *of.places);
    if (of.places == NULL) {
        return ks_enomem(of.err);
    }
    ks_status status = fill(&of);
    ks_free(of.places);
    return status;
}

ks_status ks_results_keep_kernels(ks_results *results, const ks_batch *batch, uint32_t annotation,
                                  uint32_t index, ks_error *err)
{
    adder a = {
        .results = results, .batch = batch, .annotation = annotation, .index = index, .err = err};
    if (batch->ledger->count > 0) {
        KS_TRY(add_all(a, batch->ledger->kernels.count, add_ledger));
    }
    a.traced = true;
    return batch->samples->kernel_count > 0 ? add_all(a, batch->samples->texts.count, add_traced)
                                            : KS_OK;
}
