#include "collect/nvidia/tracing/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collect/nvidia/launch_shape.h"
#include "collect/nvidia/launches.h"
#include "collect/nvidia/tracing/buffers.h"

static const int kinds[] = {KS_ACTIVITY_KERNEL, KS_ACTIVITY_EXTERNAL, KS_ACTIVITY_DRIVER,
                            KS_ACTIVITY_RUNTIME};

enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

void ks_trace_init(ks_trace *trace, const ks_activity_api *api)
{
    memset(trace, 0, sizeof *trace);
    trace->api = api;
}

void ks_trace_fini(ks_trace *trace)
{
    ks_free(trace->kernels);
    ks_free(trace->origins);
    ks_trace_init(trace, trace->api);
    ks_buffers_release();
}

/* CUPTI 13.2 and later tell which records are wanted by anybody. Before, the tools that trace are
 * those that listen too: torch's profiler does so from its first use on. */
ks_status ks_trace_free(const ks_activity_api *api, ks_error *err)
{
    uint32_t wanted = 0;
    if (api->enabled_kinds != NULL && api->enabled_kinds(NULL, NULL, NULL, &wanted) == 0) {
        return wanted == 0
                   ? KS_OK
                   : ks_fail(err, KS_EBUSY, "cupti", 0,
                             "kernels cannot be traced: another tool in this process, such as "
                             "torch.profiler, is recording; CUPTI serves one at a time, so end its "
                             "recording first");
    }
    return !api->others_listen()
               ? KS_OK
               : ks_fail(err, KS_EBUSY, "cupti", 0,
                         "kernels cannot be traced: another tool in this process uses CUPTI "
                         "(torch.profiler does from its first use on), and this CUPTI does not "
                         "tell whether it is recording; measure in a process without it, or with "
                         "CUPTI 13.2 or later");
}

static ks_status fail(const ks_trace *trace, ks_cupti_result result, const char *what,
                      ks_error *err)
{
    return ks_fail(err, KS_EVENDOR, "cupti", result, "%s: %s (%d)", what,
                   trace->api->result_name(result), result);
}

static ks_cupti_result enable_kinds(const ks_trace *trace)
{
    ks_cupti_result result = 0;
    for (int i = 0; i < KINDS && result == 0; i++) {
        result = trace->api->enable(kinds[i]);
    }
    return result;
}

ks_status ks_trace_on(ks_trace *trace, ks_error *err)
{
    KS_TRY(ks_trace_free(trace->api, err));
    ks_cupti_result result =
        trace->api->register_callbacks(ks_buffers_request, ks_buffers_complete);
    if (result == 0) {
        trace->on = true;
        result = enable_kinds(trace);
    }
    if (result != 0) {
        ks_trace_off(trace);
        return fail(trace, result, "kernels cannot be traced", err);
    }
    return KS_OK;
}

