#include "run/loop.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "run/state.h"

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void ks_tell_progress(const ks_run_state *s, ks_phase phase, const ks_call *call)
{
    const ks_plan *plan = s->spec->plan;
    if (plan->progress == NULL) {
        return;
    }
    ks_fault fault = KS_FAULT_INIT;
    ks_call own = {0}; /* what the callback asks in vain is not the body's mistake */
    if (call != NULL) {
        own = *call;
        own.fault = &fault;
    }
    double elapsed = (double)(ks_now_ns() - s->started_ns) / 1e9;
    double left = (double)(s->calls - s->calls_done);
    double worked = elapsed - s->waited_s;
    bool guess = s->calls_done > 0 && !plan->auto_runs;
    bool waits = phase == KS_PHASE_WAIT;
    ks_progress progress = {
        .phase = phase,
        .config = s->position,
        .configs = s->spec->configs,
        .run = call != NULL ? call->run : 0,
        .runs = call != NULL && call->warmup ? s->spec->warmup : larger(plan->runs, s->batch_end),
        .most_runs = plan->auto_runs ? plan->until.max_runs : plan->runs,
        .pass = call != NULL ? call->pass : 0,
        .passes = s->passes,
        .calls_done = s->calls_done,
        .calls = s->calls,
        .elapsed_s = elapsed,
        .remaining_s = guess ? worked / (double)s->calls_done * left : NAN,
        .call = call != NULL ? &own : NULL,
        .waited_s = s->waited_s + (waits ? s->waiting.waited_s : 0.0),
        .margin_c = waits ? s->waiting.margin_c : NAN,
        .wanted_c = waits ? s->waiting.wanted_c : NAN,
    };
    plan->progress(&progress, plan->progress_user);
}

ks_status ks_check_cancelled(const ks_run_state *s, ks_error *err)
{
    if (!atomic_load(&s->spec->plan->cancelled)) {
        return KS_OK;
    }
    return ks_fail(err, KS_ECANCELED, "run", 0, "cancelled after %zu of %zu configs", s->finished,
                   s->spec->configs);
}

/* "config 3 of 5 (n=64)" before a failure's message. */
void ks_name_config(const ks_run_state *s, const ks_call *call, ks_error *err)
{
    char values[160];
    ks_call_describe(call, values, sizeof values);
    const char *open = values[0] != '\0' ? " (" : "";
    const char *close = values[0] != '\0' ? ")" : "";
    ks_error_prefix(err, "config %zu of %zu%s%s%s", call->config + 1, s->spec->configs, open,
                    values, close);
}

/* NaN where no GPU's heat is watched. */
static double waited(const ks_run_state *s, double seconds)
{
    return ks_control_guards(s->spec->control) ? seconds : NAN;
}

static ks_status hand_over(ks_run_state *s, size_t config, const ks_stopping *state, ks_error *err)
{
    const ks_batch batch = {.config = (uint32_t)config,
                            .first_run = s->first_run,
                            .stop = state->stop,
                            .succeeded = !state->failed,
                            .samples = &s->samples,
                            .ledger = s->spec->ledger,
                            .once = &s->infos.once,
                            .infos = &s->infos.values,
                            .paths = s->paths,
                            .waited_s = waited(s, s->batch_waited_s)};
    for (size_t i = 0; i < s->spec->sink_count; i++) {
        KS_TRY(s->spec->sinks[i].batch_done(s->spec->sinks[i].self, &batch, err));
    }
    s->finished += state->stop != KS_STOP_NOT_YET;
    return KS_OK;
}

/* Calls that the next runs of a config need beyond those that were counted from the start. */
static uint64_t count_more(const ks_run_state *s, uint32_t done, uint32_t next)
{
    uint32_t counted = larger(s->spec->plan->runs, done);
    return done + next > counted ? (uint64_t)(done + next - counted) * s->passes : 0;
}

/* The next runs of a config; `state->stop` tells whether they were its last. Runs that were
 * complete when the sweep was cancelled are handed over too. */
static ks_status measure_more(ks_run_state *s, size_t config, ks_stopping *state, ks_error *err)
{
    const ks_plan *plan = s->spec->plan;
    s->first_run = state->runs;
    s->batch_waited_s = 0.0;
    uint32_t runs = ks_stopping_batch(state, plan);
    s->batch_end = state->runs + runs;
    s->calls += count_more(s, state->runs, runs);
    if (state->runs == 0) {
        KS_TRY(ks_warm_up(s, config, err));
    }
    uint64_t started = ks_now_ns();
    uint32_t wanted = runs;
    ks_status status = ks_measure_batch(s, config, &runs, err);
    s->calls -= count_more(s, state->runs, wanted) - count_more(s, state->runs, runs);
    double spent = (double)(ks_now_ns() - started) / 1e9;
    if (runs > 0) {
        KS_TRY(ks_stopping_add(state, plan, &s->samples, spent, err));
        state->stop = status == KS_OK ? ks_stopping_judge(state, plan) : KS_STOP_NOT_YET;
        if (state->stop != KS_STOP_NOT_YET && state->runs < plan->runs) {
            s->calls -= (uint64_t)(plan->runs - state->runs) * s->passes; /* the budget is spent */
        }
        KS_TRY(hand_over(s, config, state, err));
    }
    return status;
}

