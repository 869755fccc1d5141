/* Texts kept once each and named by a number. */
#ifndef KS_BASE_POOL_H
#define KS_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "kernsight/status.h"

/** 0 stands for no text; the first text is 1. Texts keep their address until the pool is gone. */
typedef uint32_t ks_text_id;

typedef struct ks_pool {
    struct ks_pool_block *blocks; /**< the newest first */
    const char **texts;           /**< by id - 1 */
    size_t count;
    size_t capacity;
    ks_text_id *slots; /**< open addressing; 0 = free */
    size_t slot_count; /**< a power of two, or 0 */
} ks_pool;

void ks_pool_init(ks_pool *pool);
void ks_pool_fini(ks_pool *pool);

/** Id of a text, which is copied if it is new. NULL gives id 0. */
ks_status ks_pool_add(ks_pool *pool, const char *text, ks_text_id *out, ks_error *err);

/** Id of a text that the pool has; 0 if it has not. */
ks_text_id ks_pool_find(const ks_pool *pool, const char *text);

/** The text of an id, borrowed; NULL for 0. */
const char *ks_pool_text(const ks_pool *pool, ks_text_id id);

#endif
