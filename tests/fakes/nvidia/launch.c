/* libcuda: launches, captures and graphs. */
#include "fakes/nvidia/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CAPTURES_MAX = 16,
    GRAPH_KERNELS_MAX = 64,
    MOST_THREADS = 1024,
    LOG_MAX = 4096
};

/* A graph, while it is captured and for ever after. */
typedef struct graph {
    fake_run runs[GRAPH_KERNELS_MAX];
    size_t count;
    struct graph *next;
} graph;

typedef struct capture {
    ks_cuda_stream stream;
    graph *graph; /* NULL: a free place */
} capture;

/* A call that launches. */
typedef struct launch {
    uint32_t id;
    const char *name;
    const void *arguments;
    ks_cuda_function function; /* NULL: a graph */
    const unsigned *grid;
    const unsigned *block;
    graph *graph;
    ks_cuda_stream stream;
} launch;

static fake_hooks hooks;
static capture captures[CAPTURES_MAX];
static graph *graphs;
static uint32_t correlations;

/* Kernels that ran. */
static struct {
    char name[NAME_MAX_BYTES];
    ks_cuda_stream stream;
} ran[LOG_MAX];
static unsigned ran_count;

void fake_set_hooks(const fake_hooks *h)
{
    fake_lock();
    hooks = *h;
    fake_unlock();
}

void fake_clear_hooks(const fake_hooks *h)
{
    fake_lock();
    if (hooks.call == h->call) {
        hooks = (fake_hooks){NULL, NULL};
    }
    fake_unlock();
}

/* ---- capture ----------------------------------------------------------------------------------
 */

static capture *find_capture_locked(ks_cuda_stream stream)
{
    for (size_t i = 0; i < CAPTURES_MAX; i++) {
        if (captures[i].graph != NULL && captures[i].stream == stream) {
            return &captures[i];
        }
    }
    return NULL;
}

bool fake_is_capturing_locked(ks_cuda_stream stream)
{
    return find_capture_locked(stream) != NULL;
}

void fake_begin_capture(ks_cuda_stream stream)
{
    graph *g = calloc(1, sizeof *g);
    bool placed = false;
    fake_lock();
    for (size_t i = 0; i < CAPTURES_MAX && g != NULL && !placed; i++) {
        if (captures[i].graph == NULL) {
            captures[i] = (capture){stream, g};
            placed = true;
        }
    }
    if (!placed) {
        fprintf(stderr, "fake_begin_capture: no room\n");
        abort();
    }
    g->next = graphs;
    graphs = g;
    fake_unlock();
}

void *fake_end_capture(ks_cuda_stream stream)
{
    fake_lock();
    capture *c = find_capture_locked(stream);
    graph *g = c != NULL ? c->graph : NULL;
    if (c != NULL) {
        c->graph = NULL;
    }
    fake_unlock();
    return g;
}

static bool is_graph_locked(const graph *wanted)
{
    bool found = false;
    for (const graph *g = graphs; g != NULL; g = g->next) {
        found = found || g == wanted;
    }
    return found;
}

/* ---- running ----------------------------------------------------------------------------------
 */

static ks_cuda_result check_locked(const launch *l, ks_cuda_context *current)
{
    ks_cuda_result result = fake_can_work_locked(current);
    if (result != 0) {
        return result;
    }
    if (l->function == NULL) {
        return is_graph_locked(l->graph) ? 0 : CUDA_INVALID_VALUE;
    }
    size_t threads = (size_t)l->block[0] * l->block[1] * l->block[2];
    bool empty = l->grid[0] == 0 || l->grid[1] == 0 || l->grid[2] == 0 || threads == 0;
    result = fake_check_function_locked(l->function, *current);
    return result == 0 && (empty || threads > MOST_THREADS) ? CUDA_INVALID_VALUE : result;
}

static void log_runs_locked(const fake_run *runs, size_t count, ks_cuda_stream stream)
{
    for (size_t i = 0; i < count && ran_count < LOG_MAX; i++) {
        memcpy(ran[ran_count].name, runs[i].name, sizeof runs[i].name);
        ran[ran_count++].stream = stream;
    }
}

void fake_forget_runs_locked(void)
{
    ran_count = 0;
}

unsigned fake_runs(const char *kernel)
{
    unsigned count = 0;
    fake_lock();
    for (unsigned i = 0; i < ran_count; i++) {
        count += kernel == NULL || strcmp(ran[i].name, kernel) == 0 ? 1 : 0;
    }
    fake_unlock();
    return count;
}

