#include "fakes/fake_activity.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"

fake_activity_state fake_activity;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_buffer_request request;
static ks_buffer_complete complete;
static uint8_t *buffer;
static size_t buffer_size;
static size_t used;
static size_t dropped;
static ks_activity_kernel waiting[64]; /* for their records to be finished */
static size_t waiting_count;

static _Thread_local uint64_t ids[256];
static _Thread_local unsigned id_count;

static bool broken(int function)
{
    return fake_activity.script.broken == function;
}

static uint64_t on_cupti_clock(uint64_t ns)
{
    double rate = fake_activity.script.rate;
    return 1000000000000u + (uint64_t)((double)ns * (rate > 0 ? rate : 1.0));
}

static uint64_t in_records(uint64_t ns)
{
    return on_cupti_clock(ns) + fake_activity.script.offset;
}

/* ---- records ----------------------------------------------------------------------------------
 */

static void hand_in(void)
{
    if (buffer != NULL) {
        complete(NULL, 0, buffer, buffer_size, used);
        fake_activity.lent--;
        buffer = NULL;
    }
}

static void put(const void *record, size_t size)
{
    int kind = ((const ks_activity *)record)->kind;
    size_t most = 0;
    const fake_activity_script *s = &fake_activity.script;
    if ((fake_activity.enabled & 1u << (kind % 32)) == 0 || s->stolen) {
        return;
    }
    if (buffer != NULL && buffer_size - used < size) {
        hand_in();
    }
    if (buffer == NULL) {
        used = 0;
        request(&buffer, &buffer_size, &most);
        fake_activity.lent += buffer != NULL;
    }
    if (buffer == NULL || (s->room > 0 && fake_activity.records >= s->room)) {
        dropped++;
        return;
    }
    memcpy(buffer + used, record, size);
    used += size;
    fake_activity.records++;
}

static uint32_t put_call(uint32_t function)
{
    const uint64_t start = fake_activity.now;
    fake_activity.now += 100;
    const ks_activity_call call = {.kind = KS_ACTIVITY_DRIVER,
                                   .function = function,
                                   .start = in_records(start),
                                   .end = in_records(fake_activity.now),
                                   .correlation = ++fake_activity.correlation};
    if (id_count > 0) {
        const ks_activity_external others = {
            .kind = KS_ACTIVITY_EXTERNAL, .ids = 3, .id = 99, .correlation = call.correlation};
        const ks_activity_external external = {.kind = KS_ACTIVITY_EXTERNAL,
                                               .ids = KS_EXTERNAL_IDS,
                                               .id = ids[id_count - 1],
                                               .correlation = call.correlation};
        put(&others, sizeof others);
        put(&external, sizeof external);
    }
    put(&call, sizeof call);
    return call.correlation;
}

static ks_activity_kernel run_kernel(const char *name, uint64_t ns, uint32_t correlation)
{
    fake_activity_state *f = &fake_activity;
    uint64_t start = f->gpu > f->now ? f->gpu : f->now;
    f->gpu = start + ns;
    ks_activity_kernel k = {.kind = KS_ACTIVITY_KERNEL,
                            .correlation = correlation,
                            .name = name,
                            .registers = f->script.registers,
                            .static_shared = f->script.shared[0],
                            .dynamic_shared = f->script.shared[1],
                            .local_per_thread = f->script.local};
    if (!f->script.untimed) {
        k.start = in_records(start) + f->script.kernels_off;
        k.end = in_records(f->gpu) + f->script.kernels_off;
    }
    return k;
}

void fake_gpu_kernel(const char *name, uint64_t ns)
{
    pthread_mutex_lock(&lock);
    uint32_t correlation = put_call(KS_CUPTI_LAUNCH_KERNEL);
    ks_activity_kernel k = run_kernel(name, ns, correlation);
    put(&k, sizeof k);
    pthread_mutex_unlock(&lock);
}

void fake_gpu_graph(unsigned kernels, uint64_t ns)
{
    pthread_mutex_lock(&lock);
    uint32_t correlation = put_call(KS_CUPTI_GRAPH_LAUNCH);
    for (unsigned i = 0; i < kernels; i++) {
        ks_activity_kernel k = run_kernel("node", ns, correlation);
        k.graph = 7;
        put(&k, sizeof k);
    }
    pthread_mutex_unlock(&lock);
}

void fake_gpu_elsewhere(const char *name, uint64_t ns)
{
    pthread_mutex_lock(&lock);
    uint32_t correlation = put_call(KS_CUPTI_LAUNCH_KERNEL);
    waiting[waiting_count++] = run_kernel(name, ns, correlation);
    fake_activity.gpu = fake_activity.now;
    pthread_mutex_unlock(&lock);
}

void fake_gpu_capture(void)
{
    pthread_mutex_lock(&lock);
    put_call(KS_CUPTI_LAUNCH_KERNEL);
    pthread_mutex_unlock(&lock);
}

void fake_gpu_copy(void)
{
    pthread_mutex_lock(&lock);
    put_call(281); /* cuMemcpyDtoDAsync_v2 */
    pthread_mutex_unlock(&lock);
}

void fake_gpu_call(void)
{
    pthread_mutex_lock(&lock);
    put_call(1);
    pthread_mutex_unlock(&lock);
}

void fake_gpu_think(uint64_t ns)
{
    pthread_mutex_lock(&lock);
    fake_activity.now += ns;
    pthread_mutex_unlock(&lock);
}

