/* One call of the body: everything that happens around it. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "run/state.h"

bool ks_member_active(const ks_member *member, uint32_t pass)
{
    return pass >= member->first_pass && pass - member->first_pass < member->needs.passes;
}

uint32_t ks_batch_run(const ks_run_state *s, const ks_call *call)
{
    return call->run - s->first_run;
}

static ks_run_ctx run_ctx(const ks_run_state *s, const ks_member *member, const ks_call *call)
{
    return (ks_run_ctx){.run = ks_batch_run(s, call), .pass = call->pass - member->first_pass};
}

void ks_gather_hooks(ks_run_state *s, uint32_t pass, ks_hooks *hooks)
{
    memset(hooks, 0, sizeof *hooks);
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (ks_member_active(m, pass)) {
            hooks->list[hooks->count++] = (ks_hook){m->ops->begin, m->ops->end, m->ops->child,
                                                    m->ops->thread_end, m->collector};
            hooks->hold_child |= m->needs.holds_child;
        }
    }
    if (pass == 0 && s->infos.wanted[KS_SCOPE_ANNOTATION]) {
        hooks->enter = ks_infos_enter;
        hooks->enter_self = &s->infos;
    }
}

static ks_status update_annotations(ks_run_state *s, ks_error *err)
{
    uint32_t count = ks_session_annotation_count();
    KS_TRY(KS_GROW(s->paths, s->path_capacity, count, err));
    for (; s->path_count < count; s->path_count++) {
        s->paths[s->path_count] = ks_session_annotation((uint32_t)s->path_count)->path;
    }
    return KS_OK;
}

/* A visit of the first pass, for its annotation and those around it. */
static void count_visit(const ks_samples *samples, const ks_visit *visit, uint32_t run)
{
    ks_samples_presence(samples, visit->annotation->id, run)->visits++;
    for (const ks_visit *around = visit->parent; around != NULL; around = around->parent) {
        ks_samples_presence(samples, around->annotation->id, run)->inside++;
    }
}

/* Note how often each annotation was entered, and whose work failed. A call that entered none has
 * failed. */
static ks_status note_visits(ks_run_state *s, const ks_call *call, ks_error *failure, ks_error *err)
{
    size_t visits = 0;
    uint32_t run = ks_batch_run(s, call);
    ks_visits walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL;) {
        KS_TRY(ks_samples_enter(&s->samples, v->annotation->id, err));
    }
    walk = ks_session_visits();
    for (ks_visit *v; (v = ks_next_visit(&walk)) != NULL; visits++) {
        ks_presence *presence = ks_samples_presence(&s->samples, v->annotation->id, run);
        if (call->pass == 0) {
            count_visit(&s->samples, v, run);
        }
        if (v->failure != NULL && presence->failure == 0) {
            KS_TRY(ks_pool_add(&s->samples.texts, v->failure, &presence->failure, err));
        }
    }
    if (visits == 0) {
        ks_fail(
            failure, KS_ESTATE, "run", 0,
            "the body entered no annotation: put KS_ANNOTATE(\"name\") { ... } around the work to "
            "measure, or let the body fail for configs that cannot run");
    }
    return KS_OK;
}

/* The members that take part in this pass end the run, or abort it: after the first that cannot end
 * it the others do so too. */
static ks_status end_run(ks_run_state *s, const ks_call *call, bool failed, ks_error *err)
{
    ks_status status = KS_OK;
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (!ks_member_active(m, call->pass)) {
            continue;
        }
        ks_run_ctx ctx = run_ctx(s, m, call);
        if (failed || status != KS_OK) {
            m->ops->abort(m->collector, &ctx);
        } else {
            status = m->ops->run_end(m->collector, &ctx, &s->samples, err);
        }
    }
    return status;
}

