#include "collect/control.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/clocks.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/guard.h"
#include "collect/nvidia/timer.h"

enum {
    LOW_CLOCKS = 0x100, /* kind of a remark: not one of the collectors' own */
    WHY_MAX = sizeof(((ks_error *)NULL)->message) + 64
};

/* NVML takes some tenths of a millisecond to answer: longer than many a call of a body. */
static const uint64_t LOOK_EVERY_NS = 50000000;

/* A limit whose time is told. */
typedef struct held {
    bool known;
    ks_nvml_u64 ns; /* that it had held clocks down at the last look */
} held;

static const struct {
    ks_nvml_policy policy;
    unsigned reason;
} limits[] = {{KS_NVML_POLICY_POWER, KS_NVML_POWER_CAP},
              {KS_NVML_POLICY_THERMAL, KS_NVML_SW_THERMAL}};

enum {
    HELD = sizeof limits / sizeof limits[0]
};

struct ks_control {
    const ks_cuda *cuda;
    ks_cuda_device device;
    ks_board board; /* of the device that is used now; without a handle: there is none */
    ks_clock_control clocks;
    ks_guard guard;
    const atomic_bool *cancelled;
    bool guards;            /* heat is watched */
    char unlocked[WHY_MAX]; /* why clocks are not locked that should be; "": they are */
    char unguarded[WHY_MAX];
    /* of the last look: */
    unsigned looks; /* so far, at this device */
    uint64_t looked_ns;
    held held[HELD];
    ks_nvml_u64 low_now; /* what holds clocks down */
    /* of the batch: */
    unsigned calls;
    unsigned low_calls; /* whose clocks were held down ... */
    ks_nvml_u64 low;    /* ... and why */
};

/* ---- the device -------------------------------------------------------------------------------
 */

/* Which device is used; a plan may name one, whatever is used. */
static ks_status find_device(const ks_control *self, ks_cuda_device *out, ks_error *err)
{
    int32_t named = self->guard.with.device;
    if (!self->guards || named < 0) {
        return ks_gpu_device_here(self->cuda, out, err);
    }
    return self->cuda->device(out, named) == 0
               ? KS_OK
               : ks_fail(err, KS_EINVAL, "thermal", 0,
                         "there is no device %d, whose heat was to be watched", (int)named);
}

/* The board of a device. */
static ks_status find_board(const ks_control *self, ks_cuda_device device, ks_board *board,
                            ks_error *err)
{
    char uuid[KS_GPU_UUID_MAX];
    KS_TRY(ks_gpu_uuid(self->cuda, device, uuid, err));
    return strcmp(uuid, board->uuid) == 0 ? KS_OK : ks_board_open(uuid, board, err);
}

/* ---- clocks -----------------------------------------------------------------------------------
 */

static ks_status lock_board(ks_control *self, ks_error *err)
{
    ks_cuda_device device = 0;
    ks_board board = {.device = NULL};
    if (self->guards && self->guard.with.device >= 0) {
        KS_TRY(ks_gpu_device_here(self->cuda, &device, err));
        KS_TRY(find_board(self, device, &board, err));
        return ks_clocks_lock(&board, err);
    }
    return ks_clocks_lock(&self->board, err);
}

/* Where nothing but a try was asked for, a failure is a warning. */
static ks_status settle_for_less(ks_control *self, const ks_error *why, ks_error *err)
{
    if (self->clocks != KS_CLOCK_TRY_BASE || why->code == KS_ENOMEM) {
        return ks_fail(err, why->code, why->origin, why->native, "%s", why->message);
    }
    snprintf(self->unlocked, sizeof self->unlocked, "the clocks are not locked: %s", why->message);
    return KS_OK;
}

static ks_status lock_clocks(ks_control *self, ks_error *err)
{
    ks_error why = KS_ERROR_INIT;
    if (self->clocks == KS_CLOCK_NONE || self->unlocked[0] != '\0') {
        return KS_OK;
    }
    return lock_board(self, &why) == KS_OK ? KS_OK : settle_for_less(self, &why, err);
}

const char *ks_control_clocks(const ks_control *self)
{
    bool locked = self != NULL && self->clocks != KS_CLOCK_NONE && self->unlocked[0] == '\0';
    return locked ? "base" : "none";
}

/* ---- life -------------------------------------------------------------------------------------
 */

