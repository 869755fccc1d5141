/* The lock, the script and the log of calls. */
#include "fakes/nvidia/internal.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAULTS_MAX = 64,
    LOG_MAX = 256
};

typedef struct fault {
    char function[64];
    long number; /* of the call; 0: all */
    bool later;  /* ... and all after it */
    int result;
    long seen; /* calls */
} fault;

typedef struct entry {
    char function[64]; /* copied: a CUPTI may be unloaded */
    unsigned calls;
} entry;

static const fake_settings usual = {.gap = 2500,
                                    .devices = 1,
                                    .driver_version = 13000,
                                    .compute_capability = 90,
                                    .architecture = KS_CUPTI_SUPPORTED,
                                    .sli = KS_CUPTI_SUPPORTED,
                                    .vgpu = KS_CUPTI_SUPPORTED,
                                    .confidential = KS_CUPTI_SUPPORTED,
                                    .cmp = KS_CUPTI_SUPPORTED,
                                    .wsl = KS_CUPTI_SUPPORTED,
                                    .chip = "GH100",
                                    .driver = "580.159.04"};

static const struct {
    const char *name;
    size_t offset;
} known[] = {
    {"drop", offsetof(fake_settings, drop)},
    {"drop_every", offsetof(fake_settings, drop_every)},
    {"extra_ranges", offsetof(fake_settings, extra_ranges)},
    {"device_error", offsetof(fake_settings, device_error)},
    {"context_reset_after", offsetof(fake_settings, context_reset_after)},
    {"endless", offsetof(fake_settings, endless)},
    {"gap", offsetof(fake_settings, gap)},
    {"no_passes", offsetof(fake_settings, no_passes)},
    {"range_bytes", offsetof(fake_settings, range_bytes)},
    {"report_dropped", offsetof(fake_settings, report_dropped)},
    {"devices", offsetof(fake_settings, devices)},
    {"driver_version", offsetof(fake_settings, driver_version)},
    {"cupti_version", offsetof(fake_settings, cupti_version)},
    {"compute_capability", offsetof(fake_settings, compute_capability)},
    {"supported.architecture", offsetof(fake_settings, architecture)},
    {"supported.sli", offsetof(fake_settings, sli)},
    {"supported.vgpu", offsetof(fake_settings, vgpu)},
    {"supported.confidential", offsetof(fake_settings, confidential)},
    {"supported.cmp", offsetof(fake_settings, cmp)},
    {"supported.wsl", offsetof(fake_settings, wsl)},
    {"mig", offsetof(fake_settings, mig)},
    {"mps", offsetof(fake_settings, mps)},
    {"margin", offsetof(fake_settings, margin)},
};

fake_settings fake_set;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fault faults[FAULTS_MAX];
static size_t fault_count;
static entry calls[LOG_MAX];
static size_t call_count;
static long launches;

void fake_lock(void)
{
    pthread_mutex_lock(&lock);
}

void fake_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

long fake_next_launch_locked(void)
{
    return ++launches;
}

/* ---- the script -------------------------------------------------------------------------------
 */

static _Noreturn void refuse(const char *part)
{
    fprintf(stderr, "fake_script: what is '%s'?\n", part);
    abort();
}

static void add_fault(char *name, int result, const char *part)
{
    if (fault_count == FAULTS_MAX) {
        refuse(part);
    }
    fault *f = &faults[fault_count++];
    *f = (fault){.result = result};
    char *colon = strchr(name, ':');
    if (colon != NULL) {
        char *end = NULL;
        *colon = '\0';
        f->number = strtol(colon + 1, &end, 10);
        f->later = *end == '+';
        if (f->number < 1 || strlen(end) > 1 || (*end != '\0' && *end != '+')) {
            refuse(part);
        }
    }
    snprintf(f->function, sizeof f->function, "%.63s", name);
}

/* One entry, without blanks; `part` is that, for a message. */
static void read_entry(char *name, const char *part)
{
    char *value = strchr(name, '=');
    char *end = NULL;
    if (value == NULL) {
        refuse(part);
    }
    *value++ = '\0';
    char *text = strcmp(name, "chip") == 0     ? fake_set.chip
                 : strcmp(name, "holder") == 0 ? fake_set.holder
                 : strcmp(name, "driver") == 0 ? fake_set.driver
                                               : NULL;
    if (text != NULL) {
        snprintf(text, sizeof fake_set.chip, "%.31s", value);
        return;
    }
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0') {
        refuse(part);
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            *(long *)(void *)((char *)&fake_set + known[i].offset) = number;
            return;
        }
    }
    if (strncmp(name, "cu", 2) != 0 && strncmp(name, "nvml", 4) != 0) {
        refuse(part);
    }
    add_fault(name, (int)number, part);
}

static void read_script_locked(const char *text)
{
    fake_set = usual;
    fault_count = 0;
    launches = 0;
    while (*text != '\0') {
        char part[128];
        char copy[128];
        size_t length = 0;
        for (; *text != '\0' && *text != ';'; text++) {
            if (!isspace((unsigned char)*text) && length + 1 < sizeof part) {
                part[length++] = *text;
            }
        }
        part[length] = '\0';
        text += *text == ';' ? 1 : 0;
        if (length > 0) {
            memcpy(copy, part, sizeof copy);
            read_entry(copy, part);
        }
    }
    if (fake_set.devices < 0 || fake_set.devices > DEVICES_MAX) {
        refuse("devices");
    }
}

void fake_script(const char *text)
{
    fake_lock();
    read_script_locked(text);
    fake_unlock();
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("FAKE_NVIDIA");
    fake_script(text != NULL ? text : "");
}

void fake_reset(void)
{
    fake_lock();
    read_script_locked("");
    call_count = 0;
    fake_break_device_locked(false);
    fake_forget_kernels_locked();
    fake_forget_devices_locked();
    fake_forget_boards_locked();
    fake_forget_runs_locked();
    fake_unlock();
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static void log_call_locked(const char *function)
{
    for (size_t i = 0; i < call_count; i++) {
        if (strcmp(calls[i].function, function) == 0) {
            calls[i].calls++;
            return;
        }
    }
    if (call_count < LOG_MAX) {
        entry *e = &calls[call_count++];
        snprintf(e->function, sizeof e->function, "%.63s", function);
        e->calls = 1;
    }
}

int fake_enter(const char *function)
{
    int result = 0;
    fake_lock();
    log_call_locked(function);
    for (size_t i = 0; i < fault_count; i++) {
        fault *f = &faults[i];
        if (strcmp(f->function, function) == 0) {
            f->seen++;
            bool now = f->number == 0 || f->seen == f->number || (f->later && f->seen > f->number);
            result = now && result == 0 ? f->result : result;
        }
    }
    fake_unlock();
    return result;
}

unsigned fake_calls(const char *function)
{
    unsigned count = 0;
    fake_lock();
    for (size_t i = 0; i < call_count; i++) {
        count = strcmp(calls[i].function, function) == 0 ? calls[i].calls : count;
    }
    fake_unlock();
    return count;
}

fake_alive fake_count_alive(void)
{
    fake_lock();
    fake_alive alive = fake_now;
    fake_unlock();
    return alive;
}