/* Where a member cannot begin, those that have begun before it abort. */
static ks_status begin_run(ks_run_state *s, const ks_call *call, ks_error *err)
{
    ks_status status = KS_OK;
    size_t begun = 0;
    for (; begun < s->spec->member_count && status == KS_OK; begun++) {
        const ks_member *m = &s->spec->members[begun];
        if (ks_member_active(m, call->pass)) {
            ks_run_ctx ctx = run_ctx(s, m, call);
            status = m->ops->run_begin(m->collector, &ctx, err);
        }
    }
    for (size_t i = 0; status != KS_OK && i + 1 < begun; i++) {
        const ks_member *m = &s->spec->members[i];
        if (ks_member_active(m, call->pass)) {
            ks_run_ctx ctx = run_ctx(s, m, call);
            m->ops->abort(m->collector, &ctx);
        }
    }
    return status;
}

static ks_status fail_run(ks_run_state *s, const ks_call *call, const char *why, ks_error *err)
{
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (ks_member_active(m, call->pass)) {
            KS_TRY(ks_samples_fail_run(&s->samples, ks_batch_run(s, call), m->numbers,
                                       m->metric_count, why, err));
        }
    }
    return KS_OK;
}

/* What the call did, before the members say what they measured of it. */
static ks_status note_call(ks_run_state *s, const ks_call *call, ks_error *failure, ks_error *err)
{
    if (s->spec->ledger->lost > 0) {
        return ks_enomem(err);
    }
    KS_TRY(update_annotations(s, err));
    KS_TRY(ks_infos_end_call(&s->infos, err));
    return note_visits(s, call, failure, err);
}

static ks_status pass_on(const ks_error *from, ks_error *err)
{
    return ks_fail(err, from->code, from->origin, from->native, "%s", from->message);
}

/* After the body: `failure` holds what it said, if it failed; `stopped` what a member did that was
 * asked whether that was enough. */
static ks_status settle(ks_run_state *s, const ks_call *call, ks_error *failure,
                        const ks_error *stopped, ks_error *err)
{
    ks_status noted =
        stopped->code == KS_OK ? note_call(s, call, failure, err) : pass_on(stopped, err);
    bool failed = failure->code != KS_OK;
    ks_status ended = end_run(s, call, failed || noted != KS_OK, err);
    KS_TRY(noted);
    KS_TRY(ended);
    if (!failed) {
        return KS_OK;
    }
    KS_TRY(ks_check_cancelled(s, err));
    if (!s->spec->plan->tolerant || ks_is_enomem(failure)) {
        s->body_failed = true;
        ks_error_prefix(failure, "run %u", call->run + 1);
        ks_name_config(s, call, failure);
        return pass_on(failure, err);
    }
    return fail_run(s, call, failure->message, err);
}

/* Whom a wait is told. */
typedef struct waiter {
    ks_run_state *s;
    const ks_call *call;
} waiter;

static void tell_wait(void *self, const ks_wait_state *now)
{
    const waiter *w = self;
    w->s->waiting = *now;
    ks_tell_progress(w->s, KS_PHASE_WAIT, w->call);
}

/* What the plan wants of a GPU before a call. */
static ks_status prepare_gpu(ks_run_state *s, const ks_call *call, ks_error *err)
{
    waiter to = {s, call};
    const ks_wait_teller teller = {&to, tell_wait};
    double waited = 0.0;
    ks_status status = ks_control_before(s->spec->control, call->warmup, &teller, &waited, err);
    s->waited_s += waited;
    s->batch_waited_s += waited;
    return status;
}

/* Call the body with the gate open. @param[out] failure  what it said, if it failed
 * @return whether this is still the process that called it */
static bool call_body(ks_run_state *s, const ks_call *call, const ks_hooks *hooks,
                      ks_error *failure)
{
    ks_session_begin_call(hooks);
    ks_status status = s->spec->body(call, s->spec->user, failure);
    if (status != KS_OK && failure->code == KS_OK) {
        ks_fail(failure, status, "body", 0, "the body failed: %s", ks_status_text(status));
    }
    if (status == KS_OK) {
        ks_error_clear(failure); /* a failure that the body dealt with */
    }
    bool forked = ks_session_in_child();
    ks_session_end_call(failure);
    ks_fault_take(&s->fault, failure);
    return !forked;
}

/* Whether a member of this pass needs the body once more for the same run. */
static ks_status ask_again(const ks_run_state *s, const ks_call *call, bool *again, ks_error *err)
{
    *again = false;
    for (size_t i = 0; i < s->spec->member_count && !*again; i++) {
        const ks_member *m = &s->spec->members[i];
        if (ks_member_active(m, call->pass) && m->ops->again != NULL) {
            KS_TRY(m->ops->again(m->collector, again, err));
        }
    }
    *again = *again && !atomic_load(&s->spec->plan->cancelled);
    return KS_OK;
}

