#include "output/json.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "table/table.h"
#include "yyjson/yyjson.h"

static void *json_malloc(void *ctx, size_t size)
{
    (void)ctx;
    return ks_alloc(size);
}

static void *json_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    (void)ctx;
    (void)old_size;
    return ks_realloc(ptr, size);
}

static void json_free(void *ctx, void *ptr)
{
    (void)ctx;
    ks_free(ptr);
}

static const yyjson_alc allocator = {json_malloc, json_realloc, json_free, NULL};

/*
 * The document is written piece by piece, a row at a time, so that a long one needs no memory of
 * its size. Each piece is built and written by yyjson; only the brackets around them are ours.
 */
typedef struct writer {
    FILE *to;
    yyjson_mut_doc *doc; /* of the piece being built */
    ks_error *err;
} writer;

static ks_status start_piece(writer *w)
{
    w->doc = yyjson_mut_doc_new(&allocator);
    return w->doc != NULL ? KS_OK : ks_enomem(w->err);
}

/* Write the piece. yyjson gives NULL for a part that found no memory, and writing fails then. */
static ks_status end_piece(writer *w, const yyjson_mut_val *root, const char *before)
{
    size_t length = 0;
    char *text = yyjson_mut_val_write_opts(root, YYJSON_WRITE_INF_AND_NAN_AS_NULL, &allocator,
                                           &length, NULL);
    yyjson_mut_doc_free(w->doc);
    w->doc = NULL;
    if (text == NULL) {
        return ks_enomem(w->err);
    }
    fputs(before, w->to);
    fwrite(text, 1, length, w->to);
    ks_free(text);
    return ks_stream_status(w->to, "JSON", w->err);
}

static ks_status abandon_piece(writer *w)
{
    yyjson_mut_doc_free(w->doc);
    w->doc = NULL;
    return ks_enomem(w->err);
}

static yyjson_mut_val *json_value(yyjson_mut_doc *doc, ks_value value)
{
    switch (value.type) {
    case KS_BOOL:
        return yyjson_mut_bool(doc, value.as.boolean);
    case KS_I64:
        return yyjson_mut_sint(doc, value.as.i64);
    case KS_F64:
        return yyjson_mut_real(doc, value.as.f64);
    case KS_TEXT:
        return yyjson_mut_str(doc, value.text);
    default:
        return yyjson_mut_null(doc);
    }
}

static bool add_key(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                    yyjson_mut_val *value)
{
    return yyjson_mut_obj_add(object, yyjson_mut_str(doc, key), value);
}

static ks_status write_row(writer *w, const ks_table *table, size_t row, const char *before)
{
    KS_TRY(start_piece(w));
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    bool fits = object != NULL;
    for (size_t c = 0; fits && c < table->column_count; c++) {
        fits = add_key(w->doc, object, ks_table_name(table, c),
                       json_value(w->doc, ks_table_get(table, row, c)));
    }
    return fits ? end_piece(w, object, before) : abandon_piece(w);
}

static ks_status write_rows(writer *w, const ks_table *table)
{
    for (size_t row = 0; row < table->rows; row++) {
        KS_TRY(write_row(w, table, row, row > 0 ? ",\n  " : "\n  "));
    }
    return KS_OK;
}

static const char *type_name(ks_type type)
{
    switch (type) {
    case KS_BOOL:
        return "bool";
    case KS_I64:
        return "int64";
    case KS_F64:
        return "float64";
    default:
        return "text";
    }
}

static const char *role_name(ks_role role)
{
    switch (role) {
    case KS_ROLE_PARAMETER:
        return "parameter";
    case KS_ROLE_INFO:
        return "info";
    default:
        return NULL;
    }
}

static ks_status write_columns(writer *w, const ks_table *table)
{
    for (size_t c = 0; c < table->column_count; c++) {
        KS_TRY(start_piece(w));
        yyjson_mut_val *object = yyjson_mut_obj(w->doc);
        const char *role = role_name(ks_table_role(table, c));
        bool fits =
            object != NULL &&
            add_key(w->doc, object, "name", yyjson_mut_str(w->doc, ks_table_name(table, c))) &&
            add_key(w->doc, object, "type",
                    yyjson_mut_str(w->doc, type_name(ks_table_type(table, c))));
        if (fits && role != NULL) {
            fits = add_key(w->doc, object, "role", yyjson_mut_str(w->doc, role));
        }
        KS_TRY(fits ? end_piece(w, object, c > 0 ? ",\n  " : "\n  ") : abandon_piece(w));
    }
    return KS_OK;
}

/* The values of a list: all facts of that key. */
static yyjson_mut_val *json_list(yyjson_mut_doc *doc, const ks_table *table, const char *key)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; list != NULL && i < table->fact_count; i++) {
        if (strcmp(ks_table_fact_key(table, i), key) == 0 &&
            !yyjson_mut_arr_append(list, json_value(doc, ks_table_fact_value(table, i)))) {
            return NULL;
        }
    }
    return list;
}

/* Facts whose keys start with `plan.`, or all others. A list comes where its first value stands. */
static ks_status write_facts(writer *w, const ks_table *table, bool plan)
{
    static const char prefix[] = "plan.";
    KS_TRY(start_piece(w));
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    bool fits = object != NULL;
    for (size_t i = 0; fits && i < table->fact_count; i++) {
        const char *key = ks_table_fact_key(table, i);
        bool of_plan = strncmp(key, prefix, sizeof prefix - 1) == 0;
        if (of_plan != plan) {
            continue;
        }
        const char *name = plan ? key + sizeof prefix - 1 : key;
        size_t length = strlen(name);
        bool list = length > 2 && strcmp(name + length - 2, "[]") == 0;
        length -= list ? 2 : 0;
        if (yyjson_mut_obj_getn(object, name, length) != NULL) {
            continue; /* the rest of a list, or a key given twice: the first stays */
        }
        yyjson_mut_val *value = list ? json_list(w->doc, table, key)
                                     : json_value(w->doc, ks_table_fact_value(table, i));
        fits = yyjson_mut_obj_add(object, yyjson_mut_strn(w->doc, name, length), value);
    }
    return fits ? end_piece(w, object, "") : abandon_piece(w);
}

