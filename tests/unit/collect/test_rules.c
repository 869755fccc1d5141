/* How counters of several launches become one: every row of the golden table of docs/metrics.md,
 * with two kernels of which the second runs three times as long. Expected values are worked out by
 * hand, as a profiler would give them for one kernel that does the work of both. */
#include "harness.h"

#include <stdlib.h>

#include "collect/nvidia/rules.h"
#include "samples/samples.h"

#define TIME "gpu__time_duration.sum"

/* A metric of the two kernels, and of both together. */
typedef struct golden {
    const char *name;
    ks_metric_kind kind;
    double values[2];
    const char *weight; /* NULL: none */
    double weights[2];
    double expected;
    bool approximate;
} golden;

static const golden rows[] = {
    {TIME, KS_DURATION, {100, 300}, NULL, {0}, 400, false},
    {"gpc__cycles_elapsed.max", KS_COUNT, {198, 594}, NULL, {0}, 792, false},
    /* 200 cycles in 100 ns and 480 in 300 */
    {"gpc__cycles_elapsed.avg.per_second", KS_RATE, {2e9, 1.6e9}, TIME, {100, 300}, 1.7e9, false},
    {"dram__cycles_elapsed.avg.per_second", KS_RATE, {3e9, 2e9}, TIME, {100, 300}, 2.25e9, false},
    {"sm__cycles_active.avg", KS_COUNT, {90, 250}, NULL, {0}, 340, false},
    {"sm__cycles_active.max", KS_COUNT, {95, 280}, NULL, {0}, 280, false},
    {"sm__cycles_active.min", KS_COUNT, {80, 200}, NULL, {0}, 80, false},
    {"dram__bytes_read.sum", KS_COUNT, {1000, 500}, NULL, {0}, 1500, false},
    {"dram__bytes_write.sum", KS_COUNT, {0, 64}, NULL, {0}, 64, false},
    {"dram__bytes.sum", KS_COUNT, {1000, 564}, NULL, {0}, 1564, false},
    /* 1000 bytes in 100 ns and 600 in 300 */
    {"dram__bytes.sum.per_second", KS_RATE, {1e10, 2e9}, TIME, {100, 300}, 4e9, false},
    {"dram__bytes.sum.peak_sustained", KS_RATE, {512, 512}, NULL, {0}, 512, false},
    {"dram__bytes.sum.peak_sustained_elapsed", KS_RATE, {5120, 15360}, NULL, {0}, 20480, false},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
     KS_PERCENT,
     {80, 20},
     TIME,
     {100, 300},
     35,
     true},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
     KS_PERCENT,
     {80, 20},
     TIME,
     {100, 300},
     35,
     true},
    {"lts__t_bytes.sum", KS_COUNT, {3200, 320}, NULL, {0}, 3520, false},
    {"lts__t_sectors.sum", KS_COUNT, {40, 60}, NULL, {0}, 100, false},
    /* 20 of 40 and 54 of 60 */
    {"lts__t_sector_hit_rate.pct", KS_PERCENT, {50, 90}, "lts__t_sectors.sum", {40, 60}, 74, false},
    /* 7.5 of 30 and 7.5 of 10 */
    {"lts__t_sector_op_read_hit_rate.pct",
     KS_PERCENT,
     {25, 75},
     "lts__t_sectors_op_read.sum",
     {30, 10},
     37.5,
     false},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed",
     KS_PERCENT,
     {10, 50},
     TIME,
     {100, 300},
     40,
     true},
    {"l1tex__t_bytes.sum", KS_COUNT, {640, 64}, NULL, {0}, 704, false},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", KS_COUNT, {30, 10}, NULL, {0}, 40, false},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", KS_COUNT, {120, 320}, NULL, {0}, 440, false},
    /* 0 of 100 and 270 of 300 */
    {"l1tex__t_sector_hit_rate.pct",
     KS_PERCENT,
     {0, 90},
     "l1tex__t_sectors.sum",
     {100, 300},
     67.5,
     false},
    /* 120 sectors of 30 requests and 320 of 10 */
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     KS_RATIO,
     {4, 32},
     "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
     {30, 10},
     11,
     false},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active",
     KS_PERCENT,
     {60, 20},
     TIME,
     {100, 300},
     30,
     true},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
     KS_COUNT,
     {0, 7},
     NULL,
     {0},
     7,
     false},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
     KS_PERCENT,
     {90, 10},
     TIME,
     {100, 300},
     30,
     true},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
     KS_PERCENT,
     {90, 10},
     TIME,
     {100, 300},
     30,
     true},
    /* 180 instructions in 90 active cycles and 270 in 270 */
    {"sm__inst_executed.avg.per_cycle_active",
     KS_RATE,
     {2, 1},
     "sm__cycles_active.avg",
     {90, 270},
     1.25,
     false},
    {"sm__inst_executed.avg.per_cycle_elapsed",
     KS_RATE,
     {1.8, 0.9},
     TIME,
     {100, 300},
     1.125,
     false},
    {"sm__inst_executed.max.per_cycle_elapsed", KS_RATE, {2, 1}, TIME, {100, 300}, 1.25, true},
    {"sm__inst_issued.avg.pct_of_peak_sustained_active",
     KS_PERCENT,
     {50, 25},
     "sm__cycles_active.avg",
     {90, 270},
     31.25,
     false},
    {"sm__instruction_throughput.avg.pct_of_peak_sustained_active",
     KS_PERCENT,
     {50, 10},
     TIME,
     {100, 300},
     20,
     true},
    {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
     KS_PERCENT,
     {40, 0},
     "sm__cycles_active.avg",
     {90, 270},
     10,
     false},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
     KS_PERCENT,
     {0, 80},
     "sm__cycles_active.avg",
     {90, 270},
     60,
     false},
    {"sm__warps_active.avg.pct_of_peak_sustained_active",
     KS_PERCENT,
     {100, 20},
     "sm__cycles_active.avg",
     {90, 270},
     40,
     false},
    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", KS_COUNT, {64, 0}, NULL, {0}, 64, false},
    {"smsp__inst_executed.sum", KS_COUNT, {12, 30}, NULL, {0}, 42, false},
    {"smsp__issue_active.avg.pct_of_peak_sustained_active",
     KS_PERCENT,
     {60, 20},
     "smsp__cycles_active.avg",
     {80, 240},
     30,
     false},
    /* 3200 threads of 100 instructions and 2400 of 300 */
    {"smsp__thread_inst_executed_per_inst_executed.ratio",
     KS_RATIO,
     {32, 8},
     "smsp__inst_executed.sum",
     {100, 300},
     14,
     false},
    {"smsp__average_warp_latency_per_inst_issued.ratio",
     KS_RATIO,
     {10, 2},
     "smsp__inst_issued.sum",
     {100, 300},
     4,
     false},
    {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
     KS_RATIO,
     {6, 2},
     "smsp__issue_active.sum",
     {50, 150},
     3,
     false},
    {"smsp__warp_issue_stalled_wait_per_warp_active.pct",
     KS_PERCENT,
     {20, 40},
     "smsp__warps_active.sum",
     {300, 100},
     25,
     false},
    {"smsp__average_inst_executed_per_warp.ratio",
     KS_RATIO,
     {100, 20},
     "smsp__warps_launched.sum",
     {8, 24},
     40,
     false},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
     KS_RATIO,
     {32, 4},
     TIME,
     {100, 300},
     11,
     true},
};

