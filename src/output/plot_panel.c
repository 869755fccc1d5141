#include <math.h>

#include "base/error.h"
#include "output/plot_writer.h"

/* Colours that colour-blind readers tell apart (Okabe and Ito 2008), without the yellow one, which
 * is too faint for a line. Further series have the same ones with other dashes, marks, patterns. */
static const char *const colors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#E69F00", "#56B4E9", "#000000"};
static const int marks[] = {7, 5, 9, 11, 13, 4, 6, 8, 10, 12};
static const int patterns[] = {3, 1, 4, 5, 2, 6, 7};
enum {
    COLORS = sizeof colors / sizeof colors[0],
    MARKS = sizeof marks / sizeof marks[0],
    DASHES = 5,
    PATTERNS = sizeof patterns / sizeof patterns[0],
    CROWDED = 60 /* points of a line that need no large marks */
};

/* The points of a panel and series, which lie together: [*first, *end). */
static void find_points(const ks_plot *p, size_t panel, size_t series, size_t *first, size_t *end)
{
    size_t low = 0;
    size_t high = p->point_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ks_plot_point *at = &p->points[middle];
        bool before = at->panel < panel || (at->panel == panel && at->series < series);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    *first = low;
    while (low < p->point_count && p->points[low].panel == panel &&
           p->points[low].series == series) {
        low++;
    }
    *end = low;
}

static double bar_width(const ks_plot *p)
{
    return 0.8 / (double)p->side_by_side;
}

/* Bars of the same category stand side by side. */
static double x_of(const ks_plot *p, const ks_plot_point *at)
{
    double middle = ((double)p->side_by_side - 1.0) / 2.0;
    double place = p->side_by_side > 1 ? (double)at->series : 0.0;
    return p->bars ? at->x + (place - middle) * bar_width(p) : at->x;
}

static void add_data(ks_plot_writer *w, size_t panel, size_t series)
{
    size_t first = 0;
    size_t end = 0;
    find_points(w->plot, panel, series, &first, &end);
    ks_buf_addf(w->to, "$s%zu << END\n", series);
    for (size_t i = first; i < end; i++) {
        const ks_plot_point *at = &w->plot->points[i];
        KS_PLOT_COMMAND(w, "% % % %", x_of(w->plot, at), at->y, at->low, at->high);
    }
    ks_plot_add(w, "END\n");
}

static void add_color(ks_plot_writer *w, size_t series)
{
    ks_buf_addf(w->to, " lc rgb '%s'", colors[series % COLORS]);
}

static void add_line_style(ks_plot_writer *w, size_t series, double size)
{
    size_t round = series / COLORS;
    if (w->format == KS_PLOT_TEXT) { /* points are letters from A on */
        ks_buf_addf(w->to, " with linespoints lt %zu pt %zu", series + 1, series % 26 + 1);
        return;
    }
    ks_buf_addf(w->to, " with linespoints dt %zu pt %d lw 1.6 ps ", round % DASHES + 1,
                marks[(series + round) % MARKS]);
    ks_plot_add_number(w, size);
    add_color(w, series);
}

static void add_bar_style(ks_plot_writer *w, size_t series)
{
    size_t round = series / COLORS;
    if (w->format == KS_PLOT_TEXT) {
        ks_buf_addf(w->to, " with boxes fs empty lt %zu", series + 1);
        return;
    }
    ks_buf_addf(w->to, " with boxes fs %s %d border lc rgb '%s'", round == 0 ? "solid" : "pattern",
                round == 0 ? 1 : patterns[round % PATTERNS], colors[series % COLORS]);
    add_color(w, series);
}

static void add_style(ks_plot_writer *w, size_t series, double size)
{
    if (w->plot->bars) {
        add_bar_style(w, series);
    } else {
        add_line_style(w, series, size);
    }
}

/* As arrows: gnuplot's own error bars clear a spot around the point. */
static void add_intervals(ks_plot_writer *w, size_t series)
{
    if (!w->plot->intervals) {
        return;
    }
    ks_buf_addf(w->to, "$s%zu using 1:3:(0):($4-$3) with vectors ", series);
    if (w->format == KS_PLOT_TEXT) {
        ks_buf_addf(w->to, "nohead lt %zu", series + 1);
    } else {
        ks_plot_add(w, "heads size screen ");
        ks_plot_add_number(w, 3.0 / w->layout.width);
        ks_plot_add(w, ",90 lw 1 dt 1");
        ks_buf_addf(w->to, " lc rgb '%s'", w->plot->bars ? "#303030" : colors[series % COLORS]);
    }
    ks_plot_add(w, " notitle, ");
}

/* Points lie above the intervals of their series, intervals above the bars. */
static void add_series(ks_plot_writer *w, size_t panel, size_t series)
{
    size_t first = 0;
    size_t end = 0;
    find_points(w->plot, panel, series, &first, &end);
    if (!w->plot->bars) {
        add_intervals(w, series);
    }
    ks_buf_addf(w->to, "$s%zu using 1:2", series);
    add_style(w, series, end - first > CROWDED ? 0.25 : 0.8);
    ks_plot_add(w, " notitle, ");
    if (w->plot->bars) {
        add_intervals(w, series);
    }
}

