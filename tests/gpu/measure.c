#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Add each name of a list that is separated by commas. */
static void add_metrics(ks_plan *plan, const char *metrics, ks_error *err)
{
    while (metrics != NULL && *metrics != '\0') {
        size_t length = strcspn(metrics, ",");
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)length, metrics);
        ks_plan_metric(plan, name, err);
        metrics += length + (metrics[length] == ',');
    }
}

ks_results *gt_measure(const gt_options *options, ks_body_fn body, void *user, ks_error *err)
{
    ks_plan *plan = NULL;
    ks_results *results = NULL;
    ks_plan_new(&plan, err);
    add_metrics(plan, options->metrics, err);
    if (options->axis != NULL) {
        ks_plan_axis_spec(plan, options->axis, err);
    }
    ks_plan_runs(plan, options->runs == 0 ? 1 : options->runs, err);
    ks_plan_warmup(plan, options->warmup, err);
    ks_plan_replay(plan, options->replay, err);
    ks_plan_cache_control(plan, options->cache, err);
    if (options->drain_limit_s > 0.0) {
        ks_plan_drain_limit(plan, options->drain_limit_s, err);
    }
    ks_plan_tolerant(plan, options->tolerant, err);
    ks_plan_hold_counters(plan, !options->give_back, err);
    ks_plan_combine(plan, options->combine, err);
    if (options->combine_fn != NULL) {
        ks_plan_combine_fn(plan, options->combine_fn, NULL, err);
    }
    if (options->ignore != NULL) {
        ks_plan_ignore_kernel(plan, options->ignore, err);
    }
    ks_run(plan, body, user, &results, err);
    ks_plan_free(plan);
    return results;
}

bool gt_equal(const char *a, const char *b)
{
    return a != NULL && strcmp(a, b) == 0;
}

const char *gt_shown(const char *text)
{
    return text == NULL ? "(none)" : text;
}

/* The row; as many as the table has if there is none. */
static size_t find_row(const ks_table *table, const char *annotation, const char *metric,
                       size_t config)
{
    size_t rows = ks_table_rows(table);
    size_t annotations = ks_table_find(table, "Annotation");
    size_t metrics = ks_table_find(table, "Metric");
    for (size_t row = 0; row < rows; row++) {
        if (gt_equal(ks_table_text(table, row, annotations), annotation) &&
            gt_equal(ks_table_text(table, row, metrics), metric) && config-- == 0) {
            return row;
        }
    }
    return rows;
}

double gt_value_at(const ks_results *results, const char *annotation, const char *metric,
                   size_t config)
{
    if (results == NULL) {
        return NAN;
    }
    const ks_table *table = ks_results_table(results);
    return ks_table_number(table, find_row(table, annotation, metric, config),
                           ks_table_find(table, "AvgValue"));
}

double gt_value(const ks_results *results, const char *annotation, const char *metric)
{
    return gt_value_at(results, annotation, metric, 0);
}

double gt_number(const ks_results *results, const char *annotation, const char *metric,
                 const char *column)
{
    if (results == NULL) {
        return NAN;
    }
    const ks_table *table = ks_results_table(results);
    return ks_table_number(table, find_row(table, annotation, metric, 0),
                           ks_table_find(table, column));
}

const char *gt_text(const ks_results *results, const char *annotation, const char *metric,
                    const char *column)
{
    if (results == NULL) {
        return NULL;
    }
    const ks_table *table = ks_results_table(results);
    return ks_table_text(table, find_row(table, annotation, metric, 0),
                         ks_table_find(table, column));
}

/* In their JSON, which has all warnings. */
bool gt_warned(const ks_results *results, const char *part)
{
    char *text = NULL;
    size_t length = 0;
    ks_error err = KS_ERROR_INIT;
    FILE *to = results != NULL ? open_memstream(&text, &length) : NULL;
    if (to == NULL) {
        return false;
    }
    ks_results_json(results, to, &err);
    fclose(to);
    bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

size_t gt_samples(const ks_results *results, const char *annotation, const char *metric,
                  size_t config, double values[GT_SAMPLES])
{
    ks_table *t = NULL;
    ks_error err = KS_ERROR_INIT;
    size_t count = 0;
    if (results == NULL || ks_results_samples(results, &t, &err) != KS_OK) {
        return 0;
    }
    for (size_t row = 0; row < ks_table_rows(t) && count < GT_SAMPLES; row++) {
        if (gt_equal(ks_table_text(t, row, ks_table_find(t, "Annotation")), annotation) &&
            gt_equal(ks_table_text(t, row, ks_table_find(t, "Metric")), metric) &&
            ks_table_number(t, row, ks_table_find(t, "Config")) == (double)config) {
            values[count++] = ks_table_number(t, row, ks_table_find(t, "Value"));
        }
    }
    ks_table_free(t);
    return count;
}