const char *fake_run_at(unsigned i, ks_cuda_stream *stream)
{
    fake_lock();
    const char *name = i < ran_count ? ran[i].name : NULL;
    if (name != NULL && stream != NULL) {
        *stream = ran[i].stream;
    }
    fake_unlock();
    return name;
}

static bool is_dropped(long number)
{
    return number == fake_set.drop ||
           (fake_set.drop_every > 0 && number % fake_set.drop_every == 0);
}

/* What the script has happen at this launch. */
static void run_locked(ks_cuda_context context, const fake_run *runs, size_t count, bool is_graph)
{
    bool counts = is_graph || fake_is_known_locked(runs[0].name);
    long number = counts ? fake_next_launch_locked() : 0;
    if (hooks.run_locked != NULL) {
        hooks.run_locked(context, runs, count, is_graph, counts && is_dropped(number));
    }
    if (counts && number == fake_set.device_error) {
        fake_break_device_locked(true);
    }
    if (counts && number == fake_set.context_reset_after) {
        fake_reset_context_locked(context);
    }
}

static ks_cuda_result carry_out(const launch *l)
{
    ks_cuda_context current = NULL;
    fake_run run;
    fake_lock();
    ks_cuda_result result = check_locked(l, &current);
    if (result == 0 && l->function == NULL) {
        log_runs_locked(l->graph->runs, l->graph->count, l->stream);
        run_locked(current, l->graph->runs, l->graph->count, true);
    } else if (result == 0) {
        capture *c = find_capture_locked(l->stream);
        snprintf(run.name, sizeof run.name, "%s", l->function->name);
        run.blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
        if (c == NULL) {
            log_runs_locked(&run, 1, l->stream);
            run_locked(current, &run, 1, false);
        } else if (c->graph->count < GRAPH_KERNELS_MAX) {
            c->graph->runs[c->graph->count++] = run;
        }
    }
    fake_unlock();
    return result;
}

/* The name stays valid between the callbacks, also when its module goes meanwhile. */
static void describe_locked(const launch *l, char *symbol, size_t size,
                            ks_cupti_callback_data *data)
{
    ks_cuda_context current = fake_current_locked();
    data->function = l->name;
    data->arguments = l->arguments;
    data->context = current;
    data->context_id = current != NULL ? current->id : 0;
    data->correlation = ++correlations;
    if (l->function != NULL && current != NULL &&
        fake_check_function_locked(l->function, current) == 0) {
        snprintf(symbol, size, "%s", l->function->name);
        data->symbol = symbol;
    }
}

static ks_cuda_result launch_it(const launch *l)
{
    char symbol[NAME_MAX_BYTES];
    uint64_t own = 0;
    ks_cupti_callback_data data = {.site = KS_CUPTI_ENTER, .correlation_data = &own};
    ks_cuda_result result = fake_enter(l->name);
    fake_lock();
    describe_locked(l, symbol, sizeof symbol, &data);
    void (*call)(uint32_t, ks_cupti_callback_data *) = hooks.call;
    fake_unlock();
    if (call != NULL) {
        call(l->id, &data);
    }
    result = result == 0 ? carry_out(l) : result;
    data.site = KS_CUPTI_EXIT;
    data.result = &result;
    if (call != NULL) {
        call(l->id, &data);
    }
    return result;
}

/* ---- the vendor's functions -------------------------------------------------------------------
 */

/* Arguments as the vendor's callbacks have them: his own structures go on behind ours. */
typedef struct kernel_arguments {
    ks_cuda_launch_args known;
    void **parameters;
    void **extra;
} kernel_arguments;

static ks_cuda_result launch_kernel(uint32_t id, const char *name, const kernel_arguments *a)
{
    const launch l = {.id = id,
                      .name = name,
                      .arguments = a,
                      .function = a->known.function,
                      .grid = a->known.grid,
                      .block = a->known.block,
                      .stream = a->known.stream};
    return l.function != NULL ? launch_it(&l) : CUDA_INVALID_HANDLE;
}

static ks_cuda_result launch_ex(uint32_t id, const char *name, const ks_cuda_launch_config *config,
                                ks_cuda_function function, void **parameters, void **extra)
{
    struct {
        ks_cuda_launch_ex_args known;
        void **parameters;
        void **extra;
    } a = {{config, function}, parameters, extra};
    if (config == NULL || function == NULL) {
        return CUDA_INVALID_VALUE;
    }
    const launch l = {.id = id,
                      .name = name,
                      .arguments = &a,
                      .function = function,
                      .grid = config->grid,
                      .block = config->block,
                      .stream = config->stream};
    return launch_it(&l);
}

