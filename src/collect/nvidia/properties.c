#include "collect/nvidia/properties.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

bool ks_is_property(const char *name)
{
    return ks_launch_metric_find(name) != NULL || ks_device_metric_find(name) != NULL;
}

void ks_property_texts(const char *name, const char **unit, const char **description)
{
    const ks_launch_metric *of_launch = ks_launch_metric_find(name);
    *unit = of_launch != NULL ? of_launch->unit : NULL;
    *description =
        of_launch != NULL ? of_launch->description : ks_device_metric_find(name)->description;
}

ks_status ks_properties_init(const ks_gpu *gpu, const ks_collect_spec *spec, ks_properties *out,
                             ks_error *err)
{
    *out = (ks_properties){.cuda = gpu->cuda, .cupti = gpu->cupti, .device = gpu->device};
    out->list = ks_calloc(spec->count, sizeof *out->list);
    if (out->list == NULL) {
        return ks_enomem(err);
    }
    for (uint32_t i = 0; i < spec->count; i++) {
        const char *name = spec->metrics[i]->name;
        ks_property property = {.of_launch = ks_launch_metric_find(name),
                                .of_device = ks_device_metric_find(name),
                                .number = spec->numbers[i]};
        if (property.of_launch != NULL) {
            out->of_launches = true;
            out->needs |= property.of_launch->needs;
        }
        if (property.of_launch != NULL || property.of_device != NULL) {
            out->list[out->count++] = property;
        }
    }
    return KS_OK;
}

void ks_properties_fini(ks_properties *properties)
{
    ks_free(properties->list);
    ks_free(properties->launches);
    ks_free(properties->devices);
    *properties = (ks_properties){0};
}

void ks_properties_forget(ks_properties *properties)
{
    properties->launch_count = 0;
}

/* ---- launches ---------------------------------------------------------------------------------
 */

/* CUPTI's numbers. What it does not tell stays 0. */
static void take_ids(const ks_cupti *cupti, const ks_api_launch *launch, ks_launch_shape *shape)
{
    uint32_t context = 0;
    uint32_t stream = 0;
    bool per_thread = launch->stream == KS_CUDA_STREAM_PER_THREAD;
    if (cupti->context_id(launch->context, &context) == 0) {
        shape->context_id = context;
    }
    if (cupti->stream_id(launch->context, per_thread ? NULL : launch->stream, per_thread,
                         &stream) == 0) {
        shape->stream_id = stream;
    }
}

ks_status ks_properties_note(ks_properties *properties, const ks_api_launch *launch,
                             uint32_t annotation, uint32_t run, ks_error *err)
{
    if (!properties->of_launches) {
        return KS_OK;
    }
    ks_noted_launch noted = {.annotation = annotation,
                             .run = run,
                             .device = properties->device,
                             .graph = launch->function == NULL};
    properties->cuda->context_device(&noted.device);
    ks_launch_shape_init(&noted.shape);
    ks_launch_shape_take(&noted.shape, launch);
    if ((properties->needs & KS_LAUNCH_IDS) != 0) {
        take_ids(properties->cupti, launch, &noted.shape);
    }
    if (!noted.graph) {
        ks_launch_shape_read(properties->cuda, launch->function, properties->needs, &noted.shape);
    }
    KS_TRY(KS_GROW(properties->launches, properties->launch_capacity, properties->launch_count + 1,
                   err));
    properties->launches[properties->launch_count++] = noted;
    return KS_OK;
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* What the driver tells of a device, asked once. */
static ks_status limits_of(ks_properties *p, ks_cuda_device device, const ks_device_limits **out,
                           ks_error *err)
{
    size_t i = 0;
    while (i < p->device_count && p->devices[i].device != device) {
        i++;
    }
    if (i == p->device_count) {
        KS_TRY(KS_GROW(p->devices, p->device_capacity, p->device_count + 1, err));
        KS_TRY(ks_device_limits_read(p->cuda, device, &p->devices[i], err));
        p->device_count++;
    }
    *out = &p->devices[i];
    return KS_OK;
}

/* A launch belongs to the annotation that it was made in, and to those around that one. */
static ks_status add_launch(const ks_property *property, const ks_noted_launch *launch,
                            const ks_device_limits *device, ks_samples *into, ks_error *err)
{
    const char *why = "a CUDA graph was launched, whose kernels tell nobody what they are launched "
                      "with";
    double value = 0.0;
    bool known = !launch->graph &&
                 ks_launch_metric_value(property->of_launch, &launch->shape, device, &value, &why);
    for (const ks_annotation *a = ks_session_annotation(launch->annotation); a != NULL;
         a = a->parent) {
        if (ks_samples_has(into, a->id)) {
            KS_TRY(known
                       ? ks_samples_add(into, a->id, launch->run, property->number, value, 1.0, err)
                       : ks_samples_missing(into, a->id, launch->run, property->number, why, err));
        }
    }
    return KS_OK;
}

static ks_status tell_of_launches(ks_properties *p, ks_samples *into, ks_error *err)
{
    for (size_t i = 0; i < p->launch_count; i++) {
        const ks_device_limits *device = NULL;
        KS_TRY(limits_of(p, p->launches[i].device, &device, err));
        for (uint32_t k = 0; k < p->count; k++) {
            if (p->list[k].of_launch != NULL) {
                KS_TRY(add_launch(&p->list[k], &p->launches[i], device, into, err));
            }
        }
    }
    return KS_OK;
}

/* A device is what it is, whatever is launched on it. */
static ks_status tell_of_device(ks_properties *p, const ks_property *property, ks_samples *into,
                                ks_error *err)
{
    const ks_device_limits *device = NULL;
    const char *why = NULL;
    double value = 0.0;
    KS_TRY(limits_of(p, p->device, &device, err));
    bool known = ks_device_metric_value(property->of_device, device, &value, &why);
    for (uint32_t i = 0; i < into->entered_count; i++) {
        uint32_t annotation = into->entered[i];
        for (uint32_t run = 0; run < into->runs; run++) {
            bool entered = ks_samples_presence(into, annotation, run)->visits > 0;
            if (entered && known) {
                KS_TRY(ks_samples_add(into, annotation, run, property->number, value, 1.0, err));
            } else if (entered) {
                KS_TRY(ks_samples_missing(into, annotation, run, property->number, why, err));
            }
        }
    }
    return KS_OK;
}

ks_status ks_properties_tell(ks_properties *properties, const ks_nothing *nothing, ks_samples *into,
                             ks_error *err)
{
    KS_TRY(tell_of_launches(properties, into, err));
    for (uint32_t k = 0; k < properties->count; k++) {
        const ks_property *property = &properties->list[k];
        KS_TRY(property->of_launch != NULL
                   ? ks_nothing_tell(nothing, &property->number, 1, into, err)
                   : tell_of_device(properties, property, into, err));
    }
    return KS_OK;
}
