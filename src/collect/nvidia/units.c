#include "collect/nvidia/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collect/nvidia/abi.h"

/* Words of CUPTI's units, and what ncu and we call them. */
static const char *const words[][2] = {
    {"nanosecond", "ns"},     {"percent", "%"},         {"instruction", "inst"},
    {"gpc_cycle", "cycle"},   {"sys_cycle", "cycle"},   {"dram_cycle", "cycle"},
    {"lts_cycle", "cycle"},   {"fbp_cycle", "cycle"},   {"ctc_cycle", "cycle"},
    {"nvlrx_cycle", "cycle"}, {"nvltx_cycle", "cycle"}, {"pcie_cycle", "cycle"},
    {"l2_sector", "sector"},
};

/* Units that ncu calls nothing. */
static const char *const unnamed[] = {"l1tex_request", "l1tex_wavefront", "l1data_bank_conflict"};

/* One of our words for what a unit begins with; `*taken` becomes how much of it that is. */
static const char *word_at(const char *unit, size_t *taken)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t count = strlen(words[i][0]);
        if (strncmp(unit, words[i][0], count) == 0) {
            *taken = count;
            return words[i][1];
        }
    }
    *taken = 1;
    return NULL;
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* CUPTI's unit in our words: "byte/second" stays, "nanosecond" is "ns". It writes products without
 * anything between their factors, which become "cycle*inst". */
void ks_unit_translate(const char *unit, char *to, size_t size)
{
    size_t length = 0;
    bool known_before = false;
    to[0] = '\0';
    for (size_t i = 0; i < sizeof unnamed / sizeof unnamed[0]; i++) {
        if (strcmp(unit, unnamed[i]) == 0) {
            return;
        }
    }
    while (*unit != '\0' && length + 1 < size) {
        size_t taken = 0;
        const char *word = word_at(unit, &taken);
        char one[2] = {*unit, '\0'};
        bool touches = length > 0 && in_word(to[length - 1]) && in_word(*unit);
        const char *joint = touches && (word != NULL || known_before) ? "*" : "";
        length +=
            (size_t)snprintf(to + length, size - length, "%s%s", joint, word != NULL ? word : one);
        known_before = word != NULL;
        unit += taken;
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t count = strlen(end);
    return length >= count && strcmp(text + length - count, end) == 0;
}

/* A unit divided by cycles: those that it has a factor of fall away. */
static void per_cycle(const char *unit, char *to, size_t size)
{
    size_t length = strlen(unit);
    if (strcmp(unit, "cycle") == 0) {
        to[0] = '\0';
    } else if (strncmp(unit, "cycle*", 6) == 0) {
        snprintf(to, size, "%.*s", (int)(size - 1), unit + 6);
    } else if (ends_with(unit, "*cycle")) {
        snprintf(to, size, "%.*s", (int)(length - 6), unit);
    } else {
        snprintf(to, size, "%.*s/cycle", (int)(size - sizeof "/cycle"), unit);
    }
}

/* The unit of a base metric with a sub-metric behind it. CUPTI up to 13.0 tells it, 13.1 the base
 * metric's unit whatever follows. */
void ks_unit_of(const char *unit, const char *sub, char *to, size_t size)
{
    if (strstr(sub, ".pct") != NULL) {
        snprintf(to, size, "%%");
    } else if (strstr(sub, ".per_cycle_") != NULL || ends_with(sub, ".peak_sustained")) {
        per_cycle(unit, to, size);
    } else {
        snprintf(to, size, "%s%s", unit, ends_with(sub, ".per_second") ? "/second" : "");
    }
}

/* What a metric with this unit and sub-metric is. */
ks_metric_kind ks_kind_of(int type, const char *unit, const char *sub)
{
    if (strcmp(unit, "%") == 0) {
        return KS_PERCENT;
    }
    if (type == KS_CUPTI_RATIO) {
        return KS_RATIO;
    }
    if (strstr(sub, ".per_") != NULL || strstr(sub, ".peak_") != NULL) {
        return KS_RATE;
    }
    return strcmp(unit, "ns") == 0 ? KS_DURATION : KS_COUNT;
}
