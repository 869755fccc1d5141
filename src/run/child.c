#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "kernsight/run.h"
#include "run/pump.h"

/* Time between asking a program to end and ending it. */
static const uint64_t GRACE_NS = 2000000000u;
/* A cancellation that no signal tells of is seen this soon. */
enum {
    CANCEL_POLL_MS = 100
};

/* What the child tells before it becomes the program, and if it cannot. */
typedef struct report {
    uint64_t stamp_ns;  /* just before exec */
    struct rusage used; /* up to then */
    int failed;         /* errno of what failed; 0: nothing yet */
    bool in_chdir;
} report;

/* The parent's ends of everything. -1: closed. */
typedef struct running {
    const ks_child_spec *spec;
    pid_t pid;
    int pidfd;
    int go;      /* a byte here lets the child go on to exec */
    int reports; /* the child's reports; closed by exec */
    ks_pump out;
    ks_pump err;
    report report;
    uint64_t deadline_ns; /* of the timeout, then of the grace; 0: none */
    bool asked_to_end;
} running;

/* ---- the child's side: only calls that are safe after fork ----------------------------------- */

static void default_signals(void)
{
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void send_report(int to, const report *r)
{
    ssize_t ignored = write(to, r, sizeof *r);
    (void)ignored;
}

static _Noreturn void become_program(const ks_child_spec *spec, const int go[2],
                                     const int reports[2], const int out[2], const int err[2])
{
    report r = {0};
    setpgid(0, 0);
    default_signals();
    close(go[1]); /* else our own end would keep us waiting if the parent dies */
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool ready =
        nothing >= 0 && dup2(nothing, 0) == 0 && dup2(out[1], 1) == 1 && dup2(err[1], 2) == 2;
    if (ready && spec->cwd != NULL && chdir(spec->cwd) != 0) {
        r.in_chdir = true;
        ready = false;
    }
    char byte = 0;
    if (ready && read(go[0], &byte, 1) == 1) {
        getrusage(RUSAGE_SELF, &r.used);
        r.stamp_ns = ks_now_ns();
        send_report(reports[1], &r);
        execve(spec->path, spec->argv, spec->envp);
    }
    r.failed = errno;
    send_report(reports[1], &r);
    _exit(127);
}

/* ---- the parent's side ------------------------------------------------------------------------
 */

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* A pipe above the standard streams, so that putting its ends there cannot close the others. */
static bool make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i] <= 2) {
            int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
            close(ends[i]);
            ends[i] = moved;
        }
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static ks_status fail_start(const ks_child_spec *spec, int number, ks_error *err)
{
    return ks_fail(err, ks_errno_status(number), "program", number, "cannot start %s: %s",
                   spec->path, ks_errno_text(number));
}

static ks_status start(running *run, ks_error *err)
{
    int go[2] = {-1, -1};
    int reports[2] = {-1, -1};
    int out[2] = {-1, -1};
    int errors[2] = {-1, -1};
    bool ready = make_pipe(go) && make_pipe(reports) && make_pipe(out) && make_pipe(errors);
    run->pid = ready ? fork() : -1;
    int number = errno;
    if (run->pid == 0) {
        become_program(run->spec, go, reports, out, errors);
    }
    close_fd(&go[0]);
    close_fd(&reports[1]);
    close_fd(&out[1]);
    close_fd(&errors[1]);
    run->go = go[1];
    run->reports = reports[0];
    run->out.from = out[0];
    run->err.from = errors[0];
    if (run->pid < 0) {
        return fail_start(run->spec, number, err);
    }
    setpgid(run->pid, run->pid); /* whoever comes first: both do it */
    fcntl(run->out.from, F_SETFL, O_NONBLOCK);
    fcntl(run->err.from, F_SETFL, O_NONBLOCK);
    fcntl(run->out.from, F_SETPIPE_SZ, 1 << 20); /* fewer stops for a program that writes much */
    run->pidfd = (int)syscall(SYS_pidfd_open, run->pid, 0);
    if (run->pidfd < 0) {
        return ks_fail(err, KS_UNAVAILABLE, "program", errno,
                       "measuring programs needs pidfd_open (Linux 5.3): %s", ks_errno_text(errno));
    }
    return KS_OK;
}

static void end_group(running *run, int number)
{
    kill(-run->pid, number);
    kill(run->pid, number); /* before it had a group of its own */
}

