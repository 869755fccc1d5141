/* One config: warm-up, all passes and runs, and whether its values can be used. */
#include "base/buf.h"
#include "base/error.h"
#include "run/state.h"

static ks_status begin_pass(ks_run_state *s, uint32_t pass, uint32_t first_run, uint32_t runs,
                            ks_error *err)
{
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (ks_member_active(m, pass)) {
            ks_pass_ctx ctx = {.pass = pass - m->first_pass,
                               .first_run = first_run,
                               .runs = runs,
                               .first_slot = m->first_slot};
            KS_TRY(m->ops->pass_begin(m->collector, &ctx, err));
        }
    }
    return KS_OK;
}

static ks_status end_pass(ks_run_state *s, uint32_t pass, ks_error *err)
{
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (ks_member_active(m, pass)) {
            KS_TRY(m->ops->pass_end(m->collector, err));
        }
    }
    return KS_OK;
}

/* Some runs of a config, in all passes. */
static ks_status measure_batch(ks_run_state *s, size_t config, uint32_t first_run, uint32_t runs,
                               ks_error *err)
{
    for (uint32_t pass = 0; pass < s->passes; pass++) {
        ks_hooks hooks;
        ks_gather_hooks(s, pass, &hooks);
        KS_TRY(begin_pass(s, pass, first_run, runs, err));
        for (uint32_t run = first_run; run < first_run + runs; run++) {
            ks_call call = {.plan = s->spec->plan,
                            .config = config,
                            .run = run,
                            .pass = pass,
                            .fault = &s->fault};
            KS_TRY(ks_measured_call(s, &call, &hooks, err));
        }
        KS_TRY(end_pass(s, pass, err));
    }
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        KS_TRY(m->ops->drain(m->collector, &s->samples, err));
    }
    return KS_OK;
}

static void note_launches(ks_run_state *s)
{
    const ks_ledger *ledger = s->spec->ledger;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        const ks_launch *launch = &ledger->launches[i];
        if (launch->annotation == KS_NO_ANNOTATION) {
            s->unannotated++;
        } else {
            ks_samples_presence(&s->samples, launch->annotation, launch->run)->launches++;
        }
    }
}

/* "a 2x, b" for the kernels of an annotation in a run. */
static void list_kernels(const ks_ledger *ledger, uint32_t annotation, uint32_t run, ks_buf *to)
{
    for (ks_text_id kernel = 1; kernel <= ledger->kernels.count; kernel++) {
        unsigned count = 0;
        for (size_t i = 0; i < ledger->count; i++) {
            const ks_launch *l = &ledger->launches[i];
            count += l->pass == ledger->first_pass && l->run == run &&
                     l->annotation == annotation && l->kernel == kernel;
        }
        if (count > 0) {
            ks_buf_addf(to, "%s%.80s", to->length > 0 ? ", " : "",
                        ks_pool_text(&ledger->kernels, kernel));
            if (count > 1) {
                ks_buf_addf(to, " %ux", count);
            }
        }
    }
}

static ks_status refuse_combining(const ks_run_state *s, uint32_t annotation, uint32_t run,
                                  uint32_t count, ks_error *err)
{
    ks_buf kernels;
    ks_buf_init(&kernels, 4096);
    list_kernels(s->spec->ledger, annotation, run, &kernels);
    bool launches = kernels.length > 0;
    ks_status status = ks_fail(
        err, KS_ESTATE, "run", 0,
        "annotation '%.100s' %s %u %s in one run%s%s%s, and the plan refuses to combine them: %s",
        s->paths[annotation], launches ? "launched" : "was entered", count,
        launches ? "kernels" : "times", launches ? " (" : "", ks_buf_text(&kernels),
        launches ? ")" : "",
        launches ? "annotate one kernel, ignore the others, or let the plan combine them"
                 : "enter it once, or let the plan combine them");
    ks_buf_fini(&kernels);
    return status;
}

