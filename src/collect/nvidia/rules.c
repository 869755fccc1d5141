#include "collect/nvidia/rules.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Metrics whose rule does not follow from their sub-metric. The weight of a quotient is its
 * denominator: the sum of value x denominator is the sum of the numerators. */
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
    {"lts__t_sector_hit_rate.*", KS_RULE_WEIGHTED, "lts__t_sectors.sum"},
    {"l1tex__t_sector_hit_rate.*", KS_RULE_WEIGHTED, "l1tex__t_sectors.sum"},
    {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.*", KS_RULE_WEIGHTED,
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"l1tex__t_sector_pipe_lsu_mem_global_op_st_hit_rate.*", KS_RULE_WEIGHTED,
     "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.*", KS_RULE_WEIGHTED,
     "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.*", KS_RULE_WEIGHTED,
     "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"smsp__thread_inst_executed_per_inst_executed.*", KS_RULE_WEIGHTED, "smsp__inst_executed.sum"},
    {"smsp__average_inst_executed_per_warp.*", KS_RULE_WEIGHTED, "smsp__warps_launched.sum"},
    {"smsp__average_warp_latency_per_inst_issued.*", KS_RULE_WEIGHTED, "smsp__inst_issued.sum"},
    {"smsp__average_warps_issue_stalled_*_per_issue_active.*", KS_RULE_WEIGHTED,
     "smsp__issue_active.sum"},
    {"smsp__average_warp*_per_issue_active.*", KS_RULE_WEIGHTED, "smsp__issue_active.sum"},
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t count = strlen(end);
    return length >= count && strcmp(text + length - count, end) == 0;
}

static bool find_exception(const char *name, ks_combining *out)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++) {
        if (ks_match(exceptions[i].pattern, name)) {
            out->rule = exceptions[i].rule;
            if (exceptions[i].weight != NULL) {
                snprintf(out->weight, sizeof out->weight, "%s", exceptions[i].weight);
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
    } else if (kind == KS_RATE || kind == KS_PERCENT) {
        out->rule = KS_RULE_WEIGHTED;
    } else if (kind == KS_RATIO) {
        out->rule = KS_RULE_WEIGHTED;
        out->approximate = true;
    } else if (ends_with(sub, ".max")) {
        out->rule = KS_RULE_MAX;
    } else if (ends_with(sub, ".min")) {
        out->rule = KS_RULE_MIN;
    }
}
