/* What stands in the script for gnuplot. Case C20. */
#include "fakes/plot_fixture.h"

#include "output/plot_script.h"

static void quotes(const char *text, const char *expected)
{
    ks_buf to;
    ks_buf_init(&to, 1000);
    ks_plot_quote(text, &to);
    assert_string_equal(ks_buf_text(&to), expected);
    ks_buf_fini(&to);
}

static void every_text_is_quoted_so_that_it_stands_for_itself(void **state)
{
    (void)state;
    quotes("", "''");
    quotes("it's", "'it''s'");
    quotes("''", "''''''");
    quotes("`id` $(id) @x \"q\" a_b^c {x} 50%", "'`id` $(id) @x \"q\" a_b^c {x} 50%'");
    quotes("two\nlines\t\x1b[0m", "'two\\nlines\\t\\x1b[0m'");
    quotes("back\\slash\\", "'back\\slash\\'");
    quotes("\u00b5\u00d7", "'\u00b5\u00d7'");
}

static char *script_of(ks_plot_format format)
{
    ks_buf to;
    ks_buf_init(&to, 1u << 24);
    KT_OK(ks_plot_script(&plot, format, &options, &to, &err));
    char *copy = strdup(ks_buf_text(&to));
    ks_buf_fini(&to);
    assert_non_null(copy);
    return copy;
}

/* What is outside of single quotes. */
static char *unquoted(const char *script)
{
    char *out = calloc(strlen(script) + 1, 1);
    assert_non_null(out);
    size_t length = 0;
    bool inside = false;
    for (; *script != '\0'; script++) {
        assert_false(inside && *script == '\n'); /* a line ends outside of them */
        if (*script == '\'') {
            inside = !inside;
        } else if (!inside) {
            out[length++] = *script;
        }
    }
    assert_false(inside);
    return out;
}

static void names_never_get_out_of_their_quotes(void **state)
{
    (void)state;
    build("Annotation,Metric,evil'x,AvgValue,CI95_Lower,CI95_Upper,Unit\n"
          "\"evil'; `evil`\",evil'm,'evil`%d`,1,,,evil'u\n"
          "\"evil'; `evil`\",evil'm,\"evil\nexit\",2,1,3,evil'u\n"
          "evil\\,evil'm,'evil`%d`,1,,,evil'u\n");
    options.title = "evil' `evil`";
    for (ks_plot_format f = KS_PLOT_PNG; f <= KS_PLOT_TEXT; f++) {
        char *script = script_of(f);
        char *outside = unquoted(script);
        KT_HAS(script, "evil");
        assert_null(strstr(outside, "evil"));
        assert_null(strchr(outside, '`'));
        assert_null(strchr(outside, '%'));
        assert_null(strchr(script, '"'));
        assert_non_null(strstr(outside, "noenhanced"));
        free(outside);
        free(script);
    }
}

static void a_label_of_a_tic_is_no_format(void **state)
{
    (void)state;
    build(HEAD("mode,") "a,t,100%d,1,,,\na,t,x,2,,,\n");
    char *script = script_of(KS_PLOT_SVG);
    KT_HAS(script, "('100%%d' 0.0, 'x' 1.0)");
    free(script);
}

static void series_beyond_the_readable_are_counted_in_the_key(void **state)
{
    (void)state;
    char csv[8192] = HEAD("n,");
    for (int i = 0; i < 70; i++) {
        size_t used = strlen(csv);
        snprintf(csv + used, sizeof csv - used, "s%d,t,1,1,,,\ns%d,t,2,2,,,\n", i, i);
    }
    build(csv);
    char *script = script_of(KS_PLOT_SVG);
    KT_HAS(script, "'s59'");
    KT_HAS(script, "'and 10 more'");
    assert_null(strstr(script, "'s60'"));
    KT_HAS(script, "$s69 using 1:2 with linespoints"); /* drawn all the same */
    free(script);
}

/* ---- tics ---- */

/* The script's line about tics along x for so many values, each `ratio` times the last; "" for
 * none. */
static char *tics_of(double first, double ratio, int count)
{
    char csv[8192] = HEAD("n,");
    for (int i = 0; i < count; i++, first *= ratio) {
        size_t used = strlen(csv);
        snprintf(csv + used, sizeof csv - used, "a,t,%.17g,1,,,\n", first);
    }
    build(csv);
    char *script = script_of(KS_PLOT_SVG);
    const char *line = strstr(script, "set xtics (");
    char *copy = line != NULL ? strndup(line, strcspn(line, "\n")) : strdup("");
    free(script);
    assert_non_null(copy);
    return copy;
}

static void tics_are(double first, double ratio, int count, const char *start_of_line)
{
    char *line = tics_of(first, ratio, count);
    KT_HAS(line, start_of_line);
    free(line);
}

static void tics_are_the_values_where_these_can_be_read(void **state)
{
    (void)state;
    tics_are(1.0, 2.0, 21, "set xtics ('1' 1.0, '2' 2.0, '4' 4.0, ");
    tics_are(3000000.0, 2.0, 3, "set xtics ('3000000' 3000000.0, '6000000' 6000000.0, ");
    /* fractions are rounded, their places are not */
    tics_are(1.0 / 3.0, 2.0, 3, "set xtics ('0.333333' 0.3333333333333333, '0.666667' 0.66666");
    tics_are(12345.678901, 1.1, 20, "set xtics ('12345.7' 12345.678901, "); /* less than a decade */
    /* unless they would all be the same */
    tics_are(1.00000001, 1.00000001, 3, "set xtics ('1.00000001' 1.00000001, ");
}

static void many_fractions_have_round_tics(void **state)
{
    (void)state;
    char *line = tics_of(0.0011, 1.37, 40);
    assert_string_equal(line, "");
    free(line);
    char *script = script_of(KS_PLOT_SVG);
    KT_HAS(script, "set logscale x\n");
    KT_HAS(script, "set mxtics 10\n");
    free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(every_text_is_quoted_so_that_it_stands_for_itself),
        T(names_never_get_out_of_their_quotes),
        T(a_label_of_a_tic_is_no_format),
        T(series_beyond_the_readable_are_counted_in_the_key),
        T(tics_are_the_values_where_these_can_be_read),
        T(many_fractions_have_round_tics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
