#include "api/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "collect/registry.h"

/* The catalogue being filled by one collector, of names that are new. */
typedef struct filler {
    ks_catalogue *catalogue;
    size_t collector;
    size_t known; /* so many entries may have a name that comes again */
} filler;

static ks_status keep(ks_catalogue *c, const char *text, const char **out, ks_error *err)
{
    ks_text_id id = 0;
    KS_TRY(ks_pool_add(&c->pool, text, &id, err));
    *out = ks_pool_text(&c->pool, id);
    return KS_OK;
}

static size_t find_among(const ks_catalogue *c, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(c->entries[i].entry.name, name) != 0) {
        i++;
    }
    return i;
}

static size_t find(const ks_catalogue *c, const char *name)
{
    return find_among(c, c->count, name);
}

static ks_status add_entry(void *self, const ks_metric_entry *entry, ks_error *err)
{
    const filler *f = self;
    ks_catalogue *c = f->catalogue;
    if (find_among(c, f->known, entry->name) < f->known) {
        return KS_OK;
    }
    ks_catalogue_entry copy = {.entry = *entry, .collector = f->collector};
    KS_TRY(keep(c, entry->name, &copy.entry.name, err));
    KS_TRY(keep(c, entry->unit, &copy.entry.unit, err));
    KS_TRY(keep(c, entry->description, &copy.entry.description, err));
    KS_TRY(keep(c, entry->reason, &copy.entry.reason, err));
    KS_TRY(KS_GROW(c->entries, c->capacity, c->count + 1, err));
    c->entries[c->count++] = copy;
    return KS_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const ks_catalogue_entry *)a)->entry.name,
                  ((const ks_catalogue_entry *)b)->entry.name);
}

ks_status ks_catalogue_init(ks_catalogue *catalogue, const ks_collector_ops *const *collectors,
                            ks_error *err)
{
    memset(catalogue, 0, sizeof *catalogue);
    catalogue->collectors = collectors;
    for (size_t i = 0; collectors[i] != NULL; i++) {
        filler f = {catalogue, i, 0};
        ks_metric_sink sink = {&f, add_entry};
        ks_status status = collectors[i]->list(&sink, err);
        if (status != KS_OK) {
            ks_catalogue_fini(catalogue);
            return status;
        }
    }
    qsort(catalogue->entries, catalogue->count, sizeof *catalogue->entries, by_name);
    return KS_OK;
}

void ks_catalogue_fini(ks_catalogue *catalogue)
{
    ks_free(catalogue->entries);
    ks_pool_fini(&catalogue->pool);
    memset(catalogue, 0, sizeof *catalogue);
}

/* A name that stands for several. */
static bool is_set(const char *name)
{
    return name[0] == '@';
}

ks_status ks_catalogue_look_up(ks_catalogue *catalogue, const char *name, ks_error *err)
{
    bool known = find(catalogue, name) < catalogue->count;
    for (size_t i = 0; catalogue->collectors[i] != NULL && !known; i++) {
        filler f = {catalogue, i, catalogue->count};
        ks_metric_sink sink = {&f, add_entry};
        ks_error unknown = KS_ERROR_INIT;
        ks_status status = catalogue->collectors[i]->lookup(name, &sink, &unknown);
        if (status != KS_OK && status != KS_ENOTFOUND) {
            return ks_fail(err, unknown.code, unknown.origin, unknown.native, "%s",
                           unknown.message);
        }
    }
    return KS_OK;
}

static ks_status choose(ks_choice *choice, size_t entry, ks_error *err)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->entries[i] == entry) {
            return KS_OK;
        }
    }
    KS_TRY(KS_GROW(choice->entries, choice->capacity, choice->count + 1, err));
    choice->entries[choice->count++] = entry;
    return KS_OK;
}

static bool measurable(const ks_metric_entry *entry, ks_target target)
{
    return entry->reason == NULL && (entry->targets & (unsigned)target) != 0;
}

static bool matches(const ks_metric_entry *entry, const char *pattern, ks_target target)
{
    return ks_match(pattern, entry->name) && measurable(entry, target);
}

static ks_status ignore_entry(void *self, const ks_metric_entry *entry, ks_error *err)
{
    (void)self;
    (void)entry;
    (void)err;
    return KS_OK;
}

