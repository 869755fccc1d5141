#include "base/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernsight/kernsight.h"

static void *libc_realloc(void *ptr, size_t size, void *user)
{
    (void)user;
    return realloc(ptr, size);
}

static void libc_free(void *ptr, void *user)
{
    (void)user;
    free(ptr);
}

static const ks_allocator libc_allocator = {sizeof(ks_allocator), libc_realloc, libc_free, NULL};
static ks_allocator current = {sizeof(ks_allocator), libc_realloc, libc_free, NULL};

/* Blocks alive: a block must go back to the allocator that it came from. */
static atomic_size_t live_blocks;

ks_status ks_set_allocator(const ks_allocator *allocator, ks_error *err)
{
    if (allocator != NULL && (allocator->struct_size < sizeof(ks_allocator) ||
                              allocator->realloc == NULL || allocator->free == NULL)) {
        return ks_fail(err, KS_EINVAL, "alloc", 0,
                       "cannot replace the allocator: it needs both functions; start from "
                       "KS_ALLOCATOR_INIT");
    }
    size_t live = atomic_load(&live_blocks);
    if (live != 0) {
        return ks_fail(err, KS_ESTATE, "alloc", 0,
                       "cannot replace the allocator: %zu blocks of the present one are in use; "
                       "free all plans, results and tables first",
                       live);
    }
    current = allocator != NULL ? *allocator : libc_allocator;
    return KS_OK;
}

void *ks_realloc(void *ptr, size_t size)
{
    void *block = current.realloc(ptr, size != 0 ? size : 1, current.user);
    if (block != NULL && ptr == NULL) {
        atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    }
    return block;
}

void *ks_alloc(size_t size)
{
    return ks_realloc(NULL, size);
}

void *ks_calloc(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    if (current.realloc == libc_realloc && count * size > 0) {
        void *block = calloc(count, size); /* large ones need no memory until they are written to */
        atomic_fetch_add_explicit(&live_blocks, block != NULL, memory_order_relaxed);
        return block;
    }
    void *block = ks_alloc(count * size);
    if (block != NULL) {
        memset(block, 0, count * size);
    }
    return block;
}

void ks_free(void *ptr)
{
    if (ptr != NULL) {
        atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
        current.free(ptr, current.user);
    }
}

char *ks_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = ks_alloc(size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

bool ks_grow(void **array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity) {
        return true;
    }
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    if (wanted > SIZE_MAX / 2) {
        return false;
    }
    wanted =
        need > 2 * wanted ? need : 2 * wanted; /* as much as is asked for, or twice as before */
    if (wanted > SIZE_MAX / size) {
        return false;
    }
    void *grown = ks_realloc(*array, wanted * size);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

static const char ORIGIN[] = "alloc";

void ks_note_enomem(ks_error *err)
{
    ks_fail(err, KS_ENOMEM, ORIGIN, 0, "out of memory");
}

bool ks_is_enomem(const ks_error *err)
{
    return err->code == KS_ENOMEM && strcmp(err->origin, ORIGIN) == 0;
}
