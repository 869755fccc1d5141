#include "collect/nvidia/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum {
    EMPTY_RANGES = 50, /* that a range must last, for its own time to be a small part */
    CHOICE = 1         /* kind of a remark */
};

/* ---- what came and what was captured ----------------------------------------------------------
 */

static void count_captured(const ks_measuring *m, ks_samples *into)
{
    if (m->counters == NULL) {
        return;
    }
    into->launched += m->outside;
    for (size_t i = 0; i < m->track_count; i++) {
        const ks_track *track = &m->tracks[i];
        if (track->measured) {
            into->launched += track->count;
            into->captured += track->captured;
        }
    }
}

static bool differs(const ks_track *track)
{
    return track->differs;
}

static bool is_lost(const ks_track *track)
{
    return track->lost;
}

static bool is_wrong(const ks_track *track)
{
    return track->captured_wrongly;
}

static bool any_track(const ks_measuring *m, bool (*is)(const ks_track *track))
{
    for (size_t i = 0; i < m->track_count; i++) {
        if (m->tracks[i].measured && is(&m->tracks[i])) {
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
    } else if (m->elsewhere) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "an annotation launched in several CUDA contexts (on several GPUs), and in range "
                "replay the one is measured that was current at its begin; measure in user replay");
    } else if (m->whole != KS_WHOLE_NOTHING) {
        ks_fail(&into->spoiled, KS_UNAVAILABLE, "nvidia", 0,
                "%s; measure in range replay, which has one value for all that an annotation "
                "launches, or kernel__time_duration.sum, which sees the kernels of graphs and "
                "those that run together",
                m->whole == KS_WHOLE_GRAPH
                    ? "a CUDA graph was launched, whose kernels have no counters of their own"
                    : "a kernel of NCCL was launched, which waits for others and would do so for "
                      "ever if one kernel ran at a time");
    } else if (m->needless) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "a CUDA graph, or a kernel of NCCL, was launched by some calls of the body and not "
                "by others; measure in range replay");
    } else if (m->beside) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "work was launched in several CUDA contexts of one GPU, of which one at a time has "
                "counters; launch from one context, or ask for kernel__time_duration.sum");
    } else if (any_track(m, is_lost)) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "a CUDA context was destroyed while it was measured (cudaDeviceReset, "
                "cuCtxDestroy), and its counters with it; keep it while a config is measured");
    } else if (any_track(m, differs)) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "the passes of a run launched their work in different orders, as several threads "
                "do; launch from one thread, ask for metrics of one pass (`kernsight metrics "
                "--passes`), or measure in range or kernel replay");
    } else if (into->launched == into->captured && any_track(m, is_wrong)) {
        ks_fail(&into->spoiled, KS_ESTATE, "nvidia", 0,
                "some launches were not captured, and as many were that nobody made: work that "
                "kernels launched themselves is the likely cause; measure in range replay");
    }
    return into->spoiled.code == KS_OK;
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* A launch, for one of the annotations that it was made in. */
typedef struct launch {
    uint32_t annotation;
    uint32_t run;
    bool graph;           /* it is a visit, and launched one */
    const double *values; /* of the counters */
} launch;

/* How a metric hangs on the span of its range. */
typedef enum of_span {
    OF_NO_SPAN,
    OF_SPAN, /* is it */
    BY_SPAN, /* is divided by it */
} of_span;

static of_span span_of(const char *name)
{
    if (strncmp(name, "gpu__time_duration.", 19) == 0 ||
        strstr(name, "__cycles_elapsed.") != NULL) {
        return OF_SPAN;
    }
    return strstr(name, "_sustained_elapsed") != NULL ||
                   strstr(name, ".per_cycle_elapsed") != NULL || strstr(name, ".per_second") != NULL
               ? BY_SPAN
               : OF_NO_SPAN;
}

/* Instructions by their kind are counted by code that is put into kernels, and not into those of
 * graphs: seen on an H200 to count 0. */
