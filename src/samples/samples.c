#include "samples/samples.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

uint32_t ks_deciding_metric(const ks_metric *metrics, uint32_t count)
{
    static const char end[] = "__time_duration.sum";
    for (uint32_t m = 0; m < count; m++) {
        size_t length = strlen(metrics[m].name);
        if (length >= sizeof end - 1 &&
            strcmp(metrics[m].name + length - sizeof end + 1, end) == 0) {
            return m;
        }
    }
    return 0;
}

void ks_samples_init(ks_samples *samples, const ks_metric *metrics, uint32_t metric_count)
{
    memset(samples, 0, sizeof *samples);
    samples->metrics = metrics;
    samples->metric_count = metric_count;
}

void ks_samples_fini(ks_samples *samples)
{
    ks_free(samples->entered);
    ks_free(samples->places);
    ks_free(samples->cells);
    ks_free(samples->presence);
    ks_free(samples->failures);
    ks_free(samples->remarks);
    ks_free(samples->kernels);
    ks_pool_fini(&samples->texts);
    memset(samples, 0, sizeof *samples);
}

ks_status ks_samples_start(ks_samples *samples, uint32_t runs, ks_error *err)
{
    for (uint32_t i = 0; i < samples->entered_count; i++) {
        samples->places[samples->entered[i]] = 0;
    }
    samples->runs = runs;
    samples->entered_count = 0;
    samples->replay = NULL;
    samples->launched = 0;
    samples->captured = 0;
    samples->unannotated = 0;
    samples->remark_count = 0;
    samples->kernel_count = 0;
    ks_error_clear(&samples->spoiled);
    ks_error_clear(&samples->idle);
    ks_pool_fini(&samples->texts);
    KS_TRY(KS_GROW(samples->failures, samples->failure_capacity, runs, err));
    memset(samples->failures, 0, runs * sizeof *samples->failures);
    return KS_OK;
}

void ks_samples_keep_runs(ks_samples *samples, uint32_t runs)
{
    ks_samples *s = samples;
    for (uint32_t place = 0; place < s->entered_count; place++) {
        size_t from = (size_t)place * s->runs;
        size_t to = (size_t)place * runs;
        memmove(s->presence + to, s->presence + from, runs * sizeof *s->presence);
        memmove(s->cells + to * s->metric_count, s->cells + from * s->metric_count,
                (size_t)runs * s->metric_count * sizeof *s->cells);
    }
    s->runs = runs;
}

static ks_status make_place(ks_samples *s, uint32_t annotation, ks_error *err)
{
    size_t had = s->place_count;
    if (annotation < had) {
        return KS_OK;
    }
    KS_TRY(KS_GROW(s->places, s->place_capacity, (size_t)annotation + 1, err));
    memset(s->places + had, 0, (annotation + 1 - had) * sizeof *s->places);
    s->place_count = (size_t)annotation + 1;
    return KS_OK;
}

ks_status ks_samples_enter(ks_samples *samples, uint32_t annotation, ks_error *err)
{
    KS_TRY(make_place(samples, annotation, err));
    if (samples->places[annotation] != 0) {
        return KS_OK;
    }
    uint32_t place = samples->entered_count;
    size_t old = (size_t)place * samples->runs;
    size_t presences = old + samples->runs;
    size_t old_cells = old * samples->metric_count;
    size_t cells = presences * samples->metric_count;
    KS_TRY(KS_GROW(samples->entered, samples->entered_capacity, (size_t)place + 1, err));
    KS_TRY(KS_GROW(samples->cells, samples->cell_capacity, cells, err));
    KS_TRY(KS_GROW(samples->presence, samples->presence_capacity, presences, err));
    memset(samples->presence + old, 0, (presences - old) * sizeof *samples->presence);
    memset(samples->cells + old_cells, 0, (cells - old_cells) * sizeof *samples->cells);
    samples->entered[place] = annotation;
    samples->places[annotation] = place + 1;
    samples->entered_count++;
    return KS_OK;
}

/* Where an annotation's runs start, in units of runs. */
static size_t first_of(const ks_samples *s, uint32_t annotation)
{
    return ((size_t)s->places[annotation] - 1) * s->runs;
}

static ks_cell *cell_of(const ks_samples *s, uint32_t annotation, uint32_t run, uint32_t metric)
{
    return &s->cells[(first_of(s, annotation) + run) * s->metric_count + metric];
}