enum {
    ROWS = sizeof rows / sizeof rows[0]
};

static void two_kernels_become_what_one_of_their_work_would_give(void **state)
{
    (void)state;
    ks_error err = KS_ERROR_INIT;
    for (size_t i = 0; i < ROWS; i++) {
        ks_combining c;
        ks_combining_of(rows[i].name, rows[i].kind, &c);
        bool weighted = c.rule == KS_RULE_WEIGHTED;
        const char *weight = !weighted ? NULL : c.weight[0] != '\0' ? c.weight : TIME;
        if (rows[i].weight == NULL ? weight != NULL
                                   : weight == NULL || strcmp(weight, rows[i].weight) != 0) {
            fail_msg("%s is weighted by %s", rows[i].name, weight != NULL ? weight : "nothing");
        }
        const ks_metric metric = {.name = rows[i].name, .kind = rows[i].kind, .rule = c.rule};
        ks_samples s;
        ks_samples_init(&s, &metric, 1);
        KT_OK(ks_samples_start(&s, 1, &err));
        KT_OK(ks_samples_enter(&s, 0, &err));
        KT_OK(ks_samples_add(&s, 0, 0, 0, rows[i].values[0], rows[i].weights[0], &err));
        KT_OK(ks_samples_add(&s, 0, 0, 0, rows[i].values[1], rows[i].weights[1], &err));
        double value = 0.0;
        const char *why = NULL;
        bool known = ks_samples_value(&s, 0, 0, 0, &value, &why);
        if (!known || value < rows[i].expected * (1 - 1e-12) ||
            value > rows[i].expected * (1 + 1e-12) || c.approximate != rows[i].approximate) {
            fail_msg("%s: %.17g, expected %.17g; approximate: %d", rows[i].name, value,
                     rows[i].expected, c.approximate);
        }
        ks_samples_fini(&s);
    }
}

