/* libcupti: what needs no device: the metrics of chips, config images, values. */
#include "fakes/nvidia/cupti.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ks_cupti_host {
    int chip;
    char *names; /* of the metrics that were added, one after the other */
    size_t bytes;
    size_t count;
    bool broken; /* by a name that is none */
    ks_cupti_host *next;
};

static ks_cupti_host *hosts; /* under the lock */

static bool is_host_locked(const ks_cupti_host *host)
{
    const ks_cupti_host *h = hosts;
    while (h != NULL && h != host) {
        h = h->next;
    }
    return host != NULL && h == host;
}

/* The chip of a host object; -1: it is none. */
static int chip_of(const ks_cupti_host *host)
{
    fake_lock();
    int chip = is_host_locked(host) ? host->chip : -1;
    fake_unlock();
    return chip;
}

ks_cupti_result cupti_host_init(ks_cupti_host_init *p)
{
    ENTER_WITH("cuptiProfilerHostInitialize", p, ks_cupti_host_init, host);
    int chip = fake_find_chip(p->chip);
    if (chip < 0) {
        return CUPTI_INVALID_CHIP;
    }
    ks_cupti_host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return KS_CUPTI_OUT_OF_MEMORY;
    }
    fake_lock();
    host->chip = chip;
    host->next = hosts;
    hosts = host;
    fake_now.hosts++;
    fake_unlock();
    p->host = host;
    return 0;
}

ks_cupti_result cupti_host_deinit(ks_cupti_host_deinit *p)
{
    ENTER_WITH("cuptiProfilerHostDeinitialize", p, ks_cupti_host_deinit, host);
    fake_lock();
    ks_cupti_host **at = &hosts;
    while (*at != NULL && *at != p->host) {
        at = &(*at)->next;
    }
    ks_cupti_host *host = *at;
    if (host != NULL) {
        *at = host->next;
        free(host->names);
        free(host);
        fake_now.hosts--;
    }
    fake_unlock();
    return host != NULL ? 0 : KS_CUPTI_INVALID_PARAMETER;
}

/* ---- the catalogue ----------------------------------------------------------------------------
 */

ks_cupti_result cupti_base_metrics(ks_cupti_base_metrics *p)
{
    ENTER_WITH("cuptiProfilerHostGetBaseMetrics", p, ks_cupti_base_metrics, count);
    int chip = chip_of(p->host);
    if (chip < 0 || p->type < 0 || p->type >= KS_CUPTI_METRIC_TYPES) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    p->names = fake_base_metrics(p->type, chip, &p->count);
    return 0;
}

ks_cupti_result cupti_sub_metrics(ks_cupti_sub_metrics *p)
{
    ENTER_WITH("cuptiProfilerHostGetSubMetrics", p, ks_cupti_sub_metrics, names);
    int chip = chip_of(p->host);
    if (chip < 0 || p->type < 0 || p->type >= KS_CUPTI_METRIC_TYPES) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    const fake_metric *m = fake_find_base(p->base, chip);
    if (m == NULL) {
        return KS_CUPTI_INVALID_METRIC_NAME;
    }
    p->names = fake_sub_metrics(m->type, &p->count);
    p->count = m->type == p->type ? p->count : 0;
    return 0;
}

ks_cupti_result cupti_properties(ks_cupti_metric_properties *p)
{
    ENTER_WITH("cuptiProfilerHostGetMetricProperties", p, ks_cupti_metric_properties, type);
    int chip = chip_of(p->host);
    if (chip < 0 || p->name == NULL) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    bool full = strchr(p->name, '.') != NULL;
    const fake_metric *m = full ? fake_find_metric(p->name, chip) : fake_find_base(p->name, chip);
    if (m == NULL) {
        return KS_CUPTI_INVALID_METRIC_NAME;
    }
    p->description = m->description;
    p->unit_of = m->unit_of;
    p->unit = m->unit;
    p->type = m->type;
    return 0;
}

/* ---- config images ----------------------------------------------------------------------------
 */

