/*
 * Readings at the begin and the end of each visit, which disturb nobody. Energy needs more: the
 * meter moves some ten times a second, so that it has a pass of its own, in which the body is
 * called again and again until the meter has moved often enough (meter.h).
 */
#include "collect/nvidia/board/board.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/board/meter.h"
#include "collect/nvidia/board/readings.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/timer.h"

/* Words of a visit: when it began and ended, and each reading then. */
enum {
    BEGAN,
    ENDED,
    READ, /* [reading][begin, end] */
    SLOTS = READ + 2 * KS_BOARD_READINGS
};

struct ks_collector {
    const ks_cuda *cuda;
    ks_cuda_device device;
    ks_board board; /* its */
    ks_card card;
    const atomic_bool *cancelled;
    bool wanted[KS_BOARD_READINGS];
    uint32_t numbers[KS_BOARD_READINGS]; /* in the samples */
    bool meters;                         /* energy or power is asked for */
    uint64_t period_ns;                  /* of the meter */
    char no_meter[KS_METER_WHY_MAX];
    bool reads_meter; /* the visits of this call do */
    uint32_t first_slot;
    atomic_int failed[KS_BOARD_READINGS]; /* NVML's result in this run; 0: all is well */
    /* of the run: */
    ks_metered *metered; /* by annotation */
    size_t metered_capacity;
    size_t metered_count;
    uint32_t calls;
    uint64_t read_ns; /* when a call that read the meter had ended */
};

/* ---- the hot hooks ----------------------------------------------------------------------------
 */

static bool is_read(const ks_collector *self, enum ks_board_reading reading)
{
    return reading == KS_BOARD_ENERGY ? self->reads_meter
                                      : reading != KS_BOARD_POWER && self->wanted[reading];
}

static void read_all(ks_collector *self, ks_visit *visit, unsigned end)
{
    uint64_t *words = &visit->slots[self->first_slot];
    for (enum ks_board_reading r = 0; r < KS_BOARD_READINGS; r++) {
        int64_t value = 0;
        if (is_read(self, r)) {
            ks_nvml_result result = ks_board_reading_take(r, &self->board, &value);
            words[READ + 2 * r + end] = (uint64_t)value;
            if (result != 0) {
                atomic_store(&self->failed[r], result);
            }
        }
    }
}

static void board_begin(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    read_all(self, visit, 0);
    visit->slots[self->first_slot + BEGAN] = ks_nvidia_timer->now_ns();
}

static void board_end(void *collector, ks_visit *visit)
{
    ks_collector *self = collector;
    visit->slots[self->first_slot + ENDED] = ks_nvidia_timer->now_ns();
    read_all(self, visit, 1);
}

static void board_child(void *self, ks_visit *visit, const ks_child *child)
{
    (void)self; /* no metric of ours is one of programs */
    (void)visit;
    (void)child;
}

static void board_thread_end(void *self)
{
    (void)self; /* nothing of ours belongs to a thread */
}

/* ---- life -------------------------------------------------------------------------------------
 */

static ks_status board_probe(const ks_fact_sink *to, ks_error *err)
{
    const ks_nvml *nvml = NULL;
    ks_error why = KS_ERROR_INIT;
    char text[sizeof why.message + 8];
    const char *absent = ks_cuda_absent();
    ks_status status = absent == NULL ? ks_nvml_get(&nvml, &why) : KS_UNAVAILABLE;
    if (status == KS_ENOMEM) {
        return ks_enomem(err);
    }
    snprintf(text, sizeof text, "no: %s", absent != NULL ? absent : why.message);
    return to->add(to->self, "available", ks_text(status == KS_OK ? "yes" : text),
                   status == KS_OK ? NULL : "see nvidia below: it needs the driver and its NVML",
                   err);
}

static ks_status board_list(const ks_metric_sink *to, ks_error *err)
{
    return ks_board_list(to, ks_cuda_absent(), err);
}

