#include "collect/nvidia/drain.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "base/error.h"
#include "base/num.h"

enum {
    STUCK_MAX = 64 /* contexts; a program that has lost as many has other worries */
};

/* A thread that waits for the GPU. Whoever of the two leaves last frees it. */
typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    const ks_cuda *cuda;
    ks_cuda_context context;
    ks_cuda_result result;
    enum {
        IDLE,
        ASKED,
        ANSWERED,
        OVER,     /* it is to end */
        FORSAKEN, /* nobody waits for its answer any more */
    } state;
} waiter;

static waiter *now; /* NULL: there is none */
static double limit_s;
static struct {
    ks_cuda_context context;
    unsigned long long id; /* tells it from a later one at the same address */
} stuck[STUCK_MAX];
static size_t stuck_count;

bool ks_drain_is_stuck(const ks_cuda *cuda, ks_cuda_context context)
{
    unsigned long long id = 0;
    for (size_t i = 0; i < stuck_count; i++) {
        if (stuck[i].context == context && cuda->context_id(context, &id) == 0 &&
            stuck[i].id == id) {
            return true;
        }
    }
    return false;
}

static void note_stuck(const ks_cuda *cuda, ks_cuda_context context)
{
    unsigned long long id = 0;
    if (stuck_count < STUCK_MAX && cuda->context_id(context, &id) == 0) {
        stuck[stuck_count].context = context;
        stuck[stuck_count++].id = id;
    }
}

/* ---- the thread -------------------------------------------------------------------------------
 */

static void free_waiter(waiter *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    ks_free(w);
}

static ks_cuda_result synchronize(const waiter *w)
{
    ks_cuda_context out = NULL;
    ks_cuda_result result = w->cuda->push_context(w->context);
    if (result == 0) {
        result = w->cuda->synchronize();
        w->cuda->pop_context(&out);
    }
    return result;
}

static void *serve(void *user)
{
    waiter *w = user;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->state != ASKED && w->state != OVER) {
            pthread_cond_wait(&w->changed, &w->lock);
        }
        if (w->state == OVER) {
            break;
        }
        pthread_mutex_unlock(&w->lock);
        ks_cuda_result result = synchronize(w);
        pthread_mutex_lock(&w->lock);
        if (w->state == FORSAKEN) {
            pthread_mutex_unlock(&w->lock);
            free_waiter(w);
            return NULL;
        }
        w->result = result;
        w->state = ANSWERED;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(waiter *w)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&w->thread, NULL, serve, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

ks_status ks_drain_start(double seconds, ks_error *err)
{
    pthread_condattr_t attributes;
    limit_s = seconds;
    if (now != NULL || limit_s <= 0.0) {
        return KS_OK;
    }
    waiter *w = ks_calloc(1, sizeof *w);
    if (w == NULL) {
        return ks_enomem(err);
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!start_thread(w)) {
        free_waiter(w);
        return ks_fail(err, KS_ENOMEM, "nvidia", 0, "no thread can be started");
    }
    now = w;
    return KS_OK;
}

void ks_drain_stop(void)
{
    if (now == NULL) {
        return;
    }
    pthread_mutex_lock(&now->lock);
    now->state = OVER;
    pthread_cond_broadcast(&now->changed);
    pthread_mutex_unlock(&now->lock);
    pthread_join(now->thread, NULL);
    free_waiter(now);
    now = NULL;
}

/* ---- waiting ----------------------------------------------------------------------------------
 */

static struct timespec deadline(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    double whole = (double)(time_t)limit_s;
    at.tv_sec += (time_t)limit_s;
    at.tv_nsec += (long)((limit_s - whole) * 1e9);
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* @return whether there is an answer */
static bool ask(waiter *w, const ks_cuda *cuda, ks_cuda_context context, ks_cuda_result *result)
{
    const struct timespec until = deadline();
    int late = 0;
    pthread_mutex_lock(&w->lock);
    w->cuda = cuda;
    w->context = context;
    w->state = ASKED;
    pthread_cond_broadcast(&w->changed);
    while (w->state != ANSWERED && late == 0) {
        late = pthread_cond_timedwait(&w->changed, &w->lock, &until);
    }
    bool answered = w->state == ANSWERED;
    *result = w->result;
    w->state = answered ? IDLE : FORSAKEN;
    pthread_mutex_unlock(&w->lock);
    return answered;
}

ks_cuda_result ks_drain(const ks_cuda *cuda)
{
    ks_cuda_context context = NULL;
    ks_cuda_result result = cuda->context(&context);
    if (result != 0 || context == NULL) {
        return result;
    }
    if (ks_drain_is_stuck(cuda, context)) {
        return KS_DRAIN_NEVER;
    }
    if (now == NULL || limit_s <= 0.0) {
        return cuda->synchronize();
    }
    if (ask(now, cuda, context, &result)) {
        return result;
    }
    pthread_detach(now->thread);
    now = NULL;
    note_stuck(cuda, context);
    return KS_DRAIN_NEVER;
}

ks_status ks_drain_fail(const char *kernel, ks_error *err)
{
    char seconds[KS_NUM_MAX];
    ks_num_f64_plain(limit_s, seconds);
    return ks_fail(
        err, KS_ELIMIT, "nvidia", 0,
        "the GPU's work did not end within %s s%s%.120s%s: a kernel that waits for "
        "another one never ends where one runs at a time; measure it in range replay, or "
        "kernel__time_duration.sum, or wait longer (ks_plan_drain_limit()); the configs "
        "before it are kept, but this CUDA context is of no use any more",
        seconds, kernel != NULL ? ", the last kernel being '" : "",
        kernel != NULL ? ks_demangle_short(kernel) : "", kernel != NULL ? "'" : "");
}