/* Config by config, each until it has all its runs. */
static ks_status run_in_sequence(ks_run_state *s, ks_error *err)
{
    for (; s->position < s->spec->configs; s->position++) {
        ks_stopping state = {0};
        ks_status status = KS_OK;
        while (status == KS_OK && state.stop == KS_STOP_NOT_YET) {
            status = measure_more(s, s->spec->sequence[s->position], &state, err);
        }
        ks_stopping_fini(&state);
        KS_TRY(status);
    }
    return KS_OK;
}

/* Round by round: a run of each config that has not had all its runs. */
static ks_status run_interleaved(ks_run_state *s, ks_error *err)
{
    size_t configs = s->spec->configs;
    ks_stopping *states = ks_calloc(configs, sizeof *states);
    ks_status status = states != NULL ? KS_OK : ks_enomem(err);
    while (status == KS_OK && s->finished < configs) {
        for (s->position = 0; status == KS_OK && s->position < configs; s->position++) {
            ks_stopping *state = &states[s->position];
            if (state->stop == KS_STOP_NOT_YET) {
                status = measure_more(s, s->spec->sequence[s->position], state, err);
            }
        }
    }
    for (size_t i = 0; states != NULL && i < configs; i++) {
        ks_stopping_fini(&states[i]);
    }
    ks_free(states);
    return status;
}

static ks_status run_configs(ks_run_state *s, ks_error *err)
{
    ks_tell_progress(s, KS_PHASE_START, NULL);
    KS_TRY(ks_check_cancelled(s, err));
    ks_infos_collect(&s->infos, KS_SCOPE_ONCE, NULL);
    return s->spec->plan->order == KS_ORDER_INTERLEAVED ? run_interleaved(s, err)
                                                        : run_in_sequence(s, err);
}

/* What the collectors have to say of the whole, beside what info collectors had. */
static ks_status gather_warnings(ks_run_state *s, ks_error *err)
{
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (m->ops->warn != NULL) {
            KS_TRY(m->ops->warn(m->collector, &s->infos.warnings, err));
        }
    }
    return ks_control_warn(s->spec->control, &s->infos.warnings, err);
}

static ks_status tell_end(ks_run_state *s, ks_error *err)
{
    char unannotated[128];
    const char *warnings[64];
    ks_run_notes notes = {.complete = s->finished == s->spec->configs,
                          .warnings = warnings,
                          .waited_s = waited(s, s->waited_s)};
    if (s->unannotated > 0) {
        snprintf(unannotated, sizeof unannotated,
                 "%llu launches were made outside any annotation and are in no row",
                 (unsigned long long)s->unannotated);
        warnings[notes.warning_count++] = unannotated;
    }
    ks_status gathered = gather_warnings(s, err);
    size_t room = sizeof warnings / sizeof warnings[0];
    for (ks_text_id id = 1; id <= s->infos.warnings.count && notes.warning_count < room; id++) {
        warnings[notes.warning_count++] = ks_pool_text(&s->infos.warnings, id);
    }
    ks_status status = gathered;
    for (size_t i = 0; i < s->spec->sink_count; i++) {
        ks_status finished = s->spec->sinks[i].finish(s->spec->sinks[i].self, &notes, err);
        status = status != KS_OK ? status : finished;
    }
    return status;
}

ks_status ks_run_loop(const ks_run_spec *spec, uint32_t passes, ks_error *err)
{
    ks_run_state s = {.spec = spec, .passes = passes, .started_ns = ks_now_ns()};
    uint64_t per_config = spec->warmup + (uint64_t)spec->plan->runs * passes;
    s.calls = per_config * spec->configs;
    ks_fault_init(&s.fault);
    ks_samples_init(&s.samples, spec->metrics, spec->metric_count);
    s.samples.combine = spec->plan->combine;
    s.samples.combine_fn = spec->plan->combine_fn;
    s.samples.combine_user = spec->plan->combine_user;
    ks_status status = ks_infos_init(&s.infos, spec->plan, err);
    if (status == KS_OK) {
        status = run_configs(&s, err);
        ks_tell_progress(&s, KS_PHASE_END, NULL);
    }
    ks_status ended = tell_end(&s, err);
    ks_samples_fini(&s.samples);
    ks_infos_fini(&s.infos);
    ks_free(s.paths);
    return status != KS_OK ? status : ended;
}
