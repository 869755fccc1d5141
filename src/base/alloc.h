/* Memory: the one place that allocates, so that ks_set_allocator() reaches everything. */
#ifndef KS_BASE_ALLOC_H
#define KS_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "kernsight/status.h"

/** NULL on failure; size 0 gives a block too. */
void *ks_alloc(size_t size);
/** Zeroed; NULL on failure or overflow. */
void *ks_calloc(size_t count, size_t size);
void *ks_realloc(void *ptr, size_t size);
void ks_free(void *ptr);
char *ks_strdup(const char *text);

/**
 * Make room for `need` elements of `size` bytes in an array that grows by doubling. On failure the
 * array is as it was.
 */
bool ks_grow(void **array, size_t *capacity, size_t need, size_t size);

/** ks_grow() for a typed array pointer; stores KS_ENOMEM. */
#define KS_GROW(array, capacity, need, err) \
    (ks_grow((void **)&(array), &(capacity), (need), sizeof *(array)) ? KS_OK : ks_enomem(err))

void ks_note_enomem(ks_error *err);

/** Store that there is no memory. Inline, so that analysers see that it never returns KS_OK. */
static inline ks_status ks_enomem(ks_error *err)
{
    ks_note_enomem(err);
    return KS_ENOMEM;
}

/** Whether a failure is ks_enomem()'s: this library found no memory, not the user's code. */
bool ks_is_enomem(const ks_error *err);

#endif
