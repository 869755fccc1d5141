#include "collect/perf/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"
#include "collect/perf/refusal.h"
#include "collect/perf/sysfs.h"

static const char PREFIX[] = "perf::";
static const char SUFFIX[] = ".sum";

enum {
    NAME_MAX_BYTES = 200
};

bool ks_perf_is_open_name(const char *name)
{
    return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
}

/* What libpfm4 says; it may know events that this kernel does not have. */
static bool ask_library(const char *event, ks_perf_event *out)
{
    struct perf_event_attr attr;
    if (!ks_perf_system()->encode(event, &attr)) {
        return false;
    }
    *out = (ks_perf_event){.type = attr.type,
                           .config = attr.config,
                           .config1 = attr.config1,
                           .config2 = attr.config2,
                           .soft =
                               attr.type == PERF_TYPE_SOFTWARE || attr.type == PERF_TYPE_TRACEPOINT,
                           .exclude_user = attr.exclude_user,
                           .exclude_kernel = attr.exclude_kernel};
    if (out->soft) {
        out->exclude_user = out->exclude_kernel = false; /* they happen in the kernel */
    }
    return true;
}

/* A raw code of the processor: `r` and hexadecimal digits. */
static bool read_raw(const char *event, ks_perf_event *out)
{
    uint64_t code = 0;
    if (event[0] != 'r' || !ks_num_read_hex(event + 1, strlen(event + 1), &code)) {
        return false;
    }
    *out = (ks_perf_event){.type = PERF_TYPE_RAW, .config = code, .exclude_kernel = true};
    return true;
}

static ks_status resolve(const char *name, const char *event, ks_perf_event *out, ks_error *err)
{
    if (ask_library(event, out)) {
        return KS_OK;
    }
    bool found = false;
    KS_TRY(ks_perf_sysfs_find(event, out, &found, err));
    if (found && ks_perf_try(out) == EINVAL) {
        out->exclude_kernel = false; /* some PMUs cannot tell the modes apart */
    }
    if (found || read_raw(event, out)) {
        return KS_OK;
    }
    bool library = ks_perf_system()->encoder() != NULL;
    return ks_fail(err, KS_ENOTFOUND, "perf", 0,
                   "%s: no event of that name in %s/sys/bus/event_source; codes are written "
                   "perf::rHEX%s",
                   name, library ? "libpfm4 or " : "",
                   library ? "" : ", and more names are known where libpfm4 is installed");
}

ks_status ks_perf_find(const char *name, ks_perf_metric *out, ks_error *err)
{
    for (size_t i = 0; i < ks_perf_metric_count; i++) {
        if (strcmp(ks_perf_metrics[i].entry.name, name) == 0) {
            *out = ks_perf_metrics[i];
            return KS_OK;
        }
    }
    char event[NAME_MAX_BYTES];
    size_t length = strlen(name);
    if (!ks_perf_is_open_name(name) || length >= sizeof event + sizeof PREFIX - 1) {
        return ks_fail(err, KS_ENOTFOUND, "perf", 0, "there is no metric %.100s", name);
    }
    snprintf(event, sizeof event, "%s", name + sizeof PREFIX - 1);
    length = strlen(event);
    if (length > sizeof SUFFIX - 1 && strcmp(event + length - (sizeof SUFFIX - 1), SUFFIX) == 0) {
        event[length - (sizeof SUFFIX - 1)] = '\0';
    }
    ks_perf_metric found = {.rule = KS_RULE_ADD, .event_count = 1};
    KS_TRY(resolve(name, event, &found.events[0], err));
    found.entry = (ks_metric_entry){.name = name,
                                    .kind = KS_COUNT,
                                    .description = found.events[0].exclude_kernel
                                                       ? "event of the processor, in user mode"
                                                       : "event, in all modes",
                                    .targets = KS_TARGET_REGION | KS_TARGET_PROGRAM};
    *out = found;
    return KS_OK;
}