/* A bar that is missing is marked, a little above 0: nothing at all would look like 0. */
static void add_missing(ks_plot_writer *w, size_t panel)
{
    const ks_plot *p = w->plot;
    const ks_plot_axis *y = &p->metrics[panel / p->panels.count].axis;
    double up = w->format == KS_PLOT_TEXT ? w->layout.line : w->layout.line / 2.0;
    double at = (y->high - y->low) * up / w->layout.panel_height;
    ks_plot_add(w, "$m << END\n");
    for (size_t i = 0; i < p->point_count; i++) {
        if (p->points[i].panel == panel && isnan(p->points[i].y) && !isnan(p->points[i].x)) {
            KS_PLOT_COMMAND(w, "% %", x_of(p, &p->points[i]), at);
        }
    }
    ks_plot_add(w, "END\n");
}

static void add_key_entries(ks_plot_writer *w)
{
    for (size_t s = 0; s < w->layout.key_entries; s++) {
        ks_plot_add(w, "keyentry");
        add_style(w, s, 0.8);
        ks_plot_add(w, " title ");
        ks_plot_quote(w->series.texts[s], w->to);
        ks_plot_add(w, ", ");
    }
    if (w->layout.key_more > 0) {
        ks_buf_addf(w->to, "keyentry with lines lc rgb 'white' title 'and %zu more', ",
                    w->layout.key_more);
    }
}

static void add_plot(ks_plot_writer *w, size_t panel)
{
    const ks_plot *p = w->plot;
    for (size_t s = 0; s < p->series.count; s++) {
        add_data(w, panel, s);
    }
    if (p->bars) {
        add_missing(w, panel);
        KS_PLOT_COMMAND(w, "set boxwidth % absolute", bar_width(p) * 0.94);
    }
    ks_plot_add(w, "plot ");
    if (panel == 0 || w->format == KS_PLOT_TEXT) {
        add_key_entries(w);
    }
    for (size_t s = 0; s < p->series.count; s++) {
        add_series(w, panel, s);
    }
    if (p->bars) {
        ks_buf_addf(w->to, "$m using 1:2 with points pt %d ps 0.8 lc rgb '#303030' notitle, ",
                    w->format == KS_PLOT_TEXT ? 24 : 2); /* an X */
    }
    ks_plot_add(w,
                p->ratio ? "1 with lines dt 2 lw 1 lc rgb '#808080' notitle\n" : "NaN notitle\n");
}

static ks_status add_panel_title(ks_plot_writer *w, size_t panel, const char *y_label)
{
    const ks_plot *p = w->plot;
    const char *name = p->panels.texts[panel % p->panels.count];
    if (w->format != KS_PLOT_TEXT) {
        ks_plot_add(w, "set title ");
        KS_TRY(ks_plot_quote_short(w, name, w->layout.panel_width / w->layout.letter));
        ks_plot_add(w, " offset 0,-0.6\n");
        return KS_OK;
    }
    ks_buf title;
    ks_buf_init(&title, 1u << 20);
    ks_buf_add(&title, p->title);
    ks_buf_addf(&title, "%s%s", title.length > 0 ? ": " : "", y_label);
    ks_buf_addf(&title, "%s%s", name[0] != '\0' ? ", " : "", name);
    ks_status status = ks_buf_status(&title, w->err);
    if (status == KS_OK) {
        ks_plot_add(w, "set title ");
        status = ks_plot_quote_short(w, ks_buf_text(&title), w->layout.width - 2.0);
        ks_plot_add(w, "\n");
    }
    ks_buf_fini(&title);
    return status;
}

/* The place of a panel, and the labels that its neighbours do not show already. */
static ks_status place_panel(ks_plot_writer *w, size_t panel, const char *y_label)
{
    const ks_plot_layout *l = &w->layout;
    size_t count = w->plot->panels.count * w->plot->metric_count;
    size_t column = panel % l->columns;
    size_t row = panel / l->columns;
    double left = l->left + (double)column * l->across;
    double top = l->top + (double)row * l->down;
    KS_PLOT_COMMAND(w, "set lmargin at screen %\nset rmargin at screen %", left / l->width,
                    (left + l->panel_width) / l->width);
    KS_PLOT_COMMAND(w, "set tmargin at screen %\nset bmargin at screen %", 1.0 - top / l->height,
                    1.0 - (top + l->panel_height) / l->height);
    bool lowest = panel + l->columns >= count;
    bool leftmost = column == 0 || w->plot->panels.count == 1;
    ks_plot_add(w, "set xlabel ");
    KS_TRY(ks_plot_quote_short(w, lowest ? w->plot->x.label : "", l->panel_width / l->letter));
    ks_plot_add(w, "\nset ylabel ");
    KS_TRY(ks_plot_quote_short(w, leftmost ? y_label : "", l->panel_height / l->letter));
    ks_plot_add(w, "\n");
    return KS_OK;
}

ks_status ks_plot_panel(ks_plot_writer *w, size_t panel)
{
    const ks_plot_axis *y = &w->plot->metrics[panel / w->plot->panels.count].axis;
    ks_plot_add(w, y->log ? "set logscale y\n" : "unset logscale y\n");
    KS_PLOT_COMMAND(w, "set yrange [%:%]", y->low, y->high);
    ks_plot_add(w, y->low < 0.0 && y->high > 0.0 ? "set xzeroaxis lt 1 lc rgb '#606060'\n"
                                                 : "unset xzeroaxis\n");
    KS_TRY(add_panel_title(w, panel, y->label));
    if (w->format == KS_PLOT_TEXT) {
        ks_plot_add(w, "set xlabel ");
        KS_TRY(ks_plot_quote_short(w, w->plot->x.label, w->layout.panel_width));
        ks_plot_add(w, "\n");
    } else {
        KS_TRY(place_panel(w, panel, y->label));
    }
    add_plot(w, panel);
    ks_plot_add(w, "unset key\nunset label\n");
    return KS_OK;
}
