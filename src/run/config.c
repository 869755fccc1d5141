/* Runs of a config: warm-up, all passes, and whether their values can be used. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/demangle.h"
#include "base/error.h"
#include "run/state.h"

static ks_status begin_pass(ks_run_state *s, uint32_t pass, uint32_t runs, ks_error *err)
{
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        if (ks_member_active(m, pass)) {
            ks_pass_ctx ctx = {
                .pass = pass - m->first_pass, .runs = runs, .first_slot = m->first_slot};
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

/* The calls of one pass. @param[out] done  runs that were made */
static ks_status measure_pass(ks_run_state *s, size_t config, uint32_t pass, uint32_t runs,
                              uint32_t *done, ks_error *err)
{
    ks_hooks hooks;
    ks_gather_hooks(s, pass, &hooks);
    KS_TRY(begin_pass(s, pass, runs, err));
    for (*done = 0; *done < runs; (*done)++) {
        ks_call call = {.plan = s->spec->plan,
                        .config = config,
                        .run = s->first_run + *done,
                        .pass = pass,
                        .fault = &s->fault};
        KS_TRY(ks_measured_call(s, &call, &hooks, err));
    }
    return KS_OK;
}

/* All passes. When the last one is cancelled, or a call of it fails, the runs that it had made are
 * complete: `*runs` becomes their number; after any other failure 0. A pass without any may not
 * even have begun. */
static ks_status measure_passes(ks_run_state *s, size_t config, uint32_t *runs, ks_error *err)
{
    uint32_t wanted = *runs;
    ks_status status = KS_OK;
    *runs = 0;
    for (uint32_t pass = 0; pass < s->passes; pass++) {
        uint32_t done = 0;
        status = measure_pass(s, config, pass, wanted, &done, err);
        bool kept = done > 0 && (status == KS_ECANCELED || s->body_failed) && pass + 1 == s->passes;
        if (status != KS_OK && !kept) {
            return status;
        }
        KS_TRY(end_pass(s, pass, err));
        *runs = pass + 1 == s->passes ? done : 0;
    }
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        KS_TRY(m->ops->drain(m->collector, &s->samples, err));
    }
    KS_TRY(ks_control_tell(s->spec->control, &s->samples, err));
    if (*runs < wanted) {
        ks_samples_keep_runs(&s->samples, *runs);
        ks_ledger_keep_runs(s->spec->ledger, *runs);
    }
    return status;
}

static void note_launches(ks_run_state *s)
{
    const ks_ledger *ledger = s->spec->ledger;
    uint64_t unannotated = 0;
    for (size_t i = 0; i < ledger->count && ledger->launches[i].pass == ledger->first_pass; i++) {
        const ks_launch *launch = &ledger->launches[i];
        unannotated += launch->annotation == KS_NO_ANNOTATION;
        for (const ks_annotation *a = ks_session_annotation(launch->annotation); a != NULL;
             a = a->parent) {
            ks_samples_presence(&s->samples, a->id, launch->run)->launches++;
        }
    }
    bool more = s->samples.unannotated > unannotated; /* the same launches, seen another way */
    s->unannotated += more ? s->samples.unannotated : unannotated;
}

/* Whether a launch was made in an annotation, or in one inside it. */
static bool is_of(const ks_launch *launch, uint32_t annotation)
{
    const ks_annotation *a = ks_session_annotation(launch->annotation);
    while (a != NULL && a->id != annotation) {
        a = a->parent;
    }
    return a != NULL;
}

static void list_kernel(const char *kernel, unsigned count, ks_buf *to)
{
    if (count > 0) {
        ks_buf_addf(to, "%s%s %ux", to->length > 0 ? ", " : ": ", ks_demangle_short(kernel), count);
    }
}

/* "a 2x, b 1x" for the kernels of an annotation in a run, by the ledger, or by what a collector
 * without it counted. */
