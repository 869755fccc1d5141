/*
 * The buffers that CUPTI fills with records. They are one set per process, as CUPTI's callbacks
 * are: it may hold one of ours for as long as it likes, so they outlive every collector.
 */
#ifndef KS_COLLECT_NVIDIA_TRACING_BUFFERS_H
#define KS_COLLECT_NVIDIA_TRACING_BUFFERS_H

#include <stdbool.h>

#include "collect/nvidia/abi_activity.h"

typedef struct ks_buffer {
    struct ks_buffer *next;
    size_t used; /**< bytes with records in them */
    _Alignas(8) uint8_t bytes[];
} ks_buffer;

enum {
    KS_BUFFER_BYTES = 1 << 20
};

/** CUPTI's callbacks; on any thread. A buffer that is not ours is left alone. */
void ks_buffers_request(uint8_t **buffer, size_t *bytes, size_t *most_records);
void ks_buffers_complete(ks_cuda_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                         size_t used);

/** The filled ones, in the order in which they came; the caller's until given back. */
ks_buffer *ks_buffers_take(void);
void ks_buffers_give_back(ks_buffer *list);

/** Whether no memory was left for one since the last time that this was asked. */
bool ks_buffers_starved(void);

/** Free all that CUPTI does not hold. */
void ks_buffers_release(void);

#endif
