/* The state of a run, shared by loop.c, config.c and measure.c. */
#ifndef KS_RUN_STATE_H
#define KS_RUN_STATE_H

#include "plan/call.h"
#include "run/info.h"
#include "run/loop.h"
#include "run/stopping.h"

typedef struct ks_run_state {
    const ks_run_spec *spec;
    uint32_t passes;
    ks_samples samples;
    ks_infos infos;
    ks_fault fault;     /* of the present call */
    const char **paths; /* of annotations, by id */
    size_t path_count;
    size_t path_capacity;
    bool body_failed;   /* which ended the sweep: the calls before it are as good as ever */
    uint32_t first_run; /* of the present batch, in its config */
    uint32_t batch_end; /* the run behind its last */
    size_t position;    /* of the present config in the sequence */
    size_t finished;    /* configs */
    uint64_t calls;
    uint64_t calls_done;
    uint64_t started_ns;
    uint64_t unannotated; /* launches */
    double waited_s;      /* for a GPU to cool down */
    double batch_waited_s;
    ks_wait_state waiting; /* at KS_PHASE_WAIT */
} ks_run_state;

/* loop.c */
void ks_tell_progress(const ks_run_state *s, ks_phase phase, const ks_call *call);
ks_status ks_check_cancelled(const ks_run_state *s, ks_error *err);
/* Put "config 3 of 5 (n=64)" before a failure's message. */
void ks_name_config(const ks_run_state *s, const ks_call *call, ks_error *err);

/* config.c: some runs of a config, all passes of them, from s->first_run on. `*runs` becomes how
 * many of them can be handed over: 0, or fewer than asked for, after a failure. */
ks_status ks_measure_batch(ks_run_state *s, size_t config, uint32_t *runs, ks_error *err);
ks_status ks_warm_up(ks_run_state *s, size_t config, ks_error *err);

/* measure.c */
/* The call's run in the batch: that of the samples and the ledger. */
uint32_t ks_batch_run(const ks_run_state *s, const ks_call *call);
bool ks_member_active(const ks_member *member, uint32_t pass);
void ks_gather_hooks(ks_run_state *s, uint32_t pass, ks_hooks *hooks);
ks_status ks_warmup_call(ks_run_state *s, const ks_call *call, ks_error *err);
ks_status ks_measured_call(ks_run_state *s, const ks_call *call, const ks_hooks *hooks,
                           ks_error *err);

#endif