static void properties_of_the_chip_must_agree(void **state)
{
    (void)state;
    ks_combining c;
    ks_combining_of("lts__t_sector_hit_rate.max_rate", KS_RATIO, &c);
    assert_int_equal(c.rule, KS_RULE_SAME);
    ks_combining_of("sm__inst_executed.avg.peak_sustained", KS_RATE, &c);
    assert_int_equal(c.rule, KS_RULE_SAME);
}

/* ---- docs/metrics.md --------------------------------------------------------------------------
 */

/* The next cell of a line of a table: what lies between two bars, without blanks and back quotes.
 */
static char *next_cell(char **line)
{
    char *cell = strsep(line, "|");
    if (cell == NULL) {
        return NULL;
    }
    cell += strspn(cell, " `");
    size_t length = strlen(cell);
    while (length > 0 && strchr(" `", cell[length - 1]) != NULL) {
        cell[--length] = '\0';
    }
    return cell;
}

static const char *words_of(const ks_combining *c)
{
    static const char *const words[] = {
        [KS_RULE_ADD] = "adds up", [KS_RULE_WEIGHTED] = "mean", [KS_RULE_RATIO] = "ratio",
        [KS_RULE_MAX] = "largest", [KS_RULE_MIN] = "smallest",  [KS_RULE_SAME] = "must agree"};
    return words[c->rule];
}

static void check_line(const golden *row, char *line)
{
    ks_combining c;
    ks_combining_of(row->name, row->kind, &c);
    assert_string_equal(next_cell(&line), ks_metric_kind_name(row->kind));
    assert_string_equal(next_cell(&line), words_of(&c));
    assert_string_equal(next_cell(&line), c.rule != KS_RULE_WEIGHTED ? ""
                                          : c.weight[0] != '\0'      ? c.weight
                                                                     : TIME);
    const char *exact = next_cell(&line);
    if ((strcmp(exact, "approximate") == 0) != c.approximate) {
        fail_msg("%s: '%s' in docs/metrics.md", row->name, exact);
    }
}

static void the_documentation_has_the_same_rules(void **state)
{
    (void)state;
    char *text = kt_read(KT_SOURCE_DIR "/docs/metrics.md");
    assert_non_null(text);
    char *rest = strstr(text, "| counter | kind | several launches | weight |");
    assert_non_null(rest);
    strsep(&rest, "\n");
    strsep(&rest, "\n"); /* | --- | */
    size_t count = 0;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && line[0] == '|'; count++) {
        strsep(&line, "|");
        const char *name = next_cell(&line);
        if (count >= ROWS || strcmp(name, rows[count].name) != 0) {
            fail_msg("row %zu of docs/metrics.md: %s", count + 1, name);
        }
        check_line(&rows[count], line);
    }
    assert_int_equal(count, ROWS);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_kernels_become_what_one_of_their_work_would_give),
        cmocka_unit_test(properties_of_the_chip_must_agree),
        cmocka_unit_test(the_documentation_has_the_same_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
