#include "collect/nvidia/tracking.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/drain.h"
#include "collect/nvidia/kernel_facts.h"
#include "collect/nvidia/refusal.h"

/* ---- contexts ---------------------------------------------------------------------------------
 */

static ks_track *find_track(ks_measuring *m, ks_cuda_context context)
{
    for (size_t i = 0; i < m->track_count; i++) {
        if (m->tracks[i].profiler->context == context) {
            return &m->tracks[i];
        }
    }
    return NULL;
}

ks_status ks_tracking_add_context(ks_measuring *m, ks_cuda_context context, ks_error *err)
{
    ks_profiler *profiler = NULL;
    KS_TRY(ks_profiler_of(m->cuda, m->cupti, context, &profiler, err));
    if (find_track(m, context) != NULL) {
        return KS_OK;
    }
    KS_TRY(KS_GROW(m->tracks, m->track_capacity, m->track_count + 1, err));
    m->tracks[m->track_count++] = (ks_track){.profiler = profiler};
    return KS_OK;
}

/* Nothing can be returned from a callback. */
static void note_fault(ks_measuring *m, ks_status status, const ks_error *fault)
{
    if (status != KS_OK) {
        ks_fault_note(&m->fault, fault);
    }
}

/* ---- ranges -----------------------------------------------------------------------------------
 */

static void add_range(ks_measuring *m, ks_track *track, ks_range range)
{
    m->calls_ranges++;
    if (m->pass > 0) {
        const ks_range *first = track->at < track->count ? &track->ranges[track->at] : NULL;
        track->differs = track->differs || first == NULL || first->kind != range.kind ||
                         first->annotation != range.annotation || first->run != range.run;
        track->at++;
        return;
    }
    ks_error fault = KS_ERROR_INIT;
    ks_status status = KS_GROW(track->ranges, track->capacity, track->count + 1, &fault);
    note_fault(m, status, &fault);
    if (status == KS_OK) {
        track->ranges[track->count++] = range;
        track->at = track->count;
    }
}

/* Read range number `at` of the image. User ranges say themselves which one they are. */
static ks_status read_range(ks_measuring *m, ks_track *track, size_t at, ks_error *err)
{
    size_t number = at;
    if (m->spec.range == KS_CUPTI_USER_RANGE) {
        KS_TRY(ks_profiler_number(track->profiler, at, &number, err));
    }
    size_t index = track->segment + number;
    if (index >= track->count) {
        return ks_fail(err, KS_EVENDOR, "cupti", 0, "range %zu is not one that was begun", number);
    }
    size_t metrics = m->counters->count;
    double *values = track->values + index * metrics;
    for (size_t i = 0; i < metrics; i++) {
        values[i] = NAN;
    }
    ks_range_kind kind = track->ranges[index].kind;
    if (kind == KS_RANGE_OTHER) {
        return KS_OK;
    }
    KS_TRY(ks_profiler_evaluate(track->profiler, &m->spec, at, values, err));
    if (kind == KS_RANGE_EMPTY) {
        m->empty_ns = values[m->counters->duration];
    }
    return KS_OK;
}

ks_status ks_tracking_read(ks_measuring *m, ks_track *track, ks_error *err)
{
    size_t ranges = 0;
    size_t dropped = 0;
    size_t expected = track->count - track->segment;
    KS_TRY(ks_profiler_decode(track->profiler, &ranges, &dropped, err));
    track->captured += ranges;
    if (ranges != expected) {
        track->captured_wrongly = true;
        track->segment = track->count;
        return KS_OK;
    }
    KS_TRY(
        KS_GROW(track->values, track->value_capacity, track->count * m->counters->count + 1, err));
    for (size_t at = 0; at < ranges; at++) {
        KS_TRY(read_range(m, track, at, err));
    }
    track->segment = track->count;
    return KS_OK;
}

/* The image is full: read it, and go on with an empty one. */
static ks_status begin_segment(ks_measuring *m, ks_track *track, ks_error *err)
{
    bool complete = false;
    KS_TRY(ks_profiler_stop(track->profiler, &complete, err));
    KS_TRY(ks_tracking_read(m, track, err));
    KS_TRY(ks_profiler_begin(track->profiler, err));
    return ks_profiler_start(track->profiler, err);
}

