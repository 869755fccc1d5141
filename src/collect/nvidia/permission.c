#include "collect/nvidia/permission.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ks_driver_params = "/proc/driver/nvidia/params";
const char *ks_process_status = "/proc/self/status";

/* The text behind a label, of the first line that begins with it. */
static bool read_line(const char *path, const char *label, char *to, int size)
{
    FILE *file = fopen(path, "re");
    bool found = false;
    while (file != NULL && !found && fgets(to, size, file) != NULL) {
        found = strncmp(to, label, strlen(label)) == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    if (found) {
        memmove(to, to + strlen(label), strlen(to + strlen(label)) + 1);
    }
    return found;
}

/* The driver asks for the capability, which root has unless it was taken away. */
static bool is_administrator(void)
{
    enum {
        CAP_SYS_ADMIN_BIT = 21
    };
    char text[128];
    return read_line(ks_process_status, "CapEff:", text, sizeof text) &&
           (strtoull(text, NULL, 16) >> CAP_SYS_ADMIN_BIT & 1) != 0;
}

ks_permission ks_counters_permission(void)
{
    char text[128];
    if (!read_line(ks_driver_params, "RmProfilingAdminOnly:", text, sizeof text)) {
        return KS_PERMISSION_UNKNOWN;
    }
    if (strtol(text, NULL, 10) == 0) {
        return KS_PERMISSION_ALL;
    }
    return is_administrator() ? KS_PERMISSION_ADMIN : KS_PERMISSION_REFUSED;
}
