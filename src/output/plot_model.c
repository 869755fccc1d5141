#include "output/plot_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "output/plot_axes.h"
#include "output/plot_dims.h"

enum {
    PANELS_MAX = 36,
    LABEL_MAX = 1 << 20
};

ks_status ks_texts_add(ks_texts *list, const char *text, ks_error *err)
{
    KS_TRY(KS_GROW(list->texts, list->capacity, list->count + 1, err));
    list->texts[list->count] = ks_strdup(text);
    if (list->texts[list->count] == NULL) {
        return ks_enomem(err);
    }
    list->count++;
    return KS_OK;
}

void ks_texts_fini(ks_texts *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ks_free(list->texts[i]);
    }
    ks_free(list->texts);
    memset(list, 0, sizeof *list);
}

typedef struct builder {
    ks_plot *plot;
    const ks_table *table;
    const ks_plot_options *options;
    size_t annotation, metric, average, low, high, unit, normalized; /* columns */
    const char *baseline;                                            /* NULL: none */
    const char **names;                                              /* of all metrics */
    size_t name_count;
    size_t name_capacity;
    size_t *rows; /* that have a place in the plot, and which metric each is of */
    size_t *metrics;
    size_t row_count;
    size_t known_count; /* so many first ones have an annotation */
    size_t row_capacity;
    size_t metric_capacity;
    ks_plot_dims dims;
    ks_pool series;
    size_t *positions; /* of categories, by value */
    ks_error *err;
} builder;

static size_t find_name(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && names[i] != name) { /* texts of a table are equal if their addresses are */
        i++;
    }
    return i;
}

static ks_status read_names(builder *b)
{
    for (size_t row = 0; row < ks_table_rows(b->table); row++) {
        const char *name = ks_table_text(b->table, row, b->metric);
        if (name != NULL && find_name(b->names, b->name_count, name) == b->name_count) {
            KS_TRY(KS_GROW(b->names, b->name_capacity, b->name_count + 1, b->err));
            b->names[b->name_count++] = name;
        }
    }
    return KS_OK;
}

static ks_status choose_metrics(builder *b)
{
    ks_plot *p = b->plot;
    KS_TRY(read_names(b));
    bool *chosen = ks_calloc(b->name_count, sizeof *chosen);
    p->metrics = ks_calloc(b->name_count, sizeof *p->metrics);
    ks_status status = chosen != NULL && p->metrics != NULL ? KS_OK : ks_enomem(b->err);
    if (status == KS_OK) {
        status = ks_plot_choose(b->names, b->name_count, b->options, false, chosen, b->err);
    }
    for (size_t i = 0; i < b->name_count && status == KS_OK; i++) {
        if (chosen[i]) {
            p->metrics[p->metric_count++].name = b->names[i];
        }
    }
    ks_free(chosen);
    return status;
}

/* Index of the metric that a row is of; metric_count if it is not plotted. */
static size_t metric_of(const builder *b, size_t row)
{
    const char *name = ks_table_text(b->table, row, b->metric);
    size_t metric = 0;
    while (metric < b->plot->metric_count && b->plot->metrics[metric].name != name) {
        metric++;
    }
    return metric;
}

static ks_status add_row(builder *b, size_t row, size_t times)
{
    KS_TRY(KS_GROW(b->rows, b->row_capacity, b->row_count + times, b->err));
    KS_TRY(KS_GROW(b->metrics, b->metric_capacity, b->row_count + times, b->err));
    for (size_t i = 0; i < times; i++) {
        b->rows[b->row_count] = row;
        b->metrics[b->row_count++] = metric_of(b, row);
    }
    return KS_OK;
}

/* Rows of those metrics. A config that failed before it came to an annotation has a row without
 * one: it is missing in each of them. */
static ks_status choose_rows(builder *b)
{
    ks_pool annotations;
    ks_pool_init(&annotations);
    ks_status status = KS_OK;
    for (size_t row = 0; row < ks_table_rows(b->table) && status == KS_OK; row++) {
        const char *annotation = ks_table_text(b->table, row, b->annotation);
        ks_text_id id = 0;
        if (annotation != NULL && metric_of(b, row) < b->plot->metric_count) {
            status = ks_pool_add(&annotations, annotation, &id, b->err);
            status = status == KS_OK ? add_row(b, row, 1) : status;
        }
    }
    b->known_count = b->row_count;
    for (size_t row = 0; row < ks_table_rows(b->table) && status == KS_OK; row++) {
        if (!ks_table_valid(b->table, row, b->annotation) &&
            metric_of(b, row) < b->plot->metric_count) {
            status = add_row(b, row, annotations.count);
        }
    }
    ks_pool_fini(&annotations);
    b->plot->expected = b->row_count;
    return status;
}