/* Room for `need` ranges more, where a pass can be cut. */
static void make_room(ks_measuring *m, ks_track *track, size_t need)
{
    bool full = track->count - track->segment + need > track->profiler->slots;
    if (!full || !ks_measuring_can_segment(m) || m->broken) {
        return;
    }
    ks_error fault = KS_ERROR_INIT;
    ks_launches_are_ours(true);
    ks_status status = begin_segment(m, track, &fault);
    ks_launches_are_ours(false);
    note_fault(m, status, &fault);
    m->broken = status != KS_OK;
}

/* Sweep the caches on the stream of what comes next: a range of its own. */
static void sweep(ks_measuring *m, ks_track *track, ks_cuda_stream stream)
{
    ks_error fault = KS_ERROR_INIT;
    ks_launches_are_ours(true);
    ks_cuda_result result = ks_flush_launch(&track->profiler->flush, stream);
    ks_launches_are_ours(false);
    if (result == 0 && m->spec.range == KS_CUPTI_AUTO_RANGE) {
        add_range(
            m, track,
            (ks_range){.kind = KS_RANGE_OTHER, .annotation = KS_NO_ANNOTATION, .run = m->run});
    } else if (result != 0 && ks_drain(m->cuda) == 0) { /* else the end of the pass tells */
        ks_cuda_fail(m->cuda, result, "cannot sweep the GPU's caches", &fault);
        ks_fault_note(&m->fault, &fault);
    }
}

/* ---- launches ---------------------------------------------------------------------------------
 */

/* Kernels of NCCL begin with its name, mangled or not. */
static bool is_nccl(const char *kernel)
{
    const char *name = strncmp(kernel, "_Z", 2) == 0 ? kernel + 2 : kernel;
    name += strspn(name, "N0123456789");
    return strncmp(name, "nccl", 4) == 0;
}

static ks_whole whole_of(const ks_api_launch *launch)
{
    if (launch->function == NULL) {
        return KS_WHOLE_GRAPH;
    }
    return launch->kernel != NULL && is_nccl(launch->kernel) ? KS_WHOLE_NCCL : KS_WHOLE_NOTHING;
}

static void note_launch_in(ks_measuring *m, ks_track *track)
{
    if (track != NULL) {
        track->last_launch = ++m->launches;
    }
}

/* A launch in the warm-up: what is learnt is how many there are, and in which contexts. */
static void count_launch(ks_measuring *m, const ks_api_launch *launch)
{
    ks_error fault = KS_ERROR_INIT;
    size_t each = m->spec.flush || m->controls->one_of_two ? 2 : 1; /* the counters stay enabled */
    m->calls_ranges += m->spec.range == KS_CUPTI_USER_RANGE ? 0 : each;
    m->of_config = m->of_config != KS_WHOLE_NOTHING ? m->of_config : whole_of(launch);
    m->launches_seen = true;
    note_fault(m, ks_tracking_add_context(m, launch->context, &fault), &fault);
    note_launch_in(m, find_track(m, launch->context));
}

/* The counters are stopped before it comes, and the batch has no values. */
static void stop_for(ks_measuring *m, ks_whole whole)
{
    m->whole = whole;
    m->of_config = m->controls->replay == KS_REPLAY_AUTO ? whole : m->of_config;
    for (size_t i = 0; i < m->track_count; i++) {
        ks_profiler_abandon(m->tracks[i].profiler);
    }
}

static void begin_launch(ks_measuring *m, const ks_api_launch *launch)
{
    m->now_in = find_track(m, launch->context);
    m->now_owned = ks_session_owner(&m->now_owner);
    m->now_owner.annotation = m->now_owned ? m->now_owner.annotation : NULL;
    m->now_ignored = ks_nothing_ignores(m->controls, m->ignored_any, launch->kernel);
    m->launches_seen = true;
    m->now = m->now_owner.annotation == NULL || m->now_ignored ? KS_RANGE_OTHER : KS_RANGE_KERNEL;
    if (m->now != KS_RANGE_OTHER) {
        note_launch_in(m, m->now_in);
    }
    ks_whole whole = whole_of(launch);
    m->of_batch = m->of_batch != KS_WHOLE_NOTHING ? m->of_batch : whole;
    if (m->now_in == NULL || !m->now_in->measured || !ks_measuring_by_kernel(m) ||
        m->whole != KS_WHOLE_NOTHING) {
        return;
    }
    if (whole != KS_WHOLE_NOTHING) {
        stop_for(m, whole);
        return;
    }
    bool flush = m->spec.flush && m->now == KS_RANGE_KERNEL;
    make_room(m, m->now_in, flush ? 2 : 1);
    if (flush) {
        sweep(m, m->now_in, launch->stream);
    }
}

