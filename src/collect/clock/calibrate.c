#include "collect/clock/calibrate.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "collect/calibrate.h"

enum {
    STEPS = 1000,
    VISITS = 401
};

static double smallest_step(void)
{
    uint64_t smallest = UINT64_MAX;
    uint64_t last = ks_now_ns();
    for (int i = 0; i < STEPS; i++) {
        uint64_t now = ks_now_ns();
        smallest = now > last && now - last < smallest ? now - last : smallest;
        last = now;
    }
    return (double)smallest;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What empty visits read in a slot. */
typedef struct readings {
    uint32_t slot;
    size_t count;
    uint64_t list[VISITS];
} readings;

static void take_readings(void *arg)
{
    readings *r = arg;
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL && r->count < VISITS;) {
        if (v->parent != NULL) {
            r->list[r->count++] = v->slots[r->slot];
        }
    }
}

ks_status ks_clock_calibrate(const ks_hook *hook, uint32_t slots, int wall, ks_clock_costs *out,
                             ks_error *err)
{
    readings r = {.slot = wall >= 0 ? (uint32_t)wall : 0};
    *out = (ks_clock_costs){.resolution_ns = smallest_step()};
    KS_TRY(ks_visit_nothing(hook, slots, VISITS, &out->visit_ns, take_readings, &r, err));
    if (wall >= 0) {
        qsort(r.list, r.count, sizeof r.list[0], compare);
        const uint64_t *middle = &r.list[r.count / 2];
        out->empty_ns = (double)*middle;
    }
    return KS_OK;
}
