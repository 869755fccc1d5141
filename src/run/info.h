/* Calls info collectors when their scope comes, and keeps what they give. */
#ifndef KS_RUN_INFO_H
#define KS_RUN_INFO_H

#include <pthread.h>

#include "base/pool.h"
#include "plan/plan.h"
#include "samples/info.h"

typedef struct ks_infos {
    const ks_plan *plan;
    const ks_call *call;  /* the present one, for annotations entered in it */
    pthread_mutex_t lock; /* annotations are entered on any thread */
    ks_info_values once;
    ks_info_values values; /* of the present batch */
    size_t call_start;     /* values of the present call start here */
    uint32_t entries;      /* annotations entered in the present call */
    bool wanted[KS_SCOPE_ANNOTATION + 1];
    bool *warned; /* by collector */
    ks_pool warnings;
    bool out_of_memory;
} ks_infos;

ks_status ks_infos_init(ks_infos *infos, const ks_plan *plan, ks_error *err);
void ks_infos_fini(ks_infos *infos);

/** Forget the values of the last batch. */
void ks_infos_start_batch(ks_infos *infos);

/** Call the collectors of a scope: once, config or run. */
void ks_infos_collect(ks_infos *infos, ks_info_scope scope, const ks_call *call);

/** A measured call starts. */
void ks_infos_start_call(ks_infos *infos, const ks_call *call);

/** ks_hooks.enter: call the collectors of the scope annotation. @return number of this entry */
uint32_t ks_infos_enter(void *infos, const char *name);

/** Find out which annotations the entries of the call became. */
ks_status ks_infos_end_call(ks_infos *infos, ks_error *err);

#endif
