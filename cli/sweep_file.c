/* Sweep files: YAML (or JSON, which is YAML) with the long options of `kernsight run` as keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run_options.h"

#ifdef KS_WITH_YAML

#include <yaml.h>

enum {
    MAX_BYTES = 16 << 20
};

typedef struct reader {
    yaml_document_t document;
    run_options *options;
    ks_error *err;
} reader;

static ks_status fail_node(const reader *r, const yaml_node_t *node, const char *what)
{
    return ks_fail(r->err, KS_EINVAL, "cli", 0, "line %zu, column %zu: %s",
                   node->start_mark.line + 1, node->start_mark.column + 1, what);
}

static yaml_node_t *node_at(reader *r, int id)
{
    return yaml_document_get_node(&r->document, id);
}

/* The text of a scalar; NULL for a list or a map, or a text that a C string cannot hold. */
static const char *scalar(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE ||
        strlen((const char *)node->data.scalar.value) != node->data.scalar.length) {
        return NULL;
    }
    return (const char *)node->data.scalar.value;
}

static bool is_quoted(const yaml_node_t *node)
{
    return node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
}

/* `key:` with nothing behind it. */
static bool is_null(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && !is_quoted(node) && node->data.scalar.length == 0;
}

/* A text that grows; it is NULL once there was no memory. */
static bool append(char **text, const char *more)
{
    size_t had = *text != NULL ? strlen(*text) : 0;
    char *grown = realloc(*text, had + strlen(more) + 1);
    if (grown == NULL) {
        return false;
    }
    memcpy(grown + had, more, strlen(more) + 1);
    *text = grown;
    return true;
}

/* A value of a list, as -p takes it. Quoted ones are texts, and so are plain ones with a comma or a
 * quote; plain ranges stay ranges. */
static bool append_value(char **spec, const yaml_node_t *node)
{
    const char *text = scalar(node);
    if (!is_quoted(node) && text[0] != '\0' && strpbrk(text, ",'") == NULL) {
        return append(spec, text);
    }
    bool fits = append(spec, "'");
    for (; fits && *text != '\0'; text++) {
        const char one[] = {*text, *text == '\'' ? '\'' : '\0', '\0'};
        fits = append(spec, one);
    }
    return fits && append(spec, "'");
}

static ks_status no_memory(const reader *r)
{
    return ks_fail(r->err, KS_ENOMEM, "cli", 0, "out of memory");
}

/* `name: [1, 2]`, `name: 1..8`, `name: 1,2,4` */
static ks_status add_param(reader *r, const yaml_node_t *name, const yaml_node_t *values)
{
    if (scalar(name) == NULL) {
        return fail_node(r, name, "the name of a parameter is expected");
    }
    char *spec = NULL;
    bool fits = append(&spec, scalar(name)) && append(&spec, "=");
    ks_status status = KS_OK;
    if (values->type == YAML_SEQUENCE_NODE) {
        const yaml_node_item_t *item = values->data.sequence.items.start;
        for (; item < values->data.sequence.items.top && fits && status == KS_OK; item++) {
            const yaml_node_t *node = node_at(r, *item);
            bool first = item == values->data.sequence.items.start;
            if (scalar(node) == NULL) {
                status = fail_node(r, node, "a number or a text is expected as a value");
            } else {
                fits = append(&spec, first ? "" : ",") && append_value(&spec, node);
            }
        }
    } else if (scalar(values) == NULL) {
        status = fail_node(r, values, "values are a list, or a text such as 1..8");
    } else if (is_null(values)) {
        status = fail_node(r, name, "this parameter has no values; a list is written [1, 2, 3]");
    } else {
        /* a plain text may hold several values and ranges; a quoted one is one text */
        fits = fits &&
               (is_quoted(values) ? append_value(&spec, values) : append(&spec, scalar(values)));
    }
    if (status == KS_OK && (!fits || !add_text(&r->options->params, spec))) {
        status = no_memory(r);
    }
    free(spec);
    return status;
}

static ks_status add_params(reader *r, const yaml_node_t *node)
{
    if (node->type != YAML_MAPPING_NODE) {
        return fail_node(r, node, "param is a map of names and values");
    }
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = node_at(r, pair->key);
        for (size_t i = 0; scalar(name) != NULL && i < r->options->params.count; i++) {
            const char *known = r->options->params.texts[i];
            if (strncmp(known, scalar(name), strlen(scalar(name))) == 0 &&
                known[strlen(scalar(name))] == '=') {
                return fail_node(r, name, "this parameter is given twice");
            }
        }
        ks_status status = add_param(r, name, node_at(r, pair->value));
        if (status != KS_OK) {
            return status;
        }
    }
    return KS_OK;
}

static ks_status add_env(reader *r, const yaml_node_t *node)
{
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = node_at(r, pair->key);
        const yaml_node_t *value = node_at(r, pair->value);
        if (scalar(name) == NULL || scalar(value) == NULL) {
            return fail_node(r, name, "env is a map of names and texts");
        }
        char *entry = NULL;
        bool fits = append(&entry, scalar(name)) && append(&entry, "=") &&
                    append(&entry, scalar(value)) && add_text(&r->options->env, entry);
        free(entry);
        if (!fits) {
            return no_memory(r);
        }
    }
    return KS_OK;
}

/* Set an option; `where` is told with what is wrong. */
static ks_status set_option(const reader *r, const yaml_node_t *where, const char *name,
                            const char *value)
{
    ks_error told = KS_ERROR_INIT;
    ks_status status = set_run_option(r->options, name, value, &told);
    return status == KS_OK ? KS_OK : fail_node(r, where, told.message);
}

