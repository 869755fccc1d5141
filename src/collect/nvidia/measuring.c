/* The life of a batch: its passes, and what is read after the last one. */
#include "collect/nvidia/measuring.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/drain.h"
#include "collect/nvidia/refusal.h"
#include "collect/nvidia/tracking.h"

enum {
    SLOTS = 32,           /* to begin with: the first start costs time for each of them */
    RANGES_MAX = 1 << 20, /* of a batch, where there is no other limit */
};

/* ---- the whole --------------------------------------------------------------------------------
 */

static void lock(void *self)
{
    ks_ledger_lock(((ks_measuring *)self)->ledger);
}

static void unlock(void *self)
{
    ks_ledger_unlock(((ks_measuring *)self)->ledger);
}

ks_status ks_measuring_init(ks_measuring *m, const ks_collect_spec *spec,
                            const ks_counters *counters, ks_error *err)
{
    *m = (ks_measuring){.ledger = spec->ledger,
                        .controls = spec->controls,
                        .counters = counters,
                        .nothing.ledger = spec->ledger};
    bool by_kernel = m->controls->replay == KS_REPLAY_KERNEL;
    bool by_range = m->controls->replay == KS_REPLAY_RANGE;
    ks_fault_init(&m->fault);
    KS_TRY(ks_drain_start(m->controls->drain_limit_s, err));
    KS_TRY(ks_cuda_get(&m->cuda, err));
    KS_TRY(ks_cupti_get(&m->cupti, err));
    m->passes = 1;
    if (counters != NULL) {
        m->passes = by_kernel ? 1 : (uint32_t)counters->config.passes;
        m->spec =
            (ks_profile_spec){.config = &counters->config,
                              .metrics = counters->metrics,
                              .count = counters->count,
                              .range = by_range ? KS_CUPTI_USER_RANGE : KS_CUPTI_AUTO_RANGE,
                              .replay = by_kernel ? KS_CUPTI_KERNEL_REPLAY : KS_CUPTI_USER_REPLAY,
                              .slots = SLOTS,
                              .flush = m->controls->cache == KS_CACHE_FLUSH,
                              .cancelled = m->controls->cancelled};
    }
    m->ignored_any = ks_calloc(m->controls->ignored_count + 1, sizeof *m->ignored_any);
    if (m->ignored_any == NULL) {
        return ks_enomem(err);
    }
    const ks_launch_watcher watcher = {
        m, lock, unlock, ks_tracking_enter, ks_tracking_leave, ks_tracking_instead};
    return ks_launches_watch(m->cuda, m->cupti, &watcher, err);
}

static void free_track(ks_track *track)
{
    ks_free(track->ranges);
    ks_free(track->values);
}

void ks_measuring_fini(ks_measuring *m)
{
    ks_launches_unwatch(m);
    ks_drain_stop();
    for (size_t i = 0; i < m->track_count; i++) {
        ks_profiler_abandon(m->tracks[i].profiler);
        free_track(&m->tracks[i]);
    }
    ks_free(m->tracks);
    ks_free(m->ignored_any);
    ks_nothing_fini(&m->nothing);
}

static void set_mode(ks_measuring *m, ks_measuring_mode mode)
{
    ks_ledger_lock(m->ledger);
    m->mode = mode;
    ks_ledger_unlock(m->ledger);
}

/* ---- how much fits ----------------------------------------------------------------------------
 */

bool ks_measuring_can_segment(const ks_measuring *m)
{
    return m->passes == 1;
}

bool ks_measuring_by_kernel(const ks_measuring *m)
{
    return m->counters != NULL && m->spec.range == KS_CUPTI_AUTO_RANGE;
}

/* Slots for so many ranges: doubled until they do. */
static size_t slots_for(size_t ranges)
{
    size_t slots = SLOTS;
    while (slots < ranges) {
        slots *= 2;
    }
    return slots;
}

/* Make room for the calls of this config, where a call must fit as a whole. */
static void fit_slots(ks_measuring *m)
{
    size_t ranges = m->most_ranges + (m->chosen ? 1 : 0); /* one is empty */
    if (!ks_measuring_can_segment(m) && ranges > m->spec.slots) {
        m->spec.slots = slots_for(ranges);
    }
}

