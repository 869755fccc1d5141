/* libcupti: the range profiler. */
#include "fakes/nvidia/cupti.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 16
};

/* What a metric counted in a range. */
typedef struct cell {
    double sum;
    double weight; /* of what is a mean */
    unsigned have; /* passes that it was collected in */
} cell;

typedef struct record {
    char name[RANGE_NAME_BYTES];
    bool time_spans; /* a user range's: the gap is in it */
    cell *cells;
} record;

struct ks_cupti_profiler {
    ks_cuda_context context;
    /* what the last GetCounterDataSize was asked for */
    char *sized_names;
    fake_list sized;
    size_t sized_slots;
    /* the first SetConfig since Enable */
    uint8_t *config;
    size_t config_bytes;
    fake_list list; /* in it */
    int range;
    int replay;
    size_t slots;
    uint16_t levels;
    unsigned *passes; /* that each metric needs */
    unsigned all_passes;
    record *records; /* as many as slots */
    cell *cells;     /* of all of them */
    /* the last one */
    bool other; /* it was different, and so in vain */
    uint8_t *image;
    size_t image_bytes;
    /* the session */
    bool started;
    bool dead;
    unsigned pass; /* bit of all_passes that comes next; 0: all are done */
    size_t next;   /* slot */
    size_t used;   /* slots, in any pass */
    size_t dropped;
    size_t open[DEPTH_MAX]; /* records of the ranges that are pushed; slots: it has none */
    size_t depth;
    ks_cupti_profiler *next_profiler;
};

static ks_cupti_profiler *profilers; /* under the lock */
static bool initialized;

static ks_cupti_profiler **find_locked(const ks_cupti_profiler *profiler)
{
    ks_cupti_profiler **at = &profilers;
    while (*at != NULL && *at != profiler) {
        at = &(*at)->next_profiler;
    }
    return at;
}

/* Whether an object can do anything. */
static ks_cupti_result check_locked(const ks_cupti_profiler *profiler)
{
    if (profiler == NULL || *find_locked(profiler) == NULL) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    if (!fake_context_is_good_locked(profiler->context)) {
        return CUPTI_INVALID_CONTEXT;
    }
    return profiler->dead || fake_device_is_broken_locked() ? CUPTI_UNKNOWN : 0;
}

/* ---- on and off -------------------------------------------------------------------------------
 */

ks_cupti_result cupti_profiler_init(ks_cupti_profiler_init *p)
{
    ENTER_WITH("cuptiProfilerInitialize", p, ks_cupti_profiler_init, reserved);
    fake_lock();
    initialized = true;
    fake_unlock();
    return 0;
}

static ks_cupti_result may_enable_locked(ks_cuda_context context)
{
    if (!initialized) {
        return CUPTI_NOT_INITIALIZED;
    }
    if (!fake_context_is_good_locked(context)) {
        return context != NULL ? CUPTI_INVALID_CONTEXT : KS_CUPTI_INVALID_PARAMETER;
    }
    for (const ks_cupti_profiler *p = profilers; p != NULL; p = p->next_profiler) {
        if (p->context == context) {
            return CUPTI_INVALID_OPERATION;
        }
    }
    return fake_device_is_broken_locked() ? CUPTI_UNKNOWN : 0;
}

ks_cupti_result cupti_enable(ks_cupti_enable *p)
{
    ENTER_WITH("cuptiRangeProfilerEnable", p, ks_cupti_enable, profiler);
    fake_lock();
    ks_cupti_result result = may_enable_locked(p->context);
    ks_cupti_profiler *profiler = result == 0 ? calloc(1, sizeof *profiler) : NULL;
    if (profiler != NULL) {
        profiler->context = p->context;
        profiler->next_profiler = profilers;
        profilers = profiler;
        fake_now.profilers++;
        p->profiler = profiler;
    }
    fake_unlock();
    return result == 0 && profiler == NULL ? KS_CUPTI_OUT_OF_MEMORY : result;
}

ks_cupti_result cupti_disable(ks_cupti_of_profiler *p)
{
    ENTER_WITH("cuptiRangeProfilerDisable", p, ks_cupti_of_profiler, profiler);
    fake_lock();
    ks_cupti_profiler **at = find_locked(p->profiler);
    ks_cupti_profiler *profiler = *at;
    ks_cupti_result result = check_locked(profiler);
    if (profiler != NULL) {
        *at = profiler->next_profiler;
        free(profiler->sized_names);
        free(profiler->config);
        free(profiler->passes);
        free(profiler->records);
        free(profiler->cells);
        free(profiler);
        fake_now.profilers--;
        result = result == CUPTI_UNKNOWN ? 0 : result;
    }
    fake_unlock();
    return result;
}

