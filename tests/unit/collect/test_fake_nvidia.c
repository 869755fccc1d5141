/* The fakes of NVIDIA's libraries do what tests/fakes/nvidia/fake_nvidia.h says. */
#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "collect/nvidia/chip.h"
#include "collect/nvidia/cuda.h"
#include "collect/nvidia/cupti.h"
#include "fakes/nvidia/fake_nvidia.h"

enum {
    THREADS = 4,
    LAUNCHES = 50
};

#define TIME  "gpu__time_duration.sum"
#define READ  "dram__bytes_read.sum"
#define INST  "smsp__inst_executed.sum"
#define SHARE "sm__throughput.avg.pct_of_peak_sustained_elapsed"

static ks_error err;
static const ks_cuda *cuda;
static const ks_cupti *cupti;

static int reset(void **state)
{
    (void)state;
    fake_reset();
    ks_error_clear(&err);
    KT_OK(ks_cuda_get(&cuda, &err));
    KT_OK(ks_cupti_get(&cupti, &err));
    return 0;
}

/* ---- a session of the range profiler ----------------------------------------------------------
 */

typedef struct session {
    ks_cupti_host *host;
    ks_cupti_profiler *profiler;
    const char *const *metrics;
    size_t count;
    uint8_t *config;
    size_t config_bytes;
    uint8_t *image;
    size_t image_bytes;
    size_t passes;
    size_t slots;
    int range;
    int replay;
} session;

#define SIZED(type, last, ...)                    \
    {                                             \
        .size = KS_KNOWN(type, last), __VA_ARGS__ \
    }

static void plan(session *s)
{
    ks_cupti_host_init init = SIZED(ks_cupti_host_init, host, .chip = "GH100");
    assert_int_equal(cupti->host_init(&init), 0);
    s->host = init.host;
    ks_cupti_add_metrics add = SIZED(ks_cupti_add_metrics, count, .host = s->host,
                                     .names = (const char **)s->metrics, .count = s->count);
    assert_int_equal(cupti->add_metrics(&add), 0);
    ks_cupti_config_size size = SIZED(ks_cupti_config_size, bytes, .host = s->host);
    assert_int_equal(cupti->config_size(&size), 0);
    s->config_bytes = size.bytes;
    s->config = calloc(1, size.bytes);
    ks_cupti_config config =
        SIZED(ks_cupti_config, image, .host = s->host, .bytes = size.bytes, .image = s->config);
    assert_int_equal(cupti->config(&config), 0);
    ks_cupti_passes passes =
        SIZED(ks_cupti_passes, passes, .bytes = size.bytes, .image = s->config);
    assert_int_equal(cupti->passes(&passes), 0);
    s->passes = passes.passes;
}

static void make_image(session *s)
{
    ks_cupti_image_size size = SIZED(ks_cupti_image_size, bytes, .profiler = s->profiler,
                                     .names = (const char **)s->metrics, .count = s->count,
                                     .slots = s->slots, .nodes = (uint32_t)s->slots);
    assert_int_equal(cupti->image_size(&size), 0);
    s->image_bytes = size.bytes;
    s->image = calloc(1, size.bytes);
    ks_cupti_image_init init = SIZED(ks_cupti_image_init, image, .profiler = s->profiler,
                                     .bytes = size.bytes, .image = s->image);
    assert_int_equal(cupti->image_init(&init), 0);
}

static int set_config(const session *s)
{
    ks_cupti_set_config p = SIZED(
        ks_cupti_set_config, target_level, .profiler = s->profiler, .config_bytes = s->config_bytes,
        .config = s->config, .image_bytes = s->image_bytes, .image = s->image, .range = s->range,
        .replay = s->replay, .slots = s->slots, .levels = 1, .least_level = 1, .target_level = 1);
    return cupti->set_config(&p);
}

static session begin(const char *const *metrics, size_t count, int range, int replay)
{
    session s = {.metrics = metrics, .count = count, .slots = 4, .range = range, .replay = replay};
    ks_cupti_profiler_init init = SIZED(ks_cupti_profiler_init, reserved, .reserved = NULL);
    assert_int_equal(cupti->profiler_init(&init), 0);
    ks_cupti_enable enable = SIZED(ks_cupti_enable, profiler, .context = fake_use_device(0));
    assert_int_equal(cupti->enable(&enable), 0);
    s.profiler = enable.profiler;
    plan(&s);
    make_image(&s);
    assert_int_equal(set_config(&s), 0);
    return s;
}