static ks_cupti_result add_name_locked(ks_cupti_host *host, const char *name)
{
    if (name == NULL || fake_find_metric(name, host->chip) == NULL) {
        host->broken = true; /* 13.0 gives this, not 17, and 999 in all that follows */
        return KS_CUPTI_INVALID_PARAMETER;
    }
    const fake_list list = {host->names, host->bytes, host->count};
    if (host->count > 0 && fake_list_find(&list, name) < host->count) {
        return 0;
    }
    size_t more = strlen(name) + 1;
    char *names = realloc(host->names, host->bytes + more);
    if (names == NULL) {
        return KS_CUPTI_OUT_OF_MEMORY;
    }
    memcpy(names + host->bytes, name, more);
    host->names = names;
    host->bytes += more;
    host->count++;
    return 0;
}

ks_cupti_result cupti_add_metrics(ks_cupti_add_metrics *p)
{
    ENTER_WITH("cuptiProfilerHostConfigAddMetrics", p, ks_cupti_add_metrics, count);
    fake_lock();
    ks_cupti_result result = is_host_locked(p->host) ? 0 : KS_CUPTI_INVALID_PARAMETER;
    result = result == 0 && p->host->broken ? CUPTI_UNKNOWN : result;
    for (size_t i = 0; i < p->count && result == 0; i++) {
        result = add_name_locked(p->host, p->names[i]);
    }
    fake_unlock();
    return result;
}

/* The metrics of a host object that has some. */
static ks_cupti_result list_locked(const ks_cupti_host *host, fake_list *list)
{
    if (!is_host_locked(host)) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    *list = (fake_list){host->names, host->bytes, host->count};
    return host->broken || host->count == 0 ? CUPTI_UNKNOWN : 0;
}

ks_cupti_result cupti_config_size(ks_cupti_config_size *p)
{
    fake_list list;
    ENTER_WITH("cuptiProfilerHostGetConfigImageSize", p, ks_cupti_config_size, bytes);
    fake_lock();
    ks_cupti_result result = list_locked(p->host, &list);
    if (result == 0) {
        p->bytes = fake_config_bytes(&list);
    }
    fake_unlock();
    return result;
}

ks_cupti_result cupti_config(ks_cupti_config *p)
{
    fake_list list;
    ENTER_WITH("cuptiProfilerHostGetConfigImage", p, ks_cupti_config, image);
    fake_lock();
    ks_cupti_result result = list_locked(p->host, &list);
    if (result == 0 && (p->image == NULL || p->bytes < fake_config_bytes(&list))) {
        result = KS_CUPTI_INVALID_PARAMETER;
    }
    if (result == 0) {
        fake_config_write(&list, p->image);
    }
    fake_unlock();
    return result;
}

ks_cupti_result cupti_passes(ks_cupti_passes *p)
{
    fake_list list;
    ENTER_WITH("cuptiProfilerHostGetNumOfPasses", p, ks_cupti_passes, passes);
    if (!fake_config_read(p->image, p->bytes, &list)) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    p->passes =
        fake_set.no_passes != 0 ? 0 : (size_t)__builtin_popcount(fake_list_passes(&list, NULL));
    return 0;
}

/* ---- values -----------------------------------------------------------------------------------
 */

ks_cupti_result cupti_evaluate(ks_cupti_evaluate *p)
{
    fake_list list;
    size_t ranges = 0;
    ENTER_WITH("cuptiProfilerHostEvaluateToGpuValues", p, ks_cupti_evaluate, values);
    if (chip_of(p->host) < 0 || !fake_image_read(p->image, p->bytes, &list, NULL, &ranges) ||
        p->range >= ranges) {
        return KS_CUPTI_INVALID_PARAMETER;
    }
    double *values = calloc(list.count, sizeof *values);
    if (values == NULL) {
        return KS_CUPTI_OUT_OF_MEMORY;
    }
    fake_image_get(p->image, p->range, NULL, values);
    for (size_t i = 0; i < p->count; i++) {
        size_t at = fake_list_find(&list, p->names[i]);
        p->values[i] = at < list.count ? values[at] : NAN;
    }
    free(values);
    return 0;
}
