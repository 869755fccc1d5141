/*
 * CUPTI's range profiler on one context: enabled with a set of metrics, then started and stopped
 * once per pass. It stays enabled between runs, because enabling costs some tenths of a second and
 * while it is enabled nobody else can have the counters: docs/gpu.md.
 */
#ifndef KS_COLLECT_NVIDIA_PROFILER_H
#define KS_COLLECT_NVIDIA_PROFILER_H

#include <stdbool.h>

#include "collect/nvidia/chip.h"
#include "collect/nvidia/cuda.h"
#include "collect/nvidia/flush.h"
#include "collect/nvidia/turn.h"

/** What a profiler is enabled for. */
typedef struct ks_profile_spec {
    const ks_chip_config *config;
    const char *const *metrics; /**< of the config */
    size_t count;
    int range;                    /**< KS_CUPTI_AUTO_RANGE or KS_CUPTI_USER_RANGE */
    int replay;                   /**< KS_CUPTI_USER_REPLAY or KS_CUPTI_KERNEL_REPLAY */
    size_t slots;                 /**< ranges that it has room for */
    bool flush;                   /**< the caches will be swept */
    const atomic_bool *cancelled; /**< stop waiting for the counters; NULL: never */
} ks_profile_spec;

typedef struct ks_profiler {
    const ks_cuda *cuda;
    const ks_cupti *cupti;
    ks_cuda_context context;
    unsigned long long context_id; /**< tells it from a later one at the same address */
    ks_cuda_device device;
    ks_turn *turn;             /**< with the counters of the device; NULL: not enabled */
    ks_cupti_profiler *object; /**< NULL: not enabled */
    char **metrics;            /**< what it is enabled for, with what follows */
    size_t count;
    int range;
    int replay;
    size_t slots;
    uint8_t *config; /**< CUPTI reads it as long as the profiler is enabled */
    size_t config_bytes;
    uint8_t *fresh; /**< the image of a pass that has not begun */
    uint8_t *image;
    size_t bytes;      /**< of each */
    size_t most_slots; /**< that images have room for, with the metrics that it was prepared for
                            last; 0: not known */
    bool running;      /**< between start and stop */
    bool unfinished;   /**< passes of its session are still to come */
    bool orphaned;     /**< a context at this address went while it was enabled */
    ks_flush flush;
    struct ks_profiler *next;
} ks_profiler;

/**
 * The profiler of a context, which stays for the process's life unless the context goes. Not
 * enabled yet if it is new. KS_ENOMEM, KS_EVENDOR.
 */
ks_status ks_profiler_of(const ks_cuda *cuda, const ks_cupti *cupti, ks_cuda_context context,
                         ks_profiler **out, ks_error *err);

/** Whether its context is still there, and not stuck (drain.h). */
bool ks_profiler_is_alive(const ks_profiler *profiler);

/** Make it ready for these metrics; nothing to do if it is. Waits, up to half a minute, while
 * another process has the counters (turn.h). Not in a callback.
 * @return KS_EBUSY, KS_ECANCELED, KS_EPERM, KS_UNAVAILABLE (counters are refused), KS_ELIMIT (too
 * many slots: `most_slots` says how many there may be), KS_ENOMEM, KS_EVENDOR */
ks_status ks_profiler_prepare(ks_profiler *profiler, const ks_profile_spec *spec, ks_error *err);

/** Begin with an empty image: before the first pass. */
ks_status ks_profiler_begin(ks_profiler *profiler, ks_error *err);
ks_status ks_profiler_start(ks_profiler *profiler, ks_error *err);
/** @param[out] complete  that was the last pass */
ks_status ks_profiler_stop(ks_profiler *profiler, bool *complete, ks_error *err);
/** After the last pass: how many ranges there are, and how many found no slot. */
ks_status ks_profiler_decode(ks_profiler *profiler, size_t *ranges, size_t *dropped, ks_error *err);
/** The number that a user range was given. */
ks_status ks_profiler_number(const ks_profiler *profiler, size_t range, size_t *number,
                             ks_error *err);
/** The metrics of a range; NaN for those that were not counted. */
ks_status ks_profiler_evaluate(const ks_profiler *profiler, const ks_profile_spec *spec,
                               size_t range, double *values, ks_error *err);

/** Begin and end a user range. Ranges of one name are one range: give each its own number. */
ks_cupti_result ks_profiler_push(ks_profiler *profiler, size_t number);
ks_cupti_result ks_profiler_pop(ks_profiler *profiler);

/** Give up its counters; it can be prepared again. */
void ks_profiler_disable(ks_profiler *profiler);

/** Stop it, whatever came of it. */
void ks_profiler_abandon(ks_profiler *profiler);

/** Disable all profilers: the counters are free. */
void ks_profilers_give_back(void);
/** Whether any is enabled. */
bool ks_profilers_held(void);
/** Whether another process waits for the counters of any. */
bool ks_profilers_wanted(void);

#endif