static int start(const session *s)
{
    ks_cupti_of_profiler p = SIZED(ks_cupti_of_profiler, profiler, .profiler = s->profiler);
    return cupti->start(&p);
}

static int stop(const session *s, bool *complete)
{
    ks_cupti_stop p = SIZED(ks_cupti_stop, complete, .profiler = s->profiler);
    int result = cupti->stop(&p);
    *complete = p.complete != 0;
    return result;
}

static int push(const session *s, const char *name)
{
    ks_cupti_push p = SIZED(ks_cupti_push, name, .profiler = s->profiler, .name = name);
    return cupti->push(&p);
}

static int pop(const session *s)
{
    ks_cupti_of_profiler p = SIZED(ks_cupti_of_profiler, profiler, .profiler = s->profiler);
    return cupti->pop(&p);
}

static size_t decode(const session *s, size_t *dropped)
{
    ks_cupti_decode p = SIZED(ks_cupti_decode, dropped, .profiler = s->profiler);
    ks_cupti_image_info info =
        SIZED(ks_cupti_image_info, ranges, .image = s->image, .bytes = s->image_bytes);
    assert_int_equal(cupti->decode(&p), 0);
    assert_int_equal(cupti->image_info(&info), 0);
    *dropped = p.dropped;
    return info.ranges;
}

static double value(const session *s, size_t range, const char *metric)
{
    double v = -1.0;
    ks_cupti_evaluate p =
        SIZED(ks_cupti_evaluate, values, .host = s->host, .image = s->image,
              .bytes = s->image_bytes, .range = range, .names = &metric, .count = 1, .values = &v);
    assert_int_equal(cupti->evaluate(&p), 0);
    return v;
}

static int end(session *s)
{
    ks_cupti_of_profiler p = SIZED(ks_cupti_of_profiler, profiler, .profiler = s->profiler);
    ks_cupti_host_deinit deinit = SIZED(ks_cupti_host_deinit, host, .host = s->host);
    int result = cupti->disable(&p);
    assert_int_equal(cupti->host_deinit(&deinit), 0);
    free(s->config);
    free(s->image);
    fake_alive alive = fake_count_alive();
    assert_int_equal(alive.profilers + alive.hosts, 0);
    return result;
}

/* ---- libraries and devices --------------------------------------------------------------------
 */

static void both_are_found_as_loaded_copies(void **state)
{
    (void)state;
    KT_HAS(cuda->library.path, "fakes/nvidia/libcuda.so.1");
    KT_HAS(cupti->library.path, "fakes/nvidia/libcupti.so.13");
    assert_int_equal(cupti->api_version, 130001);
}

static void a_device_is_as_the_script_says(void **state)
{
    int got = 0;
    char name[64] = "";
    (void)state;
    assert_int_equal(cuda->device_name(name, sizeof name, 0), 0);
    assert_string_equal(name, "Fake GPU");
    assert_int_equal(cuda->attribute(&got, KS_CUDA_SM_COUNT, 0), 0);
    assert_int_equal(got, 132);
    assert_int_equal(cuda->attribute(&got, 10000, 0), 1);
    assert_int_equal(cuda->device(&got, 1), 101);
    fake_device_attribute(0, KS_CUDA_MPS_ENABLED, 1);
    fake_script("devices=2; supported.vgpu=2; chip = GB100");
    assert_int_equal(cuda->attribute(&got, KS_CUDA_MPS_ENABLED, 0), 0);
    assert_int_equal(got, 1);
    assert_int_equal(cuda->device(&got, 1), 0);
    ks_cupti_device_supported s = SIZED(ks_cupti_device_supported, api, .device = 1);
    assert_int_equal(cupti->device_supported(&s), 0);
    assert_int_equal(s.supported, KS_CUPTI_UNSUPPORTED);
    assert_int_equal(s.vgpu, KS_CUPTI_DISABLED);
    ks_cupti_chip_name chip = SIZED(ks_cupti_chip_name, name, .device = 0);
    assert_int_equal(cupti->chip_name(&chip), 0);
    assert_string_equal(chip.name, "GB100");
}

