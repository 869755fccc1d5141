/* What chips can count and the sets of it, as tables; passes and cost of metrics. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/pool.h"
#include "collect/nvidia/chip.h"
#include "collect/nvidia/cost.h"
#include "collect/nvidia/names.h"
#include "collect/nvidia/sets.h"
#include "collect/nvidia/unknown.h"
#include "kernsight/metrics.h"
#include "table/table.h"

enum column {
    METRIC,
    UNIT,
    KIND,
    SUBMETRICS,
    DESCRIPTION
};

static ks_status add_columns(ks_table *table, ks_error *err)
{
    static const char *const names[] = {"Metric", "Unit", "Kind", "Submetrics", "Description"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        KS_TRY(ks_table_add_column(table, names[i], KS_TEXT, KS_ROLE_PLAIN, NULL, err));
    }
    return KS_OK;
}

/* "sum sum.per_second" of ".sum", ".sum.per_second". */
static ks_status set_submetrics(ks_table *table, size_t row, const ks_chip_metric *metric,
                                ks_error *err)
{
    ks_buf text;
    ks_buf_init(&text, 1u << 16);
    for (size_t i = 0; i < metric->sub_count; i++) {
        ks_buf_addf(&text, "%s%s", i > 0 ? " " : "", metric->subs[i] + 1);
    }
    ks_status status = ks_buf_status(&text, err);
    if (status == KS_OK && text.length > 0) {
        status = ks_table_set_text(table, row, SUBMETRICS, ks_buf_text(&text), err);
    }
    ks_buf_fini(&text);
    return status;
}

static ks_status add_row(void *self, const ks_chip_metric *metric, ks_error *err)
{
    ks_table *table = self;
    size_t row = ks_table_rows(table);
    KS_TRY(ks_table_add_rows(table, 1, err));
    KS_TRY(ks_table_set_text(table, row, METRIC, metric->name, err));
    KS_TRY(ks_table_set_text(table, row, UNIT, metric->unit, err));
    KS_TRY(ks_table_set_text(table, row, KIND, ks_metric_kind_name(metric->kind), err));
    KS_TRY(set_submetrics(table, row, metric, err));
    return ks_table_set_text(table, row, DESCRIPTION, metric->description, err);
}

/* ---- metrics of a chip ------------------------------------------------------------------------
 */

/* Base metrics, where the pattern has no point; full names elsewhere. */
static ks_status fill(ks_chip *chip, const char *pattern, ks_table *table, ks_error *err)
{
    KS_TRY(add_columns(table, err));
    if (pattern != NULL && pattern[0] == '@') {
        return ks_names_of(chip, pattern, add_row, table, err);
    }
    KS_TRY(ks_chip_each(chip, pattern, add_row, table, err));
    return ks_table_rows(table) > 0 ? KS_OK : ks_chip_fail_unknown(chip, pattern, err);
}

ks_status ks_chip_metrics_table(const char *chip, const char *pattern, ks_table **out,
                                ks_error *err)
{
    if (chip == NULL) {
        return ks_fail(err, KS_EINVAL, "metrics", 0, "there is no chip (NULL)");
    }
    ks_chip *opened = NULL;
    ks_table *table = NULL;
    KS_TRY(ks_chip_open(chip, &opened, err));
    ks_status status = ks_table_new(&table, err);
    if (status == KS_OK) {
        status = fill(opened, pattern, table, err);
    }
    ks_chip_close(opened);
    if (status != KS_OK) {
        ks_table_free(table);
        return status;
    }
    *out = table;
    return KS_OK;
}

/* ---- passes and cost --------------------------------------------------------------------------
 */

/* Counters that a list of names, patterns and sets stands for, once each. */
typedef struct counters {
    ks_pool names;
    const char **list;
    size_t count;
    size_t capacity;
} counters;

