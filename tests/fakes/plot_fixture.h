/* A table of results, given as CSV, and the plot that is made of it: what tests of plots share. */
#ifndef PLOT_FIXTURE_H
#define PLOT_FIXTURE_H

#include "harness.h"

#include <stdlib.h>

#include "output/csv_read.h"
#include "output/plot_model.h"
#include "table/table.h"

static ks_error err;
static ks_table *table;
static ks_plot plot;
static ks_plot_options options;

static inline int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    table = NULL;
    plot = (ks_plot){0};
    options = (ks_plot_options)KS_PLOT_OPTIONS_INIT;
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    ks_plot_fini(&plot);
    ks_table_free(table);
    return 0;
}

/* A table of results: a CSV text, in which columns in lower case are parameters. */
static inline ks_status read_table(const char *csv, ks_table **out, ks_error *e)
{
    char *copy = strdup(csv);
    assert_non_null(copy);
    ks_status status = ks_table_parse_csv(copy, strlen(copy), out, e);
    free(copy);
    for (size_t c = 0; status == KS_OK && c < (*out)->column_count; c++) {
        if (ks_table_name(*out, c)[0] >= 'a') {
            (*out)->columns[c].role = KS_ROLE_PARAMETER;
        }
    }
    return status;
}

static inline void given(const char *csv)
{
    ks_table_free(table);
    table = NULL;
    KT_OK(read_table(csv, &table, &err));
}

static inline void build(const char *csv)
{
    given(csv);
    ks_plot_fini(&plot);
    KT_OK(ks_plot_init(&plot, table, &options, &err));
}

#define HEAD(params) "Annotation,Metric," params "AvgValue,CI95_Lower,CI95_Upper,Unit\n"

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

#endif
