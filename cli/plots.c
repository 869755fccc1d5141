#include "plots.h"

#include <stdlib.h>
#include <string.h>

static const char time_metric[] = "cpu__time_duration.sum";

/* The names between commas, without blanks around them. */
static ks_status add_names(text_list *to, const char *names, ks_error *err)
{
    char *copy = strdup(names);
    char *rest = copy;
    bool good = copy != NULL;
    for (char *name = strsep(&rest, ","); good && name != NULL; name = strsep(&rest, ",")) {
        name += strspn(name, " \t");
        size_t length = strlen(name);
        while (length > 0 && strchr(" \t", name[length - 1]) != NULL) {
            name[--length] = '\0';
        }
        good = add_text(to, name);
    }
    free(copy);
    return good ? KS_OK : ks_fail(err, KS_ENOMEM, "cli", 0, "out of memory");
}

static bool has_pattern(const text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strpbrk(list->texts[i], "*?") != NULL) {
            return true;
        }
    }
    return false;
}

ks_status make_plots(const run_options *o, plots *out, ks_error *err)
{
    const text_list *from = o->plot_metrics.count > 0 ? &o->plot_metrics : &o->metrics;
    ks_print_options terminal = stdout_options();
    ks_status status = KS_OK;
    *out = (plots){.options = KS_PLOT_OPTIONS_INIT};
    for (size_t i = 0; i < from->count && status == KS_OK; i++) {
        status = add_names(&out->metrics, from->texts[i], err);
    }
    if (status == KS_OK && from->count == 0) {
        status = add_names(&out->metrics, time_metric, err);
    }
    if (from == &o->metrics && has_pattern(from)) {
        free_list(&out->metrics); /* whoever measures all by a pattern did not name what to plot */
    }
    out->options.metrics = (const char *const *)out->metrics.texts;
    out->options.metric_count = out->metrics.count;
    out->options.x = o->plot_x;
    out->options.panels = o->plot_panels;
    out->options.width = terminal.width;
    out->options.ascii = terminal.ascii;
    return status;
}

void free_plots(plots *p)
{
    free_list(&p->metrics);
}

ks_status check_plots(const run_options *o, const plots *p, const ks_plan *plan, ks_error *err)
{
    ks_status status = KS_OK;
    for (size_t i = 0; i < o->plots.count && status == KS_OK; i++) {
        const char *path = o->plots.texts[i];
        status =
            ks_plot_check(plan, ks_program_body, is_stdout(path) ? NULL : path, &p->options, err);
    }
    if (o->plots.count == 0 &&
        (o->plot_metrics.count > 0 || o->plot_x != NULL || o->plot_panels != NULL)) {
        return ks_fail(err, KS_EINVAL, "cli", 0,
                       "--plot-metric, --plot-x and --plot-panels have no use without --plot");
    }
    return status;
}
