#include "collect/nvidia/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- what came and what was captured ----------------------------------------------------------
 */

static void count_captured(const ks_measuring *m, ks_samples *into)
{
    into->launched += m->outside;
    for (size_t i = 0; i < m->track_count; i++) {
        const ks_track *track = &m->tracks[i];
        if (track->measured) {
            into->launched += track->count;
            into->captured += track->captured;
        }
    }
}

static bool any_differs(const ks_measuring *m)
{
    for (size_t i = 0; i < m->track_count; i++) {
        if (m->tracks[i].measured && m->tracks[i].differs) {
            return true;
        }
    }
    return false;
}

/* Whether the ranges of the passes are those of the same launches. Where they are not, the ledger
 * tells what was launched; what it does not see is named here. */
static bool agree(const ks_measuring *m, ks_samples *into)
{
    if (m->overlapping) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "annotations were open on several threads at once, and in range replay one range "
                "after the other is measured; measure in user replay");
    } else if (any_differs(m)) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "the passes of a run launched their work in different orders, as several threads "
                "do; launch from one thread, ask for metrics of one pass (`kernsight metrics "
                "--passes`), or measure in range or kernel replay");
    }
    return into->spoiled.code == KS_OK;
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* A launch, for one of the annotations that it was made in. */
typedef struct launch {
    uint32_t annotation;
    uint32_t run;
    const double *values; /* of the counters; NULL: there are none */
} launch;

static ks_status add_value(const ks_measuring *m, const launch *of, uint32_t asked, uint32_t number,
                           ks_samples *into, ks_error *err)
{
    double value = of->values[asked];
    double weight = of->values[m->counters->weights[asked]];
    if (isnan(value)) {
        return ks_samples_missing(into, of->annotation, of->run, number,
                                  "the counters gave no value", err);
    }
    return ks_samples_add(into, of->annotation, of->run, number, value, weight, err);
}

static ks_status add_clock(const ks_counters *counters, const launch *of, ks_samples *into,
                           ks_error *err)
{
    if (counters->cycles == KS_NOT_READ || isnan(of->values[counters->cycles]) ||
        isnan(of->values[counters->duration])) {
        return KS_OK;
    }
    return ks_samples_clock(into, of->annotation, of->values[counters->cycles],
                            of->values[counters->duration], err);
}

static ks_status add_launch(const ks_measuring *m, const launch *of, const uint32_t *numbers,
                            ks_samples *into, ks_error *err)
{
    static const char graph[] =
        "a CUDA graph was launched, whose kernels have no counters of their own; measure in range "
        "replay, or kernel__time_duration.sum";
    for (uint32_t i = 0; i < m->counters->asked; i++) {
        KS_TRY(of->values != NULL
                   ? add_value(m, of, i, numbers[i], into, err)
                   : ks_samples_missing(into, of->annotation, of->run, numbers[i], graph, err));
    }
    return of->values != NULL ? add_clock(m->counters, of, into, err) : KS_OK;
}

/* A range belongs to the annotation that it was made in, and to those around that one. */
static ks_status add_range(const ks_measuring *m, const ks_track *track, size_t index,
                           const uint32_t *numbers, ks_samples *into, ks_error *err)
{
    const ks_range *range = &track->ranges[index];
    if (range->kind == KS_RANGE_OTHER) {
        return KS_OK;
    }
    launch of = {.run = range->run};
    if (range->kind != KS_RANGE_GRAPH) {
        of.values = track->values + index * m->counters->count;
    }
    for (const ks_annotation *a = ks_session_annotation(range->annotation); a != NULL;
         a = a->parent) {
        of.annotation = a->id;
        if (ks_samples_has(into, a->id)) {
            KS_TRY(add_launch(m, &of, numbers, into, err));
        }
    }
    return KS_OK;
}

/* ---- annotations without a launch -------------------------------------------------------------
 */

static bool has_values(const ks_samples *samples, uint32_t annotation, uint32_t run,
                       uint32_t number)
{
    const ks_cell *cell = ks_samples_cell(samples, annotation, run, number);
    return cell->count > 0 || cell->why != 0;
}

/* Launches of the batch that belong to no annotation. */
static size_t count_outside(const ks_ledger *ledger)
{
    size_t outside = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        outside += ledger->launches[i].pass == ledger->first_pass &&
                   ledger->launches[i].annotation == KS_NO_ANNOTATION;
    }
    return outside;
}

ks_status ks_nvidia_nothing_launched(const ks_ledger *ledger, const uint32_t *numbers, size_t count,
                                     ks_samples *into, ks_error *err)
{
    char why[256];
    size_t outside = count_outside(ledger);
    snprintf(why, sizeof why, "no kernel was launched in it (copies and memsets are none)%s",
             outside > 0 ? "; some were launched outside any annotation" : "");
    for (uint32_t a = 0; a < into->entered_count; a++) {
        for (uint32_t run = 0; run < into->runs; run++) {
            for (size_t i = 0; i < count; i++) {
                uint32_t annotation = into->entered[a];
                bool entered = ks_samples_presence(into, annotation, run)->visits > 0;
                if (entered && !has_values(into, annotation, run, numbers[i])) {
                    KS_TRY(ks_samples_missing(into, annotation, run, numbers[i], why, err));
                }
            }
        }
    }
    return KS_OK;
}

ks_status ks_nvidia_values(const ks_measuring *m, const uint32_t *numbers, ks_samples *into,
                           ks_error *err)
{
    if (m->counters == NULL) {
        return KS_OK;
    }
    count_captured(m, into);
    if (into->launched != into->captured || !agree(m, into)) {
        return KS_OK;
    }
    for (size_t t = 0; t < m->track_count; t++) {
        const ks_track *track = &m->tracks[t];
        for (size_t i = 0; track->measured && i < track->count; i++) {
            KS_TRY(add_range(m, track, i, numbers, into, err));
        }
    }
    return ks_nvidia_nothing_launched(m->ledger, numbers, m->counters->asked, into, err);
}
