#include "collect/perf/notes.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/num.h"

/* In all visits of an annotation. */
struct ks_perf_uncounted {
    double visits;
    double process_ns;
    double counted_ns;
};

/* Of a smaller share of a process's time, and of less time in a visit, nothing is said: starting
 * and ending threads and switching between them takes time that is the process's and no thread's.
 */
static const double UNCOUNTED_SHARE = 0.2;
static const double UNCOUNTED_NS = 1e5;

/* Kinds of remarks. */
enum {
    MULTIPLEXED,
    UNCOUNTED
};

void ks_perf_notes_fini(ks_perf_notes *notes)
{
    ks_free(notes->shares);
    ks_free(notes->uncounted);
    memset(notes, 0, sizeof *notes);
}

ks_status ks_perf_notes_grow(ks_perf_notes *notes, uint32_t count, ks_error *err)
{
    if (count <= notes->count) {
        return KS_OK;
    }
    size_t had = (size_t)notes->count * notes->metric_count;
    size_t shares = (size_t)count * notes->metric_count;
    KS_TRY(KS_GROW(notes->shares, notes->share_capacity, shares, err));
    KS_TRY(KS_GROW(notes->uncounted, notes->uncounted_capacity, count, err));
    for (size_t i = had; i < shares; i++) {
        notes->shares[i] = 1.0;
    }
    for (uint32_t a = notes->count; a < count; a++) {
        notes->uncounted[a] = (struct ks_perf_uncounted){0};
    }
    notes->count = count;
    return KS_OK;
}

void ks_perf_note_share(ks_perf_notes *notes, uint32_t annotation, uint32_t metric, double share)
{
    double *least = &notes->shares[(size_t)annotation * notes->metric_count + metric];
    *least = share < *least ? share : *least;
}

void ks_perf_note_time(ks_perf_notes *notes, uint32_t annotation, double process_ns,
                       double counted_ns)
{
    notes->uncounted[annotation].visits += 1.0;
    notes->uncounted[annotation].process_ns += process_ns;
    notes->uncounted[annotation].counted_ns += counted_ns;
}

static ks_status tell_share(double share, uint32_t annotation, uint32_t number, ks_samples *into,
                            ks_error *err)
{
    char percent[KS_NUM_MAX];
    char text[128];
    if (share >= 1.0) {
        return KS_OK;
    }
    ks_num_fixed(100.0 * share, 0, percent);
    snprintf(text, sizeof text, "multiplexed: counted %s %% of the time, scaled to all of it",
             percent);
    const ks_remark remark = {
        .annotation = annotation, .metric = number, .kind = MULTIPLEXED, .severity = 1.0 - share};
    return ks_samples_remark(into, remark, text, err);
}

static ks_status tell_uncounted(const struct ks_perf_uncounted *u, uint32_t annotation,
                                uint32_t number, ks_samples *into, ks_error *err)
{
    char percent[KS_NUM_MAX];
    char text[200];
    double missing = u->process_ns - u->counted_ns;
    if (missing <= UNCOUNTED_SHARE * u->process_ns || missing < UNCOUNTED_NS * u->visits) {
        return KS_OK;
    }
    ks_num_fixed(100.0 * missing / u->process_ns, 0, percent);
    snprintf(text, sizeof text,
             "threads that were running before it began are not counted: they used about %s %% of "
             "the process's CPU time in it",
             percent);
    const ks_remark remark = {.annotation = annotation,
                              .metric = number,
                              .kind = UNCOUNTED,
                              .severity = missing / u->process_ns};
    return ks_samples_remark(into, remark, text, err);
}

ks_status ks_perf_notes_tell(ks_perf_notes *notes, const uint32_t *numbers, ks_samples *into,
                             ks_error *err)
{
    uint32_t count = notes->count;
    notes->count = 0;
    for (uint32_t a = 0; a < count; a++) {
        const double *shares = notes->shares + (size_t)a * notes->metric_count;
        for (uint32_t m = 0; m < notes->metric_count; m++) {
            KS_TRY(tell_share(shares[m], a, numbers[m], into, err));
            KS_TRY(tell_uncounted(&notes->uncounted[a], a, numbers[m], into, err));
        }
    }
    return KS_OK;
}
