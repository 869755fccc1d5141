#include "results/caches.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

/* Less than that is code, constants and other small things. */
#define KS_BYTES_MATTER 1048576.0
/* From this share on two numbers of bytes are as good as the same. */
#define KS_BYTES_SAME 0.9

static const char bytes_read[] = "dram__bytes_read.sum";

/* What a region read, in the runs that tell. */
typedef struct traffic {
    double least, most, mean;
    uint32_t runs; /* 0: it is not known */
} traffic;

static traffic traffic_of(const ks_results *r, const ks_region *region, const char *cache)
{
    traffic t = {0};
    double sum = 0.0;
    uint32_t metric = 0;
    while (metric < r->metric_count &&
           (strcmp(r->metrics[metric].name, bytes_read) != 0 || r->metrics[metric].cache == NULL ||
            strcmp(r->metrics[metric].cache, cache) != 0)) {
        metric++;
    }
    for (uint32_t run = 0; metric < r->metric_count && run < region->runs; run++) {
        double value = r->kept.values[region->first_value + (size_t)metric * region->runs + run];
        if (!isnan(value)) {
            t.least = t.runs == 0 || value < t.least ? value : t.least;
            t.most = t.runs == 0 || value > t.most ? value : t.most;
            sum += value;
            t.runs++;
        }
    }
    t.mean = t.runs > 0 ? sum / t.runs : 0.0;
    return t;
}

static void say(const char *text, double first, double second, ks_buf *to)
{
    char a[KS_NUM_MAX];
    char b[KS_NUM_MAX];
    ks_num_fixed(first / 1e6, 2, a);
    ks_num_fixed(second / 1e6, 2, b);
    ks_buf_addf(to, "%s (%s against %s MB)", text, a, b);
}

static bool swept_contradicts(const traffic *swept, const traffic *left, ks_buf *to)
{
    if (left->runs > 0 && left->mean >= KS_BYTES_MATTER &&
        swept->mean < KS_BYTES_SAME * left->mean) {
        say("the caches were swept, and yet it read less from DRAM than where they were left alone",
            swept->mean, left->mean, to);
        return true;
    }
    if (swept->most >= KS_BYTES_MATTER && swept->least < swept->most / 2) {
        say("the caches were swept, and yet some runs read less than half of what others read from "
            "DRAM: its runs do different work, or found theirs in the caches",
            swept->least, swept->most, to);
        return true;
    }
    return false;
}

static bool left_contradicts(const traffic *left, const traffic *swept, double l2_bytes, ks_buf *to)
{
    bool fits = l2_bytes > 0.0 && swept->mean <= l2_bytes / 2;
    if (swept->runs == 0 || swept->mean < KS_BYTES_MATTER || !fits ||
        left->mean < KS_BYTES_SAME * swept->mean || swept->mean < KS_BYTES_SAME * left->mean) {
        return false;
    }
    say("the caches were left alone, and yet it read as much from DRAM as where they were swept, "
        "though that fits into them: something takes its place there before it runs again",
        left->mean, swept->mean, to);
    return true;
}

bool ks_caches_contradict(const ks_results *r, const ks_row *row, ks_buf *to)
{
    const ks_metric *metric = &r->metrics[row->metric];
    if (metric->cache == NULL || metric->card == NULL) {
        return false;
    }
    const traffic swept = traffic_of(r, row->region, "all");
    const traffic left = traffic_of(r, row->region, "none");
    if (strcmp(metric->cache, "all") == 0) {
        return swept.runs > 0 && swept_contradicts(&swept, &left, to);
    }
    return left.runs > 0 && left_contradicts(&left, &swept, (double)metric->card->l2_bytes, to);
}
