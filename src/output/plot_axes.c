#include "output/plot_axes.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "output/text.h"

/* How far the largest value must be from the smallest for a logarithmic axis to be of use. */
static const double LOG_X_RATIO = 4.0;
static const double LOG_Y_RATIO = 20.0;
/* Lines whose values are closer together than this do not start at 0: they would look flat. */
static const double CLOSE = 0.7;
/* Part of an axis that is left free at its ends. */
static const double ROOM = 0.05;

static ks_status take_label(ks_buf *text, char **out, ks_error *err)
{
    ks_status status = ks_buf_status(text, err);
    if (status == KS_OK) {
        *out = ks_strdup(ks_buf_text(text));
        status = *out != NULL ? KS_OK : ks_enomem(err);
    }
    ks_buf_fini(text);
    return status;
}

/* ---- x ----------------------------------------------------------------------------------------
 */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static ks_status find_ticks(ks_plot *p, ks_error *err)
{
    p->ticks = ks_calloc(p->point_count, sizeof *p->ticks);
    if (p->ticks == NULL) {
        return ks_enomem(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < p->point_count; i++) {
        if (!isnan(p->points[i].x)) {
            p->ticks[count++] = p->points[i].x;
        }
    }
    qsort(p->ticks, count, sizeof *p->ticks, compare_numbers);
    for (size_t i = 0; i < count; i++) {
        if (p->tick_count == 0 || p->ticks[i] != p->ticks[p->tick_count - 1]) {
            p->ticks[p->tick_count++] = p->ticks[i];
        }
    }
    return KS_OK;
}

/* Whether values are spaced more evenly by their ratios than by their differences. */
static bool is_geometric(const double *values, size_t count)
{
    if (count < 3 || values[0] <= 0.0 || values[count - 1] / values[0] < LOG_X_RATIO) {
        return false;
    }
    double steps[2] = {INFINITY, 0.0};
    double ratios[2] = {INFINITY, 0.0};
    for (size_t i = 1; i < count; i++) {
        double step = values[i] - values[i - 1];
        double ratio = log(values[i] / values[i - 1]);
        steps[0] = fmin(steps[0], step);
        steps[1] = fmax(steps[1], step);
        ratios[0] = fmin(ratios[0], ratio);
        ratios[1] = fmax(ratios[1], ratio);
    }
    return ratios[1] / ratios[0] < steps[1] / steps[0];
}

ks_status ks_plot_x_axis(ks_plot *plot, const char *name, ks_error *err)
{
    ks_buf label;
    ks_buf_init(&label, 1u << 20);
    ks_text_escape(&label, name != NULL ? name : "");
    KS_TRY(take_label(&label, &plot->x.label, err));
    KS_TRY(find_ticks(plot, err));
    ks_plot_axis *x = &plot->x;
    if (plot->categories.count > 0) {
        /* few bars do not become wide ones */
        double count = (double)plot->categories.count;
        double free = fmax(0.0, 4.0 / (double)plot->side_by_side - count) / 2.0;
        x->low = -0.6 - (plot->bars ? free : 0.0);
        x->high = count - 0.4 + (plot->bars ? free : 0.0);
        return KS_OK;
    }
    double low = plot->ticks[0];
    double high = plot->ticks[plot->tick_count - 1];
    x->log = is_geometric(plot->ticks, plot->tick_count);
    double factor = x->log ? pow(high / low, ROOM) : 1.0;
    double room = low < high ? (high - low) * ROOM : fmax(fabs(low), 1.0) * ROOM;
    x->low = x->log ? low / factor : low - room;
    x->high = x->log ? high * factor : high + room;
    return KS_OK;
}

/* ---- y ----------------------------------------------------------------------------------------
 */

static bool is_of(const ks_plot *p, size_t i, size_t metric)
{
    return p->points[i].panel / p->panels.count == metric && !isnan(p->points[i].y);
}

static ks_status scale_points(ks_plot *p, size_t metric, const ks_plot_y_spec *spec, ks_error *err)
{
    double *sizes = ks_calloc(p->point_count, sizeof *sizes);
    if (sizes == NULL) {
        return ks_enomem(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < p->point_count; i++) {
        if (is_of(p, i, metric) && p->points[i].y != 0.0) {
            sizes[count++] = p->points[i].y;
        }
    }
    ks_scale *scale = &p->metrics[metric].scale;
    *scale = ks_scale_for_all(spec->unit, sizes, count, spec->ascii);
    ks_free(sizes);
    for (size_t i = 0; i < p->point_count; i++) {
        if (is_of(p, i, metric)) {
            p->points[i].y /= scale->divisor;
            p->points[i].low /= scale->divisor;
            p->points[i].high /= scale->divisor;
        }
    }
    return KS_OK;
}

typedef struct extent {
    double low, high;       /* of values */
    double ci_low, ci_high; /* of values and intervals */
    double above_zero;      /* smallest such end of all these */
} extent;

static extent measure(const ks_plot *p, size_t metric)
{
    extent e = {INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY};
    for (size_t i = 0; i < p->point_count; i++) {
        const ks_plot_point *at = &p->points[i];
        if (!is_of(p, i, metric)) {
            continue;
        }
        e.low = fmin(e.low, at->y);
        e.high = fmax(e.high, at->y);
        e.ci_low = fmin(e.ci_low, fmin(at->y, at->low)); /* fmin() and fmax() ignore a NaN */
        e.ci_high = fmax(e.ci_high, fmax(at->y, at->high));
        e.above_zero = fmin(e.above_zero, at->y > 0.0 ? at->y : INFINITY);
        e.above_zero = fmin(e.above_zero, at->low > 0.0 ? at->low : INFINITY);
    }
    return e;
}

static void set_linear(const ks_plot *p, const extent *e, ks_plot_axis *axis)
{
    bool close = !p->bars && e->low > CLOSE * e->high;
    double low = close ? e->ci_low : fmin(e->ci_low, 0.0);
    double high = p->bars ? fmax(e->ci_high, 0.0) : e->ci_high;
    high = e->high < 0.0 ? fmax(high, 0.0) : high;
    double room = low < high ? (high - low) * ROOM : 1.0;
    axis->low = low < 0.0 || close ? low - room : low;
    axis->high = high != 0.0 || low == high ? high + room : high;
}

/* Both axes logarithmic: a power law is a straight line. */
static bool is_log(const ks_plot *p, const extent *e)
{
    return !p->bars && p->x.log && e->low > 0.0 && e->high / e->low >= LOG_Y_RATIO;
}

ks_status ks_plot_y_axis(ks_plot *plot, size_t metric, const ks_plot_y_spec *spec, ks_error *err)
{
    KS_TRY(scale_points(plot, metric, spec, err));
    ks_plot_metric *m = &plot->metrics[metric];
    extent e = measure(plot, metric);
    if (e.low > e.high) { /* no value at all */
        m->axis.high = 1.0;
    } else if (is_log(plot, &e)) {
        double factor = pow(e.ci_high / e.above_zero, ROOM);
        m->axis.log = true;
        m->axis.low = e.above_zero / factor;
        m->axis.high = e.ci_high * factor;
        for (size_t i = 0; i < plot->point_count; i++) {
            if (is_of(plot, i, metric) && plot->points[i].low <= 0.0) {
                plot->points[i].low = m->axis.low; /* below all that the axis can show */
            }
        }
    } else {
        set_linear(plot, &e, &m->axis);
    }
    ks_buf label;
    ks_buf_init(&label, 1u << 20);
    ks_text_escape(&label, m->name);
    if (spec->baseline != NULL) {
        ks_buf_add(&label, spec->inverse ? " (" : " (ratio to ");
        ks_text_escape(&label, spec->baseline);
        ks_buf_add(&label, spec->inverse ? " divided by each)" : ")");
    } else if (m->scale.unit[0] != '\0') {
        ks_buf_addf(&label, " (%s)", m->scale.unit);
    }
    return take_label(&label, &m->axis.label, err);
}