static ks_status fail_empty(const builder *b)
{
    size_t failure = ks_table_find(b->table, "Failure");
    const char *why = NULL;
    for (size_t row = 0; row < ks_table_rows(b->table) && why == NULL; row++) {
        why = ks_table_text(b->table, row, failure);
    }
    return ks_fail(b->err, KS_ENOTFOUND, "plot", 0, "there is no value to plot%s%s",
                   why != NULL ? ": " : "", why != NULL ? why : "");
}

/* Values joined by commas, of the dimensions that have this use, of a row. */
static void add_labels(const builder *b, ks_plot_use use, size_t row, ks_buf *to)
{
    for (size_t i = 0; i < b->dims.count; i++) {
        if (b->dims.all[i].use == use) {
            ks_buf_add(to, to->length > 0 ? ", " : "");
            ks_plot_dim_label(&b->dims.all[i], b->dims.all[i].ids[row], to);
        }
    }
}

static ks_status name_series(builder *b, ks_buf *label, size_t row, size_t *out)
{
    ks_text_id id = 0;
    ks_buf_clear(label);
    add_labels(b, KS_USE_SERIES, row, label);
    KS_TRY(ks_buf_status(label, b->err));
    KS_TRY(ks_pool_add(&b->series, ks_buf_text(label), &id, b->err));
    if (id > b->plot->series.count) {
        KS_TRY(ks_texts_add(&b->plot->series, ks_buf_text(label), b->err));
    }
    *out = id - 1;
    return KS_OK;
}

static ks_status name_panels(builder *b)
{
    const ks_plot_dims *d = &b->dims;
    if (d->panel == d->count) {
        return ks_texts_add(&b->plot->panels, "", b->err);
    }
    ks_buf label;
    ks_buf_init(&label, LABEL_MAX);
    ks_status status = KS_OK;
    for (ks_text_id id = 1; id <= d->all[d->panel].texts.count && status == KS_OK; id++) {
        ks_buf_clear(&label);
        ks_plot_dim_label(&d->all[d->panel], id, &label);
        status = ks_buf_status(&label, b->err);
        if (status == KS_OK) {
            status = ks_texts_add(&b->plot->panels, ks_buf_text(&label), b->err);
        }
    }
    ks_buf_fini(&label);
    return status;
}

static ks_status make_title(builder *b)
{
    ks_buf title;
    ks_buf_init(&title, LABEL_MAX);
    if (b->options->title != NULL) {
        ks_buf_add(&title, b->options->title);
    } else {
        add_labels(b, KS_USE_SAME, 0, &title);
    }
    ks_status status = ks_buf_status(&title, b->err);
    b->plot->title = status == KS_OK ? ks_strdup(ks_buf_text(&title)) : NULL;
    ks_buf_fini(&title);
    return status == KS_OK && b->plot->title == NULL ? ks_enomem(b->err) : status;
}

/* Value and interval of a point, in the unit of the table; upside down where that is asked for. */
static void set_value(const builder *b, size_t row, ks_plot_point *p)
{
    p->y = ks_table_number(b->table, row, b->average);
    p->low = ks_table_number(b->table, row, b->low);
    p->high = ks_table_number(b->table, row, b->high);
    if (b->options->inverse) {
        bool bounded = p->low * p->high > 0.0;
        double low = p->low;
        p->y = p->y != 0.0 ? 1.0 / p->y : NAN;
        p->low = bounded ? 1.0 / p->high : NAN;
        p->high = bounded ? 1.0 / low : NAN;
    }
    if (isnan(p->y) || isnan(p->low) || isnan(p->high)) {
        p->low = p->high = NAN;
    }
}