const ks_cell *ks_samples_cell(const ks_samples *samples, uint32_t annotation, uint32_t run,
                               uint32_t metric)
{
    return cell_of(samples, annotation, run, metric);
}

ks_presence *ks_samples_presence(const ks_samples *samples, uint32_t annotation, uint32_t run)
{
    return &samples->presence[first_of(samples, annotation) + run];
}

static bool is_share(ks_metric_kind kind)
{
    return kind == KS_PERCENT || kind == KS_RATIO || kind == KS_RATE;
}

/* The user's own way; what it refuses makes the value missing. */
static ks_status combine_by_callback(ks_samples *s, ks_cell *cell, uint32_t metric, double value,
                                     ks_error *err)
{
    ks_error refused = KS_ERROR_INIT;
    double combined = NAN;
    ks_status status = s->combine_fn(cell->value, value, &combined, s->combine_user, &refused);
    if (status != KS_OK) {
        const char *why = refused.message[0] != '\0' ? refused.message : ks_status_text(status);
        return cell->why != 0 ? KS_OK : ks_pool_add(&s->texts, why, &cell->why, err);
    }
    double sum = cell->value + value;
    bool added = fabs(combined - sum) <= 1e-12 * fabs(sum) && value != 0.0 && cell->value != 0.0;
    cell->shares_added |= added && is_share(s->metrics[metric].kind);
    cell->value = combined;
    return KS_OK;
}

ks_status ks_samples_add(ks_samples *samples, uint32_t annotation, uint32_t run, uint32_t metric,
                         double value, double weight, ks_error *err)
{
    ks_rule rule = samples->metrics[metric].rule;
    ks_cell *cell = cell_of(samples, annotation, run, metric);
    bool first = cell->count++ == 0;
    if (samples->combine_fn != NULL) {
        bool ratio = rule == KS_RULE_RATIO;
        value = ratio ? value / weight : value;
        if (!first) {
            return combine_by_callback(samples, cell, metric, value, err);
        }
        cell->value = value;
        return KS_OK;
    }
    switch (rule) {
    case KS_RULE_ADD:
        cell->value += value;
        break;
    case KS_RULE_WEIGHTED:
        cell->weight += weight; /* a running mean: one value stays as it is, to the last digit */
        cell->value = first ? value : cell->value + (value - cell->value) * (weight / cell->weight);
        break;
    case KS_RULE_RATIO:
        cell->value += value;
        cell->weight += weight;
        break;
    case KS_RULE_MAX:
        cell->value = first ? value : fmax(cell->value, value);
        break;
    case KS_RULE_MIN:
        cell->value = first ? value : fmin(cell->value, value);
        break;
    case KS_RULE_SAME:
        if (first) {
            cell->value = value;
        } else if (cell->value != value) {
            return ks_samples_missing(samples, annotation, run, metric,
                                      "its launches do not agree on this property", err);
        }
        break;
    }
    return KS_OK;
}

ks_status ks_samples_missing(ks_samples *samples, uint32_t annotation, uint32_t run,
                             uint32_t metric, const char *why, ks_error *err)
{
    ks_cell *cell = cell_of(samples, annotation, run, metric);
    return cell->why != 0 ? KS_OK : ks_pool_add(&samples->texts, why, &cell->why, err);
}

ks_status ks_samples_missing_all(ks_samples *samples, uint32_t metric, const char *why,
                                 ks_error *err)
{
    for (uint32_t i = 0; i < samples->entered_count; i++) {
        for (uint32_t run = 0; run < samples->runs; run++) {
            KS_TRY(ks_samples_missing(samples, samples->entered[i], run, metric, why, err));
        }
    }
    return KS_OK;
}

ks_status ks_samples_kernel(ks_samples *samples, uint32_t annotation, uint32_t run,
                            const ks_kernel_run *kernel, ks_error *err)
{
    ks_text_id id = 0;
    KS_TRY(ks_pool_add(&samples->texts, kernel->kernel, &id, err));
    for (size_t i = samples->kernel_count; i > 0 && samples->kernels[i - 1].run == run; i--) {
        ks_kernel_count *known = &samples->kernels[i - 1];
        if (known->annotation == annotation && known->kernel == id) {
            ks_kernel_sum_launch(&known->sum, kernel->ns, &kernel->facts);
            return KS_OK;
        }
    }
    KS_TRY(KS_GROW(samples->kernels, samples->kernel_capacity, samples->kernel_count + 1, err));
    ks_kernel_count *added = &samples->kernels[samples->kernel_count++];
    *added = (ks_kernel_count){.annotation = annotation, .run = run, .kernel = id};
    ks_kernel_sum_launch(&added->sum, kernel->ns, &kernel->facts);
    return KS_OK;
}