/* The calls of the body that make a run: one, unless a member asks for more. */
static bool call_until_enough(ks_run_state *s, const ks_call *call, const ks_hooks *hooks,
                              ks_error *failure, ks_error *err)
{
    ks_hooks once_more = *hooks;
    bool again = false;
    bool here = call_body(s, call, hooks, failure);
    once_more.enter = NULL; /* info collectors were asked */
    while (here && failure->code == KS_OK && ask_again(s, call, &again, err) == KS_OK && again) {
        ks_session_forget_call();
        here = call_body(s, call, &once_more, failure);
    }
    return here;
}

ks_status ks_measured_call(ks_run_state *s, const ks_call *call, const ks_hooks *hooks,
                           ks_error *err)
{
    ks_tell_progress(s, KS_PHASE_RUN, call);
    KS_TRY(ks_check_cancelled(s, err));
    KS_TRY(prepare_gpu(s, call, err));
    if (call->pass == 0) {
        ks_infos_collect(&s->infos, KS_SCOPE_RUN, call);
    }
    ks_infos_start_call(&s->infos, call);
    ks_ledger_call(s->spec->ledger, ks_batch_run(s, call), call->pass);
    KS_TRY(begin_run(s, call, err));
    ks_error failure = KS_ERROR_INIT;
    ks_error stopped = KS_ERROR_INIT;
    bool here = call_until_enough(s, call, hooks, &failure, &stopped);
    ks_control_after(s->spec->control);
    s->calls_done++;
    ks_status status = here ? settle(s, call, &failure, &stopped, err) : pass_on(&failure, err);
    ks_session_forget_call();
    return status;
}

/* Tell every member that a warm-up call begins. @param[out] told  how many were */
static ks_status begin_warm_up(ks_run_state *s, bool first, size_t *told, ks_error *err)
{
    for (*told = 0; *told < s->spec->member_count; (*told)++) {
        const ks_member *m = &s->spec->members[*told];
        KS_TRY(m->ops->warm_begin(m->collector, first, err));
    }
    return KS_OK;
}

/* ... and those that were told, that it has ended. */
static ks_status end_warm_up(ks_run_state *s, size_t told, ks_error *err)
{
    ks_status status = KS_OK;
    for (size_t i = 0; i < told; i++) {
        const ks_member *m = &s->spec->members[i];
        ks_status ended = m->ops->warm_end(m->collector, status == KS_OK ? err : NULL);
        status = status != KS_OK ? status : ended;
    }
    return status;
}

ks_status ks_warmup_call(ks_run_state *s, const ks_call *call, ks_error *err)
{
    ks_tell_progress(s, KS_PHASE_WARMUP, call);
    KS_TRY(ks_check_cancelled(s, err));
    KS_TRY(prepare_gpu(s, call, err));
    ks_error failure = KS_ERROR_INIT;
    size_t told = 0;
    ks_status begun = begin_warm_up(s, call->run == 0, &told, err);
    ks_status status = begun == KS_OK ? s->spec->body(call, s->spec->user, &failure) : KS_OK;
    s->calls_done++;
    ks_status ended = end_warm_up(s, told, begun == KS_OK ? err : NULL);
    KS_TRY(begun);
    KS_TRY(ended);
    if (status != KS_OK && failure.code == KS_OK) {
        ks_fail(&failure, status, "body", 0, "the body failed: %s", ks_status_text(status));
    }
    if (status == KS_OK) {
        ks_error_clear(&failure);
    }
    ks_fault_take(&s->fault, &failure);
    KS_TRY(ks_check_cancelled(s, err));
    if (failure.code == KS_OK || s->spec->plan->tolerant) {
        return KS_OK; /* the measured calls will tell */
    }
    ks_error_prefix(&failure, "warm-up call %u", call->run + 1);
    ks_name_config(s, call, &failure);
    return ks_fail(err, failure.code, failure.origin, failure.native, "%s", failure.message);
}