static ks_status add_points(builder *b)
{
    ks_plot *p = b->plot;
    const ks_plot_dims *d = &b->dims;
    const ks_plot_dim *x = &d->all[d->x];
    ks_buf label;
    ks_buf_init(&label, LABEL_MAX);
    p->points = ks_calloc(b->row_count, sizeof *p->points);
    ks_status status = p->points != NULL ? KS_OK : ks_enomem(b->err);
    for (size_t i = 0; i < b->row_count && status == KS_OK; i++) {
        size_t panel = d->panel < d->count ? d->all[d->panel].ids[i] - 1 : 0;
        size_t value = x->ids[i] - 1;
        ks_plot_point *point = &p->points[p->point_count++];
        *point = (ks_plot_point){.panel = b->metrics[i] * p->panels.count + panel,
                                 .x = b->positions != NULL ? (double)b->positions[value]
                                                           : x->numbers[value],
                                 .order = i};
        set_value(b, b->rows[i], point);
        if (isnan(point->x)) {
            point->y = point->low = point->high = NAN;
        }
        p->missing += isnan(point->y) ? 1 : 0;
        p->intervals = p->intervals || !isnan(point->low);
        status = name_series(b, &label, i, &point->series);
    }
    ks_buf_fini(&label);
    return status;
}

typedef struct ranked {
    double number;
    size_t value;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a;
    const ranked *y = b;
    int by_number = (x->number > y->number) - (x->number < y->number);
    return by_number != 0 ? by_number : (x->value > y->value) - (x->value < y->value);
}

/* Categories: numbers in their order, texts as they came. */
static ks_status make_categories(builder *b)
{
    const ks_plot_dim *x = &b->dims.all[b->dims.x];
    size_t count = x->texts.count;
    ranked *order = ks_calloc(count, sizeof *order);
    b->positions = ks_calloc(count, sizeof *b->positions);
    ks_status status = order != NULL && b->positions != NULL ? KS_OK : ks_enomem(b->err);
    for (size_t i = 0; i < count && status == KS_OK; i++) {
        bool known = x->numeric && !isnan(x->numbers[i]);
        order[i] = (ranked){known ? x->numbers[i] : x->numeric ? INFINITY : 0.0, i};
    }
    if (status == KS_OK) {
        qsort(order, count, sizeof *order, compare_ranked);
    }
    for (size_t i = 0; i < count && status == KS_OK; i++) {
        b->positions[order[i].value] = i;
        status = ks_texts_add(&b->plot->categories,
                              ks_pool_text(&x->texts, (ks_text_id)order[i].value + 1), b->err);
    }
    ks_free(order);
    return status;
}

static ks_status choose_kind(builder *b)
{
    const ks_plot_dim *x = &b->dims.all[b->dims.x];
    bool line = x->numeric && x->texts.count > 1;
    b->plot->bars = b->options->kind == KS_PLOT_BARS || (b->options->kind == KS_PLOT_AUTO && !line);
    return b->plot->bars || !x->numeric ? make_categories(b) : KS_OK;
}

static int compare_points(const void *a, const void *b)
{
    const ks_plot_point *p = a;
    const ks_plot_point *q = b;
    if (p->panel != q->panel) {
        return p->panel < q->panel ? -1 : 1;
    }
    if (p->series != q->series) {
        return p->series < q->series ? -1 : 1;
    }
    if (isnan(p->x) != isnan(q->x)) {
        return isnan(q->x) ? -1 : 1;
    }
    if (p->x < q->x || p->x > q->x) {
        return p->x < q->x ? -1 : 1;
    }
    return (p->order > q->order) - (p->order < q->order);
}

static ks_status check_options(const builder *b)
{
    if (b->options->inverse && b->baseline == NULL) {
        return ks_fail(b->err, KS_EINVAL, "plot", 0,
                       "a plot of the baseline over each value needs a baseline: "
                       "ks_plan_normalize()");
    }
    return KS_OK;
}

static ks_status check_panels(const builder *b)
{
    size_t count = b->plot->panels.count * b->plot->metric_count;
    return count <= PANELS_MAX ? KS_OK
                               : ks_fail(b->err, KS_ELIMIT, "plot", 0,
                                         "%zu panels are more than %d; name fewer metrics, or "
                                         "panels by another parameter",
                                         count, PANELS_MAX);
}

static void read_facts(builder *b)
{
    ks_value complete = ks_table_fact(b->table, "complete");
    if (complete.type == KS_BOOL && !complete.as.boolean) {
        b->plot->finished = ks_table_fact(b->table, "finished").as.i64;
        b->plot->planned = ks_table_fact(b->table, "plan.configs").as.i64;
    }
}

