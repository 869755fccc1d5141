/* Long names: case C19. Files have them whole; tables shorten them, and they stay distinct. */
#include "harness.h"

#include <stdlib.h>

#include "api/run.h"
#include "fakes/fake_collector.h"
#include "output/text.h"

enum {
    LONG = 4500
};

static ks_error err;
static ks_results *results;

/* Two instances of a template that differ in one digit, behind 4,500 characters. */
static char kernels[2][LONG + 64];

/* Two regions that differ in the middle. */
static char regions[2][2 * LONG + 64];

static void make_names(void)
{
    char filler[LONG + 1];
    for (size_t i = 0; i < LONG; i++) {
        filler[i] = "abcdefghij::"[i % 12];
    }
    filler[LONG] = '\0';
    for (size_t i = 0; i < 2; i++) {
        snprintf(kernels[i], sizeof kernels[i], "void %s<float; %zu>(int)", filler, i + 1);
        snprintf(regions[i], sizeof regions[i], "%s %zu %s", filler, i + 1, filler);
    }
}

static ks_status body(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    for (size_t i = 0; i < 2; i++) {
        ks_token token = KS_TOKEN_INIT;
        KT_OK(ks_annotate_begin(regions[i], &token, e));
        fake_launch(kernels[i], 1000, 8, 50);
        KT_OK(ks_annotate_end(token, e));
    }
    KS_ANNOTATE("short") {
        fake_launch("_ZN6brokenI", 1000, 8, 50); /* no demangler can read it */
        fake_launch("plain_c", 1000, 8, 50);
    }
    return KS_OK;
}

static int start(void **state)
{
    ks_plan *plan = NULL;
    (void)state;
    ks_error_clear(&err);
    fake_reset((fake_script){0});
    make_names();
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_metric(plan, "fake__duration.sum", &err));
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_run_with(fake_collectors, plan, body, NULL, &results, &err));
    ks_plan_free(plan);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ks_results_free(results);
    return 0;
}

static void has(const ks_table *table, size_t row, const char *column, const char *expected)
{
    assert_string_equal(ks_table_text(table, row, ks_table_find(table, column)), expected);
}

static void csv_has_names_whole(void **state) /* C19 */
{
    (void)state;
    ks_table *read = NULL;
    ks_table *launches = NULL;
    KT_OK(ks_results_write_csv(results, kt_path("rows.csv"), &err));
    KT_OK(ks_table_read_csv(kt_path("rows.csv"), &read, &err));
    has(read, 0, "Annotation", regions[0]);
    has(read, 0, "Kernel", kernels[0]);
    has(read, 1, "Annotation", regions[1]);
    has(read, 1, "Kernel", kernels[1]);
    has(read, 2, "Kernel", "_ZN6brokenI|plain_c");
    ks_table_free(read);
    KT_OK(ks_results_launches(results, &launches, &err));
    KT_OK(ks_table_write_csv(launches, kt_path("launches.csv"), &err));
    KT_OK(ks_table_read_csv(kt_path("launches.csv"), &read, &err));
    has(read, 1, "Kernel", kernels[1]);
    has(read, 1, "Annotation", regions[1]);
    ks_table_free(read);
    ks_table_free(launches);
}

static ks_status write_json(void *arg, FILE *to, ks_error *e)
{
    return ks_results_json(arg, to, e);
}

static void json_has_names_whole(void **state) /* C19 */
{
    (void)state;
    char quoted[sizeof regions[0] + 2];
    char *text = kt_capture(write_json, results);
    for (size_t i = 0; i < 2; i++) {
        snprintf(quoted, sizeof quoted, "\"%s\"", kernels[i]);
        KT_HAS(text, quoted);
        snprintf(quoted, sizeof quoted, "\"%s\"", regions[i]);
        KT_HAS(text, quoted);
    }
    free(text);
}

typedef struct view {
    const ks_table *launches; /* NULL: the results */
    ks_print_options options;
} view;

static ks_status print(void *arg, FILE *to, ks_error *e)
{
    const view *v = arg;
    return v->launches != NULL ? ks_table_print(v->launches, to, &v->options, e)
                               : ks_results_print(results, to, &v->options, e);
}

/* Shortened with the mark, and of another text than the line before. */
static void is_shortened(const char *line, const char *before)
{
    size_t words = strcspn(line, "\n");
    KT_HAS(line, "\u2026");
    assert_true(strncmp(line, before, words) != 0);
}

static void tables_keep_shortened_names_distinct(void **state) /* C19 */
{
    (void)state;
    for (size_t width = 60; width <= 120; width += 20) {
        view v = {NULL, {sizeof v.options, width, false, false}};
        char *text = kt_capture(print, &v);
        char *first = strstr(text, "abcdef");
        assert_non_null(first);
        char *second = strstr(first, "\nabcdef");
        assert_non_null(second);
        is_shortened(second + 1, first);
        for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            assert_true(ks_text_width(line) <= width);
        }
        free(text);
    }
}

static void a_table_of_launches_keeps_kernels_distinct(void **state) /* C19 */
{
    (void)state;
    ks_table *launches = NULL;
    KT_OK(ks_results_launches(results, &launches, &err));
    view v = {launches, {sizeof v.options, 300, false, false}};
    char *text = kt_capture(print, &v);
    KT_HAS(text, "ij::<float; 1>(int)  ");
    KT_HAS(text, "ij::<float; 2>(int)  ");
    KT_HAS(text, "plain_c");
    KT_HAS(text, "_ZN6brokenI");
    free(text);
    ks_table_free(launches);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)
    const struct CMUnitTest tests[] = {
        T(csv_has_names_whole),
        T(json_has_names_whole),
        T(tables_keep_shortened_names_distinct),
        T(a_table_of_launches_keeps_kernels_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
