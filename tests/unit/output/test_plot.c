/* Plots: what is chosen, and what gnuplot makes of it. Case C30. */
#include "fakes/plot_fixture.h"

#include <math.h>
#include <unistd.h>

#include "base/error.h"
#include "output/plot.h"
#include "output/plot_fonts.h"

/* The table that is given cannot be plotted. */
#define REFUSES(status, part)                                               \
    do {                                                                    \
        ks_plot_fini(&plot);                                                \
        KT_FAILS(ks_plot_init(&plot, table, &options, &err), status, part); \
    } while (0)

static void texts_are(const ks_texts *texts, size_t count, const char *const *expected)
{
    assert_int_equal(texts->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(texts->texts[i], expected[i]);
    }
}
#define TEXTS(texts, ...)                                                      \
    texts_are((texts), sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
              (const char *[]){__VA_ARGS__})

/* ---- x ---- */

static void numbers_lie_in_their_order_and_a_geometric_axis_is_logarithmic(void **state) /* C30 b */
{
    (void)state;
    build(HEAD("n,") "a,t,1024,3,,,\na,t,128,1,,,\na,t,65536,8,,,\n");
    assert_false(plot.bars);
    assert_true(plot.x.log);
    assert_int_equal(plot.point_count, 3);
    const double expected[3][2] = {{128, 1}, {1024, 3}, {65536, 8}};
    for (size_t i = 0; i < 3; i++) {
        KT_F64(plot.points[i].x, expected[i][0]);
        KT_F64(plot.points[i].y, expected[i][1]);
        KT_F64(plot.ticks[i], expected[i][0]);
    }
    assert_string_equal(plot.x.label, "n");
}

static void texts_stay_in_the_order_they_were_given_in(void **state) /* C30 c */
{
    (void)state;
    build(HEAD("mode,") "a,t,slow,3,,,\na,t,fast,1,,,\na,t,medium,2,,,\n");
    assert_true(plot.bars);
    TEXTS(&plot.categories, "slow", "fast", "medium");
    KT_F64(plot.points[1].x, 1);
    KT_F64(plot.points[1].y, 1);
}

static void bars_along_numbers_are_in_their_order_too(void **state)
{
    (void)state;
    options.kind = KS_PLOT_BARS;
    build(HEAD("n,") "a,t,10,1,,,\na,t,9,2,,,\na,t,100,3,,,\n");
    TEXTS(&plot.categories, "9", "10", "100");
    KT_F64(plot.points[0].y, 2);
}

static void bars_of_series_that_never_meet_stand_in_the_middle(void **state)
{
    (void)state;
    build(HEAD("kind,") "ls,t,ls,3,,,\ncat,t,cat,1,,,\n");
    assert_int_equal(plot.series.count, 2);
    assert_int_equal(plot.side_by_side, 1);
    build(HEAD("kind,") "ls,t,x,3,,,\nls,t,y,2,,,\ncat,t,x,1,,,\n");
    assert_int_equal(plot.side_by_side, 2);
}

