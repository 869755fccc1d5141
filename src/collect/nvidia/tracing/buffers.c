#include "collect/nvidia/tracing/buffers.h"

#include <pthread.h>

#include "base/alloc.h"

/* Taken for a few instructions; allocating is done without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_buffer *unused;
static ks_buffer *lent; /* to CUPTI */
static ks_buffer *filled;
static ks_buffer **filled_end = &filled;
static bool starved;

static ks_buffer *pop(ks_buffer **list)
{
    ks_buffer *first = *list;
    if (first != NULL) {
        *list = first->next;
    }
    return first;
}

void ks_buffers_request(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    pthread_mutex_lock(&lock);
    ks_buffer *b = pop(&unused);
    pthread_mutex_unlock(&lock);
    if (b == NULL) {
        b = ks_alloc(sizeof *b + KS_BUFFER_BYTES);
    }
    pthread_mutex_lock(&lock);
    if (b != NULL) {
        b->next = lent;
        lent = b;
    } else {
        starved = true;
    }
    pthread_mutex_unlock(&lock);
    *buffer = b != NULL ? b->bytes : NULL;
    *bytes = b != NULL ? KS_BUFFER_BYTES : 0;
    *most_records = 0;
}

void ks_buffers_complete(ks_cuda_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                         size_t used)
{
    (void)context;
    (void)stream;
    (void)bytes;
    pthread_mutex_lock(&lock);
    ks_buffer **at = &lent;
    while (*at != NULL && (*at)->bytes != buffer) {
        at = &(*at)->next;
    }
    ks_buffer *b = pop(at);
    if (b != NULL) {
        b->used = used;
        b->next = NULL;
        *filled_end = b;
        filled_end = &b->next;
    }
    pthread_mutex_unlock(&lock);
}

ks_buffer *ks_buffers_take(void)
{
    pthread_mutex_lock(&lock);
    ks_buffer *list = filled;
    filled = NULL;
    filled_end = &filled;
    pthread_mutex_unlock(&lock);
    return list;
}

void ks_buffers_give_back(ks_buffer *list)
{
    pthread_mutex_lock(&lock);
    for (ks_buffer *b; (b = pop(&list)) != NULL;) {
        b->next = unused;
        unused = b;
    }
    pthread_mutex_unlock(&lock);
}

bool ks_buffers_starved(void)
{
    pthread_mutex_lock(&lock);
    bool was = starved;
    starved = false;
    pthread_mutex_unlock(&lock);
    return was;
}

void ks_buffers_release(void)
{
    ks_buffers_give_back(ks_buffers_take());
    pthread_mutex_lock(&lock);
    ks_buffer *list = unused;
    unused = NULL;
    pthread_mutex_unlock(&lock);
    for (ks_buffer *b; (b = pop(&list)) != NULL;) {
        ks_free(b);
    }
}
