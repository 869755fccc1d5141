/* Which metrics are plotted. */
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "output/plot_model.h"

static ks_status fail_choice(const char *const *names, size_t count, const char *wanted,
                             ks_error *err)
{
    ks_buf list;
    ks_buf_init(&list, 1u << 16);
    for (size_t i = 0; i < count; i++) {
        ks_buf_addf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    ks_status status = ks_buf_status(&list, err);
    if (status == KS_OK && wanted != NULL) {
        status =
            ks_fail(err, KS_ENOTFOUND, "plot", 0, "there is no metric '%s' to plot; measured: %s",
                    wanted, ks_buf_text(&list));
    } else if (status == KS_OK) {
        status = ks_fail(err, KS_EINVAL, "plot", 0,
                         "there are %zu metrics: name those to plot (--plot-metric), among %s",
                         count, ks_buf_text(&list));
    }
    ks_buf_fini(&list);
    return status;
}

ks_status ks_plot_choose(const char *const *names, size_t count, const ks_plot_options *options,
                         bool open, bool *chosen, ks_error *err)
{
    for (size_t i = 0; i < count; i++) {
        chosen[i] = options->metric_count == 0;
    }
    if (options->metric_count == 0 && count > 1) {
        return fail_choice(names, count, NULL, err);
    }
    for (size_t k = 0; k < options->metric_count; k++) {
        bool found = open;
        for (size_t i = 0; i < count; i++) {
            bool matches = ks_match(options->metrics[k], names[i]);
            chosen[i] = chosen[i] || matches;
            found = found || matches;
        }
        if (!found) {
            return fail_choice(names, count, options->metrics[k], err);
        }
    }
    return KS_OK;
}
