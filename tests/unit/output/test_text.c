/* Texts on a terminal: widths, escapes, shortening, scales, grids. */
#include "harness.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "output/grid.h"
#include "output/scale.h"
#include "output/text.h"

static ks_error err;

static void widths_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(ks_text_width("abc"), 3);
    assert_int_equal(ks_text_width("\u00b5s"), 2);
    assert_int_equal(ks_text_width("日本語"), 6);
    assert_int_equal(ks_text_width("e\u0301"), 1); /* a combining accent */
    assert_int_equal(ks_text_width("🚀"), 2);
    assert_string_equal(setlocale(LC_ALL, NULL), "C"); /* the host's locale is as it was */
}

static void control_characters_are_shown(void **state)
{
    (void)state;
    ks_buf text;
    ks_buf_init(&text, 100);
    ks_text_escape(&text, "a\nb\tc\x1b[31m\xc2\x85é");
    assert_string_equal(ks_buf_text(&text), "a\\nb\\tc\\x1b[31m\\x85é");
    ks_buf_fini(&text);
}

/* Shorten, and join with '|'. */
static const char *elide(size_t width, bool ascii, size_t n, const char *const *texts)
{
    static char joined[1024];
    char *copies[16];
    ks_error_clear(&err);
    for (size_t i = 0; i < n; i++) {
        copies[i] = ks_strdup(texts[i]);
    }
    KT_OK(ks_text_elide(copies, n, width, ascii, &err));
    joined[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        assert_true(ks_text_width(copies[i]) <= width);
        strcat(joined, i > 0 ? "|" : "");
        strcat(joined, copies[i]);
        ks_free(copies[i]);
    }
    return joined;
}

static void names_are_shortened_in_their_middle(void **state)
{
    (void)state;
    const char *const one[] = {"void a_long_kernel_name<float, 4>(int)", "short"};
    assert_string_equal(elide(11, false, 2, one), "void …(int)|short");
    assert_string_equal(elide(11, true, 2, one), "void...int)|short");
    assert_string_equal(elide(80, false, 2, one), "void a_long_kernel_name<float, 4>(int)|short");
}

static void names_that_differ_still_differ_when_shortened(void **state) /* C19 in kind */
{
    (void)state;
    const char *const ends[] = {"kernel_aaaaaaaaaaaaaaaaaaaa<1>", "kernel_aaaaaaaaaaaaaaaaaaaa<2>"};
    assert_string_equal(elide(10, false, 2, ends), "kerne…a<1>|kerne…a<2>");
    const char *const middles[] = {"aaaaaaaaaaaaXbbbbbbbbbbbbbbb", "aaaaaaaaaaaaYbbbbbbbbbbbbbbb"};
    assert_string_equal(elide(15, false, 2, middles), "aaaaaaaaaaaaX…b|aaaaaaaaaaaaY…b");
    const char *const hidden[] = {"aaaaaaaaaaaaaaaaaaXbbbbbbbbbbbbbbbbbbb",
                                  "aaaaaaaaaaaaaaaaaaYbbbbbbbbbbbbbbbbbbb",
                                  "aaaaaaaaaaaaaaaaaaXbbbbbbbbbbbbbbbbbbb"};
    assert_string_equal(elide(10, false, 3, hidden), "aaaaa…bb#1|aaaaa…bb#2|aaaaa…bb#1");
}

static void wide_characters_are_never_cut(void **state)
{
    (void)state;
    const char *const wide[] = {"日本語日本語日本語日本語"};
    const char *text = elide(9, false, 1, wide);
    assert_string_equal(text, "日本…本語"); /* 2 + 1 + 2 characters, 9 columns */
}

static const char *scaled(double number, double half, const char *unit, double typical)
{
    static char text[128];
    char digits[KS_NUM_MAX];
    ks_scale scale = ks_scale_for(unit, typical, true);
    number /= scale.divisor;
    ks_num_fixed(number, ks_decimals(number, half / scale.divisor), digits);
    snprintf(text, sizeof text, "%s %s", digits, scale.unit);
    return text;
}

static void units_are_scaled_for_people(void **state)
{
    (void)state;
    assert_string_equal(scaled(512, 3, "ns", 512), "512.0 ns");
    assert_string_equal(scaled(51234, 310, "ns", 51234), "51.23 us");
    assert_string_equal(scaled(5.1234e7, NAN, "ns", 5e7), "51.23 ms");
    assert_string_equal(scaled(1e7, 1e4, "ns", 1e10), "0.010000 s"); /* the column's scale */
    assert_string_equal(scaled(134217728, 0, "byte", 1.3e8), "134.218 MB");
    assert_string_equal(scaled(98304, 0, "byte", 1e5), "98.304 kB"); /* no more than there are */
    assert_string_equal(scaled(0.00125, 0, "s", 0.001), "1.25 ms");
    assert_string_equal(scaled(2.5e9, 1e8, "byte/second", 2.5e9), "2.50 GB/s");
    assert_string_equal(scaled(1.5e6, 0, "inst", 1.5e6), "1.5 M inst");
    assert_string_equal(scaled(12.3456, 0.2, "GFLOP/s", 12), "12.35 GFLOP/s");
    assert_string_equal(scaled(99.5, 0.25, "%", 99), "99.50 %");
    assert_string_equal(scaled(3, 0, NULL, 3), "3 ");
    assert_string_equal(ks_scale_for("ns", 5e4, false).unit, "\u00b5s");
}

static ks_status print_grid(void *grid, FILE *to, ks_error *e)
{
    ks_print_options options = KS_PRINT_OPTIONS_INIT;
    options.width = 24;
    return ks_grid_print(grid, to, &options, e);
}

static void a_grid_fits_its_width(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "name", "n", "a very long name that must give way", "1", "b", "100", "é", ""};
    ks_grid grid;
    ks_error_clear(&err);
    ks_grid_init(&grid, 1);
    KT_OK(ks_grid_add_column(&grid, false, true, &err));
    KT_OK(ks_grid_add_column(&grid, true, false, &err));
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        KT_OK(ks_grid_add_cell(&grid, cells[i], &err));
    }
    char *text = kt_capture(print_grid, &grid);
    assert_string_equal(text, "name                   n\n"
                              "a very lo… give way    1\n"
                              "b                    100\n"
                              "é\n");
    free(text);
    ks_grid_fini(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_a_terminal),
        cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test(names_are_shortened_in_their_middle),
        cmocka_unit_test(names_that_differ_still_differ_when_shortened),
        cmocka_unit_test(wide_characters_are_never_cut),
        cmocka_unit_test(units_are_scaled_for_people),
        cmocka_unit_test(a_grid_fits_its_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
