#include "output/plot_fonts.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/spawn.h"
#include "base/str.h"

enum {
    COMMON_END = 0x250, /* every font has the letters before it */
    RARE_MAX = 256,     /* different ones that are looked for ... */
    ALONE_MAX = 32      /* ... and where no font has all of them, one by one */
};

typedef struct rare_set {
    uint32_t all[RARE_MAX];
    size_t count;
    bool too_many;
} rare_set;

static bool holds(const rare_set *set, uint32_t c)
{
    size_t i = 0;
    while (i < set->count && set->all[i] != c) {
        i++;
    }
    return i < set->count;
}

static void collect(const char *text, rare_set *set)
{
    const char *end = text + strlen(text);
    while (text < end) {
        uint32_t c = ks_utf8_next(&text, end);
        if (c < COMMON_END || holds(set, c)) {
            continue;
        }
        set->too_many = set->too_many || set->count == RARE_MAX;
        if (!set->too_many) {
            set->all[set->count++] = c;
        }
    }
}

/* Whether fontconfig knows a font that has all of these. If there is no fontconfig, none has. */
static ks_status font_has(const uint32_t *all, size_t count, bool *out, ks_error *err)
{
    ks_buf query;
    ks_buf found;
    ks_buf_init(&query, 1u << 16);
    ks_buf_init(&found, 1u << 20);
    ks_buf_add(&query, ":charset=");
    for (size_t i = 0; i < count; i++) {
        ks_buf_addf(&query, "%s%x", i > 0 ? " " : "", all[i]);
    }
    const char *const argv[] = {"fc-list", ks_buf_text(&query), "family", NULL};
    ks_status status = ks_buf_status(&query, err);
    if (status == KS_OK) {
        status = ks_spawn_filter(argv, "", 0, &found, NULL);
        *out = status == KS_OK && found.length > 0;
        status = status == KS_ENOMEM ? ks_enomem(err) : KS_OK;
    }
    ks_buf_fini(&query);
    ks_buf_fini(&found);
    return status;
}

/* Leave those in the set that no font has. */
static ks_status keep_unknown(rare_set *set, ks_error *err)
{
    bool has = false;
    KS_TRY(font_has(set->all, set->count, &has, err));
    if (has) {
        set->count = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; set->count <= ALONE_MAX && i < set->count; i++) {
        uint32_t c = set->all[i];
        KS_TRY(font_has(&c, 1, &has, err));
        if (!has) {
            set->all[kept++] = c;
        }
    }
    set->count = set->count <= ALONE_MAX ? kept : set->count;
    return KS_OK;
}

static ks_status spell(char **text, const rare_set *unknown, ks_error *err)
{
    ks_buf spelt;
    ks_buf_init(&spelt, 1u << 24);
    const char *at = *text;
    const char *end = at + strlen(at);
    while (at < end) {
        const char *start = at;
        uint32_t c = ks_utf8_next(&at, end);
        if (holds(unknown, c) || (unknown->too_many && c >= COMMON_END)) {
            ks_buf_addf(&spelt, "\\u{%X}", c);
        } else {
            ks_buf_add_bytes(&spelt, start, (size_t)(at - start));
        }
    }
    char *copy = ks_strdup(ks_buf_text(&spelt));
    ks_status status = ks_buf_status(&spelt, err);
    ks_buf_fini(&spelt);
    if (status != KS_OK || copy == NULL) {
        ks_free(copy);
        return status != KS_OK ? status : ks_enomem(err);
    }
    ks_free(*text);
    *text = copy;
    return KS_OK;
}

/* Call collect() or spell() for every text of a plot. */
static ks_status each_text(ks_plot *p, rare_set *set, bool spelling, ks_error *err)
{
    const ks_texts single[] = {{&p->title, 1, 1}, {&p->x.label, 1, 1}};
    const ks_texts *const lists[] = {&single[0], &single[1], &p->series, &p->categories,
                                     &p->panels};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (spelling) {
                KS_TRY(spell(&lists[l]->texts[i], set, err));
            } else {
                collect(lists[l]->texts[i], set);
            }
        }
    }
    for (size_t m = 0; m < p->metric_count; m++) {
        if (spelling) {
            KS_TRY(spell(&p->metrics[m].axis.label, set, err));
        } else {
            collect(p->metrics[m].axis.label, set);
        }
    }
    return KS_OK;
}

ks_status ks_plot_spell_unknown(ks_plot *plot, ks_error *err)
{
    rare_set set = {.count = 0};
    KS_TRY(each_text(plot, &set, false, err));
    if (set.count > 0 && !set.too_many) {
        KS_TRY(keep_unknown(&set, err));
    }
    return set.count > 0 ? each_text(plot, &set, true, err) : KS_OK;
}
