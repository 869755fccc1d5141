/* Names of the kernels that an annotation launched. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/demangle.h"
#include "base/error.h"
#include "results/results.h"

/* Launches of an annotation in one run whose names are all joined; of more, each name comes once.
 */
enum {
    NAMES_JOINED = 100
};

bool ks_results_launched_in(const ks_batch *batch, const ks_launch *launch, uint32_t annotation)
{
    if (launch->annotation == annotation || launch->annotation == KS_NO_ANNOTATION) {
        return launch->annotation == annotation;
    }
    const char *path = batch->paths[annotation];
    size_t length = strlen(path);
    const char *own = batch->paths[launch->annotation];
    return strncmp(own, path, length) == 0 && own[length] == '/';
}

/* Launches of an annotation in its first run that has some: `*run` is that run. */
static size_t count_launches(const ks_batch *batch, uint32_t annotation, uint32_t *run)
{
    const ks_ledger *ledger = batch->ledger;
    size_t count = 0;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        const ks_launch *l = &ledger->launches[i];
        if ((count == 0 || l->run == *run) && ks_results_launched_in(batch, l, annotation)) {
            *run = l->run;
            count++;
        }
    }
    return count;
}

static void join_names(const ks_batch *batch, uint32_t annotation, uint32_t run, bool *seen,
                       ks_buf *to)
{
    const ks_ledger *ledger = batch->ledger;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        const ks_launch *l = &ledger->launches[i];
        if (l->run != run || (seen != NULL && seen[l->kernel]) ||
            !ks_results_launched_in(batch, l, annotation)) {
            continue;
        }
        if (seen != NULL) {
            seen[l->kernel] = true;
        }
        ks_buf_addf(to, "%s%s", to->length > 0 ? "|" : "",
                    ks_demangle_short(ks_pool_text(&ledger->kernels, l->kernel)));
    }
}

/* Names of the kernels of the first run that has some, in launch order, joined by '|'. */
static ks_status name_first(ks_results *r, ks_region *region, const ks_batch *batch,
                            uint32_t annotation, ks_error *err)
{
    const ks_ledger *ledger = batch->ledger;
    uint32_t run = 0;
    size_t count = count_launches(batch, annotation, &run);
    if (count == 0) {
        return KS_OK;
    }
    bool *seen = NULL;
    if (count > NAMES_JOINED) {
        seen = ks_calloc(ledger->kernels.count + 1, sizeof *seen);
        if (seen == NULL) {
            return ks_enomem(err);
        }
    }
    ks_buf names;
    ks_buf_init(&names, (size_t)1 << 28);
    join_names(batch, annotation, run, seen, &names);
    ks_status status = ks_buf_status(&names, err);
    if (status == KS_OK) {
        status = ks_pool_add(&r->pool, ks_buf_text(&names), &region->kernels, err);
    }
    ks_buf_fini(&names);
    ks_free(seen);
    return status;
}

/* ---- runs that launched different kernels -----------------------------------------------------
 */

/* Of each run what tells its kernels from another's, whatever their order is: that of several
 * threads is never the same. */
static void sign_runs(const ks_batch *batch, uint32_t annotation, uint64_t *signs)
{
    static const uint64_t ODD = 0x9e3779b97f4a7c15u; /* spreads small numbers over all bits */
    const ks_ledger *ledger = batch->ledger;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        const ks_launch *l = &ledger->launches[i];
        if (l->run < batch->samples->runs && ks_results_launched_in(batch, l, annotation)) {
            uint64_t bits = l->kernel * ODD;
            signs[l->run] += bits ^ bits >> 29;
        }
    }
}

static bool counts(const ks_samples *samples, uint32_t annotation, uint32_t run)
{
    return ks_samples_presence(samples, annotation, run)->visits > 0 && samples->failures[run] == 0;
}

/* The first run that counts, and the first one after it with another sign; false: there is none. */
static bool find_differing(const ks_batch *batch, uint32_t annotation, const uint64_t *signs,
                           uint32_t runs[2])
{
    const ks_samples *samples = batch->samples;
    bool any = false;
    for (uint32_t run = 0; run < samples->runs; run++) {
        if (!counts(samples, annotation, run)) {
            continue;
        }
        if (any && signs[run] != signs[runs[0]]) {
            runs[1] = run;
            return true;
        }
        runs[0] = any ? runs[0] : run;
        any = true;
    }
    return false;
}

/* "a 2x in run 1, 1x in run 3", for the kernels that two runs did not launch equally often. */
static void tell_differing(const ks_batch *batch, uint32_t annotation, const uint32_t runs[2],
                           uint32_t *launched, ks_buf *to)
{
    const ks_ledger *ledger = batch->ledger;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        const ks_launch *l = &ledger->launches[i];
        if ((l->run == runs[0] || l->run == runs[1]) &&
            ks_results_launched_in(batch, l, annotation)) {
            launched[2 * l->kernel + (l->run == runs[1])]++;
        }
    }
    for (ks_text_id kernel = 1; kernel <= ledger->kernels.count; kernel++) {
        const uint32_t *of = &launched[2 * (size_t)kernel];
        if (of[0] != of[1]) {
            ks_buf_addf(to, "%s%s %ux in run %u, %ux in run %u", to->length > 0 ? "; " : "",
                        ks_demangle_short(ks_pool_text(&ledger->kernels, kernel)), of[0],
                        batch->first_run + runs[0] + 1, of[1], batch->first_run + runs[1] + 1);
        }
    }
}

static ks_status name_differing(ks_results *r, ks_region *region, const ks_batch *batch,
                                uint32_t annotation, ks_error *err)
{
    uint32_t runs[2] = {0, 0};
    ks_buf text;
    uint64_t *signs = ks_calloc((size_t)batch->samples->runs + 1, sizeof *signs);
    uint32_t *launched = ks_calloc(2 * (batch->ledger->kernels.count + 1), sizeof *launched);
    ks_status status = signs != NULL && launched != NULL ? KS_OK : ks_enomem(err);
    ks_buf_init(&text, (size_t)1 << 20);
    if (status == KS_OK) {
        sign_runs(batch, annotation, signs);
    }
    if (status == KS_OK && find_differing(batch, annotation, signs, runs)) {
        tell_differing(batch, annotation, runs, launched, &text);
        status = ks_buf_status(&text, err);
        status = status == KS_OK
                     ? ks_pool_add(&r->pool, ks_buf_text(&text), &region->differing, err)
                     : status;
    }
    ks_buf_fini(&text);
    ks_free(signs);
    ks_free(launched);
    return status;
}

ks_status ks_results_name_kernels(ks_results *results, ks_region *region, const ks_batch *batch,
                                  uint32_t annotation, ks_error *err)
{
    KS_TRY(name_first(results, region, batch, annotation, err));
    bool several = batch->samples->runs > 1 && batch->ledger->count > 0;
    return several ? name_differing(results, region, batch, annotation, err) : KS_OK;
}
