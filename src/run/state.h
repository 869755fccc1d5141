/* The state of a run, shared by loop.c, config.c and measure.c. */
#ifndef KS_RUN_STATE_H
#define KS_RUN_STATE_H

#include "plan/call.h"
#include "run/info.h"
#include "run/loop.h"

typedef struct ks_run_state {
    const ks_run_spec *spec;
    uint32_t passes;
    ks_samples samples;
    ks_infos infos;
    ks_fault fault;     /* of the present call */
    const char **paths; /* of annotations, by id */
    size_t path_count;
    size_t path_capacity;
    size_t finished; /* configs */
    uint64_t calls;
    uint64_t calls_done;
    uint64_t started_ns;
    uint64_t unannotated; /* launches */
} ks_run_state;

/* loop.c */
void ks_tell_progress(const ks_run_state *s, ks_phase phase, const ks_call *call);
ks_status ks_check_cancelled(const ks_run_state *s, ks_error *err);
/* Put "config 3 of 5 (n=64)" before a failure's message. */
void ks_name_config(const ks_run_state *s, const ks_call *call, ks_error *err);

/* config.c: all calls of a config, until its samples are complete or it has failed. */
ks_status ks_measure_config(ks_run_state *s, size_t config, ks_error *err);

/* measure.c */
bool ks_member_active(const ks_member *member, uint32_t pass);
void ks_gather_hooks(ks_run_state *s, uint32_t pass, ks_hooks *hooks);
ks_status ks_warmup_call(ks_run_state *s, const ks_call *call, ks_error *err);
ks_status ks_measured_call(ks_run_state *s, const ks_call *call, const ks_hooks *hooks,
                           ks_error *err);

#endif
