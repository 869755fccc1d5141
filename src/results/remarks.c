/* What is said about a row: why it has no value, and what to think of the one it has. */
#include "results/remarks.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "results/caches.h"

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

/* A GPU's clock that moved more between the runs of a config is told. */
#define KS_CLOCK_MOVED 0.02

/* What the mean does not show: in the order of what to do about it. */
static void warn_shape(const ks_results *r, const ks_shape *s, ks_buf *to)
{
    char pct[KS_NUM_MAX];
    char share[KS_NUM_MAX];
    if (s->first_pct != 0.0) {
        ks_num_fixed(fabs(s->first_pct), 1, pct);
        ks_buf_addf(next(to),
                    "the first run is %s %% %s the others: warm up before it (--warmup 1)", pct,
                    s->first_pct > 0.0 ? "above" : "below");
    }
    if (s->drift_pct != 0.0) {
        ks_num_fixed(fabs(s->drift_pct), 1, pct);
        bool in_turn = r->planned > 1 && r->plan->order != KS_ORDER_INTERLEAVED;
        ks_buf_addf(next(to),
                    "it drifts, the second half of the runs is %s %% %s the first: let the machine "
                    "settle%s",
                    pct, s->drift_pct > 0.0 ? "above" : "below",
                    in_turn ? ", or compare configs in turn (--order interleaved)" : "");
    }
    if (s->high_share > 0.0) {
        ks_num_fixed(100.0 * (s->high - s->low) / fabs(s->low), 1, pct);
        ks_num_fixed(100.0 * s->high_share, 0, share);
        ks_buf_addf(next(to),
                    "the runs fall into two groups, %s %% of them are %s %% above the others and "
                    "the mean is in neither: look for what differs (clock, CPU, memory)",
                    share, pct);
    }
}

/* A clock that moves moves with it all that takes time. */
static void warn_clock(const ks_metric *metric, const ks_region *region, ks_buf *to)
{
    char low[KS_NUM_MAX];
    char high[KS_NUM_MAX];
    char pct[KS_NUM_MAX];
    double moved = region->clock_low > 0.0 ? region->clock_high / region->clock_low - 1.0 : 0.0;
    if (metric->card == NULL || metric->kind == KS_COUNT || metric->kind == KS_PROPERTY ||
        moved <= KS_CLOCK_MOVED) {
        return;
    }
    ks_num_fixed(region->clock_low, 0, low);
    ks_num_fixed(region->clock_high, 0, high);
    ks_num_fixed(100.0 * moved, 1, pct);
    ks_buf_addf(
        next(to),
        "the GPU's clock moved by %s %% between its runs, from %s to %s MHz: lock it (clock "
        "control base), or wait until the GPU is cool (thermal guard)",
        pct, low, high);
}

static void warn_metric(const ks_results *r, const ks_row *row, ks_buf *to)
{
    const ks_metric *metric = &r->metrics[row->metric];
    /* a row that was normalised kept no mean in the metric's own unit: undo the division */
    double mean = row->summary.mean * (row->normalized ? row->baseline : 1.0);
    bool small = metric->doubt != NULL && mean < metric->floor;
    bool visits_small =
        metric->visit_doubt != NULL && mean < metric->visit_floor * row->region->visits;
    if (small) {
        ks_buf_add(next(to), metric->doubt);
    }
    if (visits_small) {
        ks_buf_add(next(to), metric->visit_doubt);
    }
    if (!small && !visits_small) {
        warn_shape(r, &row->shape, to); /* else what it shows is the instrument's */
    }
    double inside =
        row->region->inside * (metric->costs_inside ? r->visit_ns : metric->inside_cost);
    if (inside > 0.0 && inside > KS_SHARE_INSIDE * mean) {
        char share[KS_NUM_MAX];
        ks_num_fixed(fmin(100.0, 100.0 * inside / mean), 0, share);
        ks_buf_addf(next(to), "about %s %% of it is what its %u annotation%s inside cost%s", share,
                    row->region->inside, row->region->inside == 1 ? "" : "s",
                    row->region->inside == 1 ? "s" : "");
    }
    for (size_t i = 0; i < row->region->remark_count; i++) {
        const ks_remark *remark = &r->kept.remarks[row->region->first_remark + i];
        if (remark->metric == row->metric) {
            ks_buf_add(next(to), ks_pool_text(&r->pool, remark->text));
        }
    }
    warn_clock(metric, row->region, to);
    ks_buf caches;
    ks_buf_init(&caches, 1024);
    if (metric->kind != KS_PROPERTY && ks_caches_contradict(r, row, &caches)) {
        ks_buf_add(next(to), ks_buf_text(&caches));
    }
    ks_buf_fini(&caches);
    if (row->metric < 64 && (row->region->shares_added >> row->metric & 1) != 0) {
        ks_buf_addf(next(to), "%s is in %s, and the plan's function added several of them up",
                    metric->name, metric->unit != NULL ? metric->unit : "no unit");
    }
}

/* What a config that got no more runs lacks for the precision that was asked for. */
static void warn_precision(const ks_results *r, const ks_row *row, ks_buf *to)
{
    const ks_auto_runs *until = &r->plan->until;
    size_t n = row->summary.n;
    double half_pct = n >= 2 ? ks_half_width(n) * row->summary.relative_pct : NAN;
    char seconds[KS_NUM_MAX];
    ks_num_f64_plain(until->budget_s, seconds);
    if (row->record->stop == KS_STOP_BUDGET && row->record->runs < until->min_runs) {
        ks_buf_addf(next(to), "only %u runs fit into the %s s that are allowed", row->record->runs,
                    seconds);
    }
    bool missed = row->record->stop == KS_STOP_MAX_RUNS || row->record->stop == KS_STOP_BUDGET;
    uint32_t deciding = ks_deciding_metric(r->metrics, r->metric_count);
    if (!missed || row->metric != deciding || half_pct <= 100.0 * until->precision) {
        return;
    }
    char known[KS_NUM_MAX];
    char wanted[KS_NUM_MAX];
    ks_num_fixed(half_pct, 1, known);
    ks_num_f64_plain(100.0 * until->precision, wanted);
    ks_buf_addf(next(to),
                "not as precise as asked for: \u00b1%s %% of the mean in place of %s %%, ",
                isnan(half_pct) ? "?" : known, wanted);
    if (row->record->stop == KS_STOP_MAX_RUNS) {
        ks_buf_addf(to, "with all %u runs that are allowed", until->max_runs);
    } else {
        ks_buf_addf(to, "in the %s s that are allowed", seconds);
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
    if (region->differing != 0) {
        ks_buf_addf(next(to), "its runs launched different kernels: %s",
                    ks_pool_text(&r->pool, region->differing));
    }
    if (row->derived && r->derived[row->metric].unit_changed) {
        ks_buf_add(next(to), "its callback gave different units; the first one is shown");
    }
    if (!row->derived && row->summary.n > 0) {
        warn_metric(r, row, to);
    }
    bool ended = row->record->stop != KS_STOP_NOT_YET;
    if (!ended) {
        ks_buf_addf(next(to), "the sweep ended after %u of its runs", row->record->runs);
    } else if (r->plan->auto_runs && !row->derived) {
        warn_precision(r, row, to);
    }
}