static void list_kernels(const ks_run_state *s, uint32_t annotation, uint32_t run, ks_buf *to)
{
    const ks_ledger *ledger = s->spec->ledger;
    for (ks_text_id kernel = 1; kernel <= ledger->kernels.count; kernel++) {
        unsigned count = 0;
        for (size_t i = 0; i < ledger->count; i++) {
            const ks_launch *l = &ledger->launches[i];
            count += l->pass == ledger->first_pass && l->run == run && l->kernel == kernel &&
                     is_of(l, annotation);
        }
        list_kernel(ks_pool_text(&ledger->kernels, kernel), count, to);
    }
    for (size_t i = 0; i < s->samples.kernel_count && ledger->count == 0; i++) {
        const ks_kernel_count *k = &s->samples.kernels[i];
        if (k->annotation == annotation && k->run == run) {
            list_kernel(ks_pool_text(&s->samples.texts, k->kernel), (unsigned)k->sum.launches, to);
        }
    }
}

/* The kernels come last: what to do is not lost behind long names. */
static ks_status refuse_combining(const ks_run_state *s, uint32_t annotation, uint32_t run,
                                  uint32_t count, ks_error *err)
{
    ks_buf kernels;
    ks_buf_init(&kernels, 4096);
    list_kernels(s, annotation, run, &kernels);
    if (ks_buf_status(&kernels, NULL) == KS_ENOMEM) {
        ks_buf_fini(&kernels);
        return ks_enomem(err);
    }
    uint32_t visits = ks_samples_presence(&s->samples, annotation, run)->visits;
    bool launches = kernels.length > 0 || count > visits;
    ks_status status = ks_fail(
        err, KS_ESTATE, "run", 0,
        "annotation '%.100s' %s %u %s in one run, and the plan refuses to combine them; %s, or let "
        "the plan combine them (ks_plan_combine())%s",
        s->paths[annotation], launches ? "launched" : "was entered", count,
        launches ? "kernels" : "times",
        launches ? "annotate one of them, ignore the others (ks_plan_ignore_kernel())"
                 : "enter it once",
        ks_buf_text(&kernels));
    ks_buf_fini(&kernels);
    return status;
}

/* Of an annotation in a run: how many values of a metric would have to be combined, of that with
 * most; 0: none. */
static uint32_t uncombined(const ks_samples *samples, uint32_t annotation, uint32_t run)
{
    uint32_t most = 1;
    for (uint32_t m = 0; m < samples->metric_count; m++) {
        uint32_t count = ks_samples_cell(samples, annotation, run, m)->count;
        most = count > most ? count : most;
    }
    return most > 1 ? most : 0;
}

/* The values concerned are missing, and say so like the error of a strict plan. */
static ks_status tell_uncombined(ks_run_state *s, uint32_t annotation, uint32_t run, uint32_t count,
                                 ks_error *err)
{
    ks_error refusal = KS_ERROR_INIT;
    if (refuse_combining(s, annotation, run, count, &refusal) == KS_ENOMEM) {
        return ks_enomem(err);
    }
    for (uint32_t m = 0; m < s->samples.metric_count; m++) {
        if (ks_samples_cell(&s->samples, annotation, run, m)->count > 1) {
            KS_TRY(ks_samples_missing(&s->samples, annotation, run, m, refusal.message, err));
        }
    }
    return KS_OK;
}

