#include "collect/nvidia/board/meter.h"

#include <stdio.h>

#include "base/error.h"
#include "collect/nvidia/timer.h"

enum {
    MOVES = 4,           /* that the period is found from */
    PERIODS_NEEDED = 20, /* of which one may be told wrong: 5 % */
    PERIODS_OF_REST = 5,
    PERIODS_TO_JUDGE = 2, /* whether more calls may help */
    SHARE_NEEDED_PCT = 95
};

static const double LOOK_EVERY_S = 0.001;
static const uint64_t LOOK_AT_MOST_NS = UINT64_C(5000000000);

static ks_status read_meter(const ks_board *board, ks_nvml_u64 *out, ks_error *err)
{
    ks_nvml_result result = KS_BOARD_ASK(board, energy, out);
    return result == 0 ? KS_OK
                       : ks_board_fail(board, result, "read the energy that the GPU used", err);
}

ks_status ks_meter_period(const ks_board *board, const atomic_bool *cancelled, uint64_t *out_ns,
                          ks_error *err)
{
    const ks_timer *timer = ks_nvidia_timer;
    uint64_t began = timer->now_ns();
    uint64_t moved = 0; /* when it did last */
    uint64_t longest = 0;
    ks_nvml_u64 shown = 0;
    KS_TRY(read_meter(board, &shown, err));
    for (int moves = 0; moves <= MOVES;) {
        ks_nvml_u64 now_shown = 0;
        timer->pause(LOOK_EVERY_S);
        KS_TRY(read_meter(board, &now_shown, err));
        uint64_t now = timer->now_ns();
        if (now_shown != shown) {
            longest = moves > 0 && now - moved > longest ? now - moved : longest;
            moved = now;
            shown = now_shown;
            moves++;
        }
        if (cancelled != NULL && atomic_load(cancelled)) {
            return ks_fail(err, KS_ECANCELED, "nvml", 0,
                           "cancelled while the GPU's meter of energy was watched");
        }
        if (now - began > LOOK_AT_MOST_NS) {
            return ks_fail(err, KS_UNAVAILABLE, "nvml", 0,
                           "the GPU's meter of energy stands still: it moved %d times in %d s",
                           moves, (int)(LOOK_AT_MOST_NS / 1000000000u));
        }
    }
    *out_ns = longest;
    return KS_OK;
}

uint64_t ks_meter_need_ns(uint64_t period_ns)
{
    return PERIODS_NEEDED * period_ns;
}

uint64_t ks_meter_rest_ns(uint64_t period_ns)
{
    return PERIODS_OF_REST * period_ns;
}

static void add_reading(ks_metered *m, const ks_metered_visit *visit)
{
    if (m->read_calls == 0 || visit->begin_ns < m->first_ns) {
        m->first_ns = visit->begin_ns;
        m->first_mj = visit->begin_mj;
    }
    if (m->read_calls == 0 || visit->end_ns > m->last_ns) {
        m->last_ns = visit->end_ns;
        m->last_mj = visit->end_mj;
    }
    m->inside_mj += visit->end_mj - visit->begin_mj;
    m->read_ns = m->inside_ns;
    m->read_calls = m->calls;
}

void ks_metered_add(ks_metered *m, uint32_t call, const ks_metered_visit *visit)
{
    uint64_t took = visit->end_ns - visit->begin_ns;
    m->shortest_ns = m->visits == 0 || took < m->shortest_ns ? took : m->shortest_ns;
    m->ended_ns = visit->end_ns > m->ended_ns ? visit->end_ns : m->ended_ns;
    m->inside_ns += took;
    m->visits++;
    m->calls += m->last_call != call;
    m->last_call = call;
    if (visit->read) {
        add_reading(m, visit);
    }
}

static double milli(uint64_t of)
{
    return (double)of / 1e3;
}

/* How much of the time from the first visit to the last one was in visits, in percent. */
static uint64_t share_of(uint64_t inside_ns, uint64_t span_ns)
{
    return span_ns > 0 ? 100 * inside_ns / span_ns : 100;
}

bool ks_metered_has_hope(const ks_metered *m, uint64_t period_ns)
{
    uint64_t span = m->ended_ns - m->first_ns;
    return m->visits > 0 && m->shortest_ns < ks_meter_need_ns(period_ns) &&
           (span < PERIODS_TO_JUDGE * period_ns ||
            share_of(m->inside_ns, span) >= SHARE_NEEDED_PCT);
}

static bool tell_why(const ks_metered *m, uint64_t period_ns, char why[KS_METER_WHY_MAX])
{
    unsigned long long period_ms = (period_ns + 500000) / 1000000;
    unsigned long long need_ms = ks_meter_need_ns(period_ns) / 1000000;
    unsigned long long share = share_of(m->inside_ns, m->ended_ns - m->first_ns);
    if (share < SHARE_NEEDED_PCT) {
        snprintf(why, KS_METER_WHY_MAX,
                 "the GPU's meter of energy moves every %llu ms only, and this annotation is %llu "
                 "%% of the time of the calls: repeat its work inside it for %llu ms, or make it "
                 "all that the body does",
                 period_ms, share, need_ms);
    } else {
        snprintf(why, KS_METER_WHY_MAX,
                 "the GPU's meter of energy moves every %llu ms only, and the calls ended before "
                 "it could be told apart: repeat the work inside the annotation for %llu ms",
                 period_ms, need_ms);
    }
    return false;
}

bool ks_metered_tell(const ks_metered *m, uint64_t period_ns, double *joules, double *watts,
                     char why[KS_METER_WHY_MAX])
{
    uint64_t need = ks_meter_need_ns(period_ns);
    uint64_t span = m->last_ns - m->first_ns;
    if (m->read_ns > span) {
        snprintf(why, KS_METER_WHY_MAX,
                 "its visits overlapped on several threads, and the meter shows the energy of all");
        return false;
    }
    if (m->shortest_ns >= need) { /* each is long enough by itself */
        *joules = milli(m->inside_mj) / m->read_calls;
        *watts = milli(m->inside_mj) / ((double)m->inside_ns / 1e9);
        return true;
    }
    if (span < need || share_of(m->read_ns, span) < SHARE_NEEDED_PCT) {
        return tell_why(m, period_ns, why);
    }
    *watts = milli(m->last_mj - m->first_mj) / ((double)span / 1e9); /* they fill that time */
    *joules = *watts * ((double)m->read_ns / 1e9) / m->read_calls;
    return true;
}