static bool is_instrumented(const char *name)
{
    return strstr(name, "sass") != NULL;
}

/* Where nobody asked for ranges, what hangs on their time is a value only where what a range itself
 * takes is a small part of it. NULL: it is one. */
static const char *not_the_kernels(const ks_measuring *m, uint32_t asked, const double *values)
{
    const char *name = m->counters->metrics[asked];
    if (!m->chosen || span_of(name) == OF_NO_SPAN) {
        return NULL;
    }
    if (strncmp(name, "gpu__time_duration.", 19) == 0) {
        return "a visit that launches a CUDA graph, or a kernel of NCCL, is measured as a whole, and "
               "its span has the gaps between kernels in it; ask for kernel__time_duration.sum";
    }
    return values[m->counters->duration] >= EMPTY_RANGES * m->empty_ns
               ? NULL
               : "it hangs on the time of a visit, which is measured as a whole because of a CUDA "
                 "graph or a kernel of NCCL, and takes less than 50 times what an empty one does; "
                 "launch more in a visit";
}

static ks_status add_value(const ks_measuring *m, const launch *of, uint32_t asked, uint32_t number,
                           ks_samples *into, ks_error *err)
{
    double value = of->values[asked];
    double weight = of->values[m->counters->weights[asked]];
    bool uncounted = of->graph && is_instrumented(m->counters->metrics[asked]);
    const char *why = uncounted      ? "CUPTI does not count it in the kernels of CUDA graphs"
                      : isnan(value) ? "the counters gave no value"
                                     : not_the_kernels(m, asked, of->values);
    if (why != NULL) {
        return ks_samples_missing(into, of->annotation, of->run, number, why, err);
    }
    return ks_samples_add(into, of->annotation, of->run, number, value, weight, err);
}

static void add_clock(const ks_counters *counters, const launch *of, ks_samples *into)
{
    if (counters->cycles != KS_NOT_READ && !isnan(of->values[counters->cycles]) &&
        !isnan(of->values[counters->duration])) {
        ks_samples_clock(into, of->annotation, of->run, of->values[counters->cycles],
                         of->values[counters->duration]);
    }
}

static ks_status add_launch(const ks_measuring *m, const launch *of, const uint32_t *numbers,
                            ks_samples *into, ks_error *err)
{
    for (uint32_t i = 0; i < m->counters->asked; i++) {
        KS_TRY(add_value(m, of, i, numbers[i], into, err));
    }
    add_clock(m->counters, of, into);
    return KS_OK;
}

/* The ledger has the launches of the first pass, which the ranges are of. */
static void note_time(const ks_measuring *m, const ks_range *range, double ns)
{
    if (range->kind == KS_RANGE_KERNEL && range->launch > 0 && ns > 0.0) {
        m->ledger->launches[range->launch - 1].ns = ns;
    }
}

