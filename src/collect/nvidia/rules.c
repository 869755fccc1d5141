#include "collect/nvidia/rules.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Metrics whose rule does not follow from their sub-metric. The weight of a quotient is its
 * denominator: the sum of value x denominator is the sum of the numerators. A * in a weight is what
 * the first one of the pattern stands for. */
static const struct {
    const char *pattern;
    ks_rule rule;
    const char *weight;
} exceptions[] = {
    {"gpu__time_duration*.sum", KS_RULE_ADD, NULL},
    {"gpu__time_duration*.avg", KS_RULE_ADD, NULL},
    {"gpu__time_duration*.max", KS_RULE_ADD, NULL},
    {"gpu__time_duration*.min", KS_RULE_ADD, NULL},
    {"gpu__time_start*", KS_RULE_MIN, NULL},
    {"gpu__time_end*", KS_RULE_MAX, NULL},
    {"*__cycles_elapsed.max", KS_RULE_ADD, NULL},
    {"*__cycles_elapsed.min", KS_RULE_ADD, NULL},
    {"*.peak_sustained_elapsed", KS_RULE_ADD, NULL}, /* what could have been counted in its time */
    {"*.peak_sustained_active", KS_RULE_ADD, NULL},
    {"lts__t_sector_hit_rate.*", KS_RULE_WEIGHTED, "lts__t_sectors.sum"},
    {"lts__t_sector_*_hit_rate.*", KS_RULE_WEIGHTED, "lts__t_sectors_*.sum"},
    {"l1tex__t_sector_hit_rate.*", KS_RULE_WEIGHTED, "l1tex__t_sectors.sum"},
    {"l1tex__t_sector_*_hit_rate.*", KS_RULE_WEIGHTED, "l1tex__t_sectors_*.sum"},
    {"l1tex__average_t_sectors_per_request.*", KS_RULE_WEIGHTED, "l1tex__t_requests.sum"},
    {"l1tex__average_t_sectors_per_request_*.*", KS_RULE_WEIGHTED, "l1tex__t_requests_*.sum"},
    {"smsp__*_per_inst_executed.*", KS_RULE_WEIGHTED, "smsp__inst_executed.sum"},
    {"smsp__*_per_inst_issued.*", KS_RULE_WEIGHTED, "smsp__inst_issued.sum"},
    {"smsp__*_per_issue_active.*", KS_RULE_WEIGHTED, "smsp__issue_active.sum"},
    {"smsp__*_per_warp_active.*", KS_RULE_WEIGHTED, "smsp__warps_active.sum"},
    {"smsp__average_inst_executed*_per_warp.*", KS_RULE_WEIGHTED, "smsp__warps_launched.sum"},
    {"smsp__average_warp_latency_issue_stalled_*.*", KS_RULE_WEIGHTED, "smsp__warps_launched.sum"},
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t count = strlen(end);
    return length >= count && strcmp(text + length - count, end) == 0;
}

/* The weight of a name that its pattern matches. */
static void write_weight(const char *pattern, const char *weight, const char *name,
                         ks_combining *out)
{
    const char *gap = strchr(weight, '*');
    if (gap == NULL) {
        snprintf(out->weight, sizeof out->weight, "%s", weight);
        return;
    }
    size_t before = strcspn(pattern, "*");
    size_t after = strcspn(pattern + before + 1, ".");
    size_t base = strcspn(name, ".");
    snprintf(out->weight, sizeof out->weight, "%.*s%.*s%s", (int)(gap - weight), weight,
             (int)(base - before - after), name + before, gap + 1);
}

static bool find_exception(const char *name, ks_combining *out)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++) {
        if (ks_match(exceptions[i].pattern, name)) {
            out->rule = exceptions[i].rule;
            if (exceptions[i].weight != NULL) {
                write_weight(exceptions[i].pattern, exceptions[i].weight, name, out);
            }
            return true;
        }
    }
    return false;
}

/* "sm__cycles_active.avg" for a metric of the unit sm: what is per active cycle is weighed by. */
static void weigh_by_active_cycles(const char *name, ks_combining *out)
{
    const char *unit_end = strstr(name, "__");
    out->rule = KS_RULE_WEIGHTED;
    if (unit_end != NULL) {
        snprintf(out->weight, sizeof out->weight, "%.*s__cycles_active.avg", (int)(unit_end - name),
                 name);
    }
}

/* Sub-metrics of a quotient and of what is the largest or smallest of the units: which one that is
 * may differ from launch to launch. */
static bool is_approximate(const char *sub, ks_metric_kind kind)
{
    bool quotient = kind == KS_RATIO || strcmp(sub, ".pct") == 0;
    return quotient || strncmp(sub, ".max.", 5) == 0 || strncmp(sub, ".min.", 5) == 0;
}

void ks_combining_of(const char *name, ks_metric_kind kind, ks_combining *out)
{
    *out = (ks_combining){.rule = KS_RULE_ADD};
    const char *sub = strchr(name, '.');
    sub = sub != NULL ? sub : "";
    if (ends_with(sub, ".max_rate") || ends_with(sub, ".peak_sustained")) {
        out->rule = KS_RULE_SAME; /* of the chip */
    } else if (find_exception(name, out)) {
        return;
    } else if (strstr(name, "throughput") != NULL) {
        out->rule = KS_RULE_WEIGHTED;
        out->approximate = true; /* the largest of several shares: of which may differ */
    } else if (ends_with(sub, "_active") && strstr(sub, ".p") != NULL && kind != KS_COUNT) {
        weigh_by_active_cycles(name, out);
        out->approximate = is_approximate(sub, kind);
    } else if (kind == KS_RATE || kind == KS_PERCENT || kind == KS_RATIO) {
        out->rule = KS_RULE_WEIGHTED;
        out->approximate = is_approximate(sub, kind);
    } else if (ends_with(sub, ".max")) {
        out->rule = KS_RULE_MAX;
    } else if (ends_with(sub, ".min")) {
        out->rule = KS_RULE_MIN;
    }
}