/* The guard is a help: where it cannot work the run goes on without, and says so. */
static void do_without_guard(ks_control *self, const ks_error *why)
{
    self->guards = false;
    snprintf(self->unguarded, sizeof self->unguarded, "the thermal guard is off: %s", why->message);
}

static ks_status find_first(ks_control *self, ks_error *err)
{
    ks_cuda_device device = 0;
    KS_TRY(ks_cuda_get(&self->cuda, err));
    KS_TRY(find_device(self, &device, err));
    self->device = device;
    return find_board(self, device, &self->board, err);
}

static ks_status open_all(ks_control *self, ks_error *err)
{
    ks_error why = KS_ERROR_INIT;
    int margin = 0;
    if (find_first(self, &why) != KS_OK) {
        if (why.code == KS_ENOMEM || why.code == KS_EINVAL) {
            return ks_fail(err, why.code, why.origin, why.native, "%s", why.message);
        }
        if (self->guards) {
            do_without_guard(self, &why);
        }
        ks_error_prefix(&why, "cannot lock the clocks");
        return self->clocks != KS_CLOCK_NONE ? settle_for_less(self, &why, err) : KS_OK;
    }
    if (self->guards && ks_board_margin(&self->board, &margin, &why) != KS_OK) {
        do_without_guard(self, &why);
    }
    return lock_clocks(self, err);
}

ks_status ks_control_open(const ks_control_spec *spec, ks_control **out, ks_error *err)
{
    ks_control *self = ks_calloc(1, sizeof *self);
    if (self == NULL) {
        return ks_enomem(err);
    }
    self->clocks = spec->clocks;
    self->guard.with = *spec->thermal;
    self->guards = spec->thermal->mode != KS_THERMAL_OFF;
    self->cancelled = spec->cancelled;
    ks_status status = open_all(self, err);
    if (status != KS_OK) {
        ks_control_close(self);
        return status;
    }
    *out = self;
    return KS_OK;
}

void ks_control_close(ks_control *self)
{
    if (self == NULL) {
        return;
    }
    if (self->clocks != KS_CLOCK_NONE) {
        ks_clocks_restore(NULL);
    }
    ks_free(self);
}

bool ks_control_guards(const ks_control *self)
{
    return self != NULL && self->guards;
}

/* ---- calls ------------------------------------------------------------------------------------
 */

/* The device that is used may have changed, by a context that the body made. */
static ks_status follow(ks_control *self, ks_error *err)
{
    ks_cuda_device device = 0;
    KS_TRY(find_device(self, &device, err));
    if (device != self->device) {
        KS_TRY(find_board(self, device, &self->board, err));
        self->device = device;
        self->looks = 0;
        memset(self->held, 0, sizeof self->held);
    }
    return KS_OK;
}

static const struct {
    unsigned bit;
    const char *text;
} reasons[] = {
    {KS_NVML_POWER_CAP, "its limit of power"},
    {KS_NVML_HW_SLOWDOWN, "a slowdown by the hardware"},
    {KS_NVML_SYNC_BOOST, "the clocks of another GPU that it is synchronised with"},
    {KS_NVML_SW_THERMAL, "heat"},
    {KS_NVML_HW_THERMAL, "heat, by the hardware"},
    {KS_NVML_HW_POWER_BRAKE, "a power brake from outside"},
};

enum {
    REASONS = sizeof reasons / sizeof reasons[0]
};

static ks_nvml_u64 read_reasons(const ks_control *self)
{
    ks_nvml_u64 now = 0;
    ks_nvml_u64 low = 0;
    ks_nvml_result result = KS_BOARD_ASK(&self->board, reasons, &now);
    for (size_t i = 0; i < REASONS; i++) {
        low |= result == 0 ? now & reasons[i].bit : 0;
    }
    return low;
}

static held read_held(const ks_control *self, size_t limit)
{
    ks_nvml_violation now = {0};
    ks_nvml_result result = KS_BOARD_ASK(&self->board, violation, limits[limit].policy, &now);
    return (held){result == 0, now.held_ns};
}

/* What limits did for 1 % of the time or more since the last look. */
static ks_nvml_u64 read_limits(ks_control *self, uint64_t now_ns)
{
    ks_nvml_u64 low = 0;
    for (size_t i = 0; i < HELD; i++) {
        held now = read_held(self, i);
        held before = self->held[i];
        bool known = now.known && before.known && now.ns > before.ns;
        bool long_enough = known && 100 * (now.ns - before.ns) >= now_ns - self->looked_ns;
        low |= long_enough ? limits[i].reason : 0;
        self->held[i] = now;
    }
    return low;
}