/* Its metrics are all in the list. */
static ks_status board_lookup(const char *name, const ks_metric_sink *to, ks_error *err)
{
    (void)name;
    (void)to;
    (void)err;
    return KS_OK;
}

static void board_close(ks_collector *self)
{
    if (self != NULL) {
        ks_free(self->metered);
        ks_free(self);
    }
}

/* The board of the device that the calling thread uses. */
static ks_status find_board(ks_collector *self, ks_error *err)
{
    char uuid[KS_GPU_UUID_MAX];
    ks_cuda_device device = 0;
    KS_TRY(ks_gpu_device_here(self->cuda, &device, err));
    if (device == self->device && self->board.device != NULL) {
        return KS_OK;
    }
    KS_TRY(ks_gpu_uuid(self->cuda, device, uuid, err));
    KS_TRY(ks_board_open(uuid, &self->board, err));
    self->device = device;
    return KS_OK;
}

/* That there is no meter costs energy and power their values, and nothing else. */
static void watch_meter(ks_collector *self)
{
    ks_error why = KS_ERROR_INIT;
    if (self->board.part) {
        snprintf(self->no_meter, sizeof self->no_meter,
                 "this is a part of a GPU (MIG), and the meter shows the energy of the whole");
        return;
    }
    ks_status status = ks_meter_period(&self->board, self->cancelled, &self->period_ns, &why);
    if (status != KS_OK) { /* of a plan that was cancelled the run itself says so */
        snprintf(self->no_meter, sizeof self->no_meter, "%.300s", why.message);
    }
}

static ks_status open_all(ks_collector *self, const ks_collect_spec *spec, ks_error *err)
{
    self->cancelled = spec->controls->cancelled;
    KS_TRY(ks_cuda_get(&self->cuda, err));
    KS_TRY(ks_gpu_card(self->cuda, &self->card, err));
    KS_TRY(find_board(self, err));
    for (uint32_t i = 0; i < spec->count; i++) {
        ks_metric *metric = spec->metrics[i];
        enum ks_board_reading reading = ks_board_reading_of(metric->name);
        if (reading == KS_BOARD_READINGS) {
            return ks_fail(err, KS_ENOTFOUND, "nvml", 0, "there is no metric %s", metric->name);
        }
        ks_board_reading_describe(reading, metric);
        metric->source = ks_board_ops.name;
        metric->card = &self->card;
        self->wanted[reading] = true;
        self->numbers[reading] = spec->numbers[i];
    }
    self->meters = self->wanted[KS_BOARD_ENERGY] || self->wanted[KS_BOARD_POWER];
    if (self->meters) {
        watch_meter(self);
    }
    return KS_OK;
}

static ks_status board_open(const ks_collect_spec *spec, ks_collector **out, ks_error *err)
{
    ks_collector *self = ks_calloc(1, sizeof *self);
    if (self == NULL) {
        return ks_enomem(err);
    }
    ks_status status = open_all(self, spec, err);
    if (status != KS_OK) {
        board_close(self);
        return status;
    }
    *out = self;
    return KS_OK;
}

static ks_needs board_needs(const ks_collector *self)
{
    return (ks_needs){.passes = 1, .shares_first = !self->meters, .slots = SLOTS};
}

