#include "collect/clock/calibrate.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

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

static ks_status visit_nothing(ks_error *err)
{
    for (int i = 0; i < VISITS; i++) {
        ks_token token = KS_TOKEN_INIT;
        KS_TRY(ks_annotate_begin("empty", &token, err));
        KS_TRY(ks_annotate_end(token, err));
    }
    return KS_OK;
}

static double median_reading(uint32_t slot)
{
    uint64_t readings[VISITS];
    size_t count = 0;
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; count < VISITS && (v = ks_next_visit(&walk)) != NULL;) {
        readings[count++] = v->slots[slot];
    }
    qsort(readings, count, sizeof readings[0], compare);
    const uint64_t *middle = &readings[count / 2];
    return (double)*middle;
}

ks_status ks_clock_calibrate(const ks_hook *hook, uint32_t slots, int wall, ks_clock_costs *out,
                             ks_error *err)
{
    *out = (ks_clock_costs){.resolution_ns = smallest_step()};
    KS_TRY(ks_session_open(slots, err));
    const ks_hooks hooks = {.list = {*hook}, .count = 1};
    ks_session_begin_call(&hooks);
    uint64_t start = ks_now_ns();
    ks_status status = visit_nothing(err);
    out->visit_ns = (double)(ks_now_ns() - start) / VISITS;
    ks_status ended = ks_session_end_call(err);
    if (status == KS_OK && ended == KS_OK && wall >= 0) {
        out->empty_ns = median_reading((uint32_t)wall);
    }
    ks_session_forget_call();
    ks_session_close();
    return status != KS_OK ? status : ended;
}