/* A run that ends soon is looked at once, for the reasons of that moment alone. */
static void look(ks_control *self)
{
    uint64_t now_ns = ks_nvidia_timer->now_ns();
    self->low_now = read_reasons(self) | (self->looks > 0 ? read_limits(self, now_ns) : 0);
    self->looked_ns = now_ns;
    self->looks++;
}

static ks_status watch_heat(ks_control *self, const ks_wait_teller *teller, double *waited_s,
                            ks_error *err)
{
    ks_error why = KS_ERROR_INIT;
    ks_status status =
        ks_guard_before(&self->guard, &self->board, self->cancelled, teller, waited_s, &why);
    if (status == KS_UNAVAILABLE || status == KS_EPERM) {
        do_without_guard(self, &why);
        return KS_OK;
    }
    return status == KS_OK ? KS_OK
                           : ks_fail(err, why.code, why.origin, why.native, "%s", why.message);
}

ks_status ks_control_before(ks_control *self, bool warmup, const ks_wait_teller *teller,
                            double *waited_s, ks_error *err)
{
    ks_error why = KS_ERROR_INIT;
    if (self == NULL || self->board.device == NULL || follow(self, &why) != KS_OK) {
        return KS_OK; /* what cannot be asked about is left alone */
    }
    if (strcmp(ks_control_clocks(self), "base") == 0) {
        KS_TRY(lock_board(self, err)); /* the rows say that they are locked */
    }
    if (!warmup && self->guards) {
        KS_TRY(watch_heat(self, teller, waited_s, err));
    }
    return KS_OK;
}

/* Calls between two looks are taken to be as the first of them found. */
void ks_control_after(ks_control *self)
{
    if (self == NULL || self->board.device == NULL) {
        return;
    }
    if (self->looks == 0 || ks_nvidia_timer->now_ns() - self->looked_ns >= LOOK_EVERY_NS) {
        look(self);
    }
    self->calls++;
    self->low_calls += self->low_now != 0;
    self->low |= self->low_now;
}

/* ---- what is told -----------------------------------------------------------------------------
 */

/* Whether a metric depends on how fast a GPU runs. */
static bool depends_on_clocks(const ks_metric *metric)
{
    return metric->card != NULL && metric->kind != KS_COUNT && metric->kind != KS_PROPERTY;
}

/* "the GPU's clocks were held down in 2 of 6 calls, by heat" */
static void write_low(const ks_control *self, char *to, size_t size)
{
    int length = snprintf(to, size, "the GPU's clocks were held down in %u of %u calls, by ",
                          self->low_calls, self->calls);
    const char *joint = "";
    for (size_t i = 0; i < REASONS; i++) {
        if ((self->low & reasons[i].bit) != 0) {
            length += snprintf(to + length, size - (size_t)length, "%s%s", joint, reasons[i].text);
            joint = ", ";
        }
    }
}

static ks_status tell_low(const ks_control *self, ks_samples *into, ks_error *err)
{
    char text[400];
    write_low(self, text, sizeof text);
    for (uint32_t a = 0; a < into->entered_count; a++) {
        for (uint32_t m = 0; m < into->metric_count; m++) {
            const ks_remark remark = {.annotation = into->entered[a],
                                      .metric = m,
                                      .kind = LOW_CLOCKS,
                                      .severity = self->low_calls};
            if (depends_on_clocks(&into->metrics[m])) {
                KS_TRY(ks_samples_remark(into, remark, text, err));
            }
        }
    }
    return KS_OK;
}

ks_status ks_control_tell(ks_control *self, ks_samples *into, ks_error *err)
{
    if (self == NULL) {
        return KS_OK;
    }
    ks_status status = self->low_calls > 0 ? tell_low(self, into, err) : KS_OK;
    self->calls = self->low_calls = 0;
    self->low = 0;
    return status;
}

ks_status ks_control_warn(const ks_control *self, ks_pool *warnings, ks_error *err)
{
    ks_text_id id = 0;
    if (self != NULL && self->unlocked[0] != '\0') {
        KS_TRY(ks_pool_add(warnings, self->unlocked, &id, err));
    }
    if (self != NULL && self->unguarded[0] != '\0') {
        KS_TRY(ks_pool_add(warnings, self->unguarded, &id, err));
    }
    return KS_OK;
}