/* Let it go, and learn when it became the program, or why it could not. */
static ks_status let_go(running *run, ks_error *err)
{
    ssize_t sent = write(run->go, "g", 1);
    (void)sent; /* a child that died already says so below */
    close_fd(&run->go);
    report r;
    while (read(run->reports, &r, sizeof r) == (ssize_t)sizeof r) {
        run->report = r;
    }
    if (run->report.failed == 0) {
        return KS_OK;
    }
    if (run->report.in_chdir) {
        return ks_fail(err, ks_errno_status(run->report.failed), "program", run->report.failed,
                       "cannot start %s in the folder %s: %s", run->spec->path, run->spec->cwd,
                       ks_errno_text(run->report.failed));
    }
    return fail_start(run->spec, run->report.failed, err);
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
        run->deadline_ns = run->report.stamp_ns + (uint64_t)(run->spec->timeout_s * 1e9);
    }
    for (;;) {
        struct pollfd fds[] = {
            {run->pidfd, POLLIN, 0}, {run->out.from, POLLIN, 0}, {run->err.from, POLLIN, 0}};
        int events = poll(fds, 3, wait_ms(run));
        uint64_t now = ks_now_ns();
        if (events > 0 && fds[0].revents != 0) {
            /* what it wrote is in the pipes; who inherited them may keep them open */
            ks_pump_read(&run->out);
            ks_pump_read(&run->err);
            return now;
        }
        if (events > 0 && fds[1].revents != 0) {
            ks_pump_read(&run->out);
        }
        if (events > 0 && fds[2].revents != 0) {
            ks_pump_read(&run->err);
        }
        check_end(run, out);
    }
}

static uint64_t since_ns(struct timeval end, struct timeval start)
{
    int64_t us = (int64_t)(end.tv_sec - start.tv_sec) * 1000000 + (end.tv_usec - start.tv_usec);
    return us > 0 ? (uint64_t)us * 1000u : 0;
}

/* Collect the child, and its usage from exec on. */
static ks_status reap(running *run, uint64_t end_ns, ks_child_end *out, ks_error *err)
{
    struct rusage total = {0};
    pid_t reaped = -1;
    do {
        reaped = wait4(run->pid, &out->status, 0, &total);
    } while (reaped < 0 && errno == EINTR);
    if (reaped < 0) {
        return ks_fail(err, KS_ESTATE, "program", errno,
                       "what %s used is lost: this process ignores SIGCHLD, or another part of it "
                       "waits for all children",
                       run->spec->path);
    }
    out->usage = (ks_child){
        .pid = run->pid,
        .ended = true,
        .wall_ns = end_ns - run->report.stamp_ns,
        .user_ns = since_ns(total.ru_utime, run->report.used.ru_utime),
        .system_ns = since_ns(total.ru_stime, run->report.used.ru_stime),
        .max_rss_bytes = (uint64_t)total.ru_maxrss * 1024u,
        /* the kernel's figure starts from what the forked child had before exec */
        .max_rss_known = total.ru_maxrss > run->report.used.ru_maxrss,
        .stdout_bytes = run->out.bytes,
    };
    return KS_OK;
}

ks_status ks_child_run(const ks_child_spec *spec, ks_child_end *out, ks_error *err)
{
    char tail[KS_STDERR_TAIL];
    running run = {.spec = spec,
                   .pidfd = -1,
                   .out = {.from = -1, .to = spec->stdout_fd},
                   .err = {.from = -1, .to = 2, .tail = tail, .tail_size = sizeof tail}};
    memset(out, 0, sizeof *out);
    ks_status status = start(&run, err);
    if (status == KS_OK) {
        const ks_child stopped = {.pid = run.pid};
        if (spec->token != NULL) {
            ks_session_child(*spec->token, &stopped);
        }
        status = let_go(&run, err);
    }
    if (status == KS_OK) {
        uint64_t end_ns = listen_until_end(&run, out);
        status = reap(&run, end_ns, out, err);
        if (out->timed_out || out->cancelled) {
            kill(-run.pid, SIGKILL); /* whoever of its group is left */
        }
        ks_pump_tail(&run.err, out->tail);
        if (spec->token != NULL && status == KS_OK) {
            ks_session_child(*spec->token, &out->usage);
        }
    } else if (run.pid > 0) {
        end_group(&run, SIGKILL);
        waitpid(run.pid, NULL, 0);
    }
    close_fd(&run.go);
    close_fd(&run.reports);
    close_fd(&run.out.from);
    close_fd(&run.err.from);
    close_fd(&run.pidfd);
    return status;
}