static ks_status add_counter(void *self, const ks_chip_metric *metric, ks_error *err)
{
    counters *c = self;
    ks_text_id id = 0;
    if (metric->kind == KS_PROPERTY) {
        return KS_OK; /* of launches and devices: no counter */
    }
    KS_TRY(ks_pool_add(&c->names, metric->name, &id, err));
    if (id <= c->count) {
        return KS_OK;
    }
    KS_TRY(KS_GROW(c->list, c->capacity, c->count + 1, err));
    c->list[c->count++] = ks_pool_text(&c->names, id);
    return KS_OK;
}

static ks_status estimate(ks_chip *chip, const char *const *metrics, size_t count, counters *c,
                          ks_chip_estimate *out, ks_error *err)
{
    for (size_t i = 0; i < count; i++) {
        KS_TRY(ks_names_of(chip, metrics[i], add_counter, c, err));
    }
    size_t passes = 1;
    if (c->count > 0) {
        KS_TRY(ks_chip_count_passes(chip, c->list, c->count, &passes, err));
    }
    out->passes = passes;
    out->metrics = c->count;
    out->launch_ms = (double)passes * ks_cost_of_launch(c->list, c->count);
    out->config_ms = (double)passes * ks_cost_of_pass(c->list, c->count);
    return KS_OK;
}

ks_status ks_chip_cost(const char *chip, const char *const *metrics, size_t count,
                       ks_chip_estimate *out, ks_error *err)
{
    if (chip == NULL || metrics == NULL || count == 0) {
        return ks_fail(err, KS_EINVAL, "metrics", 0, "there is no chip, or there are no metrics");
    }
    ks_chip *opened = NULL;
    KS_TRY(ks_chip_open(chip, &opened, err));
    counters c = {0};
    ks_chip_estimate found = {0};
    ks_pool_init(&c.names);
    ks_status status = estimate(opened, metrics, count, &c, &found, err);
    ks_pool_fini(&c.names);
    ks_free(c.list);
    ks_chip_close(opened);
    if (status == KS_OK) {
        *out = found;
    }
    return status;
}

ks_status ks_chip_passes(const char *chip, const char *const *metrics, size_t count, size_t *passes,
                         ks_error *err)
{
    ks_chip_estimate found = {0};
    KS_TRY(ks_chip_cost(chip, metrics, count, &found, err));
    *passes = found.passes;
    return KS_OK;
}

/* ---- sets -------------------------------------------------------------------------------------
 */

enum set_column {
    SET,
    SET_DESCRIPTION,
    SET_METRICS
};

static ks_status add_set(ks_table *table, const ks_metric_set *set, ks_error *err)
{
    size_t row = ks_table_rows(table);
    KS_TRY(ks_table_add_rows(table, 1, err));
    KS_TRY(ks_table_set_text(table, row, SET, set->name, err));
    KS_TRY(ks_table_set_text(table, row, SET_DESCRIPTION, set->description, err));
    ks_buf text;
    ks_buf_init(&text, 1u << 16);
    for (size_t i = 0; i < set->count; i++) {
        ks_buf_addf(&text, "%s%s", i > 0 ? " " : "", set->metrics[i]);
    }
    ks_status status = ks_buf_status(&text, err);
    if (status == KS_OK) {
        status = ks_table_set_text(table, row, SET_METRICS, ks_buf_text(&text), err);
    }
    ks_buf_fini(&text);
    return status;
}

static ks_status fill_sets(ks_table *table, ks_error *err)
{
    static const char *const names[] = {"Set", "Description", "Metrics"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        KS_TRY(ks_table_add_column(table, names[i], KS_TEXT, KS_ROLE_PLAIN, NULL, err));
    }
    for (size_t i = 0; i < ks_metric_set_count(); i++) {
        KS_TRY(add_set(table, ks_metric_set_at(i), err));
    }
    return KS_OK;
}

ks_status ks_metric_sets_table(ks_table **out, ks_error *err)
{
    ks_table *table = NULL;
    KS_TRY(ks_table_new(&table, err));
    ks_status status = fill_sets(table, err);
    if (status != KS_OK) {
        ks_table_free(table);
        return status;
    }
    *out = table;
    return KS_OK;
}