/* A range belongs to the annotation that it was made in, and to those around that one. */
static ks_status add_range(const ks_measuring *m, const ks_track *track, size_t index,
                           const uint32_t *numbers, ks_samples *into, ks_error *err)
{
    const ks_range *range = &track->ranges[index];
    if (range->kind == KS_RANGE_OTHER || range->kind == KS_RANGE_EMPTY ||
        (range->kind == KS_RANGE_VISIT && !range->filled)) {
        return KS_OK;
    }
    note_time(m, range, track->values[index * m->counters->count + m->counters->duration]);
    launch of = {.run = range->run,
                 .graph = range->graph,
                 .values = track->values + index * m->counters->count};
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

/* In range replay only the outermost annotations are measured. */
static ks_status tell_inner(const ks_measuring *m, const uint32_t *numbers, ks_samples *into,
                            ks_error *err)
{
    static const char inner[] = "it is inside another annotation, and in range replay the "
                                "outermost ones are measured; measure in user replay";
    for (uint32_t i = 0; i < into->entered_count; i++) {
        uint32_t annotation = into->entered[i];
        bool nested = ks_session_annotation(annotation)->parent != NULL;
        for (uint32_t run = 0; nested && run < into->runs; run++) {
            bool entered = ks_samples_presence(into, annotation, run)->visits > 0;
            for (uint32_t k = 0; entered && k < m->counters->asked; k++) {
                KS_TRY(ks_samples_missing(into, annotation, run, numbers[k], inner, err));
            }
        }
    }
    return KS_OK;
}

static ks_status say_nothing_launched(const ks_measuring *m, const uint32_t *numbers,
                                      ks_samples *into, ks_error *err)
{
    if (m->spec.range == KS_CUPTI_USER_RANGE) {
        KS_TRY(tell_inner(m, numbers, into, err));
    }
    return ks_nothing_tell(&m->nothing, numbers, m->counters->asked, into, err);
}

/* ---- doubts -----------------------------------------------------------------------------------
 */

/* The most launches or visits that a value was combined from in any run; 0: there is none. */
static uint32_t most_combined(const ks_samples *samples, uint32_t annotation, uint32_t number)
{
    uint32_t most = 0;
    for (uint32_t run = 0; run < samples->runs; run++) {
        uint32_t count = ks_samples_cell(samples, annotation, run, number)->count;
        most = count > most ? count : most;
    }
    return most;
}

/* NULL: its values are what they look like. */
static const char *doubt_of(const ks_measuring *m, uint32_t asked, uint32_t combined)
{
    const char *name = m->counters->metrics[asked];
    if (m->spec.range == KS_CUPTI_USER_RANGE && combined > 0) {
        if (span_of(name) == OF_SPAN) {
            return "the span of a visit, with the gaps between its kernels in it "
                   "(kernel__time_duration.sum has the kernels' own time)";
        }
        if (span_of(name) == BY_SPAN) {
            return "relative to the span of a visit, with the gaps between its kernels in it";
        }
    }
    return combined > 1 && m->counters->combining[asked].approximate
               ? "approximate: the mean of several kernels, weighted by their time"
               : NULL;
}

static const char as_a_whole[] =
    "visits are measured as a whole (range replay), because a CUDA graph, "
    "or a kernel of NCCL, was launched";

static ks_remark of_choice(ks_remark remark)
{
    remark.kind = CHOICE;
    return remark;
}

static ks_status tell_doubts(const ks_measuring *m, const uint32_t *numbers, ks_samples *into,
                             ks_error *err)
{
    for (uint32_t a = 0; a < into->entered_count; a++) {
        for (uint32_t i = 0; i < m->counters->asked; i++) {
            uint32_t annotation = into->entered[a];
            const char *doubt = doubt_of(m, i, most_combined(into, annotation, numbers[i]));
            const ks_remark remark = {.annotation = annotation, .metric = numbers[i]};
            if (doubt != NULL) {
                KS_TRY(ks_samples_remark(into, remark, doubt, err));
            }
            if (m->chosen) {
                KS_TRY(ks_samples_remark(into, of_choice(remark), as_a_whole, err));
            }
        }
    }
    return KS_OK;
}

ks_status ks_nvidia_values(const ks_measuring *m, const uint32_t *numbers, ks_samples *into,
                           ks_error *err)
{
    count_captured(m, into);
    into->replay = m->chosen ? "range" : into->replay;
    if (m->counters == NULL || !agree(m, into) || into->launched != into->captured) {
        return KS_OK;
    }
    for (size_t t = 0; t < m->track_count; t++) {
        const ks_track *track = &m->tracks[t];
        for (size_t i = 0; track->measured && i < track->count; i++) {
            KS_TRY(add_range(m, track, i, numbers, into, err));
        }
    }
    KS_TRY(tell_doubts(m, numbers, into, err));
    return say_nothing_launched(m, numbers, into, err);
}
