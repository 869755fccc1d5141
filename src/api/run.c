/* ks_run(): check, choose metrics, open collectors, run, hand over the results. */
#include "api/run.h"

#include <string.h>
#include <sys/random.h>

#include "api/catalogue.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernsight/kernsight.h"
#include "results/results.h"
#include "run/environment.h"
#include "run/loop.h"
#include "run/program.h"

const char *ks_version(void)
{
    return KS_VERSION;
}

/* Everything that one run needs, so that it can be taken down from any point. */
typedef struct setup {
    ks_plan *plan;
    ks_target target;
    size_t configs;
    uint32_t warmup;
    uint64_t seed;
    uint32_t *sequence;
    ks_catalogue catalogue;
    ks_choice choice;
    ks_metric *metrics; /* in the order in which they were asked for; of two cache controls twice */
    size_t *entries;    /* by metric: of the catalogue */
    size_t metric_count;
    ks_metric **pointers; /* the same, collector by collector ... */
    uint32_t *numbers;    /* ... and their indices in `metrics` */
    ks_member members[KS_MEMBERS_MAX];
    size_t member_count;
    uint32_t slots;
    uint32_t passes;
    ks_ledger ledger;
    ks_controls controls;
    ks_controls warm; /* the same, for the second collector of two cache controls */
    ks_control *control;
    bool in_session;
    ks_results *results;
} setup;

static void tear_down(setup *s)
{
    for (size_t i = s->member_count; i-- > 0;) {
        s->members[i].ops->close(s->members[i].collector);
    }
    ks_control_close(s->control);
    if (s->in_session) {
        ks_session_close();
    }
    ks_ledger_fini(&s->ledger);
    ks_catalogue_fini(&s->catalogue);
    ks_free(s->choice.entries);
    ks_free(s->metrics);
    ks_free(s->entries);
    ks_free(s->pointers);
    ks_free(s->numbers);
    ks_free(s->sequence);
}

/* ---- before anything runs ---------------------------------------------------------------------
 */

static ks_status check_plan(setup *s, ks_body_fn body, void *user, ks_error *err)
{
    if (body == NULL) {
        return ks_fail(err, KS_EINVAL, "run", 0, "there is no body (NULL) to run");
    }
    s->target = body == ks_program_body ? KS_TARGET_PROGRAM : KS_TARGET_REGION;
    KS_TRY(ks_plan_check(s->plan, err));
    KS_TRY(ks_plan_count(s->plan, &s->configs, err));
    if (s->target == KS_TARGET_PROGRAM) {
        KS_TRY(ks_program_check(user, s->plan, err));
    }
    s->warmup = s->plan->warmup;
    if (!s->plan->warmup_set && s->target == KS_TARGET_PROGRAM) {
        s->warmup = 0;
    }
    s->controls = (ks_controls){.replay = s->plan->replay,
                                .cache = s->plan->cache,
                                .give_back = s->plan->give_back,
                                .drain_limit_s = s->plan->drain_limit_s,
                                .ignored = s->plan->ignored.texts,
                                .ignored_count = s->plan->ignored.count,
                                .cancelled = &s->plan->cancelled};
    s->warm = s->controls;
    if (s->plan->cache == KS_CACHE_BOTH) {
        s->controls.cache = KS_CACHE_FLUSH;
        s->warm.cache = KS_CACHE_NONE;
        s->controls.one_of_two = s->warm.one_of_two = true;
    }
    s->seed = s->plan->seed;
    while (s->seed == 0 && s->plan->order == KS_ORDER_SHUFFLED) {
        if (getrandom(&s->seed, sizeof s->seed, 0) != (ssize_t)sizeof s->seed) {
            s->seed = ks_now_ns();
        }
        s->seed &= (UINT64_C(1) << 53) - 1; /* a number that JSON readers keep whole */
    }
    return ks_plan_sequence(s->plan, s->configs, s->seed, &s->sequence, err);
}

/* Metrics in the order in which they were asked for. */
static ks_status make_metrics(setup *s, ks_error *err)
{
    size_t count = 2 * s->choice.count;
    s->entries = ks_calloc(count, sizeof *s->entries);
    s->metrics = ks_calloc(count, sizeof *s->metrics);
    s->pointers = ks_calloc(count, sizeof *s->pointers);
    s->numbers = ks_calloc(count, sizeof *s->numbers);
    if (s->entries == NULL || s->metrics == NULL || s->pointers == NULL || s->numbers == NULL) {
        return ks_enomem(err);
    }
    for (size_t i = 0; i < s->choice.count; i++) {
        const ks_metric_entry *entry = &s->catalogue.entries[s->choice.entries[i]].entry;
        bool twice = s->plan->cache == KS_CACHE_BOTH && entry->cached;
        for (int warm = 0; warm <= (twice ? 1 : 0); warm++) {
            s->entries[s->metric_count] = s->choice.entries[i];
            s->metrics[s->metric_count++] = (ks_metric){.name = entry->name, .warm = warm != 0};
        }
    }
    return KS_OK;
}

