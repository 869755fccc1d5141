#include "output/plot_script.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "output/plot_writer.h"
#include "output/text.h"

enum {
    EXACT_TICKS = 12, /* where there are more, gnuplot may choose */
    LABEL_DIGITS = 6  /* of numbers that are not whole */
};

/* ---- words ------------------------------------------------------------------------------------
 */

/* @param[in] percent  what stands for a percent sign */
static void add_quoted(const char *text, const char *percent, ks_buf *to)
{
    ks_buf shown;
    ks_buf_init(&shown, 1u << 20);
    ks_text_escape(&shown, text);
    if (shown.failed) {
        to->failed = true;
    }
    ks_buf_add_char(to, '\'');
    for (const char *at = ks_buf_text(&shown); *at != '\0'; at++) {
        if (*at == '%') {
            ks_buf_add(to, percent);
        } else {
            ks_buf_add(to, *at == '\'' ? "''" : (const char[]){*at, '\0'});
        }
    }
    ks_buf_add_char(to, '\'');
    ks_buf_fini(&shown);
}

void ks_plot_quote(const char *text, ks_buf *to)
{
    add_quoted(text, "%", to);
}

/* The label of a tic is a format for its position. */
static void quote_tic(const char *text, ks_buf *to)
{
    add_quoted(text, "%%", to);
}

void ks_plot_add_number(ks_plot_writer *w, double number)
{
    if (isnan(number)) {
        ks_buf_add(w->to, "NaN");
    } else {
        ks_buf_add_f64(w->to, number);
    }
}

/* A command of which numbers are parts: "set x %:%" has two. */
void ks_plot_command(ks_plot_writer *w, const char *text, const double *numbers)
{
    for (; *text != '\0'; text++) {
        if (*text == '%') {
            ks_plot_add_number(w, *numbers++);
        } else {
            ks_buf_add_char(w->to, *text);
        }
    }
    ks_buf_add_char(w->to, '\n');
}

void ks_plot_add(ks_plot_writer *w, const char *text)
{
    ks_buf_add(w->to, text);
}

/* A text that takes at most `width` characters. */
ks_status ks_plot_quote_short(ks_plot_writer *w, const char *text, double width)
{
    char *copy = ks_strdup(text);
    if (copy == NULL) {
        return ks_enomem(w->err);
    }
    size_t limit = width > 8.0 ? (size_t)width : 8;
    ks_status status = ks_text_elide(&copy, 1, limit, w->options->ascii, w->err);
    if (status == KS_OK) {
        ks_plot_quote(copy, w->to);
    }
    ks_free(copy);
    return status;
}