static void an_axis_is_logarithmic_where_ratios_are_more_even_than_steps(void **state)
{
    (void)state;
    static const struct {
        double x[4];
        size_t count;
        bool log;
    } cases[] = {
        {{64, 128, 256, 512}, 4, true}, {{1, 3, 6, 9}, 4, false},    {{10, 20, 30, 40}, 4, false},
        {{1, 2, 4}, 3, true},           {{0, 1, 2, 4}, 4, false},    {{-4, -2, -1}, 3, false},
        {{5, 5000}, 2, false},          {{100, 110, 121}, 3, false}, {{1, 10, 100, 1000}, 4, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char csv[512] = HEAD("n,");
        for (size_t k = 0; k < cases[i].count; k++) {
            size_t used = strlen(csv);
            snprintf(csv + used, sizeof csv - used, "a,t,%d,1,,,\n", (int)cases[i].x[k]);
        }
        build(csv);
        if (plot.x.log != cases[i].log) {
            fail_msg("case %zu: logarithmic: %d", i, plot.x.log);
        }
        assert_true(plot.x.low < cases[i].x[0]);
        assert_true(plot.x.high > cases[i].x[cases[i].count - 1]);
    }
}

static void a_single_config_is_a_bar(void **state) /* C30 a */
{
    (void)state;
    build(HEAD("n,") "gzip,t,64,5,4,6,ns\n");
    assert_true(plot.bars);
    TEXTS(&plot.categories, "gzip");
    assert_string_equal(plot.title, "n=64");
    assert_int_equal(plot.point_count, 1);
    KT_F64(plot.points[0].x, 0);
    KT_F64(plot.points[0].low, 4);
    KT_F64(plot.points[0].high, 6);
    assert_true(plot.x.low <= -0.5 && plot.x.high >= 0.5);
    KT_F64(plot.metrics[0].axis.low, 0);
    assert_true(plot.metrics[0].axis.high > 6);
}

/* ---- series and panels ---- */

static void the_number_with_the_most_values_lies_along_x_unless_another_is_named(void **state)
{
    (void)state;
    const char *csv =
        HEAD("k,n,mode,") "a,t,1,1,p,1,,,\na,t,1,2,q,2,,,\na,t,1,3,r,3,,,\na,t,2,1,s,4,,,\n";
    build(csv);
    assert_string_equal(plot.x.label, "n");
    options.x = "mode";
    build(csv);
    assert_string_equal(plot.x.label, "mode");
    TEXTS(&plot.categories, "p", "q", "r", "s");
    options.x = "nope";
    REFUSES(KS_ENOTFOUND, "there is no parameter 'nope' to plot; there are: k, n, mode");
    options.x = options.panels = "n";
    REFUSES(KS_EINVAL, "both along x");
}

static void annotations_are_series_and_a_second_parameter_has_panels(void **state)
{
    (void)state;
    build(HEAD(
        "n,mode,") "a,t,1,p,1,,,\na,t,2,p,2,,,\na,t,3,p,3,,,\na,t,1,q,4,,,\nb,t,1,p,5,,,\nb,t,3,q,6,,,\n");
    TEXTS(&plot.series, "a", "b");
    TEXTS(&plot.panels, "mode=p", "mode=q");
    assert_string_equal(plot.title, "");
    const ks_plot_point *last = &plot.points[plot.point_count - 1];
    assert_int_equal(last->panel, 1);
    assert_int_equal(last->series, 1);
    KT_F64(last->x, 3);
    KT_F64(last->y, 6);
}

static void one_annotation_makes_room_for_series_by_a_parameter(void **state)
{
    (void)state;
    build(HEAD("n,mode,") "a,t,1,p,1,,,\na,t,2,p,2,,,\na,t,3,p,3,,,\na,t,1,q,4,,,\n");
    TEXTS(&plot.series, "mode=p", "mode=q");
    TEXTS(&plot.panels, "");
    assert_string_equal(plot.title, "a");
    options.panels = "mode";
    build(HEAD("n,mode,") "a,t,1,p,1,,,\na,t,2,p,2,,,\na,t,3,p,3,,,\na,t,1,q,4,,,\n");
    TEXTS(&plot.series, "");
    TEXTS(&plot.panels, "mode=p", "mode=q");
}

static void a_parameter_that_goes_along_with_x_takes_no_part(void **state)
{
    (void)state;
    build(HEAD("n,zipped,") "a,t,1,p,1,,,\na,t,2,q,2,,,\na,t,3,r,3,,,\n");
    TEXTS(&plot.series, "");
    TEXTS(&plot.panels, "");
    assert_int_equal(plot.point_count, 3);
}

static void more_panels_than_can_be_read_are_refused(void **state)
{
    (void)state;
    char csv[4096] = HEAD("n,k,");
    for (int k = 0; k < 40; k++) {
        size_t used = strlen(csv);
        snprintf(csv + used, sizeof csv - used, "a,t,%d,%d,1,,,\na,t,%d,%d,1,,,\n", k, k, k + 1, k);
    }
    build(csv); /* none by itself: there would be too many */
    TEXTS(&plot.panels, "");
    options.panels = "k";
    REFUSES(KS_ELIMIT, "40 panels are more than 36");
}

/* ---- metrics and values ---- */

static void several_metrics_want_a_choice(void **state) /* C30 d */
{
    (void)state;
    const char *names[] = {"*ytes"};
    const char *wrong[] = {"time", "clocks"};
    given(HEAD("n,") "a,time,1,1,,,ns\na,bytes,1,2,,,byte\na,time,2,3,,,ns\na,bytes,2,4,,,byte\n");
    REFUSES(KS_EINVAL,
            "there are 2 metrics: name those to plot (--plot-metric), among time, bytes");
    options.metrics = wrong;
    options.metric_count = 2;
    REFUSES(KS_ENOTFOUND, "there is no metric 'clocks' to plot; measured: time, bytes");
    options.metrics = names;
    options.metric_count = 1;
    ks_plot_fini(&plot);
    KT_OK(ks_plot_init(&plot, table, &options, &err));
    assert_int_equal(plot.metric_count, 1);
    assert_string_equal(plot.metrics[0].name, "bytes");
    assert_int_equal(plot.point_count, 2);
    KT_F64(plot.points[1].y, 4);
}

static void each_named_metric_has_a_panel_in_its_own_unit(void **state)
{
    (void)state;
    const char *all[] = {"*"};
    options.metrics = all;
    options.metric_count = 1;
    build(HEAD("n,") "a,time,1,2500000,2000000,3000000,ns\na,bytes,1,64,,,byte\n"
                     "a,time,2,5000000,,,ns\na,bytes,2,32,,,byte\n");
    assert_int_equal(plot.metric_count, 2);
    assert_string_equal(plot.metrics[0].axis.label, "time (ms)");
    assert_string_equal(plot.metrics[1].axis.label, "bytes (B)");
    KT_NEAR(plot.points[0].y, 2.5, 1e-15);
    KT_NEAR(plot.points[0].low, 2.0, 1e-15);
    KT_NEAR(plot.points[0].high, 3.0, 1e-15);
    assert_true(isnan(plot.points[1].low));
    assert_int_equal(plot.points[2].panel, 1);
    KT_F64(plot.points[2].y, 64);
}

static void a_missing_value_is_a_gap_and_counted(void **state)
{
    (void)state;
    build(HEAD("n,") "a,t,1,5,,,\na,t,2,,,,\na,t,3,6,,,\nb,t,5,1,,,\n,t,4,,,,\n");
    TEXTS(&plot.series, "a", "b");
    assert_int_equal(plot.missing, 3); /* 2 of a; 4 of both, which never came to an annotation */
    assert_int_equal(plot.expected, 6);
    const double a[4][2] = {{1, 5}, {2, NAN}, {3, 6}, {4, NAN}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(plot.points[i].series, 0);
        KT_F64(plot.points[i].x, a[i][0]);
        KT_F64(plot.points[i].y, a[i][1]);
    }
    KT_F64(plot.points[4].x, 4);
    assert_true(isnan(plot.points[4].y));
    assert_false(plot.intervals);
    ks_plot_fini(&plot);
    given("Annotation,Metric,n,AvgValue,Failure\n,t,1,,the device said no\n");
    REFUSES(KS_ENOTFOUND, "there is no value to plot: the device said no");
}

static void ratios_say_so_and_can_be_turned_over(void **state) /* C30 e */
{
    (void)state;
    const char *csv =
        "Annotation,Metric,n,AvgValue,CI95_Lower,CI95_Upper,Normalized\n"
        "base,t,1,1,1,1,base\nfast,t,1,0.5,0.4,0.8,base\nbase,t,2,1,1,1,base\nfast,t,2,0,-1,1,base\n";
    build(csv);
    assert_true(plot.ratio);
    assert_string_equal(plot.metrics[0].axis.label, "t (ratio to base)");
    KT_F64(plot.points[2].y, 0.5);
    options.inverse = true;
    build(csv);
    assert_string_equal(plot.metrics[0].axis.label, "t (base divided by each)");
    KT_F64(plot.points[2].y, 2.0);
    KT_F64(plot.points[2].low, 1.25);
    KT_F64(plot.points[2].high, 2.5);
    assert_true(isnan(plot.points[3].y)); /* nothing is divided by 0 */
    given(HEAD("n,") "a,t,1,1,,,\n");
    REFUSES(KS_EINVAL, "needs a baseline");
}

/* ---- y ---- */

static void y_starts_at_0_but_for_lines_that_would_look_flat(void **state)
{
    (void)state;
    build(HEAD("n,") "a,t,1,10,,,\na,t,2,5,,,\na,t,3,8,,,\n");
    KT_F64(plot.metrics[0].axis.low, 0);
    build(HEAD("n,") "a,t,1,10,,,\na,t,2,9,8.9,9.1,\na,t,3,9.5,,,\n");
    assert_true(plot.metrics[0].axis.low > 8 && plot.metrics[0].axis.low < 8.9);
    options.kind = KS_PLOT_BARS;
    build(HEAD("n,") "a,t,1,10,,,\na,t,2,9,8.9,9.1,\na,t,3,9.5,,,\n");
    KT_F64(plot.metrics[0].axis.low, 0);
    assert_true(plot.metrics[0].axis.high > 10);
    build(HEAD("n,") "a,t,1,-3,-4,-2,\na,t,2,-1,,,\n");
    assert_true(plot.metrics[0].axis.low < -4);
    KT_F64(plot.metrics[0].axis.high, 0);
}

static void a_power_law_has_both_axes_logarithmic(void **state)
{
    (void)state;
    build(HEAD("n,") "a,t,1,1,-1,3,\na,t,10,100,90,110,\na,t,100,10000,9000,11000,\n");
    assert_true(plot.x.log && plot.metrics[0].axis.log);
    assert_true(plot.metrics[0].axis.low > 0 && plot.metrics[0].axis.low < 1);
    assert_true(plot.points[0].low > 0); /* what is below all can be drawn to the axis */
    assert_true(plot.metrics[0].axis.high > 11000);
    build(HEAD("n,") "a,t,1,0,,,\na,t,10,100,,,\na,t,100,10000,,,\n");
    assert_false(plot.metrics[0].axis.log); /* 0 has no place on it */
    build(HEAD("n,") "a,t,1,1,,,\na,t,10,3,,,\na,t,100,2,,,\n");
    assert_false(plot.metrics[0].axis.log);
}

/* ---- gnuplot ---- */

static ks_status draw(void *format, FILE *to, ks_error *e)
{
    return ks_plot_table(table, *(ks_plot_format *)format, &options, to, e);
}

static const char lines_csv[] =
    HEAD("n,") "a,t,1,1,0.5,1.5,ns\na,t,2,2,,,ns\na,t,4,,,,ns\nb,t,1,3,2,4,ns\nb,t,2,6,,,ns\n";

static void pictures_are_of_the_kind_that_their_names_say(void **state)
{
    (void)state;
    ks_plot_format format = KS_PLOT_SVG;
    given(lines_csv);
    KT_OK(ks_plot_format_of("a/b.c/x.PNG", &format, &err));
    assert_int_equal(format, KS_PLOT_PNG);
    char *bytes = kt_capture(draw, &format);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
    /* width and height, big-endian, behind "IHDR": twice the 800 pixels that the layout has */
    assert_memory_equal(bytes + 12, "IHDR\x00\x00\x06\x40", 8);
    free(bytes);
    KT_OK(ks_plot_format_of("x.pdf", &format, &err));
    bytes = kt_capture(draw, &format);
    assert_memory_equal(bytes, "%PDF-", 5);
    free(bytes);
    KT_OK(ks_plot_format_of("x.svg", &format, &err));
    bytes = kt_capture(draw, &format);
    KT_HAS(bytes, "<svg");
    KT_HAS(bytes, "1 of 5 values is missing.");
    free(bytes);
    KT_FAILS(ks_plot_format_of("x.gif", &format, &err), KS_EINVAL,
             "its name must end in .png, .svg or .pdf");
    KT_FAILS(ks_plot_format_of("png", &format, &err), KS_EINVAL, "cannot plot into png");
}

static void a_text_fits_its_width_and_has_no_loose_ends(void **state)
{
    (void)state;
    ks_plot_format format = KS_PLOT_TEXT;
    options.width = 60;
    options.ascii = true;
    given(HEAD("n,") "a,t,1,1000,,,ns\na,t,2,2000,,,ns\n\u00b5x,t,1,3000,,,ns\n");
    char *text = kt_capture(draw, &format);
    KT_HAS(text, "t (us)");
    assert_null(strchr(text, '\f'));
    assert_int_not_equal(text[0], '\n');
    size_t lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        lines++;
        assert_true(strlen(line) <= 61); /* the other name's letter has two bytes */
        assert_int_not_equal(line[strlen(line) - 1], ' ');
    }
    assert_true(lines >= 12 && lines <= 30);
    free(text);
}