static ks_cuda_result launch_graph(uint32_t id, const char *name, void *which,
                                   ks_cuda_stream stream)
{
    ks_cuda_graph_launch_args a = {which, stream};
    const launch l = {.id = id, .name = name, .arguments = &a, .graph = which, .stream = stream};
    return launch_it(&l);
}

ks_cuda_result cuLaunchKernel(ks_cuda_function function, unsigned gx, unsigned gy, unsigned gz,
                              unsigned bx, unsigned by, unsigned bz, unsigned shared,
                              ks_cuda_stream stream, void **parameters, void **extra)
{
    const kernel_arguments a = {
        {function, {gx, gy, gz}, {bx, by, bz}, shared, stream}, parameters, extra};
    return launch_kernel(KS_CUPTI_LAUNCH_KERNEL, "cuLaunchKernel", &a);
}

ks_cuda_result cuLaunchKernel_ptsz(ks_cuda_function function, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                   ks_cuda_stream stream, void **parameters, void **extra)
{
    const kernel_arguments a = {
        {function, {gx, gy, gz}, {bx, by, bz}, shared, stream}, parameters, extra};
    return launch_kernel(KS_CUPTI_LAUNCH_KERNEL_PTSZ, "cuLaunchKernel_ptsz", &a);
}

ks_cuda_result cuLaunchCooperativeKernel(ks_cuda_function function, unsigned gx, unsigned gy,
                                         unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                         unsigned shared, ks_cuda_stream stream, void **parameters)
{
    const kernel_arguments a = {
        {function, {gx, gy, gz}, {bx, by, bz}, shared, stream}, parameters, NULL};
    return launch_kernel(KS_CUPTI_LAUNCH_COOPERATIVE, "cuLaunchCooperativeKernel", &a);
}

ks_cuda_result cuLaunchCooperativeKernel_ptsz(ks_cuda_function function, unsigned gx, unsigned gy,
                                              unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                              unsigned shared, ks_cuda_stream stream,
                                              void **parameters)
{
    const kernel_arguments a = {
        {function, {gx, gy, gz}, {bx, by, bz}, shared, stream}, parameters, NULL};
    return launch_kernel(KS_CUPTI_LAUNCH_COOPERATIVE_PTSZ, "cuLaunchCooperativeKernel_ptsz", &a);
}

ks_cuda_result cuLaunchKernelEx(const ks_cuda_launch_config *config, ks_cuda_function function,
                                void **parameters, void **extra)
{
    return launch_ex(KS_CUPTI_LAUNCH_KERNEL_EX, "cuLaunchKernelEx", config, function, parameters,
                     extra);
}

ks_cuda_result cuLaunchKernelEx_ptsz(const ks_cuda_launch_config *config, ks_cuda_function function,
                                     void **parameters, void **extra)
{
    return launch_ex(KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ, "cuLaunchKernelEx_ptsz", config, function,
                     parameters, extra);
}

ks_cuda_result cuGraphLaunch(void *which, ks_cuda_stream stream)
{
    return launch_graph(KS_CUPTI_GRAPH_LAUNCH, "cuGraphLaunch", which, stream);
}

ks_cuda_result cuGraphLaunch_ptsz(void *which, ks_cuda_stream stream)
{
    return launch_graph(KS_CUPTI_GRAPH_LAUNCH_PTSZ, "cuGraphLaunch_ptsz", which, stream);
}

ks_cuda_result fake_launch(const char *kernel, unsigned blocks, unsigned threads,
                           ks_cuda_stream stream)
{
    return cuLaunchKernel(fake_function(kernel), blocks, 1, 1, threads, 1, 1, 0, stream, NULL,
                          NULL);
}

void fake_copy(uint32_t function)
{
    ks_cupti_callback_data data = {.site = KS_CUPTI_ENTER, .function = "a copy"};
    ks_cuda_result result = 0;
    fake_lock();
    data.context = fake_current_locked();
    void (*call)(uint32_t, ks_cupti_callback_data *) = hooks.call;
    fake_unlock();
    if (call != NULL) {
        call(function, &data);
        data.site = KS_CUPTI_EXIT;
        data.result = &result;
        call(function, &data);
    }
}
