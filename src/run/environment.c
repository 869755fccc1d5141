#include "run/environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

/* The rest of the first line of a file that starts with `key`, without quotes; "" if there is none.
 */
static void read_line(const char *path, const char *key, char *to, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[512];
    to[0] = '\0';
    while (file != NULL && to[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) == 0) {
            const char *value = line + length + strspn(line + length, " \t:=\"");
            snprintf(to, size, "%.*s", (int)strcspn(value, "\"\n"), value);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    ks_utf8_clean(to);
}

static ks_status add_text(const ks_fact_sink *to, const char *fact, const char *text, ks_error *err)
{
    return text[0] != '\0' ? to->add(to->self, fact, ks_text(text), NULL, err) : KS_OK;
}

ks_status ks_environment(const ks_fact_sink *to, ks_error *err)
{
    char text[512];
    struct utsname name;
    if (uname(&name) == 0) {
        ks_utf8_clean(name.nodename);
        KS_TRY(add_text(to, "host", name.nodename, err));
        read_line("/etc/os-release", "PRETTY_NAME", text, sizeof text);
        KS_TRY(add_text(to, "os", text, err));
        KS_TRY(add_text(to, "kernel", name.release, err));
        KS_TRY(add_text(to, "architecture", name.machine, err));
    }
    read_line("/proc/cpuinfo", "model name", text, sizeof text);
    KS_TRY(add_text(to, "cpu", text, err));
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus > 0 ? to->add(to->self, "cpus", ks_i64(cpus), NULL, err) : KS_OK;
}
