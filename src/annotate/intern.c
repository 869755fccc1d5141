/* Names and paths of annotations. */
#include <string.h>

#include "annotate/internal.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum {
    MAX_PATH = 65535
};

static size_t hash_of(const ks_annotation *parent, const char *name, size_t length)
{
    uint64_t above = parent != NULL ? parent->id + 1u : 0u;
    return (size_t)(ks_hash(name, length) ^ above * 0x9E3779B97F4A7C15u);
}

static ks_annotation **find_slot(ks_session *s, const ks_annotation *parent, const char *name)
{
    size_t at = hash_of(parent, name, strlen(name)) & (s->slot_count - 1);
    while (s->slots[at] != NULL &&
           (s->slots[at]->parent != parent || strcmp(s->slots[at]->name, name) != 0)) {
        at = (at + 1) & (s->slot_count - 1);
    }
    return &s->slots[at];
}

static ks_status grow_slots(ks_session *s, ks_error *err)
{
    if (s->count * 2 < s->slot_count) {
        return KS_OK;
    }
    size_t count = s->slot_count != 0 ? s->slot_count * 2 : 64;
    ks_annotation **slots = ks_calloc(count, sizeof(ks_annotation *));
    if (slots == NULL) {
        return ks_enomem(err);
    }
    ks_free(s->slots);
    s->slots = slots;
    s->slot_count = count;
    for (size_t i = 0; i < s->count; i++) {
        *find_slot(s, s->list[i]->parent, s->list[i]->name) = s->list[i];
    }
    return KS_OK;
}

static ks_status check_name(const char *name, ks_error *err)
{
    if (name == NULL) {
        return ks_fail(err, KS_EINVAL, "annotate", 0, "an annotation's name is missing (NULL)");
    }
    size_t length = strlen(name);
    if (length > MAX_PATH) {
        return ks_fail(err, KS_EINVAL, "annotate", 0,
                       "an annotation's name has %zu bytes; at most %d are allowed", length,
                       MAX_PATH);
    }
    if (ks_utf8_check(name, length) < length) {
        return ks_fail(err, KS_EINVAL, "annotate", 0, "annotation '%s': the name is not UTF-8",
                       name);
    }
    if (ks_has_control(name, length)) {
        return ks_fail(err, KS_EINVAL, "annotate", 0,
                       "annotation '%s': the name has a control character", name);
    }
    return KS_OK;
}

static char *make_path(const ks_annotation *parent, const char *name)
{
    ks_buf path;
    ks_buf_init(&path, (size_t)4 * MAX_PATH);
    if (parent != NULL) {
        ks_buf_add(&path, parent->path);
        ks_buf_add_char(&path, '/');
    }
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '/' || *c == '\\') {
            ks_buf_add_char(&path, '\\');
        }
        ks_buf_add_char(&path, *c);
    }
    return ks_buf_take(&path);
}

static void free_annotation(ks_annotation *annotation)
{
    if (annotation != NULL) {
        ks_free((char *)annotation->name);
        ks_free((char *)annotation->path);
        ks_free(annotation);
    }
}

static ks_status make(ks_session *s, ks_annotation *parent, const char *name, ks_annotation **out,
                      ks_error *err)
{
    KS_TRY(check_name(name, err));
    KS_TRY(KS_GROW(s->list, s->capacity, s->count + 1, err));
    ks_annotation *annotation = ks_calloc(1, sizeof *annotation);
    if (annotation == NULL) {
        return ks_enomem(err);
    }
    annotation->id = (uint32_t)s->count;
    annotation->parent = parent;
    annotation->name = ks_strdup(name);
    annotation->path = make_path(parent, name);
    if (annotation->name == NULL || annotation->path == NULL) {
        free_annotation(annotation);
        return ks_enomem(err);
    }
    if (strlen(annotation->path) > MAX_PATH) {
        free_annotation(annotation);
        return ks_fail(err, KS_ELIMIT, "annotate", 0,
                       "annotation '%.100s' is nested too deep: its path is longer than %d bytes",
                       name, MAX_PATH);
    }
    s->list[s->count++] = annotation;
    *out = annotation;
    return KS_OK;
}

ks_status ks_intern(ks_annotation *parent, const char *name, ks_annotation **out, ks_error *err)
{
    ks_session *s = &ks_the_session;
    if (name == NULL) {
        return check_name(name, err);
    }
    pthread_mutex_lock(&s->lock);
    ks_status status = grow_slots(s, err);
    if (status == KS_OK) {
        ks_annotation **slot = find_slot(s, parent, name);
        if (*slot == NULL) {
            status = make(s, parent, name, slot, err);
        }
        *out = *slot;
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

void ks_intern_fini(void)
{
    ks_session *s = &ks_the_session;
    for (size_t i = 0; i < s->count; i++) {
        free_annotation(s->list[i]);
    }
    ks_free(s->list);
    ks_free(s->slots);
    s->list = NULL;
    s->slots = NULL;
    s->count = s->capacity = s->slot_count = 0;
}

uint32_t ks_session_annotation_count(void)
{
    pthread_mutex_lock(&ks_the_session.lock);
    uint32_t count = (uint32_t)ks_the_session.count;
    pthread_mutex_unlock(&ks_the_session.lock);
    return count;
}

const ks_annotation *ks_session_annotation(uint32_t id)
{
    pthread_mutex_lock(&ks_the_session.lock);
    const ks_annotation *annotation = id < ks_the_session.count ? ks_the_session.list[id] : NULL;
    pthread_mutex_unlock(&ks_the_session.lock);
    return annotation;
}
