/* Plots of results, and whether there can be one. */
#include "kernsight/plot.h"

#include <string.h>

#include "api/catalogue.h"
#include "api/output.h"
#include "base/alloc.h"
#include "base/error.h"
#include "collect/registry.h"
#include "kernsight/program.h"
#include "output/plot.h"
#include "plan/plan.h"

static const ks_plot_options defaults = KS_PLOT_OPTIONS_INIT;

static ks_status check_options(const ks_plot_options *options, ks_error *err)
{
    if (options->struct_size < sizeof *options) {
        return ks_fail(err, KS_EINVAL, "plot", 0,
                       "the options are not initialised; start from KS_PLOT_OPTIONS_INIT");
    }
    if (options->metric_count > 0 && options->metrics == NULL) {
        return ks_fail(err, KS_EINVAL, "plot", 0, "there are no metrics (NULL) to plot");
    }
    return KS_OK;
}

typedef struct drawing {
    ks_plot_format format;
    const ks_plot_options *options;
} drawing;

static ks_status draw(const ks_results *results, const void *arg, FILE *to, ks_error *err)
{
    const drawing *d = arg;
    return ks_plot_table(ks_results_table(results), d->format, d->options, to, err);
}

ks_status ks_results_plot(const ks_results *results, const char *path,
                          const ks_plot_options *options, ks_error *err)
{
    drawing d = {.options = options != NULL ? options : &defaults};
    KS_TRY(ks_need_results(results, err));
    KS_TRY(check_options(d.options, err));
    if (path == NULL) {
        return ks_check_output(path, err);
    }
    KS_TRY(ks_plot_format_of(path, &d.format, err));
    return ks_results_write(results, path, &(ks_results_writer){draw, &d}, err);
}

ks_status ks_results_plot_text(const ks_results *results, FILE *to, const ks_plot_options *options,
                               ks_error *err)
{
    const drawing d = {KS_PLOT_TEXT, options != NULL ? options : &defaults};
    KS_TRY(ks_need_results(results, err));
    KS_TRY(check_options(d.options, err));
    return draw(results, &d, to, err);
}

/* ---- before the run ---------------------------------------------------------------------------
 */

/* The names of the metrics that a plan has for a body: measured ones, then derived ones. */
static ks_status check_metrics(const ks_plan *plan, const ks_catalogue *catalogue,
                               const ks_choice *choice, const ks_plot_options *options,
                               ks_error *err)
{
    size_t count = choice->count + plan->derive_count;
    const char **names = ks_calloc(count, sizeof *names);
    bool *chosen = ks_calloc(count, sizeof *chosen);
    ks_status status = names != NULL && chosen != NULL ? KS_OK : ks_enomem(err);
    for (size_t i = 0; status == KS_OK && i < count; i++) {
        names[i] = i < choice->count ? catalogue->entries[choice->entries[i]].entry.name
                                     : plan->derives[i - choice->count].name;
    }
    if (status == KS_OK) {
        status = ks_plot_choose(names, count, options, plan->derive_count > 0, chosen, err);
    }
    ks_free(names);
    ks_free(chosen);
    return status;
}

static ks_status check_plan_metrics(const ks_plan *plan, ks_body_fn body,
                                    const ks_plot_options *options, ks_error *err)
{
    ks_catalogue catalogue;
    ks_choice choice = {0};
    ks_target target = body == ks_program_body ? KS_TARGET_PROGRAM : KS_TARGET_REGION;
    ks_status status = ks_catalogue_init(&catalogue, ks_collectors, err);
    if (status == KS_OK) {
        status = ks_catalogue_choose(&catalogue, plan, target, &choice, err);
    }
    if (status == KS_OK) {
        status = check_metrics(plan, &catalogue, &choice, options, err);
    }
    ks_free(choice.entries);
    ks_catalogue_fini(&catalogue);
    return status;
}

static ks_status check_param(const ks_plan *plan, const char *name, ks_error *err)
{
    if (name == NULL || ks_plan_find_param(plan, name) < plan->param_count) {
        return KS_OK;
    }
    return ks_fail(err, KS_ENOTFOUND, "plot", 0, "there is no parameter '%s' to plot", name);
}

ks_status ks_plot_check(const ks_plan *plan, ks_body_fn body, const char *path,
                        const ks_plot_options *options, ks_error *err)
{
    ks_plot_format format = KS_PLOT_TEXT;
    options = options != NULL ? options : &defaults;
    if (plan == NULL) {
        return ks_no_plan(err);
    }
    KS_TRY(check_options(options, err));
    if (path != NULL) {
        KS_TRY(ks_plot_format_of(path, &format, err));
        KS_TRY(ks_check_output(path, err));
    }
    KS_TRY(check_plan_metrics(plan, body, options, err));
    KS_TRY(check_param(plan, options->x, err));
    KS_TRY(check_param(plan, options->panels, err));
    if (options->x != NULL && options->panels != NULL && strcmp(options->x, options->panels) == 0) {
        return ks_fail(err, KS_EINVAL, "plot", 0,
                       "the parameter '%s' cannot be both along x and have panels", options->x);
    }
    if (options->inverse && plan->normalize == NULL) {
        return ks_fail(err, KS_EINVAL, "plot", 0,
                       "a plot of the baseline over each value needs a baseline: "
                       "ks_plan_normalize()");
    }
    return ks_plot_check_gnuplot(format, err);
}
