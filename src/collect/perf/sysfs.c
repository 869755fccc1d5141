#include "collect/perf/sysfs.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"

static const char DEVICES[] = "/sys/bus/event_source/devices";

enum {
    TEXT_MAX = 512,
    PMU_MAX = 64
};

/* Read a file below the devices, without the newline at its end. */
static bool read_text(const char *pmu, const char *folder, const char *file, char to[TEXT_MAX])
{
    char path[TEXT_MAX];
    int length = snprintf(path, sizeof path, "%s/%s/%s%s", DEVICES, pmu, folder, file);
    if (length >= (int)sizeof path || !ks_perf_system()->read_file(path, to, TEXT_MAX)) {
        return false;
    }
    to[strcspn(to, "\n")] = '\0';
    return true;
}

/* Put the low bits of a value where a range of a format ("0-7" or "21") says. */
static bool place_bits(const char *range, uint64_t *value, uint64_t *field)
{
    size_t length = strcspn(range, ",");
    size_t dash = strcspn(range, "-,");
    int64_t first = 0;
    if (!ks_num_read_i64(range, dash, &first)) {
        return false;
    }
    int64_t last = first;
    bool good = dash == length || ks_num_read_i64(range + dash + 1, length - dash - 1, &last);
    if (!good || first < 0 || last > 63 || first > last) {
        return false;
    }
    int64_t bits = last - first + 1;
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    *field |= (*value & mask) << first;
    *value = bits == 64 ? 0 : *value >> bits;
    return true;
}

/* Set a term such as umask=0x41: the format file of its name ("config:8-15") says where. */
static bool set_term(const char *pmu, const char *term, uint64_t value, ks_perf_event *out)
{
    char format[TEXT_MAX];
    if (!read_text(pmu, "format/", term, format)) {
        return false;
    }
    const char *ranges = strchr(format, ':');
    size_t length = ranges != NULL ? (size_t)(ranges - format) : 0;
    uint64_t *field = length == 6                                         ? &out->config
                      : length == 7 && strncmp(format, "config1", 7) == 0 ? &out->config1
                      : length == 7 && strncmp(format, "config2", 7) == 0 ? &out->config2
                                                                          : NULL;
    bool good = field != NULL && strncmp(format, "config", 6) == 0;
    while (good && ranges != NULL) {
        good = place_bits(ranges + 1, &value, field);
        ranges = strchr(ranges + 1, ',');
    }
    return good;
}

/* The number behind a `=`, as in 0x3c or 60. */
static bool read_value(const char *text, size_t length, uint64_t *out)
{
    int64_t decimal = 0;
    if (length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        return ks_num_read_hex(text + 2, length - 2, out);
    }
    bool good = ks_num_read_i64(text, length, &decimal) && decimal >= 0;
    *out = (uint64_t)decimal;
    return good;
}

/* "event=0x3c,umask=0x00,any": a term without a value is 1. */
static bool read_terms(const char *pmu, const char *terms, ks_perf_event *out)
{
    bool good = true;
    for (const char *at = terms; good && *at != '\0';) {
        size_t length = strcspn(at, ",");
        size_t key = strcspn(at, ",=");
        char term[PMU_MAX];
        uint64_t value = 1;
        good = key < sizeof term &&
               (key == length || read_value(at + key + 1, length - key - 1, &value));
        if (good) {
            memcpy(term, at, key);
            term[key] = '\0';
            good = set_term(pmu, term, value, out);
        }
        at += length + (at[length] == ',');
    }
    return good;
}

static bool find_in(const char *pmu, const char *name, ks_perf_event *out)
{
    char text[TEXT_MAX];
    int64_t type = 0;
    ks_perf_event event = {.exclude_kernel = true};
    if (!read_text(pmu, "type", "", text) || !ks_num_read_i64(text, strlen(text), &type) ||
        !read_text(pmu, "events/", name, text) || !read_terms(pmu, text, &event)) {
        return false;
    }
    event.type = (uint32_t)type;
    *out = event;
    return true;
}

/* A walk over the PMUs, and those that have the event. */
typedef struct finder {
    const char *name;
    ks_perf_event event; /* of the last one */
    unsigned count;
    char pmus[TEXT_MAX]; /* their names */
    size_t length;
} finder;

static bool look_into(void *self, const char *pmu)
{
    finder *f = self;
    if (find_in(pmu, f->name, &f->event)) {
        int added = snprintf(f->pmus + f->length, sizeof f->pmus - f->length, "%s%s",
                             f->count > 0 ? ", " : "", pmu);
        size_t left = sizeof f->pmus - 1 - f->length;
        f->length += (size_t)added < left ? (size_t)added : left;
        f->count++;
    }
    return true;
}

ks_status ks_perf_sysfs_find(const char *name, ks_perf_event *out, bool *found, ks_error *err)
{
    const char *slash = strchr(name, '/');
    char pmu[PMU_MAX];
    if (slash != NULL) {
        int length = snprintf(pmu, sizeof pmu, "%.*s", (int)(slash - name), name);
        *found = length < (int)sizeof pmu && strchr(slash + 1, '/') == NULL &&
                 find_in(pmu, slash + 1, out);
        return KS_OK;
    }
    *found = find_in("cpu", name, out);
    if (*found) {
        return KS_OK;
    }
    finder f = {.name = name};
    ks_perf_system()->list(DEVICES, look_into, &f);
    if (f.count > 1) {
        return ks_fail(err, KS_ENOTFOUND, "perf", 0,
                       "perf::%s: several PMUs have an event of that name (%s); say which, as in "
                       "perf::PMU/%s",
                       name, f.pmus, name);
    }
    *found = f.count == 1;
    if (*found) {
        *out = f.event;
    }
    return KS_OK;
}
