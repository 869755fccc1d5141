#include "collect/nvidia/guard.h"

#include "base/error.h"
#include "base/num.h"
#include "collect/nvidia/timer.h"

enum {
    LEAST_CONT = 12,
    MOST_CONT = 50,
    STEP = 3, /* degrees */
    FEW_CALLS = 5,
    MANY_CALLS = 50,
    SLICES = 10 /* of the time between two looks: cancelling is heard in between */
};

static const double LOOK_EVERY_S = 0.5;

/* A wait. */
typedef struct wait {
    const ks_board *board;
    const atomic_bool *cancelled;
    const ks_wait_teller *teller;
    uint64_t began_ns;
    uint64_t since_ns; /* that the timeout is counted from */
    int margin;
} wait;

static double since(uint64_t ns)
{
    return (double)(ks_nvidia_timer->now_ns() - ns) / 1e9;
}

static void raise_cont(ks_guard *g)
{
    g->with.cont_c = g->with.cont_c + STEP < MOST_CONT ? g->with.cont_c + STEP : MOST_CONT;
}

static void lower_cont(ks_guard *g)
{
    g->with.cont_c = g->with.cont_c - STEP > LEAST_CONT ? g->with.cont_c - STEP : LEAST_CONT;
}

static void adapt(ks_guard *g)
{
    if (g->with.mode != KS_THERMAL_AUTO || !g->counting || g->iterations == 0) {
        return;
    }
    if (g->iterations < FEW_CALLS) {
        raise_cont(g);
    } else if (g->iterations > MANY_CALLS) {
        lower_cont(g);
    }
}

static ks_status fail_timeout(const ks_guard *g, const wait *w, ks_error *err)
{
    char seconds[KS_NUM_MAX];
    ks_num_fixed(since(w->began_ns), 0, seconds);
    return ks_fail(err, KS_ELIMIT, "thermal", 0,
                   "the GPU does not get cool: after %s s it is %d degrees below where it slows "
                   "down, and %d are wanted; see who else uses it, ask for less "
                   "(ks_plan_thermal()), or measure without the thermal guard",
                   seconds, w->margin, g->with.cont_c);
}

static ks_status note_timeout(ks_guard *g, wait *w, ks_error *err)
{
    if (g->with.mode != KS_THERMAL_AUTO) {
        return fail_timeout(g, w, err);
    }
    lower_cont(g);
    if (g->with.cont_c == LEAST_CONT && LEAST_CONT > w->margin) {
        return fail_timeout(g, w, err);
    }
    w->since_ns = ks_nvidia_timer->now_ns();
    return KS_OK;
}

static ks_status pause_between_looks(const wait *w, ks_error *err)
{
    for (int i = 0; i < SLICES; i++) {
        if (w->cancelled != NULL && atomic_load(w->cancelled)) {
            return ks_fail(err, KS_ECANCELED, "thermal", 0, "cancelled while the GPU cooled down");
        }
        ks_nvidia_timer->pause(LOOK_EVERY_S / SLICES);
    }
    return KS_OK;
}

static ks_status wait_until_cool(ks_guard *g, wait *w, ks_error *err)
{
    while (w->margin < g->with.cont_c) {
        if (since(w->since_ns) > g->with.timeout_s) {
            KS_TRY(note_timeout(g, w, err));
        }
        if (w->teller != NULL) {
            const ks_wait_state now = {since(w->began_ns), w->margin, g->with.cont_c};
            w->teller->tell(w->teller->self, &now);
        }
        KS_TRY(pause_between_looks(w, err));
        KS_TRY(ks_board_margin(w->board, &w->margin, err));
    }
    return KS_OK;
}

ks_status ks_guard_before(ks_guard *g, const ks_board *board, const atomic_bool *cancelled,
                          const ks_wait_teller *teller, double *waited_s, ks_error *err)
{
    wait w = {.board = board, .cancelled = cancelled, .teller = teller};
    KS_TRY(ks_board_margin(board, &w.margin, err));
    g->iterations += g->counting;
    if (w.margin > g->with.wait_c) {
        g->counting = g->counting || w.margin >= g->with.cont_c;
        return KS_OK;
    }
    adapt(g);
    g->iterations = 0;
    w.began_ns = w.since_ns = ks_nvidia_timer->now_ns();
    ks_status status = wait_until_cool(g, &w, err);
    g->counting = true;
    *waited_s += since(w.began_ns);
    return status;
}