/* ---- images -----------------------------------------------------------------------------------
 */

/* Keep what was asked for, for the image that is initialised next. */
static ks_cupti_result keep_size_locked(ks_cupti_profiler *profiler, const ks_cupti_image_size *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (fake_find_metric(p->names[i], -1) == NULL) {
            return KS_CUPTI_INVALID_PARAMETER;
        }
        bytes += strlen(p->names[i]) + 1;
    }
    char *names = malloc(bytes);
    if (names == NULL) {
        return KS_CUPTI_OUT_OF_MEMORY;
    }
    fake_list list = {names, 0, 0};
    for (size_t i = 0; i < p->count; i++) {
        size_t length = strlen(p->names[i]) + 1;
        if (fake_list_find(&list, p->names[i]) == list.count) {
            memcpy(names + list.bytes, p->names[i], length);
            list.bytes += length;
            list.count++;
        }
    }
    free(profiler->sized_names);
    profiler->sized_names = names;
    profiler->sized = list;
    profiler->sized_slots = p->slots;
    return 0;
}

ks_cupti_result cupti_image_size(ks_cupti_image_size *p)
{
    ENTER_WITH("cuptiRangeProfilerGetCounterDataSize", p, ks_cupti_image_size, bytes);
    if (p->count == 0 || p->slots == 0 || p->nodes == 0) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    fake_lock();
    ks_cupti_result result = check_locked(p->profiler);
    result = result == 0 ? keep_size_locked(p->profiler, p) : result;
    if (result == 0) {
        p->bytes = fake_image_bytes(&p->profiler->sized, p->slots) +
                   p->slots * (size_t)fake_set.range_bytes;
    }
    fake_unlock();
    return result;
}

ks_cupti_result cupti_image_init(ks_cupti_image_init *p)
{
    ENTER_WITH("cuptiRangeProfilerCounterDataImageInitialize", p, ks_cupti_image_init, image);
    fake_lock();
    ks_cupti_result result = check_locked(p->profiler);
    if (result == 0) {
        const ks_cupti_profiler *profiler = p->profiler;
        bool fits = profiler->sized_names != NULL && p->image != NULL &&
                    p->bytes >= fake_image_bytes(&profiler->sized, profiler->sized_slots);
        result = fits ? 0 : KS_CUPTI_INVALID_PARAMETER;
    }
    if (result == 0) {
        fake_image_init(&p->profiler->sized, p->profiler->sized_slots, p->image, p->bytes);
    }
    fake_unlock();
    return result;
}

ks_cupti_result cupti_image_info(ks_cupti_image_info *p)
{
    ENTER_WITH("cuptiRangeProfilerGetCounterDataInfo", p, ks_cupti_image_info, ranges);
    return fake_image_read(p->image, p->bytes, NULL, NULL, &p->ranges) ? 0 : CUPTI_UNKNOWN;
}

ks_cupti_result cupti_range_info(ks_cupti_range_info *p)
{
    static _Thread_local char name[RANGE_NAME_BYTES];
    size_t ranges = 0;
    ENTER_WITH("cuptiRangeProfilerCounterDataGetRangeInfo", p, ks_cupti_range_info, name);
    if (!fake_image_read(p->image, p->bytes, NULL, NULL, &ranges) || p->range >= ranges ||
        p->delimiter == NULL) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    fake_image_get(p->image, p->range, name, NULL);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == '\n' ? p->delimiter[0] : *c; /* between nested names */
    }
    p->name = name;
    return 0;
}

/* ---- config -----------------------------------------------------------------------------------
 */

static void begin_session_locked(ks_cupti_profiler *profiler)
{
    profiler->pass = profiler->all_passes & (0u - profiler->all_passes);
    profiler->used = 0;
    profiler->dropped = 0;
    memset(profiler->cells, 0, profiler->slots * profiler->list.count * sizeof(cell));
}