/* Whether a collector has names of this kind, but not this one. */
static bool is_denied(const ks_catalogue *c, const char *name, ks_error *why)
{
    static const ks_metric_sink nobody = {NULL, ignore_entry};
    bool denied = false;
    for (size_t i = 0; c->collectors[i] != NULL && !denied; i++) {
        ks_error_clear(why);
        denied = c->collectors[i]->lookup(name, &nobody, why) == KS_ENOTFOUND;
    }
    return denied;
}

/* Whether a name stands for anything: an entry, a pattern with a match, a metric of GPUs. */
static bool is_known(const ks_catalogue *c, const char *name)
{
    ks_error why = KS_ERROR_INIT;
    bool known = find(c, name) < c->count;
    for (size_t i = 0; i < c->count && !known && ks_is_pattern(name); i++) {
        known = ks_match(name, c->entries[i].entry.name);
    }
    return known || (ks_is_gpu_metric(name) && !is_denied(c, name, &why));
}

/* A GPU metric that is not to be had. */
static ks_status fail_gpu(const char *name, ks_target target, ks_error *err)
{
    if (target == KS_TARGET_PROGRAM) {
        return ks_fail(err, KS_UNAVAILABLE, "metrics", 0,
                       "metric %s is a GPU hardware metric, and those cannot be measured of an "
                       "unmodified program: annotate the program, and run it by the library "
                       "(docs/gpu.md)",
                       name);
    }
    return ks_fail(err, KS_UNAVAILABLE, "metrics", 0,
                   "metric %s is a GPU hardware metric, and this version does not measure it; "
                   "`kernsight metrics --chip` lists those that it does",
                   name);
}

static ks_status fail_target(const char *name, ks_target target, ks_error *err)
{
    return ks_fail(err, KS_UNAVAILABLE, "metrics", 0,
                   target == KS_TARGET_PROGRAM
                       ? "metric %s is measured of annotated regions, not of programs; `kernsight "
                         "metrics` says which are"
                       : "metric %s is measured of programs, not of annotated regions; `kernsight "
                         "metrics` says which are",
                   name);
}

static ks_status fail_entry(const ks_metric_entry *entry, ks_target target, ks_error *err)
{
    if (target == KS_TARGET_PROGRAM && ks_is_gpu_metric(entry->name)) {
        return fail_gpu(entry->name, target, err);
    }
    return entry->reason == NULL
               ? fail_target(entry->name, target, err)
               : ks_fail(err, KS_UNAVAILABLE, "metrics", 0, "metric %s is not available here: %s",
                         entry->name, entry->reason);
}

/* A pattern that is_known(): if it matches nothing that can be measured, the first of what it does
 * match says why, or it is one of GPU metrics. */
static ks_status choose_pattern(const ks_catalogue *c, const char *pattern, ks_target target,
                                ks_choice *out, ks_error *err)
{
    bool found = false;
    for (size_t i = 0; i < c->count; i++) {
        if (matches(&c->entries[i].entry, pattern, target)) {
            found = true;
            KS_TRY(choose(out, i, err));
        }
    }
    for (size_t i = 0; i < c->count && !found; i++) {
        if (ks_match(pattern, c->entries[i].entry.name)) {
            return fail_entry(&c->entries[i].entry, target, err);
        }
    }
    return found ? KS_OK : fail_gpu(pattern, target, err);
}

void ks_catalogue_hint(const ks_catalogue *catalogue, const char *name, ks_buf *to)
{
    ks_error unknown = KS_ERROR_INIT;
    if (is_denied(catalogue, name, &unknown)) {
        ks_buf_add(to, unknown.message);
        return;
    }
    ks_near near;
    ks_near_init(&near, name);
    for (size_t i = 0; i < catalogue->count; i++) {
        ks_near_offer(&near, catalogue->entries[i].entry.name);
    }
    for (size_t i = 0; i < near.count; i++) {
        const char *joint = i == 0 ? "did you mean " : i + 1 == near.count ? " or " : ", ";
        ks_buf_addf(to, "%s%s", joint, near.names[i]);
    }
}

/* Add the names that a plan asks for and no list has. */
static ks_status look_up_all(ks_catalogue *c, const ks_plan *plan, ks_error *err)
{
    for (size_t i = 0; i < plan->metrics.count; i++) {
        KS_TRY(ks_catalogue_look_up(c, plan->metrics.texts[i], err));
    }
    return KS_OK;
}

