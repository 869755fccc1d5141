#include "output/plot_dims.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/num.h"
#include "output/text.h"

/* Panels that still are large enough to read; where there would be more, they become series. */
enum {
    PANELS_CHOSEN = 12
};

static void add_cell_text(ks_value value, ks_buf *to)
{
    char digits[KS_NUM_MAX];
    switch (value.type) {
    case KS_BOOL:
        ks_buf_add(to, value.as.boolean ? "True" : "False");
        break;
    case KS_I64:
        ks_buf_add_i64(to, value.as.i64);
        break;
    case KS_F64:
        ks_num_f64_plain(value.as.f64, digits);
        ks_buf_add(to, digits);
        break;
    case KS_TEXT:
        ks_text_escape(to, value.text[0] != '\0' ? value.text : "\"\"");
        break;
    default:
        ks_buf_add(to, "-");
    }
}

static ks_status read_row(ks_plot_dims *dims, ks_plot_dim *dim, size_t i, ks_buf *text,
                          ks_error *err)
{
    if (dim->name == NULL && i >= dims->known_count) {
        dim->ids[i] = (ks_text_id)((i - dims->known_count) % dim->texts.count) + 1;
        return KS_OK;
    }
    ks_buf_clear(text);
    add_cell_text(ks_table_get(dims->table, dims->rows[i], dim->column), text);
    KS_TRY(ks_buf_status(text, err));
    KS_TRY(ks_pool_add(&dim->texts, ks_buf_text(text), &dim->ids[i], err));
    if (dim->numeric && dim->ids[i] > 0) {
        KS_TRY(KS_GROW(dim->numbers, dim->capacity, dim->ids[i], err));
        dim->numbers[dim->ids[i] - 1] = ks_table_number(dims->table, dims->rows[i], dim->column);
    }
    return KS_OK;
}

static ks_status read_dim(ks_plot_dims *dims, size_t column, const char *name, ks_error *err)
{
    ks_plot_dim *dim = &dims->all[dims->count++];
    ks_type type = ks_table_type(dims->table, column);
    *dim =
        (ks_plot_dim){.column = column, .name = name, .numeric = type == KS_I64 || type == KS_F64};
    ks_pool_init(&dim->texts);
    dim->ids = ks_calloc(dims->row_count, sizeof *dim->ids);
    if (dim->ids == NULL) {
        return ks_enomem(err);
    }
    ks_buf text;
    ks_buf_init(&text, 1u << 20);
    ks_status status = KS_OK;
    for (size_t i = 0; i < dims->row_count && status == KS_OK; i++) {
        status = read_row(dims, dim, i, &text, err);
    }
    ks_buf_fini(&text);
    return status;
}

static ks_status read_dims(ks_plot_dims *dims, ks_error *err)
{
    size_t columns = ks_table_columns(dims->table);
    dims->all = ks_calloc(columns + 1, sizeof *dims->all);
    if (dims->all == NULL) {
        return ks_enomem(err);
    }
    KS_TRY(read_dim(dims, ks_table_find(dims->table, "Annotation"), NULL, err));
    for (size_t c = 0; c < columns; c++) {
        if (ks_table_role(dims->table, c) == KS_ROLE_PARAMETER) {
            KS_TRY(read_dim(dims, c, ks_table_name(dims->table, c), err));
        }
    }
    return KS_OK;
}

/* ---- uses -------------------------------------------------------------------------------------
 */

static size_t levels(const ks_plot_dims *dims, size_t i)
{
    return dims->all[i].texts.count;
}

/* Whether each value of `x` comes with one value of `of` alone, as in a zip. */
static ks_status follows(const ks_plot_dims *dims, size_t of, size_t x, bool *out, ks_error *err)
{
    const ks_plot_dim *a = &dims->all[x];
    const ks_plot_dim *b = &dims->all[of];
    ks_text_id *seen = ks_calloc(a->texts.count, sizeof *seen);
    if (seen == NULL) {
        return ks_enomem(err);
    }
    *out = true;
    for (size_t i = 0; i < dims->row_count && *out; i++) {
        ks_text_id *at = &seen[a->ids[i] - 1];
        *out = *at == 0 || *at == b->ids[i];
        *at = b->ids[i];
    }
    ks_free(seen);
    return KS_OK;
}

