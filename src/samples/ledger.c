#include "samples/ledger.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/demangle.h"
#include "base/error.h"

void ks_ledger_init(ks_ledger *ledger)
{
    memset(ledger, 0, sizeof *ledger);
    pthread_mutex_init(&ledger->guard, NULL);
    pthread_cond_init(&ledger->turns, NULL);
}

void ks_ledger_fini(ks_ledger *ledger)
{
    ks_free(ledger->launches);
    ks_pool_fini(&ledger->kernels);
    pthread_cond_destroy(&ledger->turns);
    pthread_mutex_destroy(&ledger->guard);
}

/* Each thread has another one. */
static _Thread_local char here __attribute__((tls_model("initial-exec")));

void ks_ledger_lock(ks_ledger *ledger)
{
    pthread_mutex_lock(&ledger->guard);
    if (ledger->owner != &here) {
        uint64_t ticket = ledger->tickets++;
        while (ledger->serving != ticket) {
            pthread_cond_wait(&ledger->turns, &ledger->guard);
        }
        ledger->owner = &here;
    }
    ledger->depth++;
    pthread_mutex_unlock(&ledger->guard);
}

void ks_ledger_unlock(ks_ledger *ledger)
{
    pthread_mutex_lock(&ledger->guard);
    if (--ledger->depth == 0) {
        ledger->owner = NULL;
        if (++ledger->serving != ledger->tickets) {
            pthread_cond_broadcast(&ledger->turns);
        }
    }
    pthread_mutex_unlock(&ledger->guard);
}

uint64_t ks_ledger_waiting(ks_ledger *ledger)
{
    pthread_mutex_lock(&ledger->guard);
    uint64_t waiting = ledger->tickets - ledger->serving - (ledger->owner != NULL);
    pthread_mutex_unlock(&ledger->guard);
    return waiting;
}

void ks_ledger_start(ks_ledger *ledger, uint32_t first_pass)
{
    ks_ledger_lock(ledger);
    ledger->first_pass = first_pass;
    ledger->count = 0;
    ledger->lost = 0;
    ks_ledger_unlock(ledger);
}

void ks_ledger_keep_runs(ks_ledger *ledger, uint32_t runs)
{
    ks_ledger_lock(ledger);
    size_t kept = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger->launches[i].run < runs) {
            ledger->launches[kept++] = ledger->launches[i];
        }
    }
    ledger->count = kept;
    ks_ledger_unlock(ledger);
}

void ks_ledger_call(ks_ledger *ledger, uint32_t run, uint32_t pass)
{
    ks_ledger_lock(ledger);
    ledger->run = run;
    ledger->pass = pass;
    ks_ledger_unlock(ledger);
}

void ks_ledger_add(ks_ledger *ledger, ks_launch launch, const char *kernel)
{
    if (KS_GROW(ledger->launches, ledger->capacity, ledger->count + 1, NULL) != KS_OK ||
        ks_pool_add(&ledger->kernels, kernel, &launch.kernel, NULL) != KS_OK) {
        ledger->lost++;
        return;
    }
    launch.run = ledger->run;
    launch.pass = ledger->pass;
    ledger->launches[ledger->count++] = launch;
}

static bool same_work(const ks_launch *a, const ks_launch *b)
{
    return a->kernel == b->kernel && a->stream == b->stream &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0;
}

/* "kernel grid (1, 2, 3), block (4, 5, 6), stream 0x7", or "nothing more" */
static void describe(const ks_ledger *ledger, const ks_launch *launch, ks_buf *to)
{
    ks_buf_init(to, 1u << 16);
    if (launch == NULL) {
        ks_buf_add(to, "nothing more");
        return;
    }
    ks_buf_addf(to, "%.80s grid (%u, %u, %u), block (%u, %u, %u), stream %#llx",
                ks_demangle_short(ks_pool_text(&ledger->kernels, launch->kernel)), launch->grid[0],
                launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
                launch->block[2], (unsigned long long)launch->stream);
}

static ks_status fail_different(const ks_ledger *ledger, const ks_launch *a, const ks_launch *b,
                                size_t position, uint32_t pass, ks_error *err)
{
    ks_buf text_a;
    ks_buf text_b;
    describe(ledger, a, &text_a);
    describe(ledger, b, &text_b);
    ks_status status = ks_fail(
        err, KS_ESTATE, "ledger", 0,
        "the passes of a run launched different work: launch %zu of run %u is %s in pass %u, "
        "but %s in pass %u; make the body do the same in every pass, or measure in range or "
        "kernel replay",
        position, (a != NULL ? a : b)->run + 1, ks_buf_text(&text_a), ledger->first_pass + 1,
        ks_buf_text(&text_b), pass + 1);
    ks_buf_fini(&text_a);
    ks_buf_fini(&text_b);
    return status;
}

/* A walk over the launches of one pass, without those of runs that failed. */
typedef struct cursor {
    const ks_launch *at;
    const ks_launch *end;
    const ks_text_id *failed;
} cursor;

static const ks_launch *next(cursor *c)
{
    while (c->at < c->end && c->failed[c->at->run] != 0) {
        c->at++;
    }
    return c->at < c->end ? c->at++ : NULL;
}

/* Launches lie in the order of passes, runs, time. */
static cursor walk(const ks_ledger *ledger, uint32_t pass, const ks_text_id *failed)
{
    size_t low = 0;
    size_t high = ledger->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ledger->launches[middle].pass < pass) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t end = low;
    while (end < ledger->count && ledger->launches[end].pass == pass) {
        end++;
    }
    return (cursor){ledger->launches + low, ledger->launches + end, failed};
}

static ks_status compare_passes(const ks_ledger *ledger, cursor a, cursor b, uint32_t pass,
                                ks_error *err)
{
    size_t position = 0;
    uint32_t run = 0;
    for (;;) {
        const ks_launch *in_a = next(&a);
        const ks_launch *in_b = next(&b);
        if (in_a == NULL && in_b == NULL) {
            return KS_OK;
        }
        /* where one pass has gone on to a later run, it has nothing more in this one */
        uint32_t run_a = in_a != NULL ? in_a->run : UINT32_MAX;
        uint32_t run_b = in_b != NULL ? in_b->run : UINT32_MAX;
        uint32_t now = run_a < run_b ? run_a : run_b;
        position = now == run ? position + 1 : 1;
        run = now;
        in_a = run_a == now ? in_a : NULL;
        in_b = run_b == now ? in_b : NULL;
        if (in_a == NULL || in_b == NULL || !same_work(in_a, in_b)) {
            return fail_different(ledger, in_a, in_b, position, pass, err);
        }
    }
}

ks_status ks_ledger_compare(const ks_ledger *ledger, uint32_t pass, const ks_text_id *failed,
                            ks_error *err)
{
    if (ledger->count == 0) {
        return KS_OK;
    }
    return compare_passes(ledger, walk(ledger, ledger->first_pass, failed),
                          walk(ledger, pass, failed), pass, err);
}