static ks_status fail_room(const ks_measuring *m, size_t most_slots, ks_error *err)
{
    bool visits = m->spec.range == KS_CUPTI_USER_RANGE;
    size_t each = m->spec.flush && !visits ? 2 : 1;
    return ks_fail(
        err, KS_ELIMIT, "nvidia", 0,
        "a call %s %zu %s, and the counters of %u passes have room for %zu in 1 GiB: ask "
        "for fewer metrics (those of one pass have no limit), or make a call do less",
        visits ? "enters" : "launches", m->most_ranges / each, visits ? "annotations" : "kernels",
        m->passes, most_slots / each);
}

/* Make a context's counters ready, with as many slots as there is memory for. */
static ks_status prepare(ks_measuring *m, const ks_track *track, ks_error *err)
{
    ks_error refused = KS_ERROR_INIT;
    const ks_profiler *p = track->profiler;
    ks_status status = ks_profiler_prepare(track->profiler, &m->spec, &refused);
    if (status == KS_ELIMIT && p->most_slots >= m->most_ranges && p->most_slots > 0) {
        m->spec.slots = p->most_slots;
        ks_error_clear(&refused);
        status = ks_profiler_prepare(track->profiler, &m->spec, &refused);
    }
    if (status == KS_ELIMIT) {
        return fail_room(m, p->most_slots, err);
    }
    return status == KS_OK
               ? KS_OK
               : ks_fail(err, status, refused.origin, refused.native, "%s", refused.message);
}

/* Whether the next batch is one of ranges that nobody asked for. */
static bool will_choose(const ks_measuring *m)
{
    return m->counters != NULL && m->controls->replay == KS_REPLAY_AUTO &&
           m->of_config != KS_WHOLE_NOTHING;
}

uint32_t ks_measuring_room(const ks_measuring *m)
{
    bool chosen = will_choose(m);
    size_t known = chosen ? m->most_visits : m->most_ranges;
    size_t each = known > 0 ? known : 1;
    size_t slots = m->spec.slots - (chosen ? 1 : 0); /* one range is empty */
    bool limited = m->counters != NULL && !ks_measuring_can_segment(m);
    size_t room = (limited ? slots : (size_t)RANGES_MAX) / each;
    return m->one_by_one && limited ? 1 : room > 1 ? (uint32_t)room : 1;
}

/* ---- warm-up ----------------------------------------------------------------------------------
 */

ks_status ks_measuring_warm_begin(ks_measuring *m, bool first, ks_error *err)
{
    (void)err;
    m->calls_ranges = m->calls_visits = 0;
    if (first) {
        m->most_ranges = m->most_visits = 0;
        m->one_by_one = false;
        m->of_config = KS_WHOLE_NOTHING;
        m->launches_seen = false;
    }
    set_mode(m, KS_MEASURING_WARM_UP);
    return KS_OK;
}

static void note_call(ks_measuring *m)
{
    ks_ledger_lock(m->ledger);
    m->most_ranges = m->calls_ranges > m->most_ranges ? m->calls_ranges : m->most_ranges;
    m->most_visits = m->calls_visits > m->most_visits ? m->calls_visits : m->most_visits;
    m->calls_ranges = m->calls_visits = 0;
    ks_ledger_unlock(m->ledger);
}

ks_status ks_measuring_warm_end(ks_measuring *m, ks_error *err)
{
    set_mode(m, KS_MEASURING_OFF);
    note_call(m);
    return ks_fault_take(&m->fault, err);
}

/* ---- passes -----------------------------------------------------------------------------------
 */

static const char *last_kernel(const ks_ledger *ledger)
{
    return ledger->count > 0
               ? ks_pool_text(&ledger->kernels, ledger->launches[ledger->count - 1].kernel)
               : NULL;
}

/* Whether an annotation's end waited for work in vain. */
static ks_status check_stuck(const ks_measuring *m, ks_error *err)
{
    for (size_t i = 0; i < m->track_count; i++) {
        if (ks_drain_is_stuck(m->cuda, m->tracks[i].profiler->context)) {
            return ks_drain_fail(last_kernel(m->ledger), err);
        }
    }
    return KS_OK;
}