static void characters_that_no_font_has_are_spelt(void **state)
{
    (void)state;
    build(HEAD("n,") "\U0010FFFDx\u00e9,t,1,1,,,\nb,t,1,1,,,\n"); /* a private one */
    KT_OK(ks_plot_spell_unknown(&plot, &err));
    TEXTS(&plot.categories, "\\u{10FFFD}x\u00e9", "b");
}

static void without_gnuplot_the_message_says_what_to_install(void **state)
{
    (void)state;
    ks_plot_format format = KS_PLOT_SVG;
    char *path = strdup(getenv("PATH"));
    given(lines_csv);
    setenv("PATH", "/nowhere", 1);
    ks_status checked = ks_plot_check_gnuplot(format, &err);
    assert_int_equal(checked, KS_UNAVAILABLE);
    KT_HAS(err.message, "apt-get install gnuplot-nox");
    ks_error_clear(&err);
    ks_status drawn = ks_plot_table(table, format, &options, stdout, &err);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(drawn, KS_UNAVAILABLE);
    KT_HAS(err.message, "plots need gnuplot, which is not installed");
}

/* All of a plot but for gnuplot. */
static ks_status prepare(void *csv, ks_error *e)
{
    ks_table *t = NULL;
    ks_plot p = {0};
    ks_buf to;
    ks_buf_init(&to, 1u << 24);
    ks_status status = read_table(csv, &t, e);
    if (status == KS_OK) {
        status = ks_plot_init(&p, t, &options, e);
    }
    if (status == KS_OK) {
        status = ks_plot_spell_unknown(&p, e);
    }
    if (status == KS_OK) {
        status = ks_plot_script(&p, KS_PLOT_SVG, &options, &to, e);
    }
    ks_buf_fini(&to);
    ks_plot_fini(&p);
    ks_table_free(t);
    return status;
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    char lines[] = HEAD("n,mode,") "a,t,1,p,1,0.5,1.5,ns\nb,t,2,p,2,,,ns\nb,t,2,q,,,,ns\n";
    char bars[] = HEAD("mode,") "a,t,p,1,0.5,1.5,ns\nb,t,q,2,,,ns\nc,t,\U0010FFFD,1,,,ns\n";
    assert_true(kt_oom_sweep(prepare, lines) > 50);
    assert_true(kt_oom_sweep(prepare, bars) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(numbers_lie_in_their_order_and_a_geometric_axis_is_logarithmic),
        T(texts_stay_in_the_order_they_were_given_in),
        T(bars_along_numbers_are_in_their_order_too),
        T(bars_of_series_that_never_meet_stand_in_the_middle),
        T(an_axis_is_logarithmic_where_ratios_are_more_even_than_steps),
        T(a_single_config_is_a_bar),
        T(the_number_with_the_most_values_lies_along_x_unless_another_is_named),
        T(annotations_are_series_and_a_second_parameter_has_panels),
        T(one_annotation_makes_room_for_series_by_a_parameter),
        T(a_parameter_that_goes_along_with_x_takes_no_part),
        T(more_panels_than_can_be_read_are_refused),
        T(several_metrics_want_a_choice),
        T(each_named_metric_has_a_panel_in_its_own_unit),
        T(a_missing_value_is_a_gap_and_counted),
        T(ratios_say_so_and_can_be_turned_over),
        T(y_starts_at_0_but_for_lines_that_would_look_flat),
        T(a_power_law_has_both_axes_logarithmic),
        T(pictures_are_of_the_kind_that_their_names_say),
        T(a_text_fits_its_width_and_has_no_loose_ends),
        T(characters_that_no_font_has_are_spelt),
        T(without_gnuplot_the_message_says_what_to_install),
        T(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