static ks_status board_facts(const ks_collector *self, const ks_fact_sink *to, ks_error *err)
{
    if (self->period_ns == 0) {
        return KS_OK;
    }
    return to->add(to->self, "nvml_energy_update_ms", ks_f64((double)self->period_ns / 1e6), NULL,
                   err);
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static ks_status board_pass_begin(ks_collector *self, const ks_pass_ctx *ctx, ks_error *err)
{
    (void)err;
    self->first_slot = ctx->first_slot;
    return KS_OK;
}

static void forget_run(ks_collector *self)
{
    for (size_t i = 0; i < self->metered_count; i++) {
        self->metered[i] = (ks_metered){0};
    }
    self->calls = 0;
    self->reads_meter = self->meters && self->period_ns > 0;
    for (enum ks_board_reading r = 0; r < KS_BOARD_READINGS; r++) {
        atomic_store(&self->failed[r], 0);
    }
}

static ks_status board_run_begin(ks_collector *self, const ks_run_ctx *ctx, ks_error *err)
{
    (void)ctx;
    forget_run(self);
    return find_board(self, err);
}

/* Add up what the last call of the body did. */
static ks_status add_call(ks_collector *self, ks_error *err)
{
    size_t known = ks_session_annotation_count();
    KS_TRY(KS_GROW(self->metered, self->metered_capacity, known, err));
    for (; self->metered_count < known; self->metered_count++) {
        self->metered[self->metered_count] = (ks_metered){0};
    }
    self->calls++;
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        const uint64_t *words = &v->slots[self->first_slot];
        const uint64_t *mj = &words[READ + 2 * KS_BOARD_ENERGY];
        const ks_metered_visit visit = {words[BEGAN], words[ENDED], mj[0], mj[1],
                                        self->reads_meter};
        ks_metered_add(&self->metered[v->annotation->id], self->calls, &visit);
    }
    return KS_OK;
}

/* Whether the meter has to move more often for an annotation. */
static bool needs_more(const ks_collector *self)
{
    uint64_t need = ks_meter_need_ns(self->period_ns);
    uint64_t now = ks_nvidia_timer->now_ns();
    for (size_t i = 0; i < self->metered_count; i++) {
        const ks_metered *m = &self->metered[i];
        if (ks_metered_has_hope(m, self->period_ns) && m->last_ns - m->first_ns < need &&
            now - m->first_ns < 2 * need) {
            return true;
        }
    }
    return false;
}

static ks_status board_again(ks_collector *self, bool *out, ks_error *err)
{
    *out = false;
    if (self->period_ns == 0 || atomic_load(&self->failed[KS_BOARD_ENERGY]) != 0) {
        return KS_OK;
    }
    KS_TRY(add_call(self, err));
    *out = needs_more(self);
    uint64_t now = ks_nvidia_timer->now_ns();
    self->read_ns = self->reads_meter ? now : self->read_ns;
    self->reads_meter = now - self->read_ns >= ks_meter_rest_ns(self->period_ns);
    return KS_OK;
}

static ks_status miss(const ks_collector *self, enum ks_board_reading reading, uint32_t annotation,
                      uint32_t run, const char *why, ks_samples *into, ks_error *err)
{
    return self->wanted[reading]
               ? ks_samples_missing(into, annotation, run, self->numbers[reading], why, err)
               : KS_OK;
}

static ks_status add(const ks_collector *self, enum ks_board_reading reading, uint32_t annotation,
                     uint32_t run, double value, ks_samples *into, ks_error *err)
{
    return self->wanted[reading]
               ? ks_samples_add(into, annotation, run, self->numbers[reading], value, 1.0, err)
               : KS_OK;
}

/* A value that is read at once; of a part it is the whole GPU's. */
static ks_status tell_reading(const ks_collector *self, enum ks_board_reading r,
                              const ks_visit *visit, uint32_t run, ks_samples *into, ks_error *err)
{
    const uint64_t *words = &visit->slots[self->first_slot + READ + 2 * r];
    uint32_t annotation = visit->annotation->id;
    double begin = (double)(int64_t)words[0];
    double end = (double)(int64_t)words[1];
    ks_nvml_result failed = atomic_load(&self->failed[r]);
    if (failed != 0) {
        ks_error why = KS_ERROR_INIT;
        ks_board_fail(&self->board, failed, ks_board_reading_what(r), &why);
        return miss(self, r, annotation, run, why.message, into, err);
    }
    if (self->board.part) {
        const ks_remark remark = {.annotation = annotation, .metric = self->numbers[r]};
        KS_TRY(ks_samples_remark(into, remark,
                                 "of the whole GPU, of which a part (MIG) was measured", err));
    }
    double value = end;
    if (r == KS_BOARD_TEMPERATURE) {
        value = begin > end ? begin : end;
    } else if (r == KS_BOARD_MARGIN) {
        value = begin < end ? begin : end;
    }
    return add(self, r, annotation, run, value, into, err);
}