static void memory_and_modules_are_counted_and_checked(void **state)
{
    ks_cuda_address at = 0;
    ks_cuda_module module = NULL;
    ks_cuda_function function = NULL;
    int registers = 0;
    (void)state;
    fake_use_device(0);
    assert_int_equal(cuda->alloc(&at, 1000), 0);
    assert_int_equal(cuda->memset(at, 0, 1000), 0);
    assert_int_equal(cuda->memset(at, 0, 1001), 1);
    assert_int_equal(cuda->module_load(&module, "ptx"), 0);
    assert_int_equal(cuda->module_function(&function, module, "flush"), 0);
    fake_kernel_attribute("flush", 4, 40);
    assert_int_equal(cuda->function_attribute(&registers, 4, function), 0);
    assert_int_equal(registers, 40);
    assert_int_equal(cuda->launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), 0);
    assert_int_equal(fake_count_alive().modules, 1);
    assert_int_equal(fake_count_alive().bytes, 1000);
    assert_int_equal(cuda->module_unload(module), 0);
    assert_int_equal(cuda->launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), 400);
    assert_int_equal(cuda->free(at), 0);
    assert_int_equal(cuda->free(at), 1);
    assert_int_equal(fake_count_alive().modules + fake_count_alive().allocations, 0);
}

/* ---- metrics ----------------------------------------------------------------------------------
 */

static void metrics_have_passes_and_a_bad_name_breaks_a_host_object(void **state)
{
    static const char *const all[] = {TIME, READ, INST, SHARE};
    ks_chip *chip = NULL;
    size_t passes = 0;
    (void)state;
    KT_OK(ks_chip_open("gh100", &chip, &err));
    assert_true(ks_chip_has(chip, "dram__bytes_read"));
    KT_OK(ks_chip_count_passes(chip, all, 1, &passes, &err));
    assert_int_equal(passes, 1);
    KT_OK(ks_chip_count_passes(chip, all, 3, &passes, &err));
    assert_int_equal(passes, 2);
    KT_OK(ks_chip_count_passes(chip, all, 4, &passes, &err));
    assert_int_equal(passes, 5);
    ks_chip_close(chip);
    session s = {.metrics = all, .count = 1};
    plan(&s);
    const char *bad = "dram__bytes_read";
    ks_cupti_add_metrics add =
        SIZED(ks_cupti_add_metrics, count, .host = s.host, .names = &bad, .count = 1);
    assert_int_equal(cupti->add_metrics(&add), KS_CUPTI_INVALID_PARAMETER);
    bad = TIME;
    assert_int_equal(cupti->add_metrics(&add), 999);
    add.size--;
    assert_int_equal(cupti->add_metrics(&add), KS_CUPTI_INVALID_PARAMETER);
    ks_cupti_host_deinit deinit = SIZED(ks_cupti_host_deinit, host, .host = s.host);
    assert_int_equal(cupti->host_deinit(&deinit), 0);
    assert_int_equal(cupti->host_deinit(&deinit), KS_CUPTI_INVALID_PARAMETER);
    free(s.config);
}

/* ---- ranges -----------------------------------------------------------------------------------
 */

static void tell_kernels(void)
{
    fake_kernel("a", TIME, 1000.0);
    fake_kernel("a", "smsp__inst_executed", 64.0);
    fake_kernel("a", SHARE, 10.0);
    fake_kernel("b", TIME, 3000.0);
    fake_kernel_per_block("b", INST, 8.0);
    fake_kernel("b", SHARE, 50.0);
}

static void auto_ranges_are_kernels_and_what_finds_no_slot_is_dropped_silently(void **state)
{
    static const char *const metrics[] = {TIME, INST, READ};
    size_t dropped = 0;
    bool complete = false;
    (void)state;
    tell_kernels();
    session s = begin(metrics, 2, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0); /* before */
    assert_int_equal(start(&s), 0);
    for (unsigned i = 1; i <= 5; i++) {
        assert_int_equal(fake_launch(i % 2 == 1 ? "a" : "b", i, 32, NULL), 0);
    }
    assert_int_equal(stop(&s, &complete), 0);
    assert_true(complete);
    assert_int_equal(decode(&s, &dropped), 4);
    assert_int_equal(dropped, 0);
    KT_F64(value(&s, 0, TIME), 1000.0);
    KT_F64(value(&s, 3, INST), 32.0); /* 4 blocks */
    KT_F64(value(&s, 2, INST), 64.0);
    assert_true(isnan(value(&s, 0, READ)));
    assert_int_equal(end(&s), 0);
}

