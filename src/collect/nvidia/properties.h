/*
 * Metrics of a run that need no counter: of launches (launch_metrics.h) and of devices
 * (device_metrics.h). Launches are noted in their callbacks, in the first pass alone; the values
 * are computed when the batch is done.
 */
#ifndef KS_COLLECT_NVIDIA_PROPERTIES_H
#define KS_COLLECT_NVIDIA_PROPERTIES_H

#include "collect/collector.h"
#include "collect/nvidia/gpu.h"
#include "collect/nvidia/launch_metrics.h"
#include "collect/nvidia/launches.h"

/** One of the metrics that were asked for. */
typedef struct ks_property {
    const ks_launch_metric *of_launch; /**< NULL: it is of a device */
    const ks_device_metric *of_device; /**< NULL: it is of a launch */
    uint32_t number;                   /**< in the samples */
} ks_property;

/** A launch in an annotation. */
typedef struct ks_noted_launch {
    uint32_t annotation;
    uint32_t run;
    ks_cuda_device device;
    bool graph; /**< of which no more is known */
    ks_launch_shape shape;
} ks_noted_launch;

typedef struct ks_properties {
    const ks_cuda *cuda;
    const ks_cupti *cupti;
    ks_cuda_device device; /**< that the annotations are measured on */
    ks_property *list;
    uint32_t count;
    bool of_launches; /**< some of them are */
    unsigned needs;   /**< KS_LAUNCH_* of all */
    ks_noted_launch *launches;
    size_t launch_count;
    size_t launch_capacity;
    ks_device_limits *devices; /**< that something was launched on */
    size_t device_count;
    size_t device_capacity;
} ks_properties;

/** Whether a name is of a metric that needs no counter. */
bool ks_is_property(const char *name);

/** Its unit (NULL: none) and description. */
void ks_property_texts(const char *name, const char **unit, const char **description);

/**
 * Take those that need no counter out of what is asked for.
 *
 * @param[out] out  free with ks_properties_fini(), on failure too
 */
ks_status ks_properties_init(const ks_gpu *gpu, const ks_collect_spec *spec, ks_properties *out,
                             ks_error *err);
void ks_properties_fini(ks_properties *properties);

/** A batch begins: forget the launches of the last one. */
void ks_properties_forget(ks_properties *properties);

/** Note a launch, in its callback: its context is current, the ledger's lock is held. */
ks_status ks_properties_note(ks_properties *properties, const ks_api_launch *launch,
                             uint32_t annotation, uint32_t run, ks_error *err);

/** Add the values of a batch, or why there are none. */
ks_status ks_properties_tell(ks_properties *properties, const ks_nothing *nothing, ks_samples *into,
                             ks_error *err);

#endif