static ks_status tell_energy(const ks_collector *self, uint32_t annotation, uint32_t run,
                             ks_samples *into, ks_error *err)
{
    ks_error failure = KS_ERROR_INIT;
    char text[KS_METER_WHY_MAX];
    double joules = 0.0;
    double watts = 0.0;
    const char *why = NULL;
    ks_nvml_result failed = atomic_load(&self->failed[KS_BOARD_ENERGY]);
    if (self->period_ns == 0) {
        why = self->no_meter;
    } else if (failed != 0) {
        ks_board_fail(&self->board, failed, ks_board_reading_what(KS_BOARD_ENERGY), &failure);
        why = failure.message;
    } else if (!ks_metered_tell(&self->metered[annotation], self->period_ns, &joules, &watts,
                                text)) {
        why = text;
    }
    if (why != NULL) {
        KS_TRY(miss(self, KS_BOARD_ENERGY, annotation, run, why, into, err));
        return miss(self, KS_BOARD_POWER, annotation, run, why, into, err);
    }
    KS_TRY(add(self, KS_BOARD_ENERGY, annotation, run, joules, into, err));
    return add(self, KS_BOARD_POWER, annotation, run, watts, into, err);
}

static bool told_already(const ks_collector *self, uint32_t annotation, uint32_t run,
                         const ks_samples *into)
{
    enum ks_board_reading r = self->wanted[KS_BOARD_ENERGY] ? KS_BOARD_ENERGY : KS_BOARD_POWER;
    const ks_cell *cell = ks_samples_cell(into, annotation, run, self->numbers[r]);
    return cell->count > 0 || cell->why != 0;
}

static ks_status board_run_end(ks_collector *self, const ks_run_ctx *ctx, ks_samples *into,
                               ks_error *err)
{
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        for (enum ks_board_reading r = KS_BOARD_POWER + 1; r < KS_BOARD_READINGS; r++) {
            if (self->wanted[r]) {
                KS_TRY(tell_reading(self, r, v, ctx->run, into, err));
            }
        }
        uint32_t annotation = v->annotation->id;
        if (self->meters && !told_already(self, annotation, ctx->run, into)) {
            KS_TRY(tell_energy(self, annotation, ctx->run, into, err));
        }
    }
    return KS_OK;
}

static ks_status board_pass_end(ks_collector *self, ks_error *err)
{
    (void)self;
    (void)err;
    return KS_OK;
}

static ks_status board_drain(ks_collector *self, ks_samples *into, ks_error *err)
{
    (void)self;
    (void)into;
    (void)err;
    return KS_OK;
}

static void board_abort(ks_collector *self, const ks_run_ctx *ctx)
{
    (void)ctx;
    forget_run(self);
}

const ks_collector_ops ks_board_ops = {
    .name = "nvml",
    .probe = board_probe,
    .list = board_list,
    .lookup = board_lookup,
    .open = board_open,
    .needs = board_needs,
    .facts = board_facts,
    .warm_begin = ks_no_warm_begin,
    .warm_end = ks_no_warm_end,
    .room = ks_any_room,
    .pass_begin = board_pass_begin,
    .run_begin = board_run_begin,
    .begin = board_begin,
    .end = board_end,
    .child = board_child,
    .thread_end = board_thread_end,
    .again = board_again,
    .run_end = board_run_end,
    .pass_end = board_pass_end,
    .drain = board_drain,
    .abort = board_abort,
    .close = board_close,
};
