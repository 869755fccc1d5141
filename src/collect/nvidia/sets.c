#include "collect/nvidia/sets.h"

#include <pthread.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"

enum {
    SETS_MAX = 8
};

/* Where sets begin in the list of all metrics. */
#define SET(name, description) {name, description},
#define METRIC(name)           {NULL, name},
static const struct {
    const char *set;
    const char *text; /* of a set its description, else the name of a metric */
} lines[] = {
#include "collect/nvidia/sets.def"
};
#undef SET
#undef METRIC

enum {
    LINES = sizeof lines / sizeof lines[0]
};

static const char *metrics[LINES];
static ks_metric_set sets[SETS_MAX];
static size_t set_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_lines(void)
{
    ks_metric_set *set = NULL;
    for (size_t i = 0; i < LINES && (set_count < SETS_MAX || lines[i].set == NULL); i++) {
        metrics[i] = lines[i].text;
        if (lines[i].set != NULL) {
            set = &sets[set_count++];
            *set = (ks_metric_set){lines[i].set, lines[i].text, &metrics[i + 1], 0};
        } else if (set != NULL) {
            set->count++;
        }
    }
}

size_t ks_metric_set_count(void)
{
    pthread_once(&once, read_lines);
    return set_count;
}

const ks_metric_set *ks_metric_set_at(size_t index)
{
    pthread_once(&once, read_lines);
    return &sets[index];
}

const ks_metric_set *ks_metric_set_find(const char *name)
{
    for (size_t i = 0; i < ks_metric_set_count(); i++) {
        if (strcmp(sets[i].name, name) == 0) {
            return &sets[i];
        }
    }
    return NULL;
}

ks_status ks_metric_set_fail(const char *name, ks_error *err)
{
    ks_buf all;
    ks_buf_init(&all, 4096);
    for (size_t i = 0; i < ks_metric_set_count(); i++) {
        ks_buf_addf(&all, "%s%s", i > 0 ? " " : "", sets[i].name);
    }
    ks_status status = ks_buf_status(&all, err);
    if (status == KS_OK) {
        status = ks_fail(err, KS_ENOTFOUND, "metrics", 0,
                         "%.200s is no set of metrics; there are %s", name, ks_buf_text(&all));
    }
    ks_buf_fini(&all);
    return status;
}
