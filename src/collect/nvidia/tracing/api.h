/* What kernel tracing asks of CUPTI and the driver, behind a table that tests replace. */
#ifndef KS_COLLECT_NVIDIA_TRACING_API_H
#define KS_COLLECT_NVIDIA_TRACING_API_H

#include <stdbool.h>

#include "collect/nvidia/abi_activity.h"
#include "kernsight/status.h"
#include "samples/samples.h"

typedef struct ks_activity_api {
    /** Why nothing can be traced on this machine, as far as a look at it tells: nothing is loaded.
     * NULL: perhaps it can. Static text. */
    const char *(*absent)(void);
    /** Load the libraries and fill in the vendor's functions. Again and again is fine. */
    ks_status (*connect)(struct ks_activity_api *self, ks_error *err);
    /** The GPU of the calling thread's context, or the first one. */
    ks_status (*card)(ks_card *out, ks_error *err);
    /** Whether another part of the process listens to CUPTI's callbacks. */
    bool (*others_listen)(void);
    /** Wait until the work of the calling thread's context is done. It makes a call of the driver
     * even where there is no context. @return 0, or the driver's result */
    ks_cuda_result (*synchronize)(void);
    /** Fail with what synchronize() gave, where the device goes on no more. @return KS_EVENDOR */
    ks_status (*device_fail)(ks_cuda_result result, ks_error *err);
    /** Name of a result of CUPTI's. Static text. */
    const char *(*result_name)(ks_cupti_result result);
    /** A steady clock, in ns. */
    uint64_t (*now_ns)(void);
#define KS_ACTIVITY_MEMBER(member, arguments, name) ks_cupti_result(*member) arguments;
    KS_ACTIVITY_FUNCTIONS(KS_ACTIVITY_MEMBER)
    KS_ACTIVITY_NEW_FUNCTIONS(KS_ACTIVITY_MEMBER)
#undef KS_ACTIVITY_MEMBER
} ks_activity_api;

/** The table in use. */
ks_activity_api *ks_activity_system(void);

/** Use another one from now on; NULL: the real one. For tests, while nothing runs. */
void ks_activity_use(ks_activity_api *api);

#endif