/* Wait for the work in a context. An error of the device stays with it for good. */
static ks_status synchronize(const ks_measuring *m, const ks_track *track, ks_error *err)
{
    ks_cuda_context out = NULL;
    ks_cuda_result result = m->cuda->push_context(track->profiler->context);
    if (result == 0) {
        result = ks_drain(m->cuda);
        m->cuda->pop_context(&out);
    }
    if (result == KS_DRAIN_NEVER) {
        return ks_drain_fail(last_kernel(m->ledger), err);
    }
    return result == 0 ? KS_OK : ks_device_fail(m->cuda, result, err);
}

static bool is_lost(const ks_track *track)
{
    return !ks_profiler_is_alive(track->profiler) ||
           track->context_id != track->profiler->context_id;
}

/* Of several contexts of a device the one that was launched in last, else the one that is current:
 * CUPTI gives counters to one at a time. */
static bool is_of_its_device(const ks_measuring *m, const ks_track *track)
{
    ks_cuda_context current = NULL;
    m->cuda->context(&current);
    for (size_t i = 0; i < m->track_count; i++) {
        const ks_track *other = &m->tracks[i];
        bool same = other != track && other->profiler->device == track->profiler->device;
        bool later =
            other->last_launch > track->last_launch ||
            (other->last_launch == track->last_launch && other->profiler->context == current);
        if (same && later) {
            return false;
        }
    }
    return true;
}

static void begin_batch(const ks_measuring *m, ks_track *track)
{
    track->context_id = track->profiler->context_id;
    track->count = track->segment = track->captured = 0;
    track->differs = track->captured_wrongly = track->lost = false;
    track->measured = m->whole == KS_WHOLE_NOTHING && is_of_its_device(m, track);
}

static bool is_counted(const ks_measuring *m, const ks_track *track)
{
    return m->counters != NULL && track->measured && !track->lost && m->whole == KS_WHOLE_NOTHING;
}

/* The next run is to begin anew. */
static ks_status give_up(ks_track *track, ks_status status)
{
    if (status != KS_OK) {
        ks_profiler_disable(track->profiler);
    }
    return status;
}

/* Make a context ready for a pass: all that may take long. */
static ks_status ready_track(ks_measuring *m, ks_track *track, ks_error *err)
{
    track->at = 0;
    if (m->pass == 0) {
        begin_batch(m, track);
        KS_TRY(synchronize(m, track, err));
    }
    track->lost = track->lost || is_lost(track);
    return m->pass == 0 && is_counted(m, track) ? give_up(track, prepare(m, track, err)) : KS_OK;
}

static ks_status start_track(ks_measuring *m, ks_track *track, ks_error *err)
{
    if (!is_counted(m, track)) {
        return KS_OK;
    }
    if (m->pass == 0) {
        KS_TRY(ks_profiler_begin(track->profiler, err));
    }
    KS_TRY(ks_profiler_start(track->profiler, err));
    return m->chosen ? ks_tracking_empty_range(m, track, err) : KS_OK;
}

/* Contexts that were destroyed between batches. */
static void drop_lost_tracks(ks_measuring *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->track_count; i++) {
        if (ks_profiler_is_alive(m->tracks[i].profiler)) {
            m->tracks[kept++] = m->tracks[i];
        } else {
            free_track(&m->tracks[i]);
        }
    }
    m->track_count = kept;
}

/* Without a warm-up nothing tells that another config begins: it is measured in ranges like the one
 * before, and once more if that was needless. */
static void choose_ranges(ks_measuring *m)
{
    m->of_batch = KS_WHOLE_NOTHING;
    m->needless = false;
    m->empty_ns = NAN;
    if (m->counters != NULL && m->controls->replay == KS_REPLAY_AUTO) {
        bool before = m->chosen;
        m->chosen = will_choose(m);
        m->spec.range = m->chosen ? KS_CUPTI_USER_RANGE : KS_CUPTI_AUTO_RANGE;
        if (m->chosen != before) { /* other ranges than those that were counted */
            m->most_ranges = m->chosen ? m->most_visits : 0;
        }
    }
    m->whole = ks_measuring_by_kernel(m) ? m->of_config : KS_WHOLE_NOTHING;
}