/* A derived metric may not be named like a measured one. */
static ks_status check_derived(const setup *s, ks_error *err)
{
    for (size_t i = 0; i < s->plan->derive_count; i++) {
        for (size_t m = 0; m < s->metric_count; m++) {
            if (strcmp(s->plan->derives[i].name, s->metrics[m].name) == 0) {
                return ks_fail(err, KS_EINVAL, "plan", 0,
                               "the derived metric '%s' has the name of a measured one; choose "
                               "another",
                               s->metrics[m].name);
            }
        }
    }
    return KS_OK;
}

static ks_status open_member(setup *s, const ks_collector_ops *ops, const ks_controls *controls,
                             size_t first, size_t count, ks_error *err)
{
    if (s->member_count == KS_MEMBERS_MAX) {
        return ks_fail(err, KS_ELIMIT, "run", 0, "more than %d collectors at once", KS_MEMBERS_MAX);
    }
    const ks_collect_spec spec = {.target = s->target,
                                  .metrics = s->pointers + first,
                                  .numbers = s->numbers + first,
                                  .count = (uint32_t)count,
                                  .ledger = &s->ledger,
                                  .controls = controls};
    ks_member *m = &s->members[s->member_count];
    *m = (ks_member){.ops = ops, .numbers = spec.numbers, .metric_count = spec.count};
    KS_TRY(ops->open(&spec, &m->collector, err));
    s->member_count++;
    m->needs = ops->needs(m->collector);
    m->first_slot = s->slots;
    s->slots += m->needs.slots;
    return KS_OK;
}

/* The metrics of a collector: those of the second cache control are another one's. */
static void take_metrics(setup *s, size_t collector, bool warm, size_t *done)
{
    for (size_t i = 0; i < s->metric_count; i++) {
        if (s->catalogue.entries[s->entries[i]].collector == collector &&
            s->metrics[i].warm == warm) {
            s->pointers[*done] = &s->metrics[i];
            s->numbers[(*done)++] = (uint32_t)i;
        }
    }
}

static ks_status open_collectors(setup *s, const ks_collector_ops *const *collectors, ks_error *err)
{
    KS_TRY(make_metrics(s, err));
    KS_TRY(check_derived(s, err));
    size_t done = 0;
    for (size_t c = 0; collectors[c] != NULL; c++) {
        for (int warm = 0; warm <= 1; warm++) {
            size_t first = done;
            take_metrics(s, c, warm != 0, &done);
            if (done > first) {
                KS_TRY(open_member(s, collectors[c], warm != 0 ? &s->warm : &s->controls, first,
                                   done - first, err));
            }
        }
    }
    s->passes = ks_schedule(s->members, s->member_count);
    return KS_OK;
}

/* What the plan wants of GPUs besides. Where it measures one their clocks are looked at. */
static ks_status open_control(setup *s, ks_error *err)
{
    bool gpu = false;
    for (size_t i = 0; i < s->metric_count; i++) {
        gpu = gpu || s->metrics[i].card != NULL;
    }
    bool locks = s->plan->clocks != KS_CLOCK_NONE;
    if (!gpu && !locks && s->plan->thermal.mode == KS_THERMAL_OFF) {
        return KS_OK;
    }
    const ks_control_spec spec = {
        .clocks = s->plan->clocks, .thermal = &s->plan->thermal, .cancelled = &s->plan->cancelled};
    KS_TRY(ks_control_open(&spec, &s->control, err));
    for (size_t i = 0; i < s->metric_count; i++) {
        if (s->metrics[i].card != NULL || locks) {
            s->metrics[i].clock = ks_control_clocks(s->control);
        }
    }
    return KS_OK;
}

/* ---- facts ------------------------------------------------------------------------------------
 */

static ks_status add_fact(void *table, const char *fact, ks_value value, const char *cure,
                          ks_error *err)
{
    (void)cure;
    return ks_table_add_fact(table, fact, value, err);
}

