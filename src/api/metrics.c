/* Lists of metrics and collectors, as tables. */
#include "kernsight/metrics.h"

#include "api/catalogue.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "collect/collector.h"
#include "output/plot.h"
#include "plan/call.h"
#include "run/environment.h"
#include "table/table.h"

const char *ks_metric_kind_name(ks_metric_kind kind)
{
    static const char *const names[] = {"count", "duration", "ratio",   "percent",
                                        "rate",  "extremum", "property"};
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

enum list_column {
    METRIC,
    UNIT,
    KIND,
    COLLECTOR,
    TARGET,
    AVAILABLE,
    REASON,
    DESCRIPTION
};

static ks_status add_columns(ks_table *table, ks_error *err)
{
    static const char *const names[] = {"Metric", "Unit",      "Kind",   "Collector",
                                        "Target", "Available", "Reason", "Description"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        KS_TRY(ks_table_add_column(table, names[i], i == AVAILABLE ? KS_BOOL : KS_TEXT,
                                   KS_ROLE_PLAIN, NULL, err));
    }
    return KS_OK;
}

static const char *target_text(unsigned targets)
{
    return targets == KS_TARGET_PROGRAM  ? "program"
           : targets == KS_TARGET_REGION ? "region"
                                         : "region, program";
}

static ks_status add_metric(ks_table *table, const ks_catalogue_entry *from, ks_error *err)
{
    size_t row = ks_table_rows(table);
    const ks_metric_entry *e = &from->entry;
    KS_TRY(ks_table_add_rows(table, 1, err));
    KS_TRY(ks_table_set_text(table, row, METRIC, e->name, err));
    KS_TRY(ks_table_set_text(table, row, UNIT, e->unit, err));
    KS_TRY(ks_table_set_text(table, row, KIND, ks_metric_kind_name(e->kind), err));
    KS_TRY(ks_table_set_text(table, row, COLLECTOR, ks_collectors[from->collector]->name, err));
    KS_TRY(ks_table_set_text(table, row, TARGET, target_text(e->targets), err));
    KS_TRY(ks_table_set_text(table, row, REASON, e->reason, err));
    KS_TRY(ks_table_set_text(table, row, DESCRIPTION, e->description, err));
    ks_table_set_bool(table, row, AVAILABLE, e->reason == NULL);
    return KS_OK;
}

static ks_status fill_list(ks_catalogue *c, const char *pattern, ks_table *table, ks_error *err)
{
    KS_TRY(add_columns(table, err));
    if (pattern != NULL) {
        KS_TRY(ks_catalogue_look_up(c, pattern, err));
    }
    for (size_t i = 0; i < c->count; i++) {
        if (pattern == NULL || ks_match(pattern, c->entries[i].entry.name)) {
            KS_TRY(add_metric(table, &c->entries[i], err));
        }
    }
    if (ks_table_rows(table) > 0) {
        return KS_OK;
    }
    ks_buf hint;
    ks_buf_init(&hint, 4096);
    ks_catalogue_hint(c, pattern, &hint);
    ks_status status = ks_fail(
        err, KS_ENOTFOUND, "metrics", 0, "no metric matches '%.200s'%s%s", pattern,
        hint.length > 0 ? "; " : "; patterns have * and ?, as in 'cpu__*'", ks_buf_text(&hint));
    ks_buf_fini(&hint);
    return status;
}

ks_status ks_metrics_table(const char *pattern, ks_table **out, ks_error *err)
{
    ks_catalogue catalogue;
    ks_table *table = NULL;
    KS_TRY(ks_catalogue_init(&catalogue, ks_collectors, err));
    ks_status status = ks_table_new(&table, err);
    if (status == KS_OK) {
        status = fill_list(&catalogue, pattern, table, err);
    }
    ks_catalogue_fini(&catalogue);
    if (status != KS_OK) {
        ks_table_free(table);
        return status;
    }
    *out = table;
    return KS_OK;
}

enum probe_column {
    PROBE_COLLECTOR,
    FACT,
    VALUE,
    CURE
};

/* The table of facts being filled by one collector. */
typedef struct prober {
    ks_table *table;
    const char *collector;
} prober;

static ks_status add_fact(void *self, const char *fact, ks_value value, const char *cure,
                          ks_error *err)
{
    const prober *p = self;
    size_t row = ks_table_rows(p->table);
    ks_buf text;
    ks_buf_init(&text, 1u << 20);
    ks_value_text(&value, &text);
    ks_status status = ks_buf_status(&text, err);
    if (status == KS_OK) {
        status = ks_table_add_rows(p->table, 1, err);
    }
    if (status == KS_OK) {
        status = ks_table_set_text(p->table, row, PROBE_COLLECTOR, p->collector, err);
    }
    if (status == KS_OK) {
        status = ks_table_set_text(p->table, row, FACT, fact, err);
    }
    if (status == KS_OK) {
        status = ks_table_set_text(p->table, row, VALUE, ks_buf_text(&text), err);
    }
    if (status == KS_OK) {
        status = ks_table_set_text(p->table, row, CURE, cure, err);
    }
    ks_buf_fini(&text);
    return status;
}

static ks_status probe_plots(const ks_fact_sink *to, ks_error *err)
{
    ks_buf text;
    ks_error failure = KS_ERROR_INIT;
    ks_buf_init(&text, 4096);
    ks_status status = ks_plot_gnuplot_version(&text, &failure);
    bool there = status == KS_OK;
    if (!there && status != KS_ENOMEM) {
        ks_buf_addf(&text, "no: %s", failure.message);
        status = ks_buf_status(&text, err);
    }
    if (status == KS_OK) {
        status = to->add(to->self, "available", ks_text(there ? "yes" : ks_buf_text(&text)),
                         there ? NULL : "apt-get install gnuplot-nox", err);
    }
    if (status == KS_OK && there) {
        status = to->add(to->self, "gnuplot", ks_text(ks_buf_text(&text)), NULL, err);
    }
    ks_buf_fini(&text);
    return status == KS_ENOMEM ? ks_enomem(err) : status;
}

static ks_status fill_probe(ks_table *table, ks_error *err)
{
    static const char *const names[] = {"Collector", "Fact", "Value", "Cure"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        KS_TRY(ks_table_add_column(table, names[i], KS_TEXT, KS_ROLE_PLAIN, NULL, err));
    }
    prober machine = {table, "machine"};
    const ks_fact_sink of_machine = {&machine, add_fact};
    KS_TRY(ks_environment(&of_machine, err));
    for (size_t i = 0; ks_collectors[i] != NULL; i++) {
        prober p = {table, ks_collectors[i]->name};
        const ks_fact_sink sink = {&p, add_fact};
        KS_TRY(ks_collectors[i]->probe(&sink, err));
    }
    prober plots = {table, "plots"};
    const ks_fact_sink of_plots = {&plots, add_fact};
    return probe_plots(&of_plots, err);
}

ks_status ks_probe_table(ks_table **out, ks_error *err)
{
    ks_table *table = NULL;
    KS_TRY(ks_table_new(&table, err));
    ks_status status = fill_probe(table, err);
    if (status != KS_OK) {
        ks_table_free(table);
        return status;
    }
    *out = table;
    return KS_OK;
}
