#include "collect/nvidia/tracing/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

void ks_owners_init(ks_owners *owners)
{
    memset(owners, 0, sizeof *owners);
}

void ks_owners_fini(ks_owners *owners)
{
    ks_free(owners->visits);
    ks_free(owners->times);
    ks_owners_init(owners);
}

static uint64_t word(const ks_owners *o, const ks_visit *visit, int which)
{
    return visit->slots[o->first_slot + (uint32_t)which];
}

/* Those of a thread follow each other in order of entry: of two that began at once, the inner one
 * has the higher number. */
static int by_thread_and_begin(const void *a, const void *b)
{
    const ks_timed_visit *x = a;
    const ks_timed_visit *y = b;
    int threads = (x->thread > y->thread) - (x->thread < y->thread);
    int begins = (x->begin > y->begin) - (x->begin < y->begin);
    int numbers = (x->number > y->number) - (x->number < y->number);
    return threads != 0 ? threads : begins != 0 ? begins : numbers;
}

static void add_visit(ks_owners *o, const ks_visit *visit)
{
    uint64_t id = word(o, visit, KS_TRACED_ID);
    uint32_t number = (uint32_t)id;
    if (id >> 32 != o->call || number < 1 || number > o->count) {
        return; /* it began before the collector was asked */
    }
    o->visits[number - 1].visit = visit;
    o->times[o->time_count++] = (ks_timed_visit){
        .begin = word(o, visit, KS_TRACED_BEGIN), .thread = visit->thread, .number = number};
}

static void find_threads(ks_owners *o)
{
    size_t first = 0;
    for (size_t i = 0; i < o->time_count; i++) {
        first = o->times[i].thread == o->times[first].thread ? first : i;
        o->times[first].end = i + 1;
    }
}

ks_status ks_owners_take(ks_owners *owners, uint32_t first_slot, uint32_t call, uint32_t count,
                         uint64_t body, ks_error *err)
{
    KS_TRY(KS_GROW(owners->visits, owners->capacity, count, err));
    KS_TRY(KS_GROW(owners->times, owners->time_capacity, count, err));
    owners->first_slot = first_slot;
    owners->call = call;
    owners->body = body;
    owners->count = count;
    owners->time_count = 0;
    if (count == 0) {
        return KS_OK;
    }
    memset(owners->visits, 0, count * sizeof *owners->visits);
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        add_visit(owners, v);
    }
    qsort(owners->times, owners->time_count, sizeof *owners->times, by_thread_and_begin);
    find_threads(owners);
    return KS_OK;
}

/* The first that is open at a time, from a visit on outwards. All that were open on its thread when
 * it began are on this way. */
static ks_traced_visit *open_at(const ks_owners *o, const ks_visit *visit, uint64_t time)
{
    for (; visit != NULL; visit = visit->parent) {
        uint64_t end = word(o, visit, KS_TRACED_END);
        if (word(o, visit, KS_TRACED_BEGIN) <= time && (end == 0 || time < end)) {
            return &o->visits[(uint32_t)word(o, visit, KS_TRACED_ID) - 1];
        }
    }
    return NULL;
}

static const ks_visit *timed(const ks_owners *o, size_t at)
{
    return o->visits[o->times[at].number - 1].visit;
}

/* The innermost one open at a time among those of the thread whose first one this is. */
static ks_traced_visit *innermost(const ks_owners *o, size_t first, uint64_t time)
{
    size_t low = first; /* all before `low` had begun, none from `end` on */
    size_t end = o->times[first].end;
    while (low < end) {
        size_t middle = low + (end - low) / 2;
        if (o->times[middle].begin <= time) {
            low = middle + 1;
        } else {
            end = middle;
        }
    }
    return low == first ? NULL : open_at(o, timed(o, low - 1), time);
}

/* The one of the body's thread; else the only one. */
static ks_traced_visit *open_elsewhere(const ks_owners *o, uint64_t time, bool *several)
{
    ks_traced_visit *found = NULL;
    size_t open = 0;
    for (size_t first = 0; first < o->time_count; first = o->times[first].end) {
        ks_traced_visit *here = innermost(o, first, time);
        if (here != NULL && word(o, here->visit, KS_TRACED_THREAD) == o->body) {
            return here;
        }
        open += here != NULL;
        found = here != NULL ? here : found;
    }
    *several = open > 1;
    return open == 1 ? found : NULL;
}

ks_traced_visit *ks_owner_of(const ks_owners *owners, const ks_origin *origin, bool *several)
{
    uint32_t number = (uint32_t)origin->id;
    bool told = origin->id >> 32 == owners->call && number >= 1 && number <= owners->count &&
                owners->visits[number - 1].visit != NULL;
    *several = false;
    if (told && origin->start == 0) {
        return &owners->visits[number - 1];
    }
    /* an annotation that another thread ended, or that ended out of turn, left its id behind */
    ks_traced_visit *own =
        told ? open_at(owners, owners->visits[number - 1].visit, origin->start) : NULL;
    if (own != NULL || origin->start == 0) {
        return own;
    }
    return open_elsewhere(owners, origin->start, several);
}

ks_traced_visit *ks_owner_around(const ks_owners *owners, const ks_traced_visit *inner)
{
    const ks_visit *around = inner->visit->parent;
    uint64_t id = around != NULL ? word(owners, around, KS_TRACED_ID) : 0;
    uint32_t number = (uint32_t)id;
    bool known = id >> 32 == owners->call && number >= 1 && number <= owners->count &&
                 owners->visits[number - 1].visit == around;
    return around != NULL && known ? &owners->visits[number - 1] : NULL;
}

bool ks_owners_idle(const ks_owners *owners)
{
    bool idle = true;
    for (size_t i = 0; i < owners->count; i++) {
        idle = idle && owners->visits[i].kernels == 0 && owners->visits[i].launches == 0;
    }
    return idle;
}
