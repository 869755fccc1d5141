/* What is said about a row: why it has no value, and what to think of the one it has. */
#include "results/remarks.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"

/* "2 of 5 runs failed: why", "no value in 2 of 5 runs: why" where it was not the run that failed,
 * or why alone for a single run. */
static void say_failed(const ks_results *r, const ks_row *row, ks_buf *to)
{
    const char *why = ks_pool_text(&r->pool, row->failure);
    bool runs_failed = row->region == NULL || row->failed <= row->region->failed;
    if (row->runs > 1) {
        char count[48];
        snprintf(count, sizeof count, "%u of %u", row->failed, row->runs);
        if (row->failed == row->runs) {
            snprintf(count, sizeof count, runs_failed ? "all %u" : "%u", row->runs);
        }
        ks_buf_addf(to, runs_failed ? "%s runs failed: " : "no value in %s runs: ", count);
    }
    ks_buf_add(to, why != NULL ? why : "unknown reason");
}

void ks_say_failure(const ks_results *r, const ks_row *row, ks_buf *to)
{
    if (row->first_value == KS_NO_VALUES && row->region != NULL) {
        ks_buf_addf(to, "no value in %u runs: %s", row->runs, KS_NO_SUCH_VALUE);
    } else if (row->failed > 0) {
        say_failed(r, row, to);
    }
    if (row->no_baseline && row->failed < row->runs) {
        ks_buf_addf(to, "%sno baseline: the mean of '%s' %s", to->length > 0 ? "; " : "",
                    r->plan->normalize, row->baseline_zero ? "is 0 here" : "is missing here");
    }
}

/* Where the next warning is written. */
static ks_buf *next(ks_buf *to)
{
    if (to->length > 0) {
        ks_buf_add(to, "; ");
    }
    return to;
}

/* From this share of a value on it is told what annotations inside a region cost. */
#define KS_SHARE_INSIDE 0.05

static void warn_metric(const ks_results *r, const ks_row *row, ks_buf *to)
{
    const ks_metric *metric = &r->metrics[row->metric];
    /* a row that was normalised kept no mean in the metric's own unit: undo the division */
    double mean = row->summary.mean * (row->normalized ? row->baseline : 1.0);
    if (mean < metric->floor) {
        ks_buf_add(next(to), metric->doubt);
    }
    if (mean < metric->visit_floor * row->region->visits) {
        ks_buf_add(next(to), metric->visit_doubt);
    }
    double inside =
        row->region->inside * (metric->costs_inside ? r->visit_ns : metric->inside_cost);
    if (inside > 0.0 && inside > KS_SHARE_INSIDE * mean) {
        char share[KS_NUM_MAX];
        ks_num_fixed(fmin(100.0, 100.0 * inside / mean), 0, share);
        ks_buf_addf(next(to), "about %s %% of it is what its %u annotations inside cost", share,
                    row->region->inside);
    }
    for (size_t i = 0; i < row->region->remark_count; i++) {
        const ks_remark *remark = &r->remarks[row->region->first_remark + i];
        if (remark->metric == row->metric) {
            ks_buf_add(next(to), ks_pool_text(&r->pool, remark->text));
        }
    }
    if (row->metric < 64 && (row->region->shares_added >> row->metric & 1) != 0) {
        ks_buf_addf(next(to), "%s is in %s, and the plan's function added several of them up",
                    metric->name, metric->unit != NULL ? metric->unit : "no unit");
    }
}

void ks_say_warnings(const ks_results *r, const ks_row *row, ks_buf *to)
{
    const ks_region *region = row->region;
    if (region == NULL) {
        return;
    }
    uint32_t could = region->runs - row->record->failed_runs;
    if (region->entered < could) {
        ks_buf_addf(next(to), "entered in %u of %u runs", region->entered, could);
    }
    if (region->visits_differ) {
        ks_buf_add(next(to), "not entered equally often in each run");
    }
    if (region->launches_differ) {
        ks_buf_add(next(to), "not the same number of launches in each run");
    }
    if (row->derived && r->derived[row->metric].unit_changed) {
        ks_buf_add(next(to), "its callback gave different units; the first one is shown");
    }
    if (!row->derived && row->summary.n > 0) {
        warn_metric(r, row, to);
    }
}