/* The columns of a table of samples. */
typedef struct sample_columns {
    size_t annotation, metric, unit, config, run, value, reason;
    size_t cache; /* there, where metrics come twice */
} sample_columns;

/* NULL: there is none. */
static const char *cache_of(const ks_table *t, const sample_columns *c, size_t row)
{
    return c->cache < t->column_count ? ks_table_text(t, row, c->cache) : NULL;
}

static bool same_series(const ks_table *t, const sample_columns *c, size_t a, size_t b)
{
    return ks_table_text(t, a, c->annotation) == ks_table_text(t, b, c->annotation) &&
           ks_table_text(t, a, c->metric) == ks_table_text(t, b, c->metric) &&
           ks_table_get(t, a, c->config).as.i64 == ks_table_get(t, b, c->config).as.i64 &&
           cache_of(t, c, a) == cache_of(t, c, b);
}

static bool add_missing(writer *w, yyjson_mut_val *list, const ks_table *t, const sample_columns *c,
                        size_t row)
{
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    return object != NULL &&
           add_key(w->doc, object, "run", json_value(w->doc, ks_table_get(t, row, c->run))) &&
           add_key(w->doc, object, "reason", json_value(w->doc, ks_table_get(t, row, c->reason))) &&
           yyjson_mut_arr_append(list, object);
}

/* One object for the runs of an annotation, metric and config: rows [first, end). */
static ks_status write_series(writer *w, const ks_table *t, const sample_columns *c, size_t first,
                              size_t end, const char *before)
{
    KS_TRY(start_piece(w));
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    yyjson_mut_val *values = yyjson_mut_arr(w->doc);
    yyjson_mut_val *missing = yyjson_mut_arr(w->doc);
    bool fits = object != NULL && values != NULL && missing != NULL;
    fits =
        fits &&
        add_key(w->doc, object, "annotation",
                json_value(w->doc, ks_table_get(t, first, c->annotation))) &&
        add_key(w->doc, object, "metric", json_value(w->doc, ks_table_get(t, first, c->metric))) &&
        add_key(w->doc, object, "unit", json_value(w->doc, ks_table_get(t, first, c->unit))) &&
        add_key(w->doc, object, "config", json_value(w->doc, ks_table_get(t, first, c->config)));
    if (fits && cache_of(t, c, first) != NULL) {
        fits = add_key(w->doc, object, "cache_control",
                       json_value(w->doc, ks_table_get(t, first, c->cache)));
    }
    for (size_t row = first; fits && row < end; row++) {
        fits = yyjson_mut_arr_append(values, json_value(w->doc, ks_table_get(t, row, c->value)));
        if (fits && !ks_table_valid(t, row, c->value)) {
            fits = add_missing(w, missing, t, c, row);
        }
    }
    fits = fits && add_key(w->doc, object, "values", values);
    if (fits && yyjson_mut_arr_size(missing) > 0) {
        fits = add_key(w->doc, object, "missing", missing);
    }
    return fits ? end_piece(w, object, before) : abandon_piece(w);
}

static ks_status write_samples(writer *w, const ks_table *t)
{
    sample_columns c = {
        .annotation = ks_table_find(t, "Annotation"),
        .metric = ks_table_find(t, "Metric"),
        .unit = ks_table_find(t, "Unit"),
        .config = ks_table_find(t, "Config"),
        .run = ks_table_find(t, "Run"),
        .value = ks_table_find(t, "Value"),
        .reason = ks_table_find(t, "Reason"),
        .cache = ks_table_find(t, "CacheControl"),
    };
    if (c.cache < c.reason) { /* a parameter of that name */
        c.cache = t->column_count;
    }
    for (size_t first = 0; first < t->rows;) {
        size_t end = first + 1;
        while (end < t->rows && same_series(t, &c, first, end)) {
            end++;
        }
        KS_TRY(write_series(w, t, &c, first, end, first > 0 ? ",\n  " : "\n  "));
        first = end;
    }
    return KS_OK;
}

ks_status ks_json_results(const ks_table *table, const ks_table *configs, const ks_table *samples,
                          FILE *to, ks_error *err)
{
    writer w = {.to = to, .err = err};
    fputs("{\n \"schema\": \"" KS_JSON_SCHEMA "\",\n \"plan\": ", to);
    KS_TRY(write_facts(&w, table, true));
    fputs(",\n \"environment\": ", to);
    KS_TRY(write_facts(&w, table, false));
    fputs(",\n \"columns\": [", to);
    KS_TRY(write_columns(&w, table));
    fputs("\n ],\n \"rows\": [", to);
    KS_TRY(write_rows(&w, table));
    fputs("\n ],\n \"configs\": [", to);
    KS_TRY(write_rows(&w, configs));
    fputs("\n ],\n \"samples\": [", to);
    KS_TRY(write_samples(&w, samples));
    fputs("\n ]\n}\n", to);
    return ks_stream_status(to, "JSON", err);
}

ks_status ks_table_json(const ks_table *table, FILE *to, ks_error *err)
{
    if (table == NULL) {
        return ks_no_table(err);
    }
    writer w = {.to = to, .err = err};
    fputs("[", to);
    KS_TRY(write_rows(&w, table));
    fputs(table->rows > 0 ? "\n]\n" : "]\n", to);
    return ks_stream_status(to, "JSON", err);
}