/* The first config since Enable. */
static ks_cupti_result keep_config_locked(ks_cupti_profiler *profiler, const ks_cupti_set_config *p)
{
    fake_list list;
    fake_config_read(p->config, p->config_bytes, &list);
    profiler->config = malloc(p->config_bytes);
    profiler->passes = calloc(list.count, sizeof *profiler->passes);
    profiler->records = calloc(p->slots, sizeof *profiler->records);
    profiler->cells = calloc(p->slots * list.count, sizeof *profiler->cells);
    if (profiler->config == NULL || profiler->passes == NULL || profiler->records == NULL ||
        profiler->cells == NULL) {
        abort();
    }
    memcpy(profiler->config, p->config, p->config_bytes);
    profiler->config_bytes = p->config_bytes;
    fake_config_read(profiler->config, p->config_bytes, &profiler->list);
    profiler->range = p->range;
    profiler->replay = p->replay;
    profiler->slots = p->slots;
    profiler->levels = p->levels;
    profiler->all_passes = fake_list_passes(&profiler->list, profiler->passes);
    for (size_t i = 0; i < p->slots; i++) {
        profiler->records[i].cells = profiler->cells + i * list.count;
    }
    return 0;
}

/* Whether the parts go together. */
static bool is_sound(const ks_cupti_set_config *p)
{
    fake_list list;
    fake_list in_image;
    size_t slots = 0;
    bool modes = (p->range == KS_CUPTI_AUTO_RANGE || p->range == KS_CUPTI_USER_RANGE) &&
                 (p->replay == KS_CUPTI_KERNEL_REPLAY || p->replay == KS_CUPTI_USER_REPLAY);
    return modes && p->levels >= 1 && p->levels <= DEPTH_MAX && p->least_level >= 1 &&
           p->slots > 0 && fake_config_read(p->config, p->config_bytes, &list) &&
           fake_image_read(p->image, p->image_bytes, &in_image, &slots, NULL) &&
           slots >= p->slots && list.bytes == in_image.bytes &&
           memcmp(list.names, in_image.names, list.bytes) == 0;
}

static bool is_same(const ks_cupti_profiler *profiler, const ks_cupti_set_config *p)
{
    return profiler->config_bytes == p->config_bytes &&
           memcmp(profiler->config, p->config, p->config_bytes) == 0 &&
           profiler->range == p->range && profiler->replay == p->replay &&
           profiler->slots == p->slots;
}

/* Between the first pass and the last nothing is taken. */
static bool in_session(const ks_cupti_profiler *profiler)
{
    unsigned first = profiler->all_passes & (0u - profiler->all_passes);
    return profiler->started || (profiler->pass != 0 && profiler->pass != first);
}

ks_cupti_result cupti_set_config(ks_cupti_set_config *p)
{
    ENTER_WITH("cuptiRangeProfilerSetConfig", p, ks_cupti_set_config, target_level);
    fake_lock();
    ks_cupti_profiler *profiler = p->profiler;
    ks_cupti_result result = check_locked(profiler);
    result = result == 0 && !is_sound(p) ? KS_CUPTI_INVALID_PARAMETER : result;
    if (result == 0 && profiler->config == NULL) {
        result = keep_config_locked(profiler, p);
    }
    if (result == 0 && !in_session(profiler)) {
        profiler->other = !is_same(profiler, p);
        profiler->image = p->image;
        profiler->image_bytes = p->image_bytes;
        begin_session_locked(profiler);
    }
    fake_unlock();
    return result;
}

/* ---- passes -----------------------------------------------------------------------------------
 */

/* Whether another context of its device counts just now. */
static bool is_busy_locked(const ks_cupti_profiler *profiler)
{
    for (const ks_cupti_profiler *p = profilers; p != NULL; p = p->next_profiler) {
        if (p != profiler && p->started && fake_context_is_good_locked(p->context) &&
            p->context->device == profiler->context->device) {
            return true;
        }
    }
    return false;
}

ks_cupti_result cupti_start(ks_cupti_of_profiler *p)
{
    ENTER_WITH("cuptiRangeProfilerStart", p, ks_cupti_of_profiler, profiler);
    fake_lock();
    ks_cupti_profiler *profiler = p->profiler;
    ks_cupti_result result = check_locked(profiler);
    if (result == 0 && (profiler->config == NULL || profiler->started)) {
        result = CUPTI_INVALID_OPERATION;
    }
    if (result == 0 && is_busy_locked(profiler)) {
        result = KS_CUPTI_HARDWARE_BUSY;
    }
    if (result == 0) {
        if (profiler->pass == 0) {
            begin_session_locked(profiler);
        }
        profiler->started = true;
        profiler->next = 0;
        profiler->depth = 0;
    }
    fake_unlock();
    return result;
}