static const char *combine_text(const ks_plan *plan)
{
    return plan->combine_fn != NULL             ? "function"
           : plan->combine == KS_COMBINE_REFUSE ? "refuse"
                                                : "by kind";
}

static ks_status add_runs_facts(const ks_plan *plan, ks_table *t, ks_error *err)
{
    if (!plan->auto_runs) {
        return ks_table_add_fact(t, "plan.runs", ks_i64(plan->runs), err);
    }
    KS_TRY(ks_table_add_fact(t, "plan.runs", ks_text("auto"), err));
    KS_TRY(ks_table_add_fact(t, "plan.precision", ks_f64(plan->until.precision), err));
    KS_TRY(ks_table_add_fact(t, "plan.min_runs", ks_i64(plan->until.min_runs), err));
    KS_TRY(ks_table_add_fact(t, "plan.max_runs", ks_i64(plan->until.max_runs), err));
    if (plan->until.budget_s > 0.0) {
        KS_TRY(ks_table_add_fact(t, "plan.budget_s", ks_f64(plan->until.budget_s), err));
    }
    return KS_OK;
}

static ks_status add_control_facts(const setup *s, ks_table *t, ks_error *err)
{
    static const char *const modes[] = {"off", "auto", "manual"};
    const ks_thermal *thermal = &s->plan->thermal;
    if (s->plan->clocks != KS_CLOCK_NONE) {
        KS_TRY(ks_table_add_fact(t, "plan.clock_control", ks_text("base"), err));
    }
    if (s->plan->cache == KS_CACHE_BOTH) {
        KS_TRY(ks_table_add_fact(t, "plan.cache_control", ks_text("both"), err));
    }
    if (thermal->mode == KS_THERMAL_OFF) {
        return KS_OK;
    }
    KS_TRY(ks_table_add_fact(t, "plan.thermal", ks_text(modes[thermal->mode]), err));
    KS_TRY(ks_table_add_fact(t, "plan.thermal_wait", ks_i64(thermal->wait_c), err));
    KS_TRY(ks_table_add_fact(t, "plan.thermal_cont", ks_i64(thermal->cont_c), err));
    return ks_table_add_fact(t, "plan.thermal_timeout", ks_f64(thermal->timeout_s), err);
}

static ks_status add_plan_facts(const setup *s, ks_table *t, ks_error *err)
{
    const ks_plan *plan = s->plan;
    for (size_t i = 0; i < plan->param_count; i++) {
        KS_TRY(ks_table_add_fact(t, "plan.parameters[]", ks_text(plan->params[i].name), err));
    }
    for (size_t i = 0; i < s->metric_count; i++) {
        if (!s->metrics[i].warm) {
            KS_TRY(ks_table_add_fact(t, "plan.metrics[]", ks_text(s->metrics[i].name), err));
        }
    }
    static const char *const orders[] = {"given", "shuffled", "interleaved"};
    bool shuffled = plan->order == KS_ORDER_SHUFFLED;
    KS_TRY(ks_table_add_fact(t, "plan.configs", ks_i64((int64_t)s->configs), err));
    KS_TRY(add_runs_facts(plan, t, err));
    KS_TRY(ks_table_add_fact(t, "plan.warmup", ks_i64(s->warmup), err));
    KS_TRY(ks_table_add_fact(t, "plan.passes", ks_i64(s->passes), err));
    KS_TRY(ks_table_add_fact(t, "plan.order", ks_text(orders[plan->order]), err));
    if (shuffled) {
        KS_TRY(ks_table_add_fact(t, "plan.seed", ks_i64((int64_t)s->seed), err));
    }
    if (plan->normalize != NULL) {
        KS_TRY(ks_table_add_fact(t, "plan.normalize_against", ks_text(plan->normalize), err));
    }
    KS_TRY(add_control_facts(s, t, err));
    KS_TRY(ks_table_add_fact(t, "plan.combine", ks_text(combine_text(plan)), err));
    return ks_table_add_fact(t, "plan.tolerant", ks_bool(plan->tolerant), err);
}

/* A parameter that a program does not get changes nothing: its rows differ by noise alone. */
static ks_status warn_unused(const setup *s, const ks_program *program, ks_table *t, ks_error *err)
{
    for (size_t i = 0; i < s->plan->param_count; i++) {
        const char *param = s->plan->params[i].name;
        if (ks_program_uses(program, param)) {
            continue;
        }
        ks_buf text;
        ks_buf_init(&text, 1u << 16);
        ks_buf_addf(&text,
                    "the program does not use parameter %s: write {%s} where its value belongs, in "
                    "an argument, --env, --cwd or --prepare",
                    param, param);
        ks_status status = ks_buf_status(&text, err);
        if (status == KS_OK) {
            status = ks_table_add_fact(t, "warnings[]", ks_text(ks_buf_text(&text)), err);
        }
        ks_buf_fini(&text);
        KS_TRY(status);
    }
    return KS_OK;
}

