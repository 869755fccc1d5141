#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernsight/run.h"

/* Seconds between two lines. */
static const double REWRITE_S = 0.1;
static const double PLAIN_S = 10.0;

static void show_plan(const ks_progress *now, const progress *p)
{
    uint64_t per_config = now->configs > 0 ? now->calls / now->configs : 0;
    uint64_t runs = (uint64_t)now->runs * now->passes;
    uint64_t more = (uint64_t)(now->most_runs - now->runs) * now->passes * now->configs;
    bool budget = p->budget_s > 0.0; /* which may end a config after its first run */
    fprintf(stderr, "%s%llu calls of %s: %zu config%s x (",
            budget     ? "at most "
            : more > 0 ? "at least "
                       : "",
            (unsigned long long)(budget ? now->calls + more : now->calls), p->program, now->configs,
            now->configs == 1 ? "" : "s");
    if (budget) {
        fprintf(stderr, "up to %u runs in %g s", now->most_runs, p->budget_s);
    } else if (more > 0) {
        fprintf(stderr, "%u to %u runs", now->runs, now->most_runs);
    } else {
        fprintf(stderr, "%u run%s", now->runs, now->runs == 1 ? "" : "s");
    }
    if (now->passes > 1) {
        fprintf(stderr, " x %u passes", now->passes);
    }
    if (per_config > runs) {
        fprintf(stderr, " + %llu warm-up", (unsigned long long)(per_config - runs));
    }
    fputs(p->terminal ? ")" : ")\n", stderr);
}

/* "1 h 02 min", "3 min 05 s", "12 s" */
static void show_time(double seconds)
{
    unsigned long whole = (unsigned long)ceil(seconds);
    if (whole >= 3600) {
        fprintf(stderr, ", %lu h %02lu min left", whole / 3600, whole / 60 % 60);
    } else if (whole >= 60) {
        fprintf(stderr, ", %lu min %02lu s left", whole / 60, whole % 60);
    } else {
        fprintf(stderr, ", %lu s left", whole);
    }
}

static void show_call(const ks_progress *now, const progress *p)
{
    char config[48];
    size_t length = ks_call_describe(now->call, config, sizeof config);
    fprintf(stderr, "%sconfig %zu/%zu", p->terminal ? "\r\033[K" : "", now->config + 1,
            now->configs);
    if (length > 0 && length < sizeof config) {
        fprintf(stderr, " (%s)", config);
    }
    fprintf(stderr, ", %s %u/%u", now->phase == KS_PHASE_WARMUP ? "warm-up" : "run", now->run + 1,
            now->runs);
    if (now->phase == KS_PHASE_WAIT) {
        fprintf(stderr, ", waiting for the GPU to cool down (%.0f of %.0f degrees)", now->margin_c,
                now->wanted_c);
    }
    if (!isnan(now->remaining_s)) {
        show_time(now->remaining_s);
    }
    if (!p->terminal) {
        fputc('\n', stderr);
    }
}

void show_progress(const ks_progress *now, void *user)
{
    progress *p = user;
    if (now->phase == KS_PHASE_START) {
        show_plan(now, p);
    } else if (now->phase == KS_PHASE_END) {
        fputs(p->terminal ? "\r\033[K" : "", stderr);
    } else if (now->elapsed_s - p->last_s >= (p->terminal ? REWRITE_S : PLAIN_S)) {
        p->last_s = now->elapsed_s;
        show_call(now, p);
    }
    fflush(stderr);
}