unsigned fake_gpu_ids(void)
{
    return id_count;
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const char *fake_absent(void)
{
    return fake_activity.script.absent;
}

static ks_cupti_result fake_enabled_kinds(ks_cupti_subscription whose, int *kinds, uint32_t *room,
                                          uint32_t *count)
{
    (void)whose;
    (void)kinds;
    (void)room;
    *count = fake_activity.script.wanted;
    return 0;
}

static ks_status fake_card(ks_card *out, ks_error *err)
{
    (void)err;
    *out = (ks_card){.name = "Imagined GPU", .compute_khz = 1980000, .memory_khz = 3201000};
    return KS_OK;
}

static ks_status fake_connect(ks_activity_api *self, ks_error *err)
{
    self->enabled_kinds = fake_activity.script.old ? NULL : fake_enabled_kinds;
    return !fake_activity.script.no_library
               ? KS_OK
               : ks_fail(err, KS_UNAVAILABLE, "cupti", 0, "no CUPTI that can be used was found");
}

static bool fake_others_listen(void)
{
    return fake_activity.script.others_listen;
}

static ks_cuda_result fake_synchronize(void)
{
    pthread_mutex_lock(&lock);
    fake_activity_state *f = &fake_activity;
    put_call(2);
    f->now = f->gpu > f->now ? f->gpu : f->now;
    pthread_mutex_unlock(&lock);
    return f->script.device;
}

static ks_status fake_device_fail(ks_cuda_result result, ks_error *err)
{
    return ks_fail(err, KS_EVENDOR, "cuda", result, "the device is broken (%d)", result);
}

static const char *fake_result_name(ks_cupti_result result)
{
    (void)result;
    return "CUPTI_ERROR_UNKNOWN";
}

static uint64_t fake_now(void)
{
    pthread_mutex_lock(&lock);
    uint64_t now = fake_activity.now += 10;
    pthread_mutex_unlock(&lock);
    return now;
}

static ks_cupti_result fake_timestamp(uint64_t *out)
{
    pthread_mutex_lock(&lock);
    *out = on_cupti_clock(fake_activity.now += 10);
    pthread_mutex_unlock(&lock);
    return 0;
}

static ks_cupti_result fake_register(ks_buffer_request ask, ks_buffer_complete give)
{
    request = ask;
    complete = give;
    fake_activity.registered++;
    return broken(FAKE_REGISTER) ? 999 : 0;
}

static ks_cupti_result fake_enable(int kind)
{
    if (broken(FAKE_ENABLE) && kind == KS_ACTIVITY_RUNTIME) {
        return 999;
    }
    fake_activity.enabled |= 1u << (kind % 32);
    return 0;
}

static ks_cupti_result fake_disable(int kind)
{
    fake_activity.enabled &= ~(1u << (kind % 32));
    return 0;
}

/* What was unfinished is finished afterwards. */
static ks_cupti_result fake_flush(uint32_t flag)
{
    pthread_mutex_lock(&lock);
    unsigned enabled = fake_activity.enabled;
    hand_in();
    fake_activity.enabled = ~0u;
    for (size_t i = 0; i < waiting_count; i++) {
        put(&waiting[i], sizeof waiting[i]);
    }
    waiting_count = 0;
    fake_activity.enabled = enabled;
    if (flag == KS_FLUSH_ALL) {
        hand_in();
    }
    pthread_mutex_unlock(&lock);
    return broken(FAKE_FLUSH) ? 999 : 0;
}

static size_t size_of(int kind)
{
    return kind == KS_ACTIVITY_KERNEL     ? sizeof(ks_activity_kernel)
           : kind == KS_ACTIVITY_EXTERNAL ? sizeof(ks_activity_external)
                                          : sizeof(ks_activity_call);
}

static ks_cupti_result fake_next(uint8_t *in, size_t valid, ks_activity **record)
{
    uint8_t *at = (uint8_t *)*record;
    at = at == NULL ? in : at + size_of((*record)->kind);
    if (broken(FAKE_NEXT)) {
        return KS_CUPTI_BAD_RECORD;
    }
    if (at >= in + valid) {
        return KS_CUPTI_END_OF_BUFFER;
    }
    *record = (ks_activity *)(void *)at;
    return 0;
}

static ks_cupti_result fake_dropped(ks_cuda_context context, uint32_t stream, size_t *out)
{
    (void)context;
    (void)stream;
    *out = dropped;
    dropped = 0;
    return 0;
}

static ks_cupti_result fake_push(int kind, uint64_t id)
{
    if (kind != KS_EXTERNAL_IDS || id_count == sizeof ids / sizeof ids[0]) {
        return 1;
    }
    ids[id_count++] = id;
    return 0;
}

static ks_cupti_result fake_pop(int kind, uint64_t *id)
{
    if (kind != KS_EXTERNAL_IDS || id_count == 0) {
        return 18;
    }
    *id = ids[--id_count];
    return 0;
}

static ks_activity_api table = {
    .absent = fake_absent,
    .connect = fake_connect,
    .card = fake_card,
    .others_listen = fake_others_listen,
    .synchronize = fake_synchronize,
    .device_fail = fake_device_fail,
    .result_name = fake_result_name,
    .now_ns = fake_now,
    .timestamp = fake_timestamp,
    .register_callbacks = fake_register,
    .enable = fake_enable,
    .disable = fake_disable,
    .flush = fake_flush,
    .next = fake_next,
    .dropped = fake_dropped,
    .push = fake_push,
    .pop = fake_pop,
};

void fake_activity_reset(fake_activity_script script)
{
    fake_activity = (fake_activity_state){.script = script, .now = 5000000};
    used = dropped = waiting_count = 0;
    buffer = NULL;
    id_count = 0;
    ks_activity_use(&table);
}
