#include "base/pool.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

/* Texts lie in blocks that never move, so that their addresses stay. */
struct ks_pool_block {
    struct ks_pool_block *next;
    size_t used;
    size_t size;
    char bytes[];
};

enum {
    BLOCK_SIZE = 16 * 1024
};

void ks_pool_init(ks_pool *pool)
{
    memset(pool, 0, sizeof *pool);
}

void ks_pool_fini(ks_pool *pool)
{
    while (pool->blocks != NULL) {
        struct ks_pool_block *next = pool->blocks->next;
        ks_free(pool->blocks);
        pool->blocks = next;
    }
    ks_free(pool->texts);
    ks_free(pool->slots);
    ks_pool_init(pool);
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t find_slot(const ks_pool *pool, const char *text, size_t length)
{
    size_t at = (size_t)ks_hash(text, length) & (pool->slot_count - 1);
    while (pool->slots[at] != 0 && strcmp(pool->texts[pool->slots[at] - 1], text) != 0) {
        at = (at + 1) & (pool->slot_count - 1);
    }
    return at;
}

static ks_status grow_slots(ks_pool *pool, ks_error *err)
{
    if (pool->count * 2 < pool->slot_count) {
        return KS_OK;
    }
    size_t count = pool->slot_count != 0 ? pool->slot_count * 2 : 64;
    ks_text_id *slots = ks_calloc(count, sizeof *slots);
    if (slots == NULL) {
        return ks_enomem(err);
    }
    ks_free(pool->slots);
    pool->slots = slots;
    pool->slot_count = count;
    for (size_t i = 0; i < pool->count; i++) {
        slots[find_slot(pool, pool->texts[i], strlen(pool->texts[i]))] = (ks_text_id)(i + 1);
    }
    return KS_OK;
}

static char *store(ks_pool *pool, const char *text, size_t size)
{
    struct ks_pool_block *block = pool->blocks;
    if (block == NULL || block->size - block->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = ks_alloc(sizeof *block + room);
        if (block == NULL) {
            return NULL;
        }
        block->next = pool->blocks;
        block->used = 0;
        block->size = room;
        pool->blocks = block;
    }
    char *copy = block->bytes + block->used;
    memcpy(copy, text, size);
    block->used += size;
    return copy;
}

ks_status ks_pool_add(ks_pool *pool, const char *text, ks_text_id *out, ks_error *err)
{
    if (text == NULL) {
        *out = 0;
        return KS_OK;
    }
    KS_TRY(grow_slots(pool, err));
    size_t length = strlen(text);
    size_t slot = find_slot(pool, text, length);
    if (pool->slots[slot] == 0) {
        if (pool->count >= UINT32_MAX - 1) {
            return ks_fail(err, KS_ELIMIT, "pool", 0, "more than 4 billion different texts");
        }
        KS_TRY(KS_GROW(pool->texts, pool->capacity, pool->count + 1, err));
        char *copy = store(pool, text, length + 1);
        if (copy == NULL) {
            return ks_enomem(err);
        }
        pool->texts[pool->count++] = copy;
        pool->slots[slot] = (ks_text_id)pool->count;
    }
    *out = pool->slots[slot];
    return KS_OK;
}

ks_text_id ks_pool_find(const ks_pool *pool, const char *text)
{
    if (pool->slot_count == 0 || text == NULL) {
        return 0;
    }
    return pool->slots[find_slot(pool, text, strlen(text))];
}

const char *ks_pool_text(const ks_pool *pool, ks_text_id id)
{
    return id != 0 ? pool->texts[id - 1] : NULL;
}