static ks_status shorten(ks_plot_writer *w, const ks_texts *from, size_t width, ks_texts *to)
{
    for (size_t i = 0; i < from->count; i++) {
        KS_TRY(ks_texts_add(to, from->texts[i], w->err));
    }
    return ks_text_elide(to->texts, to->count, width, w->options->ascii, w->err);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

void ks_plot_terminal(ks_plot_format format, double width, double height, ks_buf *to)
{
    ks_plot_writer w = {.to = to};
    switch (format) {
    case KS_PLOT_PNG: /* twice as fine, for screens that show that */
        KS_PLOT_COMMAND(&w,
                        "set terminal pngcairo noenhanced font 'Sans,10.5' fontscale 2 linewidth 2 "
                        "pointscale 2 background rgb 'white' size %,%",
                        2.0 * width, 2.0 * height);
        break;
    case KS_PLOT_SVG:
        KS_PLOT_COMMAND(
            &w,
            "set terminal svg noenhanced font 'DejaVu Sans,Helvetica,Arial,sans-serif,13' "
            "background rgb 'white' dynamic size %,%",
            width, height);
        break;
    case KS_PLOT_PDF:
        KS_PLOT_COMMAND(
            &w,
            "set terminal pdfcairo noenhanced font 'Sans,7.5' fontscale 1 linewidth 1.4 "
            "background rgb 'white' size %in,%in",
            width / 100.0, height / 100.0);
        break;
    case KS_PLOT_TEXT:
        KS_PLOT_COMMAND(&w, "set terminal dumb noenhanced nofeed size %,%", width, height);
        break;
    }
}

static void add_look(ks_plot_writer *w)
{
    bool text = w->format == KS_PLOT_TEXT;
    ks_plot_add(w, "set style fill solid 1 noborder\n"
                   "set format y '%h'\n"
                   "set tics nomirror\n"
                   "unset key\n");
    if (!text) {
        ks_plot_add(w, "set border 3 lc rgb '#606060' lw 1\n"
                       "set tics out scale 0.5 textcolor rgb '#303030'\n"
                       "set mxtics 1\n"
                       "set grid ytics lt 1 lc rgb '#e4e4e4' lw 0.8\n"
                       "set multiplot\n");
        if (!w->plot->bars) {
            ks_plot_add(w, "set grid xtics\n");
        }
    }
}

static void add_tic(ks_plot_writer *w, const char *label, double at, bool first)
{
    ks_plot_add(w, first ? "" : ", ");
    quote_tic(label, w->to);
    ks_buf_add_char(w->to, ' ');
    ks_plot_add_number(w, at);
}

/* Labels of categories, of every k-th where there is no room for all. */
static void add_category_tics(ks_plot_writer *w)
{
    const ks_plot *p = w->plot;
    double slot = w->layout.panel_width / (p->x.high - p->x.low);
    double needed = w->format == KS_PLOT_TEXT ? 0.0 : w->layout.line;
    for (size_t i = 0; w->format == KS_PLOT_TEXT && i < w->categories.count; i++) {
        needed = fmax(needed, (double)ks_text_width(w->categories.texts[i]) + 1.0);
    }
    size_t step = needed > slot ? (size_t)ceil(needed / slot) : 1;
    ks_plot_add(w, w->layout.tilted ? "set xtics rotate by 40 right (" : "set xtics scale 0 (");
    for (size_t i = 0; i < w->categories.count; i += step) {
        add_tic(w, w->categories.texts[i], (double)i, i == 0);
    }
    ks_plot_add(w, ")\n");
}

static bool is_whole(double number)
{
    return number == round(number);
}

/* Whole numbers stay as they are: they are what somebody asked for. */
static double round_to(double number, int digits)
{
    int decimals = is_whole(number) ? 0 : digits - 1 - (int)floor(log10(fabs(number)));
    double power = pow(10.0, fmax(decimals, 0.0));
    return decimals <= 22 ? round(number * power) / power : number; /* 1e22 is exact, as a double */
}

/* LABEL_DIGITS, or as many as tell the values apart. */
static int label_digits(const ks_plot *p)
{
    int digits = LABEL_DIGITS;
    for (size_t i = 1; i < p->tick_count; i++) {
        while (digits < 17 && round_to(p->ticks[i], digits) == round_to(p->ticks[i - 1], digits)) {
            digits++;
        }
    }
    return digits;
}

/* Of many values gnuplot's own tics, which are round numbers; but 1, 2, 4 ... on a logarithmic axis
 * are round too, and on a short one gnuplot finds none. */
static bool takes_own_tics(const ks_plot *p)
{
    bool whole = true;
    for (size_t i = 0; i < p->tick_count; i++) {
        whole = whole && is_whole(p->ticks[i]);
    }
    bool two_powers = p->x.log && floor(log10(p->x.high)) > ceil(log10(p->x.low));
    return p->tick_count > EXACT_TICKS && (!p->x.log || (!whole && two_powers));
}

/* Tics where the values are: labelled as far as the labels do not touch. */
static void add_number_tics(ks_plot_writer *w)
{
    const ks_plot *p = w->plot;
    if (takes_own_tics(p)) {
        ks_plot_add(w, p->x.log && w->format != KS_PLOT_TEXT ? "set mxtics 10\n" : "");
        return;
    }
    int digits = label_digits(p);
    double free_from = -INFINITY;
    ks_plot_add(w, "set xtics (");
    for (size_t i = 0; i < p->tick_count; i++) {
        char label[KS_NUM_MAX];
        double half = (double)(ks_num_f64_plain(round_to(p->ticks[i], digits), label) + 2) *
                      w->layout.letter / 1.8;
        double at = ks_plot_x_at(p, &w->layout, p->ticks[i]);
        bool fits = at - half >= free_from;
        add_tic(w, fits ? label : "", p->ticks[i], i == 0);
        free_from = fits ? at + half : free_from;
    }
    ks_plot_add(w, ")\n");
}

static void add_x_axis(ks_plot_writer *w)
{
    const ks_plot *p = w->plot;
    ks_plot_add(w, p->x.log ? "set logscale x\n" : "");
    KS_PLOT_COMMAND(w, "set xrange [%:%]", p->x.low, p->x.high);
    if (p->categories.count > 0) {
        add_category_tics(w);
    } else {
        add_number_tics(w);
    }
}

void ks_plot_caption(const ks_plot *p, ks_plot_format format, const ks_plot_options *options,
                     ks_buf *to)
{
    const char *mark = format == KS_PLOT_TEXT ? " (X)" : options->ascii ? " (x)" : " (\u00d7)";
    size_t before = to->length;
    if (p->intervals) {
        ks_buf_add(to, "Error bars: 95 % confidence interval of the mean.");
    }
    if (p->missing > 0) {
        ks_buf_addf(to, "%s%zu of %zu values %s missing%s.", to->length > before ? " " : "",
                    p->missing, p->expected, p->missing == 1 ? "is" : "are", p->bars ? mark : "");
    }
    if (p->planned > 0) {
        ks_buf_addf(to, "%sPartial: %lld of %lld configs are finished.",
                    to->length > before ? " " : "", (long long)p->finished, (long long)p->planned);
    }
    if (to->length > before && format == KS_PLOT_TEXT) {
        ks_buf_add_char(to, '\n');
    }
}

/* Title and caption of a picture, placed on the whole of it. */
static ks_status add_frame(ks_plot_writer *w)
{
    const ks_plot_layout *l = &w->layout;
    if (w->plot->title[0] != '\0') {
        ks_plot_add(w, "set label 1 ");
        KS_TRY(ks_plot_quote_short(w, w->plot->title, (l->width - l->left) / (l->letter * 1.2)));
        ks_plot_add(w, w->format == KS_PLOT_PDF ? " font ',11' " : " font ',13' ");
        KS_PLOT_COMMAND(w, "left at screen %,%", l->left / l->width, 1.0 - l->title / l->height);
    }
    ks_buf caption;
    ks_buf_init(&caption, 4096);
    ks_plot_caption(w->plot, w->format, w->options, &caption);
    ks_status status = ks_buf_status(&caption, w->err);
    if (status == KS_OK && caption.length > 0) {
        ks_plot_add(w, "set label 2 ");
        ks_plot_quote(ks_buf_text(&caption), w->to);
        ks_plot_add(w, w->format == KS_PLOT_PDF ? " font ',7' " : " font ',9' ");
        KS_PLOT_COMMAND(w, "left textcolor rgb '#606060' at screen %,%", l->left / l->width,
                        1.0 - l->caption / l->height);
    }
    ks_buf_fini(&caption);
    return status;
}

static void add_key(ks_plot_writer *w)
{
    const ks_plot_layout *l = &w->layout;
    if (l->key_entries == 0) {
        return;
    }
    if (w->format == KS_PLOT_TEXT) {
        ks_plot_add(w, "set key below left Left reverse\n");
        return;
    }
    KS_PLOT_COMMAND(w, "set key at screen %,% left top Left reverse vertical samplen 3",
                    (l->left - 12.0) / l->width, 1.0 - l->key / l->height);
    ks_buf_addf(w->to, "set key maxrows %zu spacing %s\n", l->key_rows,
                w->format == KS_PLOT_SVG ? "0.95" : "1.15");
}

static ks_status write_script(ks_plot_writer *w)
{
    const ks_plot *p = w->plot;
    KS_TRY(shorten(w, &p->series, KS_PLOT_SERIES_MAX, &w->series));
    KS_TRY(shorten(w, &p->categories, KS_PLOT_CATEGORY_MAX, &w->categories));
    ks_plot_add(w, "set encoding utf8\n");
    ks_plot_terminal(w->format, w->layout.width, w->layout.height, w->to);
    add_look(w);
    add_x_axis(w);
    add_key(w);
    if (w->format != KS_PLOT_TEXT) {
        KS_TRY(add_frame(w));
    }
    for (size_t panel = 0; panel < p->panels.count * p->metric_count; panel++) {
        KS_TRY(ks_plot_panel(w, panel));
    }
    ks_plot_add(w, w->format != KS_PLOT_TEXT ? "unset multiplot\n" : "");
    return ks_buf_status(w->to, w->err);
}

ks_status ks_plot_script(const ks_plot *plot, ks_plot_format format, const ks_plot_options *options,
                         ks_buf *to, ks_error *err)
{
    ks_plot_writer w = {.plot = plot,
                        .format = format,
                        .options = options,
                        .layout = ks_plot_layout_for(plot, format, options),
                        .to = to,
                        .err = err};
    ks_status status = write_script(&w);
    ks_texts_fini(&w.series);
    ks_texts_fini(&w.categories);
    return status;
}