static void user_replay_has_a_pass_each_time_and_values_when_all_are_there(void **state)
{
    static const char *const metrics[] = {TIME, READ, INST};
    size_t dropped = 0;
    bool complete = true;
    (void)state;
    tell_kernels();
    fake_kernel("a", READ, 4096.0);
    session s = begin(metrics, 3, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(s.passes, 2);
    assert_int_equal(start(&s), 0);
    assert_int_equal(start(&s), 7);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(stop(&s, &complete), 0);
    assert_false(complete);
    assert_int_equal(set_config(&s), 0); /* in vain */
    assert_int_equal(start(&s), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(stop(&s, &complete), 0);
    assert_true(complete);
    assert_int_equal(decode(&s, &dropped), 2);
    KT_F64(value(&s, 0, READ), 4096.0);
    KT_F64(value(&s, 0, INST), 64.0);
    KT_F64(value(&s, 1, READ), 4096.0);
    assert_true(isnan(value(&s, 1, INST))); /* its second pass has no second launch */
    assert_int_equal(end(&s), 0);
}

static void another_set_is_ignored_silently_until_the_first_one_is_back(void **state)
{
    static const char *const metrics[] = {TIME, INST};
    size_t dropped = 0;
    bool complete = false;
    (void)state;
    tell_kernels();
    session s = begin(metrics, 1, KS_CUPTI_AUTO_RANGE, KS_CUPTI_KERNEL_REPLAY);
    session other = s;
    other.count = 2;
    plan(&other);
    make_image(&other);
    assert_int_equal(set_config(&other), 0);
    assert_int_equal(start(&s), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(stop(&s, &complete), 0);
    assert_int_equal(decode(&other, &dropped), 1);
    assert_true(isnan(value(&other, 0, TIME)) && isnan(value(&other, 0, INST)));
    assert_int_equal(set_config(&s), 0);
    assert_int_equal(start(&s), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(stop(&s, &complete), 0);
    assert_int_equal(decode(&s, &dropped), 1);
    KT_F64(value(&s, 0, TIME), 1000.0);
    memset(s.image, 0, s.image_bytes);
    assert_int_equal(set_config(&s), KS_CUPTI_INVALID_PARAMETER);
    ks_cupti_host_deinit deinit = SIZED(ks_cupti_host_deinit, host, .host = other.host);
    assert_int_equal(cupti->host_deinit(&deinit), 0);
    free(other.config);
    free(other.image);
    assert_int_equal(end(&s), 0);
}

static void a_user_range_sums_its_kernels_and_a_gap(void **state)
{
    static const char *const metrics[] = {TIME, INST, SHARE};
    size_t dropped = 0;
    bool complete = false;
    (void)state;
    tell_kernels();
    fake_script("gap=500");
    session s = begin(metrics, 3, KS_CUPTI_USER_RANGE, KS_CUPTI_KERNEL_REPLAY);
    assert_int_equal(push(&s, "early"), 7);
    assert_int_equal(start(&s), 0);
    assert_int_equal(push(&s, "both"), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(fake_launch("b", 2, 32, NULL), 0);
    assert_int_equal(pop(&s), 0);
    assert_int_equal(push(&s, "none"), 0);
    assert_int_equal(pop(&s), 0);
    assert_int_equal(pop(&s), 7);
    assert_int_equal(stop(&s, &complete), 0);
    assert_int_equal(decode(&s, &dropped), 2);
    KT_F64(value(&s, 0, TIME), 4500.0);
    KT_F64(value(&s, 0, INST), 80.0);
    KT_F64(value(&s, 0, SHARE), 40.0); /* (10 * 1000 + 50 * 3000) / 4000 */
    KT_F64(value(&s, 1, TIME), 500.0);
    KT_F64(value(&s, 1, INST), 0.0);
    ks_cupti_range_info info = SIZED(ks_cupti_range_info, name, .image = s.image,
                                     .bytes = s.image_bytes, .range = 1, .delimiter = "/");
    assert_int_equal(cupti->range_info(&info), 0);
    assert_string_equal(info.name, "none");
    assert_int_equal(end(&s), 0);
}

/* A graph of a and b. */
static void *capture(void)
{
    ks_cuda_stream stream = (ks_cuda_stream)0x10;
    int capturing = 0;
    fake_begin_capture(stream);
    assert_int_equal(cuda->stream_capturing(stream, &capturing), 0);
    assert_int_equal(capturing, 1);
    assert_int_equal(fake_launch("a", 1, 32, stream), 0);
    assert_int_equal(fake_launch("b", 1, 32, stream), 0);
    return fake_end_capture(stream);
}

static void a_graph_breaks_auto_ranges_and_counts_in_a_user_range(void **state)
{
    static const char *const metrics[] = {TIME, INST};
    size_t dropped = 0;
    bool complete = false;
    (void)state;
    tell_kernels();
    session s = begin(metrics, 2, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(start(&s), 0);
    void *graph = capture();
    assert_int_equal(cuGraphLaunch(graph, NULL), 0);
    assert_int_equal(stop(&s, &complete), 999);
    assert_int_equal(end(&s), 0);
    s = begin(metrics, 2, KS_CUPTI_USER_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(start(&s), 0);
    assert_int_equal(push(&s, "graph"), 0);
    assert_int_equal(cuGraphLaunch(graph, NULL), 0);
    assert_int_equal(pop(&s), 0);
    assert_int_equal(stop(&s, &complete), 0);
    assert_int_equal(decode(&s, &dropped), 1);
    KT_F64(value(&s, 0, INST), 72.0);
    assert_int_equal(end(&s), 0);
}

/* ---- callbacks --------------------------------------------------------------------------------
 */

typedef struct seen {
    int enters;
    int exits;
    int last_result;
    unsigned grid;
    char symbol[32];
    bool same_call;
} seen;

static void on_launch(void *self, int domain, uint32_t function, const void *data)
{
    seen *s = self;
    const ks_cupti_callback_data *d = data;
    assert_int_equal(domain, KS_CUPTI_DRIVER_API);
    if (d->site == KS_CUPTI_ENTER) {
        s->enters++;
        *d->correlation_data = function;
        snprintf(s->symbol, sizeof s->symbol, "%s", d->symbol != NULL ? d->symbol : "");
        if (function == KS_CUPTI_LAUNCH_KERNEL) {
            s->grid = ((const ks_cuda_launch_args *)d->arguments)->grid[0];
        } else if (function == KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ) {
            s->grid = ((const ks_cuda_launch_ex_args *)d->arguments)->config->grid[0];
        }
    } else {
        s->exits++;
        s->same_call = *d->correlation_data == function;
        s->last_result = *(ks_cuda_result *)d->result;
    }
}

static void the_one_subscriber_sees_enter_and_exit_of_what_it_enabled(void **state)
{
    seen s = {0};
    ks_cupti_subscription subscription = NULL;
    ks_cupti_subscription second = NULL;
    (void)state;
    fake_use_device(0);
    assert_int_equal(cupti->subscribe(&subscription, on_launch, &s), 0);
    assert_int_equal(cupti->subscribe(&second, on_launch, &s), KS_CUPTI_TOO_MANY_SUBSCRIBERS);
    assert_int_equal(fake_launch("a", 7, 32, NULL), 0);
    assert_int_equal(s.enters, 0);
    cupti->enable_callback(1, subscription, KS_CUPTI_DRIVER_API, KS_CUPTI_LAUNCH_KERNEL);
    cupti->enable_callback(1, subscription, KS_CUPTI_DRIVER_API, KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ);
    assert_int_equal(fake_launch("a", 7, 32, NULL), 0);
    assert_int_equal(s.grid, 7);
    assert_string_equal(s.symbol, "a");
    assert_true(s.same_call);
    const ks_cuda_launch_config config = {.grid = {9, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(cuLaunchKernelEx_ptsz(&config, fake_function("b"), NULL, NULL), 0);
    assert_int_equal(s.grid, 9);
    fake_script("cuLaunchKernel=719");
    assert_int_equal(fake_launch("a", 1, 32, NULL), 719);
    assert_int_equal(s.last_result, 719);
    assert_int_equal(s.enters, 3);
    assert_int_equal(s.exits, 3);
    assert_int_equal(cupti->unsubscribe(subscription), 0);
    assert_int_equal(cupti->unsubscribe(subscription), KS_CUPTI_INVALID_PARAMETER);
    assert_int_equal(fake_count_alive().subscribers, 0);
}

/* ---- faults -----------------------------------------------------------------------------------
 */

static void a_script_fails_calls_by_number_and_calls_are_counted(void **state)
{
    static const char *const metrics[] = {TIME};
    bool complete = false;
    (void)state;
    session s = begin(metrics, 1, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    fake_script("cuptiRangeProfilerStart:2=26; cuptiRangeProfilerStop:2+=35");
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(start(&s), i == 2 ? 26 : 0);
        if (i != 2) {
            assert_int_equal(stop(&s, &complete), i == 1 ? 0 : 35);
        }
    }
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), 3);
    assert_int_equal(fake_calls("cuptiRangeProfilerStop"), 2);
    assert_int_equal(fake_calls("cuptiUnsubscribe"), 0);
    assert_int_equal(end(&s), 0);
}

static void launches_are_dropped_and_ranges_come_from_nowhere(void **state)
{
    static const char *const metrics[] = {TIME};
    size_t dropped = 0;
    bool complete = false;
    (void)state;
    tell_kernels();
    ks_cuda_stream stream = NULL;
    fake_script("drop=2; extra_ranges=1; report_dropped=1");
    session s = begin(metrics, 1, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(start(&s), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(fake_launch("flush", 1, 32, (ks_cuda_stream)0x20), 0); /* not counted */
    assert_int_equal(stop(&s, &complete), 0);
    assert_int_equal(decode(&s, &dropped), 3);
    assert_int_equal(dropped, 1);
    assert_int_equal(fake_runs("a"), 2);
    assert_string_equal(fake_run_at(2, &stream), "flush");
    assert_ptr_equal(stream, (ks_cuda_stream)0x20);
    assert_null(fake_run_at(3, &stream));
    assert_int_equal(end(&s), 0);
}

static void a_broken_device_stays_broken_and_a_reset_context_is_another(void **state)
{
    static const char *const metrics[] = {TIME};
    bool complete = false;
    ks_cuda_context before = NULL;
    ks_cuda_context after = NULL;
    (void)state;
    tell_kernels();
    session s = begin(metrics, 1, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(start(&s), 0);
    fake_script("device_error=1");
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(cuda->synchronize(), 700);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 700);
    assert_int_equal(stop(&s, &complete), 999);
    assert_int_equal(end(&s), 0);
    fake_reset();
    tell_kernels();
    s = begin(metrics, 1, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(start(&s), 0);
    fake_script("context_reset_after=1");
    assert_int_equal(cuda->context(&before), 0);
    assert_int_equal(fake_launch("a", 1, 32, NULL), 0);
    assert_int_equal(cuda->context(&after), 0);
    assert_ptr_not_equal(before, after);
    assert_int_equal(cuda->push_context(before), 201);
    assert_int_equal(stop(&s, &complete), 3);
    assert_int_equal(end(&s), 3);
}

static void *launch_often(void *unused)
{
    (void)unused;
    fake_use_device(0);
    for (int i = 0; i < LAUNCHES; i++) {
        fake_launch("a", 1, 32, NULL);
    }
    return NULL;
}

static void threads_launch_at_the_same_time(void **state)
{
    static const char *const metrics[] = {TIME};
    pthread_t threads[THREADS];
    size_t dropped = 0;
    bool complete = false;
    (void)state;
    tell_kernels();
    fake_script("report_dropped=1");
    session s = begin(metrics, 1, KS_CUPTI_AUTO_RANGE, KS_CUPTI_USER_REPLAY);
    assert_int_equal(start(&s), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, launch_often, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(stop(&s, &complete), 0);
    assert_int_equal(decode(&s, &dropped), 4);
    assert_int_equal(dropped, THREADS * LAUNCHES - 4);
    assert_int_equal(fake_calls("cuLaunchKernel"), THREADS * LAUNCHES);
    assert_int_equal(end(&s), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(both_are_found_as_loaded_copies),
        TEST(a_device_is_as_the_script_says),
        TEST(memory_and_modules_are_counted_and_checked),
        TEST(metrics_have_passes_and_a_bad_name_breaks_a_host_object),
        TEST(auto_ranges_are_kernels_and_what_finds_no_slot_is_dropped_silently),
        TEST(user_replay_has_a_pass_each_time_and_values_when_all_are_there),
        TEST(another_set_is_ignored_silently_until_the_first_one_is_back),
        TEST(a_user_range_sums_its_kernels_and_a_gap),
        TEST(a_graph_breaks_auto_ranges_and_counts_in_a_user_range),
        TEST(the_one_subscriber_sees_enter_and_exit_of_what_it_enabled),
        TEST(a_script_fails_calls_by_number_and_calls_are_counted),
        TEST(launches_are_dropped_and_ranges_come_from_nowhere),
        TEST(a_broken_device_stays_broken_and_a_reset_context_is_another),
        TEST(threads_launch_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