/* Every unknown name first, then what is near them: a long list must not hide a name. */
static ks_status check_known(const ks_catalogue *c, const ks_plan *plan, ks_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->metrics.count; i++) {
        count += !is_known(c, plan->metrics.texts[i]);
    }
    ks_buf unknown;
    ks_buf hints;
    ks_buf_init(&unknown, 1u << 16);
    ks_buf_init(&hints, 1u << 16);
    for (size_t i = 0; count > 0 && i < plan->metrics.count; i++) {
        const char *name = plan->metrics.texts[i];
        if (is_known(c, name)) {
            continue;
        }
        ks_buf_addf(&unknown, "%s%s", unknown.length > 0 ? ", " : "", name);
        ks_buf hint;
        ks_buf_init(&hint, 4096);
        ks_catalogue_hint(c, name, &hint);
        bool named = strstr(ks_buf_text(&hint), name) != NULL;
        if (hint.length > 0 && (count == 1 || named)) {
            ks_buf_addf(&hints, "; %s", ks_buf_text(&hint));
        } else if (hint.length > 0) {
            ks_buf_addf(&hints, "; for %s %s", name, ks_buf_text(&hint));
        }
        ks_buf_fini(&hint);
    }
    ks_status status = KS_OK;
    if (count > 0) {
        status = ks_fail(err, KS_ENOTFOUND, "metrics", 0,
                         "unknown metric%s %s%s; `kernsight metrics` lists all",
                         count > 1 ? "s" : "", ks_buf_text(&unknown), ks_buf_text(&hints));
    }
    ks_buf_fini(&unknown);
    ks_buf_fini(&hints);
    return status;
}

/* A catalogue in which what a collector tells of is chosen. */
typedef struct chooser {
    const ks_catalogue *catalogue;
    ks_target target;
    ks_choice *choice;
} chooser;

static ks_status choose_told(void *self, const ks_metric_entry *entry, ks_error *err)
{
    const chooser *of = self;
    size_t at = find(of->catalogue, entry->name);
    const ks_metric_entry *found = &of->catalogue->entries[at].entry;
    return measurable(found, of->target) ? choose(of->choice, at, err)
                                         : fail_entry(found, of->target, err);
}

/* A set that is_known(), all of which the catalogue has by now. */
static ks_status choose_set(const ks_catalogue *c, const char *name, ks_target target,
                            ks_choice *out, ks_error *err)
{
    chooser of = {c, target, out};
    const ks_metric_sink sink = {&of, choose_told};
    for (size_t i = 0; c->collectors[i] != NULL; i++) {
        KS_TRY(c->collectors[i]->lookup(name, &sink, err));
    }
    return KS_OK;
}

static ks_status choose_name(const ks_catalogue *c, const char *name, ks_target target,
                             ks_choice *out, ks_error *err)
{
    size_t at = find(c, name);
    if (at == c->count && is_set(name)) {
        return choose_set(c, name, target, out, err);
    }
    if (at == c->count) {
        return ks_is_pattern(name) ? choose_pattern(c, name, target, out, err)
                                   : fail_gpu(name, target, err);
    }
    const ks_metric_entry *entry = &c->entries[at].entry;
    if (!measurable(entry, target)) {
        return fail_entry(entry, target, err);
    }
    return choose(out, at, err);
}

ks_status ks_catalogue_choose(ks_catalogue *catalogue, const ks_plan *plan, ks_target target,
                              ks_choice *out, ks_error *err)
{
    static const char *const of_region[] = {"cpu__time_duration.sum", NULL};
    static const char *const of_program[] = {"cpu__time_duration.sum", "cpu__user_time.sum",
                                             "cpu__system_time.sum", "program__stdout_bytes.sum",
                                             NULL};
    const char *const *defaults = target == KS_TARGET_PROGRAM ? of_program : of_region;
    KS_TRY(look_up_all(catalogue, plan, err));
    KS_TRY(check_known(catalogue, plan, err));
    for (size_t i = 0; i < plan->metrics.count; i++) {
        KS_TRY(choose_name(catalogue, plan->metrics.texts[i], target, out, err));
    }
    for (size_t i = 0; plan->metrics.count == 0 && defaults[i] != NULL; i++) {
        KS_TRY(choose_name(catalogue, defaults[i], target, out, err));
    }
    return KS_OK;
}