static ks_status check_combining(ks_run_state *s, ks_error *failure, ks_error *err)
{
    const ks_plan *plan = s->spec->plan;
    if (plan->combine != KS_COMBINE_REFUSE || plan->combine_fn != NULL) {
        return KS_OK;
    }
    for (uint32_t i = 0; i < s->samples.entered_count; i++) {
        uint32_t a = s->samples.entered[i];
        for (uint32_t r = 0; r < s->samples.runs; r++) {
            uint32_t count = uncombined(&s->samples, a, r);
            if (count > 0 && !plan->tolerant) {
                refuse_combining(s, a, r, count, failure);
                return KS_OK;
            }
            if (count > 0) {
                KS_TRY(tell_uncombined(s, a, r, count, err));
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

/* What makes values unusable although every call succeeded: first what says most. */
static ks_status check_values(const ks_run_state *s, ks_error *err)
{
    const ks_ledger *ledger = s->spec->ledger;
    const ks_error *spoiled = &s->samples.spoiled;
    for (uint32_t pass = ledger->first_pass + 1; pass < s->passes; pass++) {
        if (sees_launches(s, pass)) {
            KS_TRY(ks_ledger_compare(ledger, pass, s->samples.failures, err));
        }
    }
    if (spoiled->code != KS_OK) {
        return ks_fail(err, spoiled->code, spoiled->origin, spoiled->native, "%s",
                       spoiled->message);
    }
    return check_captured(s, err);
}

ks_status ks_warm_up(ks_run_state *s, size_t config, ks_error *err)
{
    for (uint32_t i = 0; i < s->spec->warmup; i++) {
        ks_call call = {
            .plan = s->spec->plan, .config = config, .run = i, .warmup = true, .fault = &s->fault};
        KS_TRY(ks_warmup_call(s, &call, err));
    }
    return KS_OK;
}

/* The values of a batch cannot be used: the sweep ends, or the batch has none. */
static ks_status spoil_batch(ks_run_state *s, size_t config, ks_error *failure, ks_error *err)
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

static ks_status start_batch(ks_run_state *s, size_t config, uint32_t runs, ks_error *err)
{
    const ks_call first = {.plan = s->spec->plan, .config = config, .fault = &s->fault};
    KS_TRY(ks_samples_start(&s->samples, runs, err));
    ks_ledger_start(s->spec->ledger, first_watched_pass(s));
    ks_infos_start_batch(&s->infos);
    if (s->first_run == 0) {
        ks_infos_collect(&s->infos, KS_SCOPE_CONFIG, &first);
    }
    return KS_OK;
}

/* No more runs than every member has room for. */
static uint32_t limit_runs(const ks_run_state *s, uint32_t wanted)
{
    for (size_t i = 0; i < s->spec->member_count; i++) {
        const ks_member *m = &s->spec->members[i];
        uint32_t room = m->ops->room(m->collector);
        wanted = room < wanted ? room : wanted;
    }
    return wanted;
}

/* A failure of a collector that has to do with what the config did; others are of the machine. */
static void name_failed_config(const ks_run_state *s, size_t config, ks_status status,
                               ks_error *err)
{
    const ks_call call = {.plan = s->spec->plan, .config = config};
    bool of_config = status == KS_EVENDOR || status == KS_ESTATE || status == KS_ELIMIT;
    if (of_config && !s->body_failed && err != NULL) {
        ks_name_config(s, &call, err);
    }
}

ks_status ks_measure_batch(ks_run_state *s, size_t config, uint32_t *runs, ks_error *err)
{
    enum {
        ATTEMPTS = 2
    };
    uint32_t wanted = *runs;
    uint32_t got = 0;
    ks_error failure = KS_ERROR_INIT;
    *runs = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        ks_error_clear(&failure);
        got = limit_runs(s, wanted); /* the first attempt may have taught more about that */
        KS_TRY(start_batch(s, config, got, err));
        ks_status status = measure_passes(s, config, &got, err);
        if (status != KS_OK) {
            *runs = check_values(s, NULL) == KS_OK ? got : 0;
            if (*runs > 0) {
                note_launches(s);
            }
            name_failed_config(s, config, status, err);
            return status;
        }
        if (check_values(s, &failure) == KS_OK) {
            break;
        }
        s->calls += attempt + 1 < ATTEMPTS ? (uint64_t)got * s->passes : 0;
    }
    note_launches(s);
    if (failure.code == KS_OK) {
        KS_TRY(check_combining(s, &failure, err));
    }
    if (failure.code == KS_OK && !s->spec->plan->tolerant) {
        failure = s->samples.idle;
    }
    if (failure.code != KS_OK) {
        KS_TRY(spoil_batch(s, config, &failure, err));
    }
    *runs = got;
    return KS_OK;
}