static ks_status find_param(const ks_plot_dims *dims, const char *name, size_t *out, ks_error *err)
{
    ks_buf names;
    ks_buf_init(&names, 4096);
    for (size_t i = 1; i < dims->count; i++) {
        if (strcmp(dims->all[i].name, name) == 0) {
            *out = i;
            ks_buf_fini(&names);
            return KS_OK;
        }
        ks_buf_addf(&names, "%s%s", i > 1 ? ", " : "", dims->all[i].name);
    }
    ks_status status = ks_buf_status(&names, err);
    if (status == KS_OK) {
        status = ks_fail(err, KS_ENOTFOUND, "plot", 0, "there is no parameter '%s' to plot%s%s",
                         name, names.length > 0 ? "; there are: " : "", ks_buf_text(&names));
    }
    ks_buf_fini(&names);
    return status;
}

static bool better_x(const ks_plot_dims *dims, size_t i, size_t best)
{
    if (levels(dims, i) < 2 || i == dims->panel) {
        return false;
    }
    if (best == 0) {
        return true;
    }
    bool numeric = dims->all[i].numeric;
    return numeric != dims->all[best].numeric ? numeric : levels(dims, i) > levels(dims, best);
}

/* Numbers before texts, then the parameter with the most values; the annotations where all are the
 * same. */
static size_t choose_x(const ks_plot_dims *dims)
{
    size_t best = 0;
    for (size_t i = 1; i < dims->count; i++) {
        best = better_x(dims, i, best) ? i : best;
    }
    return best;
}

/* A parameter gets panels where the annotations are the series, or where two are left over. */
static size_t choose_panel(const ks_plot_dims *dims, size_t metrics)
{
    size_t best = dims->count;
    size_t left = dims->all[0].use == KS_USE_SERIES ? 1 : 0;
    for (size_t i = 1; i < dims->count; i++) {
        if (dims->all[i].use == KS_USE_SERIES) {
            left++;
            best = best == dims->count || levels(dims, i) < levels(dims, best) ? i : best;
        }
    }
    bool fits = best < dims->count && levels(dims, best) * metrics <= PANELS_CHOSEN;
    return left > 1 && fits ? best : dims->count;
}

static ks_status find_named(ks_plot_dims *dims, const ks_plot_options *options, ks_error *err)
{
    dims->panel = dims->count;
    if (options->panels != NULL) {
        KS_TRY(find_param(dims, options->panels, &dims->panel, err));
    }
    dims->x = choose_x(dims);
    if (options->x != NULL) {
        KS_TRY(find_param(dims, options->x, &dims->x, err));
    }
    return dims->x == dims->panel ? ks_fail(err, KS_EINVAL, "plot", 0,
                                            "the parameter '%s' cannot be both along x and have "
                                            "panels",
                                            options->x)
                                  : KS_OK;
}

static ks_status find_uses(ks_plot_dims *dims, size_t metrics, const ks_plot_options *options,
                           ks_error *err)
{
    KS_TRY(find_named(dims, options, err));
    for (size_t i = 0; i < dims->count; i++) {
        bool known = false;
        KS_TRY(follows(dims, i, dims->x, &known, err));
        dims->all[i].use = levels(dims, i) < 2 ? KS_USE_SAME
                           : known && i > 0    ? KS_USE_FOLLOWS
                                               : KS_USE_SERIES;
    }
    dims->all[dims->x].use = KS_USE_X;
    if (options->panels == NULL) {
        dims->panel = choose_panel(dims, metrics);
    }
    if (dims->panel < dims->count) {
        dims->all[dims->panel].use = KS_USE_PANEL;
    }
    return KS_OK;
}

ks_status ks_plot_dims_find(ks_plot_dims *dims, size_t metrics, const ks_plot_options *options,
                            ks_error *err)
{
    KS_TRY(read_dims(dims, err));
    return find_uses(dims, metrics, options, err);
}

void ks_plot_dims_fini(ks_plot_dims *dims)
{
    for (size_t i = 0; i < dims->count; i++) {
        ks_pool_fini(&dims->all[i].texts);
        ks_free(dims->all[i].ids);
        ks_free(dims->all[i].numbers);
    }
    ks_free(dims->all);
    memset(dims, 0, sizeof *dims);
}

void ks_plot_dim_label(const ks_plot_dim *dim, ks_text_id id, ks_buf *to)
{
    if (dim->name != NULL) {
        ks_text_escape(to, dim->name);
        ks_buf_add_char(to, '=');
    }
    ks_buf_add(to, ks_pool_text(&dim->texts, id));
}
