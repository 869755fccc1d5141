#include "collect/clock/calibrate.h"

#include <stdlib.h>

#include "annotate/session.h"
#include "base/clock.h"
#include "base/error.h"

enum {
    STEPS = 1000,
    VISITS = 401
};

static void begin(void *self, ks_visit *visit)
{
    (void)self;
    visit->slots[0] = ks_now_ns();
}

static void end(void *self, ks_visit *visit)
{
    (void)self;
    visit->slots[0] = ks_now_ns() - visit->slots[0];
}

static void child(void *self, ks_visit *visit, const ks_child *program)
{
    (void)self;
    (void)visit;
    (void)program;
}

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

ks_status ks_clock_calibrate(ks_clock_costs *out, ks_error *err)
{
    KS_TRY(ks_session_open(1, err));
    ks_hooks hooks = {.list = {{begin, end, child, NULL}}, .count = 1};
    ks_session_begin_call(&hooks);
    ks_status status = KS_OK;
    for (int i = 0; i < VISITS && status == KS_OK; i++) {
        ks_token token = KS_TOKEN_INIT;
        status = ks_annotate_begin("empty", &token, err);
        if (status == KS_OK) {
            status = ks_annotate_end(token, err);
        }
    }
    ks_status ended = ks_session_end_call(err);
    uint64_t readings[VISITS];
    size_t count = 0;
    ks_visit *v = ks_session_next_visit(NULL);
    for (; v != NULL && count < VISITS; v = ks_session_next_visit(v)) {
        readings[count++] = v->slots[0];
    }
    ks_session_close();
    KS_TRY(status);
    KS_TRY(ended);
    qsort(readings, count, sizeof readings[0], compare);
    size_t middle = count / 2;
    out->empty_ns = (double)readings[middle];
    out->resolution_ns = smallest_step();
    return KS_OK;
}