static ks_status add_list(reader *r, const yaml_node_t *node, const char *name)
{
    const yaml_node_item_t *item = node->data.sequence.items.start;
    for (; item < node->data.sequence.items.top; item++) {
        const yaml_node_t *value = node_at(r, *item);
        if (scalar(value) == NULL) {
            return fail_node(r, value, "a text is expected here");
        }
        ks_status status = KS_OK;
        if (strcmp(name, "program") == 0) {
            status = add_text(&r->options->program, scalar(value)) ? KS_OK : no_memory(r);
        } else {
            status = set_option(r, value, name, scalar(value));
        }
        if (status != KS_OK) {
            return status;
        }
    }
    return KS_OK;
}

static bool takes_list(const char *name)
{
    static const char *const names[] = {"program", "metric", "env", "plot", "plot-metric"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A key that came before: one of its values would be lost. */
static bool came_before(reader *r, const yaml_node_pair_t *pairs, const yaml_node_pair_t *pair)
{
    const char *name = scalar(node_at(r, pair->key));
    for (const yaml_node_pair_t *before = pairs; before < pair; before++) {
        if (strcmp(scalar(node_at(r, before->key)), name) == 0) {
            return true;
        }
    }
    return false;
}

static ks_status set_key(reader *r, const yaml_node_t *key, const yaml_node_t *value)
{
    const char *name = scalar(key);
    if (name == NULL) {
        return fail_node(r, key, "the name of an option is expected");
    }
    ks_error told = KS_ERROR_INIT;
    if (check_run_option(name, &told) != KS_OK) {
        return fail_node(r, key, told.message);
    }
    if (strcmp(name, "param") == 0) {
        return add_params(r, value);
    }
    if (strcmp(name, "env") == 0 && value->type == YAML_MAPPING_NODE) {
        return add_env(r, value);
    }
    if (value->type == YAML_SEQUENCE_NODE && takes_list(name)) {
        return add_list(r, value, name);
    }
    if (strcmp(name, "program") == 0) {
        return fail_node(r, value, "program is a list: the program and its arguments");
    }
    if (scalar(value) == NULL) {
        return fail_node(r, value, "one value is expected here, not a list or a map");
    }
    if (is_null(value)) {
        return fail_node(r, key, "this option has no value");
    }
    return set_option(r, value, name, scalar(value));
}

static ks_status read_document(reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (root == NULL || root->type != YAML_MAPPING_NODE) {
        return ks_fail(r->err, KS_EINVAL, "cli", 0,
                       "a map of options is expected, such as `runs: 5`");
    }
    const yaml_node_pair_t *pairs = root->data.mapping.pairs.start;
    for (const yaml_node_pair_t *pair = pairs; pair < root->data.mapping.pairs.top; pair++) {
        ks_status status = set_key(r, node_at(r, pair->key), node_at(r, pair->value));
        if (status == KS_OK && came_before(r, pairs, pair)) {
            status = fail_node(r, node_at(r, pair->key), "this option is given twice");
        }
        if (status != KS_OK) {
            return status;
        }
    }
    return KS_OK;
}

ks_status parse_sweep(const char *text, size_t length, run_options *options, ks_error *err)
{
    yaml_parser_t parser;
    reader r = {.options = options, .err = err};
    if (!yaml_parser_initialize(&parser)) {
        return no_memory(&r);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    ks_status status = KS_OK;
    if (yaml_parser_load(&parser, &r.document)) {
        status = read_document(&r);
        yaml_document_delete(&r.document);
    } else {
        const yaml_mark_t *mark = &parser.problem_mark;
        status =
            ks_fail(err, KS_EINVAL, "cli", 0, "line %zu, column %zu: %s", mark->line + 1,
                    mark->column + 1, parser.problem != NULL ? parser.problem : "this is not YAML");
    }
    yaml_parser_delete(&parser);
    return status;
}

static ks_status read_text(FILE *file, char **text, size_t *length, ks_error *err)
{
    size_t capacity = 0;
    for (size_t got = 1; got > 0; *length += got) {
        if (capacity - *length < 4096) {
            capacity = capacity != 0 ? capacity * 2 : 65536;
            char *grown = capacity <= MAX_BYTES ? realloc(*text, capacity) : NULL;
            if (grown == NULL) {
                return ks_fail(err, KS_ELIMIT, "cli", 0, "it is larger than %d bytes",
                               MAX_BYTES / 2);
            }
            *text = grown;
        }
        got = fread(*text + *length, 1, capacity - *length, file);
    }
    if (ferror(file)) {
        return ks_fail(err, KS_EIO, "cli", errno, "cannot read it: %s", strerror(errno));
    }
    return KS_OK;
}

ks_status read_sweep_file(const char *path, run_options *options, ks_error *err)
{
    ks_error told = KS_ERROR_INIT;
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t length = 0;
    ks_status status = KS_OK;
    if (file == NULL) {
        status = ks_fail(&told, KS_EINVAL, "cli", errno, "cannot read it: %s", strerror(errno));
    } else {
        status = read_text(file, &text, &length, &told);
        fclose(file);
    }
    if (status == KS_OK) {
        status = parse_sweep(text, length, options, &told);
    }
    free(text);
    return status == KS_OK ? KS_OK
                           : ks_fail(err, told.code, "cli", told.native, "sweep file %s: %s", path,
                                     told.message);
}

#else

ks_status read_sweep_file(const char *path, run_options *options, ks_error *err)
{
    (void)options;
    return ks_fail(err, KS_UNAVAILABLE, "cli", 0,
                   "sweep file %s: this build cannot read YAML; build with libyaml and "
                   "-DKS_WITH_YAML=ON",
                   path);
}

#endif
