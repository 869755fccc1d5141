/* Annotations that launched no kernel: what they did instead, and how that is told. */
#ifndef KS_COLLECT_NVIDIA_NOTHING_H
#define KS_COLLECT_NVIDIA_NOTHING_H

#include <stddef.h>

#include "annotate/session.h"
#include "collect/collector.h"

/** What an annotation did, a bit each. */
typedef enum ks_instead {
    KS_DID_COPY = 1,    /**< copies or memsets */
    KS_DID_CAPTURE = 2, /**< launches into a graph that was being captured */
    KS_DID_IGNORED = 4, /**< launches of kernels that the plan leaves out */
} ks_instead;

enum {
    KS_NOTHING_MAX = 400 /* bytes of a reason */
};

typedef struct ks_nothing {
    const ks_ledger *ledger; /**< who launched what, outside annotations too */
    uint64_t outside;        /**< launches outside annotations that the ledger has not */
    bool sees_copies;        /**< else one that was made is not known */
    uint8_t *did;            /**< bits by annotation */
    size_t count;
    size_t capacity;
} ks_nothing;

void ks_nothing_fini(ks_nothing *nothing);
/** Forget what annotations did: a batch begins. */
void ks_nothing_start(ks_nothing *nothing);

/** Note what an annotation did, which those around it did too. */
ks_status ks_nothing_note(ks_nothing *nothing, const ks_annotation *annotation, ks_instead what,
                          ks_error *err);

/** Why an annotation has no kernel, and what was launched outside annotations. */
void ks_nothing_reason(const ks_nothing *nothing, uint32_t annotation, char to[KS_NOTHING_MAX]);

/** Say of metrics of launches why they are missing in the runs that entered an annotation and have
 * no value. @param[in] numbers  in the samples, `count` of them */
ks_status ks_nothing_tell(const ks_nothing *nothing, const uint32_t *numbers, size_t count,
                          ks_samples *into, ks_error *err);

/** Whether the plan leaves a kernel out. @param[in,out] matched  by pattern: some kernel did */
bool ks_nothing_ignores(const ks_controls *controls, bool *matched, const char *kernel);

/** Warn of the patterns of kernels to leave out that none matched. @param[in] matched  by pattern
 */
ks_status ks_nothing_matched(const ks_controls *controls, const bool *matched, ks_pool *warnings,
                             ks_error *err);

/** Say in the samples' `idle` that no annotation of the batch launched anything. */
ks_status ks_nothing_idle(const ks_nothing *nothing, ks_samples *into, ks_error *err);

#endif