static ks_status add_facts(const setup *s, const void *user, ks_error *err)
{
    ks_table *t = s->results->table;
    const ks_fact_sink sink = {t, add_fact};
    char now[KS_UTC_MAX];
    ks_utc_now(now);
    KS_TRY(add_plan_facts(s, t, err));
    KS_TRY(ks_table_add_fact(t, "kernsight", ks_text(KS_VERSION), err));
    KS_TRY(ks_table_add_fact(t, "start", ks_text(now), err));
    KS_TRY(ks_environment(&sink, err));
    for (size_t i = 0; i < s->member_count; i++) {
        if (i > 0 && s->members[i].ops == s->members[i - 1].ops) {
            continue; /* the same again, for the other cache control */
        }
        KS_TRY(s->members[i].ops->facts(s->members[i].collector, &sink, err));
    }
    for (size_t i = 0; i < s->plan->fact_count; i++) {
        KS_TRY(ks_table_add_fact(t, s->plan->facts[i].key, ks_text(s->plan->facts[i].text), err));
    }
    return s->target == KS_TARGET_PROGRAM ? warn_unused(s, user, t, err) : KS_OK;
}

/* ---- the run ----------------------------------------------------------------------------------
 */

static ks_status set_up(setup *s, const ks_collector_ops *const *collectors, ks_body_fn body,
                        void *user, ks_error *err)
{
    KS_TRY(check_plan(s, body, user, err));
    KS_TRY(ks_catalogue_init(&s->catalogue, collectors, err));
    KS_TRY(ks_catalogue_choose(&s->catalogue, s->plan, s->target, &s->choice, err));
    KS_TRY(open_collectors(s, collectors, err));
    KS_TRY(open_control(s, err));
    KS_TRY(ks_session_open(s->slots, err));
    s->in_session = true;
    KS_TRY(ks_results_new(s->plan, s->configs, s->metrics, (uint32_t)s->metric_count, &s->results,
                          err));
    for (size_t i = 0; i < s->member_count; i++) {
        const ks_member *m = &s->members[i];
        s->results->sees_launches |= m->needs.sees_launches;
        s->results->visit_ns += m->first_pass == 0 ? m->needs.visit_ns : 0.0;
    }
    ks_status status = add_facts(s, user, err);
    if (status != KS_OK) {
        ks_results_free(s->results);
        s->results = NULL;
    }
    return status;
}

static ks_status run(setup *s, ks_body_fn body, void *user, ks_error *err)
{
    ks_sink sinks[] = {{s->results, ks_results_batch_done, ks_results_finish}};
    const ks_run_spec spec = {.plan = s->plan,
                              .body = body,
                              .user = user,
                              .warmup = s->warmup,
                              .sequence = s->sequence,
                              .configs = s->configs,
                              .metrics = s->metrics,
                              .metric_count = (uint32_t)s->metric_count,
                              .members = s->members,
                              .member_count = s->member_count,
                              .ledger = &s->ledger,
                              .control = s->control,
                              .sinks = sinks,
                              .sink_count = sizeof sinks / sizeof sinks[0]};
    return ks_run_loop(&spec, s->passes, err);
}

ks_status ks_run_with(const ks_collector_ops *const *collectors, ks_plan *plan, ks_body_fn body,
                      void *user, ks_results **out, ks_error *err)
{
    *out = NULL;
    KS_ENTER(err);
    if (plan == NULL) {
        return ks_fail(err, KS_EINVAL, "run", 0, "there is no plan (NULL) to run");
    }
    setup s = {.plan = plan};
    ks_ledger_init(&s.ledger);
    ks_status status = set_up(&s, collectors, body, user, err);
    if (status == KS_OK) {
        status = run(&s, body, user, err);
        *out = s.results;
    }
    if (s.in_session) {
        atomic_store(&plan->cancelled, false); /* it was heard, or came too late */
    }
    tear_down(&s);
    return status;
}

ks_status ks_run(ks_plan *plan, ks_body_fn body, void *user, ks_results **out, ks_error *err)
{
    return ks_run_with(ks_collectors, plan, body, user, out, err);
}