void ks_tracking_enter(void *self, const ks_api_launch *launch)
{
    ks_measuring *m = self;
    if (m->mode == KS_MEASURING_WARM_UP) {
        count_launch(m, launch);
    } else if (m->mode == KS_MEASURING_PASS) {
        begin_launch(m, launch);
    }
}

/* @return its place in the ledger, from 1; 0: no memory was left for it */
static size_t enter_in_ledger(ks_measuring *m, const ks_api_launch *launch)
{
    size_t had = m->ledger->count;
    ks_launch entry = {.annotation = m->now_owner.annotation != NULL ? m->now_owner.annotation->id
                                                                     : KS_NO_ANNOTATION,
                       .thread = m->now_owner.thread,
                       .stream = (uint64_t)(uintptr_t)launch->stream};
    for (int i = 0; i < 3; i++) {
        entry.grid[i] = launch->grid[i];
        entry.block[i] = launch->block[i];
    }
    if (m->pass == 0) {
        entry.facts = ks_kernel_facts_read(m->cuda, launch, &m->kernels);
    }
    ks_ledger_add(m->ledger, entry, launch->kernel != NULL ? launch->kernel : "CUDA graph");
    return m->ledger->count > had ? m->ledger->count : 0;
}

static void note_instead(ks_measuring *m, const ks_annotation *annotation, ks_instead what)
{
    ks_error fault = KS_ERROR_INIT;
    note_fault(m, ks_nothing_note(&m->nothing, annotation, what, &fault), &fault);
}

void ks_tracking_instead(void *self, ks_instead what)
{
    ks_measuring *m = self;
    ks_owner owner;
    if (m->mode == KS_MEASURING_PASS && ks_session_owner(&owner)) {
        note_instead(m, owner.annotation, what);
    }
}

void ks_tracking_leave(void *self, const ks_api_launch *launch, bool succeeded)
{
    ks_measuring *m = self;
    if (m->mode != KS_MEASURING_PASS || !succeeded) {
        return;
    }
    size_t entered = 0;
    if (m->now_owned && !m->now_ignored) {
        entered = enter_in_ledger(m, launch);
    } else if (m->now_owned) {
        note_instead(m, m->now_owner.annotation, KS_DID_IGNORED);
    }
    uint32_t annotation =
        m->now_owner.annotation != NULL ? m->now_owner.annotation->id : KS_NO_ANNOTATION;
    if (m->properties != NULL && m->pass == 0 && m->now != KS_RANGE_OTHER) {
        ks_error lost = KS_ERROR_INIT;
        note_fault(m, ks_properties_note(m->properties, launch, annotation, m->run, &lost), &lost);
    }
    if (m->whole != KS_WHOLE_NOTHING) {
        return;
    }
    if (m->now_in == NULL || !m->now_in->measured) {
        m->outside += m->pass == 0 && m->now != KS_RANGE_OTHER;
        ks_error fault = KS_ERROR_INIT;
        note_fault(m, ks_tracking_add_context(m, launch->context, &fault), &fault);
        m->beside = m->beside || (m->now_in != NULL && m->now != KS_RANGE_OTHER);
        if (m->now_in == NULL && m->now != KS_RANGE_OTHER) {
            note_launch_in(m, find_track(m, launch->context));
        }
    } else if (m->spec.range == KS_CUPTI_AUTO_RANGE) {
        add_range(m, m->now_in,
                  (ks_range){.kind = m->now,
                             .annotation = annotation,
                             .run = m->run,
                             .filled = true,
                             .launch = entered});
    } else if (m->now != KS_RANGE_OTHER && m->now_in->profiler != m->open_in) {
        m->elsewhere = true;
    } else if (m->now != KS_RANGE_OTHER && m->pass == 0 && m->now_in->count > 0) {
        ks_range *range = &m->now_in->ranges[m->now_in->count - 1];
        range->filled = true;
        range->graph = range->graph || launch->function == NULL;
    }
}