/* The bit above one, of those that are set. */
static unsigned bit_after(unsigned bits, unsigned bit)
{
    unsigned above = bits & ~(bit | (bit - 1));
    return above & (0u - above);
}

ks_cupti_result cupti_stop(ks_cupti_stop *p)
{
    ENTER_WITH("cuptiRangeProfilerStop", p, ks_cupti_stop, complete);
    fake_lock();
    ks_cupti_profiler *profiler = p->profiler;
    ks_cupti_result result = check_locked(profiler);
    if (result == 0 && (!profiler->started || profiler->depth > 0)) {
        result = CUPTI_INVALID_OPERATION;
    }
    if (result == 0) {
        bool user = profiler->replay == KS_CUPTI_USER_REPLAY;
        profiler->started = false;
        profiler->pass = user ? bit_after(profiler->all_passes, profiler->pass) : 0;
        unsigned done = profiler->all_passes & (profiler->pass - 1);
        p->pass = profiler->pass != 0 ? (size_t)__builtin_popcount(done) : 0;
        p->target_level = 1;
        p->complete = profiler->pass == 0;
    }
    fake_unlock();
    return result;
}

/* ---- ranges -----------------------------------------------------------------------------------
 */

static unsigned passes_now(const ks_cupti_profiler *profiler)
{
    return profiler->replay == KS_CUPTI_USER_REPLAY ? profiler->pass : profiler->all_passes;
}

/* Take a slot. @return its number; slots: there is none */
static size_t begin_record_locked(ks_cupti_profiler *profiler, const char *name)
{
    if (profiler->next == profiler->slots) {
        profiler->dropped++;
        return profiler->slots;
    }
    size_t slot = profiler->next++;
    record *r = &profiler->records[slot];
    profiler->used = profiler->next > profiler->used ? profiler->next : profiler->used;
    r->time_spans = name != NULL;
    if (name != NULL) {
        snprintf(r->name, sizeof r->name, "%s", name);
    } else {
        snprintf(r->name, sizeof r->name, "%zu", slot);
    }
    for (size_t i = 0; i < profiler->list.count; i++) {
        if ((profiler->passes[i] & passes_now(profiler)) != 0) {
            unsigned have = r->cells[i].have | (profiler->passes[i] & passes_now(profiler));
            r->cells[i] = (cell){.have = have};
        }
    }
    return slot;
}

static void add_run_locked(const ks_cupti_profiler *profiler, record *r, const fake_run *run)
{
    double time = fake_value_locked(run->name, "gpu__time_duration.sum", run->blocks);
    double weight = isnan(time) ? 1.0 : time;
    const char *name = profiler->list.names;
    for (size_t i = 0; i < profiler->list.count; i++, name = fake_list_next(name)) {
        if ((profiler->passes[i] & passes_now(profiler)) != 0) {
            double value = fake_value_locked(run->name, name, run->blocks);
            r->cells[i].sum += fake_adds_up(name) ? value : value * weight;
            r->cells[i].weight += weight;
        }
    }
}

static void run_in_locked(ks_cupti_profiler *profiler, const fake_run *runs, size_t count,
                          bool graph, bool drop)
{
    if (profiler->range == KS_CUPTI_AUTO_RANGE && graph) {
        profiler->dead = true;
        return;
    }
    if (profiler->range == KS_CUPTI_AUTO_RANGE) {
        size_t slot = drop ? profiler->slots : begin_record_locked(profiler, NULL);
        profiler->dropped += drop ? 1 : 0;
        if (slot < profiler->slots) {
            add_run_locked(profiler, &profiler->records[slot], &runs[0]);
        }
        return;
    }
    for (size_t level = 0; level < profiler->depth && !drop; level++) {
        for (size_t i = 0; i < count && profiler->open[level] < profiler->slots; i++) {
            add_run_locked(profiler, &profiler->records[profiler->open[level]], &runs[i]);
        }
    }
}

void fake_ranges_run_locked(ks_cuda_context context, const fake_run *runs, size_t count, bool graph,
                            bool drop)
{
    for (ks_cupti_profiler *p = profilers; p != NULL; p = p->next_profiler) {
        if (p->context == context && p->started && !p->dead) {
            run_in_locked(p, runs, count, graph, drop);
        }
    }
}