void ks_samples_forget_kernels(ks_samples *samples, uint32_t run)
{
    for (size_t i = 0; i < samples->kernel_count; i++) {
        if (samples->kernels[i].run == run) {
            samples->kernels[i].sum = (ks_kernel_sum){0};
        }
    }
}

ks_status ks_samples_remark(ks_samples *samples, ks_remark remark, const char *text, ks_error *err)
{
    KS_TRY(ks_pool_add(&samples->texts, text, &remark.text, err));
    KS_TRY(KS_GROW(samples->remarks, samples->remark_capacity, samples->remark_count + 1, err));
    samples->remarks[samples->remark_count++] = remark;
    return KS_OK;
}

void ks_samples_clock(ks_samples *samples, uint32_t annotation, uint32_t run, double cycles,
                      double ns)
{
    ks_presence *presence = ks_samples_presence(samples, annotation, run);
    presence->timed++;
    presence->cycles += cycles;
    presence->ns += ns;
}

bool ks_samples_has(const ks_samples *samples, uint32_t annotation)
{
    return annotation < samples->place_count && samples->places[annotation] != 0;
}

ks_status ks_samples_fail_run(ks_samples *samples, uint32_t run, const uint32_t *metrics,
                              uint32_t count, const char *why, ks_error *err)
{
    for (uint32_t a = 0; a < samples->entered_count; a++) {
        for (uint32_t i = 0; i < count; i++) {
            KS_TRY(ks_samples_missing(samples, samples->entered[a], run, metrics[i], why, err));
        }
    }
    return samples->failures[run] != 0
               ? KS_OK
               : ks_pool_add(&samples->texts, why, &samples->failures[run], err);
}

const char *ks_not_finite(double value)
{
    if (isfinite(value)) {
        return NULL;
    }
    return isnan(value)  ? "not a finite number: NaN"
           : value > 0.0 ? "not a finite number: infinity"
                         : "not a finite number: -infinity";
}

bool ks_samples_value(const ks_samples *samples, uint32_t annotation, uint32_t run, uint32_t metric,
                      double *out, const char **why)
{
    const ks_cell *cell = cell_of(samples, annotation, run, metric);
    const ks_presence *presence = ks_samples_presence(samples, annotation, run);
    ks_rule rule = samples->metrics[metric].rule;
    *why = NULL;
    if (cell->why != 0 || presence->failure != 0) {
        ks_text_id id = presence->failure != 0 ? presence->failure : cell->why;
        *why = ks_pool_text(&samples->texts, id);
        return false;
    }
    if (cell->count == 0) {
        /* a run that failed before it came to this annotation */
        const char *failed = ks_pool_text(&samples->texts, samples->failures[run]);
        const char *none = presence->visits == 0 ? KS_NOT_ENTERED : "nothing was measured in it";
        *why = failed != NULL ? failed : none;
        return false;
    }
    if (cell->count > 1 && samples->combine == KS_COMBINE_REFUSE && samples->combine_fn == NULL) {
        *why = "several launches or visits, and the plan refuses to combine them";
        return false;
    }
    bool divide = rule == KS_RULE_RATIO;
    double value = divide && samples->combine_fn == NULL ? cell->value / cell->weight : cell->value;
    *why = ks_not_finite(value);
    if (*why == NULL) {
        *out = value;
    }
    return *why == NULL;
}

uint32_t ks_samples_series(const ks_samples *samples, uint32_t annotation, uint32_t metric,
                           double *out)
{
    ks_rule rule = samples->metrics[metric].rule;
    bool divides = rule == KS_RULE_RATIO;
    uint32_t missing = 0;
    const ks_cell *cell = cell_of(samples, annotation, 0, metric);
    const ks_presence *presence = ks_samples_presence(samples, annotation, 0);
    for (uint32_t run = 0; run < samples->runs; run++, cell += samples->metric_count, presence++) {
        /* most values are of one visit and stand as they are */
        bool plain = cell->count == 1 && cell->why == 0 && presence->failure == 0 && !divides;
        if (plain && isfinite(cell->value)) {
            out[run] = cell->value;
            continue;
        }
        const char *why = NULL;
        if (!ks_samples_value(samples, annotation, run, metric, &out[run], &why)) {
            out[run] = NAN;
            missing++;
        }
    }
    return missing;
}
