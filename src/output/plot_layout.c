#include "output/plot_layout.h"

#include <math.h>

#include "output/text.h"

enum {
    KEY_MAX = 60 /* entries that can be told apart */
};

static const double SIN_TILT = 0.64; /* of 40 degrees */
static const double COS_TILT = 0.77;
static const double MARGIN = 106.0; /* left of the axes: a label and the numbers of tics */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double widest(const ks_texts *texts, size_t limit)
{
    size_t width = 0;
    for (size_t i = 0; i < texts->count; i++) {
        size_t of_one = ks_text_width(texts->texts[i]);
        width = of_one > width ? of_one : width;
    }
    return (double)(width < limit ? width : limit);
}

double ks_plot_x_at(const ks_plot *plot, const ks_plot_layout *layout, double x)
{
    const ks_plot_axis *a = &plot->x;
    double part =
        a->log ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);
    return part * layout->panel_width;
}

/* Columns of panels: a column per value where a row per metric fits, else near a square. */
static size_t choose_columns(const ks_plot *plot)
{
    size_t values = plot->panels.count;
    size_t metrics = plot->metric_count;
    if (values > 1 && metrics > 1) {
        return values;
    }
    size_t count = values * metrics;
    return count <= 3 ? count : count == 4 ? 2 : count <= 9 ? 3 : 4;
}

static void lay_key(const ks_plot *plot, ks_plot_layout *l, double room)
{
    size_t count = plot->series.count;
    /* gnuplot takes letters for wider than they are */
    /* gnuplot takes letters for wider than they are */
    double entry = widest(&plot->series, KS_PLOT_SERIES_MAX) * 1.4 * l->letter + 62.0;
    l->key_entries = count > 1 ? (count < KEY_MAX ? count : KEY_MAX) : 0;
    l->key_more = count - (count > 1 ? l->key_entries : count);
    size_t columns = (size_t)fmax(1.0, floor(room / entry));
    l->key_rows = (l->key_entries + (l->key_more > 0 ? 1 : 0) + columns - 1) / columns;
}

static void size_panels(const ks_plot *plot, ks_plot_layout *l)
{
    static const double widths[] = {670.0, 400.0, 310.0, 270.0};
    static const double heights[] = {370.0, 270.0, 220.0, 200.0};
    size_t at = l->columns < 4 ? l->columns - 1 : 3;
    l->panel_width = widths[at];
    l->panel_height = heights[at];
    double slot = l->panel_width / (plot->x.high - plot->x.low);
    l->tilted = plot->categories.count > 0 &&
                (widest(&plot->categories, KS_PLOT_CATEGORY_MAX) + 1.0) * l->letter > slot;
}

static ks_plot_layout lay_picture(const ks_plot *plot, bool caption)
{
    ks_plot_layout l = {.letter = 7.0, .line = 18.0, .columns = choose_columns(plot)};
    size_panels(plot, &l);
    size_t count = plot->panels.count * plot->metric_count;
    size_t rows = (count + l.columns - 1) / l.columns;
    double name = (widest(&plot->categories, KS_PLOT_CATEGORY_MAX) + 2.0) * l.letter;
    double names = l.tilted ? name * SIN_TILT : 10.0;
    double below = names + 20.0 + (plot->x.label[0] != '\0' ? l.line + 6.0 : 0.0);
    double above = plot->panels.count > 1 ? l.line + 8.0 : 10.0;
    l.left = l.tilted ? fmax(MARGIN, name * COS_TILT) : MARGIN;
    l.across = l.panel_width + l.left;
    l.down = l.panel_height + above + below;
    l.width = (double)l.columns * l.across + 24.0;
    lay_key(plot, &l, l.width - l.left);
    l.title = 22.0;
    l.key = plot->title[0] != '\0' ? 36.0 : 8.0;
    l.top = l.key + (double)l.key_rows * (l.line + 1.0) + (l.key_entries > 0 ? 8.0 : 0.0) + above;
    double end = l.top - above + (double)rows * l.down;
    l.caption = end + 12.0;
    l.height = end + (caption ? 24.0 : 6.0);
    return l;
}

/* A text has a panel below the other, each with a key of its own; gnuplot places them. */
static ks_plot_layout lay_text(const ks_plot *plot, const ks_plot_options *options)
{
    ks_plot_layout l = {.letter = 1.0, .line = 1.0, .columns = 1};
    l.width = smaller(options->width > 0 ? (double)options->width : 80.0, 1000.0);
    l.width = fmax(l.width, 40.0);
    l.panel_width = l.width - 12.0;
    lay_key(plot, &l, l.panel_width - 40.0);
    l.height = fmax(14.0, smaller(24.0, floor(l.width / 4.0))) + (double)l.key_entries;
    l.height =
        options->height > 0 ? fmax(10.0, smaller((double)options->height, 1000.0)) : l.height;
    l.panel_height = l.height - 6.0;
    return l;
}

ks_plot_layout ks_plot_layout_for(const ks_plot *plot, ks_plot_format format,
                                  const ks_plot_options *options)
{
    bool caption = plot->intervals || plot->missing > 0 || plot->planned > 0;
    return format == KS_PLOT_TEXT ? lay_text(plot, options) : lay_picture(plot, caption);
}