static ks_status check_combining(const ks_run_state *s, ks_error *err)
{
    const ks_samples *samples = &s->samples;
    const ks_plan *plan = s->spec->plan;
    if (plan->combine != KS_COMBINE_REFUSE || plan->combine_fn != NULL || plan->tolerant) {
        return KS_OK; /* tolerant: only the values concerned are missing */
    }
    for (uint32_t i = 0; i < samples->entered_count; i++) {
        uint32_t a = samples->entered[i];
        for (uint32_t r = 0; r < samples->runs; r++) {
            for (uint32_t m = 0; m < samples->metric_count; m++) {
                uint32_t count = ks_samples_cell(samples, a, r, m)->count;
                if (count > 1) {
                    return refuse_combining(s, a, r, count, err);
                }
            }
        }
    }
    return KS_OK;
}

static ks_status check_captured(const ks_run_state *s, ks_error *err)
{
    unsigned long long captured = s->samples.captured;
    unsigned long long launched = s->samples.launched;
    if (captured == launched) {
        return KS_OK;
    }
    return ks_fail(err, KS_ESTATE, "run", 0, "%llu of %llu launches were captured%s", captured,
                   launched,
                   captured > launched
                       ? ": work that kernels launched themselves is the likely cause; measure in "
                         "range replay"
                       : ": the values would be too small, so there are none; measure fewer "
                         "launches in an annotation");
}

/* Whether launches are seen in this pass. */
static bool sees_launches(const ks_run_state *s, uint32_t pass)
{
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (m->needs.sees_launches && ks_member_active(m, pass)) {
            return true;
        }
    }
    return false;
}

static uint32_t first_watched_pass(const ks_run_state *s)
{
    uint32_t pass = 0;
    while (pass < s->passes && !sees_launches(s, pass)) {
        pass++;
    }
    return pass;
}

/* What makes the values of a config unusable although every call succeeded. */
static ks_status check_config(const ks_run_state *s, ks_error *err)
{
    const ks_ledger *ledger = s->spec->ledger;
    for (uint32_t pass = ledger->first_pass + 1; pass < s->passes; pass++) {
        if (sees_launches(s, pass)) {
            KS_TRY(ks_ledger_compare(ledger, pass, s->samples.failures, err));
        }
    }
    return check_captured(s, err);
}

static ks_status warm_up(ks_run_state *s, size_t config, ks_error *err)
{
    for (uint32_t i = 0; i < s->spec->warmup; i++) {
        ks_call call = {
            .plan = s->spec->plan, .config = config, .run = i, .warmup = true, .fault = &s->fault};
        KS_TRY(ks_warmup_call(s, &call, err));
    }
    return KS_OK;
}

/* The values of a config cannot be used: the sweep ends, or the config has none. */
static ks_status spoil_config(ks_run_state *s, size_t config, ks_error *failure, ks_error *err)
{
    const ks_call call = {.plan = s->spec->plan, .config = config, .fault = &s->fault};
    if (!s->spec->plan->tolerant) {
        ks_name_config(s, &call, failure);
        return ks_fail(err, failure->code, failure->origin, failure->native, "%s",
                       failure->message);
    }
    for (uint32_t run = 0; run < s->samples.runs; run++) {
        for (size_t i = 0; i < s->spec->member_count; i++) {
            const ks_member *m = &s->spec->members[i];
            KS_TRY(ks_samples_fail_run(&s->samples, run, m->numbers, m->metric_count,
                                       failure->message, err));
        }
    }
    return KS_OK;
}

ks_status ks_measure_config(ks_run_state *s, size_t config, ks_error *err)
{
    enum {
        ATTEMPTS = 2
    };
    const uint32_t runs = s->spec->plan->runs;
    const ks_call first = {.plan = s->spec->plan, .config = config, .fault = &s->fault};
    ks_error failure = KS_ERROR_INIT;
    KS_TRY(warm_up(s, config, err));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        ks_error_clear(&failure);
        KS_TRY(ks_samples_start(&s->samples, runs, err));
        ks_ledger_start(s->spec->ledger, first_watched_pass(s));
        ks_infos_start_config(&s->infos);
        ks_infos_collect(&s->infos, KS_SCOPE_CONFIG, &first);
        KS_TRY(measure_batch(s, config, 0, runs, err));
        if (check_config(s, &failure) == KS_OK) {
            break;
        }
        s->calls += attempt + 1 < ATTEMPTS ? (uint64_t)runs * s->passes : 0;
    }
    note_launches(s);
    if (failure.code == KS_OK) {
        check_combining(s, &failure);
    }
    return failure.code != KS_OK ? spoil_config(s, config, &failure, err) : KS_OK;
}