#ifndef FAKE_WITHOUT_PUSH
static ks_cupti_result may_push_locked(const ks_cupti_profiler *profiler, const char *name)
{
    ks_cupti_result result = check_locked(profiler);
    if (result != 0) {
        return result;
    }
    if (profiler->other || name == NULL) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    bool good = profiler->started && profiler->range == KS_CUPTI_USER_RANGE &&
                profiler->depth < profiler->levels;
    return good ? 0 : CUPTI_INVALID_OPERATION;
}

ks_cupti_result cupti_push(ks_cupti_push *p)
{
    char path[2 * RANGE_NAME_BYTES];
    ENTER_WITH("cuptiRangeProfilerPushRange", p, ks_cupti_push, name);
    fake_lock();
    ks_cupti_profiler *profiler = p->profiler;
    ks_cupti_result result = may_push_locked(profiler, p->name);
    if (result == 0) {
        size_t above = profiler->depth > 0 ? profiler->open[profiler->depth - 1] : profiler->slots;
        bool nested = above < profiler->slots;
        snprintf(path, sizeof path, "%s%s%s", nested ? profiler->records[above].name : "",
                 nested ? "\n" : "", p->name);
        profiler->open[profiler->depth] = begin_record_locked(profiler, path);
        profiler->depth++;
    }
    fake_unlock();
    return result;
}
#endif

ks_cupti_result cupti_pop(ks_cupti_of_profiler *p)
{
    ENTER_WITH("cuptiRangeProfilerPopRange", p, ks_cupti_of_profiler, profiler);
    fake_lock();
    ks_cupti_profiler *profiler = p->profiler;
    ks_cupti_result result = check_locked(profiler);
    if (result == 0 && (!profiler->started || profiler->depth == 0)) {
        result = CUPTI_INVALID_OPERATION;
    }
    if (result == 0) {
        profiler->depth--;
    }
    fake_unlock();
    return result;
}

/* ---- values -----------------------------------------------------------------------------------
 */

static double value_locked(const ks_cupti_profiler *profiler, const record *r, size_t i,
                           const char *name)
{
    const cell *c = &r->cells[i];
    if (profiler->other || (c->have & profiler->passes[i]) != profiler->passes[i]) {
        return NAN;
    }
    if (!fake_adds_up(name)) {
        return c->sum / c->weight;
    }
    return fake_is_time(name) && r->time_spans ? c->sum + (double)fake_set.gap : c->sum;
}

/* The values of a range, as many as the image has metrics: of another set than ours all are NaN. */
static void fill_locked(const ks_cupti_profiler *profiler, const record *r, double *values,
                        size_t count)
{
    const char *name = profiler->list.names;
    for (size_t i = 0; i < count; i++) {
        bool ours = !profiler->other && i < profiler->list.count;
        values[i] = ours ? value_locked(profiler, r, i, name) : NAN;
        name = ours ? fake_list_next(name) : name;
    }
}

static void write_image_locked(const ks_cupti_profiler *profiler, size_t metrics, size_t slots)
{
    double *values = calloc(metrics, sizeof *values);
    size_t ranges = profiler->used > 0 ? profiler->used + (size_t)fake_set.extra_ranges : 0;
    if (values == NULL) {
        abort();
    }
    ranges = ranges < slots ? ranges : slots;
    for (size_t range = 0; range < ranges; range++) {
        size_t last = profiler->used - 1;
        const record *r = &profiler->records[range < last ? range : last];
        fill_locked(profiler, r, values, metrics);
        fake_image_put(profiler->image, range, r->name, values);
    }
    fake_image_set_ranges(profiler->image, ranges);
    free(values);
}

ks_cupti_result cupti_decode(ks_cupti_decode *p)
{
    size_t slots = 0;
    fake_list list;
    ENTER_WITH("cuptiRangeProfilerDecodeData", p, ks_cupti_decode, dropped);
    fake_lock();
    ks_cupti_profiler *profiler = p->profiler;
    ks_cupti_result result = check_locked(profiler);
    if (result == 0 && (profiler->config == NULL || profiler->started)) {
        result = CUPTI_INVALID_OPERATION;
    }
    if (result == 0 &&
        !fake_image_read(profiler->image, profiler->image_bytes, &list, &slots, NULL)) {
        result = KS_CUPTI_INVALID_PARAMETER;
    }
    if (result == 0) {
        write_image_locked(profiler, list.count, slots);
        p->dropped = fake_set.report_dropped != 0 ? profiler->dropped : 0;
    }
    fake_unlock();
    return result;
}