static ks_status build(builder *b)
{
    KS_TRY(check_options(b));
    KS_TRY(choose_metrics(b));
    KS_TRY(choose_rows(b));
    if (b->row_count == 0) {
        return fail_empty(b);
    }
    b->dims = (ks_plot_dims){.table = b->table,
                             .rows = b->rows,
                             .row_count = b->row_count,
                             .known_count = b->known_count};
    KS_TRY(ks_plot_dims_find(&b->dims, b->plot->metric_count, b->options, b->err));
    KS_TRY(choose_kind(b));
    KS_TRY(name_panels(b));
    KS_TRY(check_panels(b));
    KS_TRY(make_title(b));
    KS_TRY(add_points(b));
    if (b->plot->missing == b->plot->expected) {
        return fail_empty(b);
    }
    qsort(b->plot->points, b->plot->point_count, sizeof *b->plot->points, compare_points);
    return KS_OK;
}

static const char *find_unit(const builder *b, const char *metric)
{
    const char *unit = NULL;
    for (size_t i = 0; i < b->row_count && unit == NULL; i++) {
        if (ks_table_text(b->table, b->rows[i], b->metric) == metric) {
            unit = ks_table_text(b->table, b->rows[i], b->unit);
        }
    }
    return unit;
}

/* Axes come last: they want all points. */
/* Series that never meet in a category, such as programs along their own names, need no room beside
 * each other. */
static ks_status count_side_by_side(builder *b)
{
    ks_plot *p = b->plot;
    p->side_by_side = p->series.count;
    size_t places = p->metric_count * p->panels.count * p->categories.count;
    if (!p->bars || places == 0) {
        return KS_OK;
    }
    size_t *series = ks_calloc(places, sizeof *series); /* of a place, from 1; 0: none yet */
    if (series == NULL) {
        return ks_enomem(b->err);
    }
    bool alone = true;
    for (size_t i = 0; i < p->point_count && alone; i++) {
        const ks_plot_point *at = &p->points[i];
        size_t place = at->panel * p->categories.count + (isnan(at->x) ? 0 : (size_t)at->x);
        alone = series[place] == 0 || series[place] == at->series + 1;
        series[place] = at->series + 1;
    }
    p->side_by_side = alone ? 1 : p->series.count;
    ks_free(series);
    return KS_OK;
}

static ks_status make_axes(builder *b)
{
    const ks_plot_dim *x = &b->dims.all[b->dims.x];
    KS_TRY(count_side_by_side(b));
    KS_TRY(ks_plot_x_axis(b->plot, x->name, b->err));
    for (size_t m = 0; m < b->plot->metric_count; m++) {
        const ks_plot_y_spec spec = {.unit = find_unit(b, b->plot->metrics[m].name),
                                     .baseline = b->baseline,
                                     .inverse = b->options->inverse,
                                     .ascii = b->options->ascii};
        KS_TRY(ks_plot_y_axis(b->plot, m, &spec, b->err));
    }
    return KS_OK;
}

ks_status ks_plot_init(ks_plot *plot, const ks_table *table, const ks_plot_options *options,
                       ks_error *err)
{
    builder b = {.plot = plot,
                 .table = table,
                 .options = options,
                 .annotation = ks_table_find(table, "Annotation"),
                 .metric = ks_table_find(table, "Metric"),
                 .average = ks_table_find(table, "AvgValue"),
                 .low = ks_table_find(table, "CI95_Lower"),
                 .high = ks_table_find(table, "CI95_Upper"),
                 .unit = ks_table_find(table, "Unit"),
                 .normalized = ks_table_find(table, "Normalized"),
                 .err = err};
    memset(plot, 0, sizeof *plot);
    b.baseline = ks_table_text(table, 0, b.normalized);
    plot->ratio = b.baseline != NULL;
    read_facts(&b);
    ks_pool_init(&b.series);
    ks_status status = build(&b);
    if (status == KS_OK) {
        status = make_axes(&b);
    }
    ks_pool_fini(&b.series);
    ks_plot_dims_fini(&b.dims);
    ks_free(b.names);
    ks_free(b.rows);
    ks_free(b.metrics);
    ks_free(b.positions);
    return status;
}

void ks_plot_fini(ks_plot *plot)
{
    for (size_t m = 0; m < plot->metric_count; m++) {
        ks_free(plot->metrics[m].axis.label);
    }
    ks_free(plot->metrics);
    ks_free(plot->title);
    ks_free(plot->x.label);
    ks_texts_fini(&plot->categories);
    ks_free(plot->ticks);
    ks_texts_fini(&plot->series);
    ks_texts_fini(&plot->panels);
    ks_free(plot->points);
    memset(plot, 0, sizeof *plot);
}
