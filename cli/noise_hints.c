/* What on this machine may make times vary. */
#include <stdlib.h>
#include <string.h>

#include "noise.h"

/* The first line of a file below `root`; "" if there is none. */
static void read_line(const char *root, const char *path, char *line, size_t size)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "re");
    line[0] = '\0';
    if (file == NULL) {
        return;
    }
    if (fgets(line, (int)size, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
    }
    fclose(file);
}

static bool has_hypervisor(const char *root)
{
    char name[512];
    char line[8192];
    bool found = false;
    snprintf(name, sizeof name, "%s/proc/cpuinfo", root);
    FILE *file = fopen(name, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor") != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

/* Turbo is on: intel_pstate says so by a 0, the general driver by a 1. */
static bool has_turbo(const char *root)
{
    char no_turbo[16];
    char boost[16];
    read_line(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", no_turbo, sizeof no_turbo);
    read_line(root, "/sys/devices/system/cpu/cpufreq/boost", boost, sizeof boost);
    return strcmp(no_turbo, "0") == 0 || strcmp(boost, "1") == 0;
}

int print_noise_hints(const char *root, double load, long cpus, FILE *to)
{
    int hints = 0;
    char text[64];
    read_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text);
    if (text[0] != '\0' && strcmp(text, "performance") != 0) {
        fprintf(to, "  the frequency governor is '%s': cpupower frequency-set -g performance\n",
                text);
        hints++;
    }
    if (has_turbo(root)) {
        fputs(
            "  turbo is on: the clock falls as the chip warms up; warm up longer, or turn it off\n",
            to);
        hints++;
    }
    read_line(root, "/sys/devices/system/cpu/smt/active", text, sizeof text);
    if (strcmp(text, "1") == 0) {
        fputs("  SMT is on: whatever runs on the sibling CPU shares this core; pin with taskset\n",
              to);
        hints++;
    }
    if (load > 0.3 * (double)cpus) {
        fprintf(to, "  other programs run: the load average is %.1f on %ld CPUs\n", load, cpus);
        hints++;
    }
    if (has_hypervisor(root)) {
        fputs("  this is a virtual machine: its host shares the CPUs with others\n", to);
        hints++;
    }
    return hints;
}
