/* The first failure of something that has nobody to return it to. */
#ifndef KS_BASE_FAULT_H
#define KS_BASE_FAULT_H

#include <pthread.h>

#include "kernsight/status.h"

typedef struct ks_fault {
    pthread_mutex_t lock;
    ks_error first;
} ks_fault;

// clang-format off
#define KS_FAULT_INIT {PTHREAD_MUTEX_INITIALIZER, KS_ERROR_INIT}
// clang-format on

void ks_fault_init(ks_fault *fault);

/** Keep a failure, if it is the first. Safe from any thread. */
void ks_fault_note(ks_fault *fault, const ks_error *failure);

/** Take the failure out. @return KS_OK if there is none */
ks_status ks_fault_take(ks_fault *fault, ks_error *err);

#endif
