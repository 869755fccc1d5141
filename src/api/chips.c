/* What chips can count, as a table; passes of a set of metrics. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "collect/nvidia/chip.h"
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

/* ---- the functions ----------------------------------------------------------------------------
 */

static ks_status fill(ks_chip *chip, const char *pattern, ks_table *table, ks_error *err)
{
    KS_TRY(add_columns(table, err));
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

ks_status ks_chip_passes(const char *chip, const char *const *metrics, size_t count, size_t *passes,
                         ks_error *err)
{
    if (chip == NULL || metrics == NULL || count == 0) {
        return ks_fail(err, KS_EINVAL, "metrics", 0, "there is no chip, or there are no metrics");
    }
    ks_chip *opened = NULL;
    KS_TRY(ks_chip_open(chip, &opened, err));
    ks_status status = KS_OK;
    for (size_t i = 0; i < count && status == KS_OK; i++) {
        status =
            ks_chip_has(opened, metrics[i]) ? KS_OK : ks_chip_fail_unknown(opened, metrics[i], err);
    }
    if (status == KS_OK) {
        status = ks_chip_count_passes(opened, metrics, count, passes, err);
    }
    ks_chip_close(opened);
    return status;
}