void ks_trace_off(ks_trace *trace)
{
    if (!trace->on) {
        return;
    }
    for (int i = 0; i < KINDS; i++) {
        trace->api->disable(kinds[i]);
    }
    trace->api->flush(KS_FLUSH_ALL);
    trace->on = false;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* Launches of CUPTI's own (it waits so between passes) and of ours, inside which nobody looks. */
static bool is_a_tools(const char *kernel)
{
    return strcmp(kernel, "WaitNs") == 0 || strncmp(kernel, "_Z6WaitNs", 9) == 0 ||
           strcmp(kernel, "ks_flush_l2") == 0;
}

static ks_status add_kernel(ks_trace *trace, const ks_activity_kernel *k, ks_error *err)
{
    const char *name = k->name != NULL ? k->name : "";
    if (is_a_tools(name)) {
        return KS_OK;
    }
    KS_TRY(KS_GROW(trace->kernels, trace->kernel_capacity, trace->kernel_count + 1, err));
    int32_t registers = k->registers > KS_LEAST_REGISTERS ? k->registers : KS_LEAST_REGISTERS;
    trace->kernels[trace->kernel_count++] =
        (ks_traced_kernel){.start = k->start,
                           .end = k->end,
                           .correlation = k->correlation,
                           .name = name,
                           .facts = {.known = true,
                                     .registers = k->registers > 0 ? registers : -1,
                                     .shared_bytes = (int64_t)k->static_shared + k->dynamic_shared,
                                     .local_bytes = k->local_per_thread,
                                     .occupancy = -1.0}};
    return KS_OK;
}

static bool driver_launches(uint32_t function)
{
    switch (function) {
    case KS_CUPTI_LAUNCH_KERNEL:
    case KS_CUPTI_LAUNCH_KERNEL_PTSZ:
    case KS_CUPTI_LAUNCH_KERNEL_EX:
    case KS_CUPTI_LAUNCH_KERNEL_EX_PTSZ:
    case KS_CUPTI_LAUNCH_COOPERATIVE:
    case KS_CUPTI_LAUNCH_COOPERATIVE_PTSZ:
    case KS_CUPTI_LAUNCH_COOPERATIVE_MULTI:
    case KS_CUPTI_GRAPH_LAUNCH:
    case KS_CUPTI_GRAPH_LAUNCH_PTSZ:
        return true;
    default:
        return false;
    }
}

static bool runtime_launches(uint32_t function)
{
    switch (function) {
    case KS_RUNTIME_LAUNCH_KERNEL:
    case KS_RUNTIME_LAUNCH_KERNEL_PTSZ:
    case KS_RUNTIME_LAUNCH_COOPERATIVE:
    case KS_RUNTIME_LAUNCH_COOPERATIVE_PTSZ:
    case KS_RUNTIME_GRAPH_LAUNCH:
    case KS_RUNTIME_GRAPH_LAUNCH_PTSZ:
    case KS_RUNTIME_LAUNCH_KERNEL_EX:
    case KS_RUNTIME_LAUNCH_KERNEL_EX_PTSZ:
    case KS_RUNTIME_LAUNCH_KERNEL_13:
    case KS_RUNTIME_LAUNCH_KERNEL_13_PTSZ:
        return true;
    default:
        return false;
    }
}

#define KS_IN_SPAN(first, last) || (function >= (first) && function <= (last))
static bool runtime_copies(uint32_t function)
{
    return false KS_RUNTIME_COPIES(KS_IN_SPAN);
}
#undef KS_IN_SPAN

static ks_status add_origin(ks_trace *trace, ks_origin origin, ks_error *err)
{
    KS_TRY(KS_GROW(trace->origins, trace->origin_capacity, trace->origin_count + 1, err));
    trace->origins[trace->origin_count++] = origin;
    return KS_OK;
}

static ks_status add_call(ks_trace *trace, const ks_activity_call *c, ks_error *err)
{
    bool driver = c->kind == KS_ACTIVITY_DRIVER;
    bool launches = driver ? driver_launches(c->function) : runtime_launches(c->function);
    bool copies = driver ? ks_launches_is_copy(c->function) : runtime_copies(c->function);
    trace->calls += c->start != 0;
    return add_origin(trace,
                      (ks_origin){.correlation = c->correlation,
                                  .launches = launches && c->result == 0,
                                  .copies = copies && c->result == 0,
                                  .start = c->start},
                      err);
}

static ks_status add_record(ks_trace *trace, const ks_activity *record, ks_error *err)
{
    const void *any = record;
    const ks_activity_external *external = any;
    switch (record->kind) {
    case KS_ACTIVITY_KERNEL:
        return add_kernel(trace, any, err);
    case KS_ACTIVITY_DRIVER:
    case KS_ACTIVITY_RUNTIME:
        return add_call(trace, any, err);
    case KS_ACTIVITY_EXTERNAL:
        return external->ids == KS_EXTERNAL_IDS
                   ? add_origin(
                         trace,
                         (ks_origin){.correlation = external->correlation, .id = external->id}, err)
                   : KS_OK;
    default:
        return KS_OK; /* of a kind that somebody else asked for */
    }
}

static ks_status read_buffer(ks_trace *trace, ks_buffer *buffer, ks_error *err)
{
    ks_activity *record = NULL;
    ks_cupti_result result = 0;
    while ((result = trace->api->next(buffer->bytes, buffer->used, &record)) == 0) {
        KS_TRY(add_record(trace, record, err));
    }
    return result == KS_CUPTI_END_OF_BUFFER
               ? KS_OK
               : fail(trace, result, "records of kernels cannot be read", err);
}

static int by_correlation(const void *a, const void *b)
{
    uint32_t x = ((const ks_origin *)a)->correlation;
    uint32_t y = ((const ks_origin *)b)->correlation;
    return (x > y) - (x < y);
}

/* What several records say of one call becomes one. */
static void join_origins(ks_trace *trace)
{
    size_t kept = 0;
    if (trace->origin_count > 0) {
        qsort(trace->origins, trace->origin_count, sizeof *trace->origins, by_correlation);
    }
    for (size_t i = 0; i < trace->origin_count; i++) {
        ks_origin o = trace->origins[i];
        ks_origin *to = kept > 0 ? &trace->origins[kept - 1] : NULL;
        if (to == NULL || to->correlation != o.correlation) {
            trace->origins[kept++] = o;
            continue;
        }
        to->launches |= o.launches;
        to->copies |= o.copies;
        to->id = to->id != 0 ? to->id : o.id;
        bool earlier = o.start != 0 && (to->start == 0 || o.start < to->start);
        to->start = earlier ? o.start : to->start;
    }
    trace->origin_count = kept;
}

static ks_status read_buffers(ks_trace *trace, ks_error *err)
{
    ks_buffer *filled = ks_buffers_take();
    ks_status status = KS_OK;
    for (ks_buffer *b = filled; b != NULL && status == KS_OK; b = b->next) {
        status = read_buffer(trace, b, err);
    }
    ks_buffers_give_back(filled);
    join_origins(trace);
    return status;
}

ks_status ks_trace_collect(ks_trace *trace, ks_error *err)
{
    trace->kernel_count = trace->origin_count = trace->calls = trace->dropped = 0;
    ks_cupti_result result = trace->on ? trace->api->flush(KS_FLUSH_FINISHED) : 0;
    ks_status status = read_buffers(trace, err);
    if (ks_buffers_starved()) {
        return ks_enomem(err);
    }
    KS_TRY(status);
    if (result == 0) {
        result = trace->api->dropped(NULL, 0, &trace->dropped);
    }
    return result == 0 ? KS_OK : fail(trace, result, "records of kernels cannot be had", err);
}

const ks_origin *ks_trace_origin(const ks_trace *trace, uint32_t correlation)
{
    const ks_origin wanted = {.correlation = correlation};
    return trace->origin_count == 0 ? NULL
                                    : bsearch(&wanted, trace->origins, trace->origin_count,
                                              sizeof *trace->origins, by_correlation);
}