/* ---- visits as ranges -------------------------------------------------------------------------
 */

/* Whether a visit is a range of its own: those inside another one, or beside it on another thread,
 * are not. */
static bool is_range(const ks_measuring *m, const ks_visit *visit)
{
    return m->counters != NULL && m->spec.range == KS_CUPTI_USER_RANGE && visit->parent == NULL;
}

ks_status ks_tracking_empty_range(ks_measuring *m, ks_track *track, ks_error *err)
{
    ks_cupti_result result = ks_profiler_push(track->profiler, track->at - track->segment);
    result = result != 0 ? result : ks_profiler_pop(track->profiler);
    add_range(m, track, (ks_range){.kind = KS_RANGE_EMPTY, .annotation = KS_NO_ANNOTATION});
    return result == 0 ? KS_OK
                       : ks_counters_fail(m->cupti, result, "cannot measure an empty range", err);
}

static void open_range(ks_measuring *m, ks_track *track, const ks_visit *visit)
{
    make_room(m, track, 1);
    if (m->spec.flush) {
        sweep(m, track, NULL);
        if (ks_drain(m->cuda) == KS_DRAIN_NEVER) { /* the range begins on every stream */
            return;                                /* the end of the pass tells */
        }
    }
    ks_error fault = KS_ERROR_INIT;
    ks_cupti_result result = ks_profiler_push(track->profiler, track->at - track->segment);
    if (result != 0) {
        ks_counters_fail(m->cupti, result, "cannot begin a range", &fault);
        ks_fault_note(&m->fault, &fault);
    } else {
        m->open_in = track->profiler;
        add_range(
            m, track,
            (ks_range){.kind = KS_RANGE_VISIT, .annotation = visit->annotation->id, .run = m->run});
    }
}

static void begin_visit(ks_measuring *m, ks_cuda_context context, const ks_visit *visit)
{
    ks_track *track = find_track(m, context);
    if (m->open_visits++ > 0) {
        m->overlapping = true;
    } else if (track != NULL && track->measured) {
        open_range(m, track, visit);
    } else {
        ks_error fault = KS_ERROR_INIT;
        m->outside++;
        note_fault(m, context != NULL ? ks_tracking_add_context(m, context, &fault) : KS_OK,
                   &fault);
    }
}

void ks_measuring_enter(ks_measuring *m, ks_visit *visit)
{
    ks_cuda_context context = NULL;
    bool range = is_range(m, visit);
    if (range) {
        m->cuda->context(&context);
    }
    ks_ledger_lock(m->ledger);
    m->calls_visits += visit->parent == NULL;
    if (range) {
        begin_visit(m, context, visit);
    }
    ks_ledger_unlock(m->ledger);
}

/* Whether the work of a profiler's context ends. */
static bool ends(const ks_measuring *m, const ks_profiler *profiler)
{
    ks_cuda_context out = NULL;
    if (m->cuda->push_context(profiler->context) != 0) {
        return true;
    }
    ks_cuda_result result = ks_drain(m->cuda);
    m->cuda->pop_context(&out);
    return result != KS_DRAIN_NEVER; /* the end of the pass tells */
}

/* To pop a range waits for what is in it, for ever if need be. While we wait in its place other
 * threads may launch, and visits that they begin do not end the range. */
void ks_measuring_leave(ks_measuring *m, ks_visit *visit)
{
    if (!is_range(m, visit)) {
        return;
    }
    ks_ledger_lock(m->ledger);
    ks_profiler *profiler = m->open_visits == 1 ? m->open_in : NULL;
    ks_ledger_unlock(m->ledger);
    bool ended = profiler == NULL || ends(m, profiler);
    ks_ledger_lock(m->ledger);
    if (--m->open_visits == 0 && m->open_in != NULL) {
        if (ended) {
            ks_profiler_pop(m->open_in);
        }
        m->open_in = NULL;
    }
    ks_ledger_unlock(m->ledger);
}
