#include "collect/clock/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "collect/clock/clock.h"

enum {
    REGION = KS_TARGET_REGION,
    PROGRAM = KS_TARGET_PROGRAM
};

const ks_clock_metric ks_clock_metrics[KS_READINGS] = {
    [KS_READ_WALL] = {{"cpu__time_duration.sum", "ns", KS_DURATION,
                       "wall time of the region (CLOCK_MONOTONIC); of a program from start to end",
                       NULL, REGION | PROGRAM, false},
                      KS_RULE_ADD},
    [KS_READ_THREAD] = {{"cpu__thread_time.sum", "ns", KS_DURATION,
                         "CPU time of the thread that opened the region", NULL, REGION, false},
                        KS_RULE_ADD},
    [KS_READ_USER] = {{"cpu__user_time.sum", "ns", KS_DURATION,
                       "CPU time in user mode: of the whole process; of a program and its "
                       "waited-for children",
                       NULL, REGION | PROGRAM, false},
                      KS_RULE_ADD},
    [KS_READ_SYSTEM] = {{"cpu__system_time.sum", "ns", KS_DURATION,
                         "CPU time in the kernel: of the whole process; of a program and its "
                         "waited-for children",
                         NULL, REGION | PROGRAM, false},
                        KS_RULE_ADD},
    [KS_READ_PEAK_GROWTH] =
        {{"cpu__peak_rss_growth.max", "byte", KS_EXTREMUM,
          "growth of the largest resident set; 0 below an earlier peak (of a warm-up call)", NULL,
          REGION, false},
         KS_RULE_MAX},
    [KS_READ_MAX_RSS] = {{"cpu__max_rss.max", "byte", KS_EXTREMUM,
                          "largest resident set of the program or one of its waited-for children",
                          NULL, PROGRAM, false},
                         KS_RULE_MAX},
    [KS_READ_STDOUT_BYTES] = {{"program__stdout_bytes.sum", "byte", KS_COUNT,
                               "bytes that the program wrote to its standard output", NULL, PROGRAM,
                               false},
                              KS_RULE_ADD},
};

/* Ten ticks of a kernel with 250 Hz. */
static const double TICKS_NS = 40e6;
/* Less growth than this may be anybody's, such as ours. */
static const double GROWTH_BYTES = 65536.0;
/* Times what measuring reads or costs that a visit should last. */
static const double TIMES_COST = 10.0;

const char ks_clock_rss_hidden[] =
    "in some run it was below what the measuring process itself needs to start a program, and a "
    "mean without that run would be too high";

enum ks_reading ks_clock_find(const char *name)
{
    size_t i = 0;
    while (i < KS_READINGS && strcmp(ks_clock_metrics[i].entry.name, name) != 0) {
        i++;
    }
    return (enum ks_reading)i;
}

static void say_cost(char *to, size_t size, const char *what, double ns)
{
    char cost[KS_NUM_MAX];
    ks_num_fixed(ns, 0, cost);
    snprintf(to, size, "shorter than 10 times what %s (%s ns): put more work into it", what, cost);
}

void ks_clock_fill(enum ks_reading reading, ks_target target, const ks_clock_costs *costs,
                   ks_clock_doubts *doubts, ks_metric *metric)
{
    const ks_clock_metric *known = &ks_clock_metrics[reading];
    metric->unit = known->entry.unit;
    metric->kind = known->entry.kind;
    metric->rule = known->rule;
    metric->source = ks_clock_ops.name;
    metric->passes = 1;
    if (reading == KS_READ_USER || reading == KS_READ_SYSTEM) {
        metric->floor = TICKS_NS;
        metric->doubt =
            "below 40 ms: the kernel may tell user from system time by its tick (1 to 10 ms)";
    }
    if (reading == KS_READ_PEAK_GROWTH) {
        metric->floor = GROWTH_BYTES;
        metric->doubt = "hardly above an earlier peak of the process, such as that of a warm-up "
                        "call: the region may need more than this";
    }
    if (reading == KS_READ_MAX_RSS) {
        metric->hidden = ks_clock_rss_hidden;
    }
    if (target == KS_TARGET_PROGRAM || known->entry.kind != KS_DURATION) {
        return;
    }
    metric->costs_inside = true;
    if (reading == KS_READ_WALL) {
        say_cost(doubts->wall, sizeof doubts->wall, "an empty region reads", costs->empty_ns);
        metric->visit_floor = TIMES_COST * costs->empty_ns;
        metric->visit_doubt = doubts->wall;
    } else {
        say_cost(doubts->usage, sizeof doubts->usage, "measuring a visit costs", costs->visit_ns);
        metric->visit_floor = TIMES_COST * costs->visit_ns;
        metric->visit_doubt = doubts->usage;
    }
}
