#include "base/fault.h"

void ks_fault_init(ks_fault *fault)
{
    pthread_mutex_init(&fault->lock, NULL);
    ks_error_clear(&fault->first);
}

void ks_fault_note(ks_fault *fault, const ks_error *failure)
{
    pthread_mutex_lock(&fault->lock);
    if (fault->first.code == KS_OK) {
        fault->first = *failure;
    }
    pthread_mutex_unlock(&fault->lock);
}

ks_status ks_fault_take(ks_fault *fault, ks_error *err)
{
    pthread_mutex_lock(&fault->lock);
    ks_error first = fault->first;
    ks_error_clear(&fault->first);
    pthread_mutex_unlock(&fault->lock);
    if (first.code == KS_OK) {
        return KS_OK;
    }
    return ks_fail(err, first.code, first.origin, first.native, "%s", first.message);
}
