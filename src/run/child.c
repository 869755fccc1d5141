#include "run/child.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "kernsight/run.h"
#include "run/pump.h"
#include "run/start.h"

/* Time between asking a program to end and ending it. */
static const uint64_t GRACE_NS = 2000000000u;
/* A cancellation that no signal tells of is seen this soon. */
enum {
    CANCEL_POLL_MS = 100
};
/* The kernel counts the memory of a process only to about this many KiB. */
enum {
    RSS_SLACK_KIB = 384
};

typedef struct running {
    const ks_child_spec *spec;
    ks_started started;
    ks_pump out;
    ks_pump err;
    uint64_t deadline_ns; /* of the timeout, then of the grace; 0: none */
    bool asked_to_end;
} running;

static void end_group(const running *run, int number)
{
    kill(-run->started.pid, number);
    kill(run->started.pid, number); /* before it had a group of its own */
}

/* Hold it, show it to the collectors, let it go; or start it at once. */
static ks_status start(running *run, ks_error *err)
{
    const ks_child_spec *spec = run->spec;
    ks_status status = KS_OK;
    if (spec->token != NULL && ks_session_holds_child(*spec->token)) {
        status = ks_start_held(spec, &run->started, err);
        if (status == KS_OK) {
            const ks_child before = {.pid = run->started.pid};
            ks_session_child(*spec->token, &before);
            status = ks_start_let_go(spec, &run->started, err);
        }
    } else {
        status = ks_start_spawned(spec, &run->started, err);
    }
    run->out.from = run->started.out;
    run->err.from = run->started.err;
    run->started.out = run->started.err = -1; /* the pumps close them */
    return status;
}

/* Milliseconds that poll() may wait. */
static int wait_ms(const running *run)
{
    int wait = CANCEL_POLL_MS;
    if (run->deadline_ns != 0) {
        uint64_t now = ks_now_ns();
        uint64_t left = run->deadline_ns > now ? run->deadline_ns - now : 0;
        double ms = ceil((double)left / 1e6);
        wait = ms < wait ? (int)ms : wait;
    }
    return wait;
}

/* Ask it to end when its time is over or the run was cancelled; end it when it does not. */
static void check_end(running *run, ks_child_end *out)
{
    uint64_t now = ks_now_ns();
    bool over = run->deadline_ns != 0 && now >= run->deadline_ns;
    if (run->asked_to_end) {
        if (over) {
            end_group(run, SIGKILL);
        }
        return;
    }
    out->cancelled = ks_call_cancelled(run->spec->call);
    out->timed_out = over && !out->cancelled;
    if (out->cancelled || out->timed_out) {
        end_group(run, SIGTERM);
        run->asked_to_end = true;
        run->deadline_ns = now + GRACE_NS;
    }
}

/* @return the time of its end */
static uint64_t listen_until_end(running *run, ks_child_end *out)
{
    if (run->spec->timeout_s > 0.0) {
        run->deadline_ns = run->started.stamp_ns + (uint64_t)(run->spec->timeout_s * 1e9);
    }
    for (;;) {
        struct pollfd fds[] = {
            {run->started.pidfd, POLLIN, 0}, ks_pump_poll(&run->out), ks_pump_poll(&run->err)};
        int events = poll(fds, 3, wait_ms(run));
        uint64_t now = ks_now_ns();
        if (events > 0 && fds[0].revents != 0) {
            return now;
        }
        if (events > 0 && fds[1].revents != 0) {
            ks_pump_step(&run->out);
        }
        if (events > 0 && fds[2].revents != 0) {
            ks_pump_step(&run->err);
        }
        check_end(run, out);
    }
}

/* After its end: what it wrote is in the pipe. Who inherited the pipe may go on writing. */
static void take_rest(const running *run, ks_pump *pump, bool timed_out)
{
    uint64_t all = pump->bytes + ks_pump_readable(pump);
    while (ks_pump_waiting(pump) || (pump->from >= 0 && pump->bytes < all)) {
        struct pollfd fd = ks_pump_poll(pump);
        if (poll(&fd, 1, CANCEL_POLL_MS) > 0) {
            ks_pump_step(pump);
        } else if (timed_out || ks_call_cancelled(run->spec->call)) {
            return; /* the reader takes nothing, and we are not to wait */
        }
    }
}

static uint64_t since_ns(struct timeval end, struct timeval start)
{
    int64_t us = (int64_t)(end.tv_sec - start.tv_sec) * 1000000 + (end.tv_usec - start.tv_usec);
    return us > 0 ? (uint64_t)us * 1000u : 0;
}

/* Collect the child, and what it used since it began. */
static ks_status reap(running *run, uint64_t end_ns, ks_child_end *out, ks_error *err)
{
    const ks_started *started = &run->started;
    struct rusage total = {0};
    pid_t reaped = -1;
    do {
        reaped = wait4(started->pid, &out->status, 0, &total);
    } while (reaped < 0 && errno == EINTR);
    if (reaped < 0) {
        return ks_fail_lost(run->spec, errno, err);
    }
    out->usage = (ks_child){
        .pid = started->pid,
        .ended = true,
        .wall_ns = end_ns - started->stamp_ns,
        .user_ns = since_ns(total.ru_utime, started->had.ru_utime),
        .system_ns = since_ns(total.ru_stime, started->had.ru_stime),
        .max_rss_bytes = (uint64_t)total.ru_maxrss * 1024u,
        /* the kernel's figure starts from what there was before exec */
        .max_rss_known = total.ru_maxrss > started->had.ru_maxrss + RSS_SLACK_KIB,
        .stdout_bytes = run->out.bytes,
    };
    return KS_OK;
}

/* From its start to its end. */
static ks_status finish(running *run, ks_child_end *out, ks_error *err)
{
    uint64_t end_ns = listen_until_end(run, out);
    take_rest(run, &run->out, out->timed_out);
    take_rest(run, &run->err, out->timed_out);
    ks_status status = reap(run, end_ns, out, err);
    out->output_failed = run->out.failed;
    if (out->timed_out || out->cancelled) {
        kill(-run->started.pid, SIGKILL); /* whoever of its group is left */
    }
    ks_pump_tail(&run->err, out->tail);
    if (run->spec->token != NULL && status == KS_OK) {
        ks_session_child(*run->spec->token, &out->usage);
    }
    return status;
}

ks_status ks_child_run(const ks_child_spec *spec, ks_child_end *out, ks_error *err)
{
    char tail[KS_STDERR_TAIL];
    running run;
    run.spec = spec;
    run.deadline_ns = 0;
    run.asked_to_end = false;
    ks_pump_init(&run.out, spec->stdout_fd, NULL, 0);
    ks_pump_init(&run.err, STDERR_FILENO, tail, sizeof tail);
    memset(out, 0, sizeof *out);
    ks_status status = start(&run, err);
    if (status == KS_OK) {
        status = finish(&run, out, err);
    } else if (run.started.pid > 0) {
        end_group(&run, SIGKILL);
        while (waitpid(run.started.pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    ks_pump_close(&run.out);
    ks_pump_close(&run.err);
    ks_started_close(&run.started);
    return status;
}