static void begin_first_pass(ks_measuring *m)
{
    choose_ranges(m);
    m->outside = 0;
    m->beside = false;
    m->kernels = (ks_kernel_memo){0};
    m->overlapping = m->elsewhere = false;
    drop_lost_tracks(m);
    fit_slots(m);
    ks_nothing_start(&m->nothing);
    if (!m->launches_seen) {
        ks_launches_watch_copies();
        m->nothing.sees_copies = true;
    }
}

/* No launch of another thread falls between the counters' start and the first one that is told. */
static ks_status start_tracks(ks_measuring *m, ks_error *err)
{
    ks_status status = KS_OK;
    ks_ledger_lock(m->ledger);
    for (size_t i = 0; i < m->track_count && status == KS_OK; i++) {
        status = give_up(&m->tracks[i], start_track(m, &m->tracks[i], err));
    }
    m->mode = status == KS_OK ? KS_MEASURING_PASS : KS_MEASURING_OFF;
    ks_ledger_unlock(m->ledger);
    return status;
}

ks_status ks_measuring_pass_begin(ks_measuring *m, uint32_t pass, ks_error *err)
{
    ks_cuda_context current = NULL;
    m->pass = pass;
    m->broken = false;
    if (pass == 0) {
        begin_first_pass(m);
    }
    m->cuda->context(&current);
    if (current != NULL) {
        KS_TRY(ks_tracking_add_context(m, current, err));
    }
    for (size_t i = 0; i < m->track_count; i++) {
        KS_TRY(ready_track(m, &m->tracks[i], err));
    }
    return start_tracks(m, err);
}

void ks_measuring_run_begin(ks_measuring *m, uint32_t run)
{
    ks_ledger_lock(m->ledger);
    m->run = run;
    m->calls_ranges = m->calls_visits = 0;
    m->open_visits = 0;
    m->open_in = NULL;
    ks_ledger_unlock(m->ledger);
}

ks_status ks_measuring_run_end(ks_measuring *m, ks_error *err)
{
    note_call(m);
    KS_TRY(check_stuck(m, err));
    return ks_fault_take(&m->fault, err);
}

void ks_measuring_abort_run(ks_measuring *m)
{
    note_call(m);
    m->one_by_one = true;
    if (m->open_visits > 0 && m->open_in != NULL && ks_profiler_is_alive(m->open_in)) {
        ks_profiler_pop(m->open_in);
    }
    m->open_visits = 0;
    m->open_in = NULL;
}

static ks_status stop_track(ks_measuring *m, ks_track *track, ks_error *err)
{
    track->complete = false;
    track->lost = track->lost || is_lost(track);
    if (track->lost) {
        return KS_OK;
    }
    KS_TRY(synchronize(m, track, err));
    if (!is_counted(m, track)) {
        return KS_OK;
    }
    if (m->broken) {
        ks_profiler_disable(track->profiler);
        return KS_OK;
    }
    track->differs = track->differs || (m->pass > 0 && track->at != track->count);
    return ks_profiler_stop(track->profiler, &track->complete, err);
}

/* As at their start. */
static ks_status stop_tracks(ks_measuring *m, ks_error *err)
{
    ks_status status = KS_OK;
    ks_ledger_lock(m->ledger);
    m->mode = KS_MEASURING_OFF;
    for (size_t i = 0; i < m->track_count && status == KS_OK; i++) {
        status = stop_track(m, &m->tracks[i], err);
    }
    ks_ledger_unlock(m->ledger);
    return status;
}

static ks_status read_track(ks_measuring *m, ks_track *track, ks_error *err)
{
    if (!is_counted(m, track) || m->broken || m->pass + 1 < m->passes) {
        return KS_OK;
    }
    return track->complete
               ? ks_tracking_read(m, track, err)
               : ks_fail(err, KS_ESTATE, "nvidia", 0,
                         "this device needs more than the %u passes that its chip needs; ask "
                         "for fewer metrics at once",
                         m->passes);
}

ks_status ks_measuring_pass_end(ks_measuring *m, ks_error *err)
{
    KS_TRY(stop_tracks(m, err));
    for (size_t i = 0; i < m->track_count; i++) {
        KS_TRY(read_track(m, &m->tracks[i], err));
    }
    if (m->pass + 1 == m->passes && m->chosen && m->of_batch == KS_WHOLE_NOTHING) {
        m->needless = true;
        m->of_config = KS_WHOLE_NOTHING;
    }
    return ks_fault_take(&m->fault, err);
}
