#include "run/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "run/pump.h"

/* Signals that a program must not find ignored because we or our host ignore them. */
static const int reset_signals[] = {SIGPIPE, SIGXFSZ};
enum {
    RESET_SIGNALS = sizeof reset_signals / sizeof reset_signals[0]
};

/* Bytes that may wait in a program's stdout: many, so that it seldom waits for us. */
enum {
    PIPE_BYTES = 1 << 20
};

/* The child's ends of its streams. */
typedef struct streams {
    int out;
    int err;
} streams;

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

void ks_started_close(ks_started *started)
{
    close_fd(&started->pidfd);
    close_fd(&started->out);
    close_fd(&started->err);
    close_fd(&started->go);
    close_fd(&started->reports);
}

/* A pipe above the standard streams, so that putting its ends there cannot close the others. */
static bool make_pipe(int *from, int *to)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i] <= 2) {
            int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
            close(ends[i]);
            ends[i] = moved;
        }
    }
    *from = ends[0];
    *to = ends[1];
    return ends[0] >= 0 && ends[1] >= 0;
}

static ks_status fail_start(const ks_child_spec *spec, int number, ks_error *err)
{
    if (spec->cwd != NULL && access(spec->cwd, X_OK) != 0) {
        number = errno;
        return ks_fail(err, ks_errno_status(number), "program", number,
                       "cannot start %s in the folder %s: %s", spec->path, spec->cwd,
                       ks_errno_text(number));
    }
    return ks_fail(err, ks_errno_status(number), "program", number, "cannot start %s: %s",
                   spec->path, ks_errno_text(number));
}

static ks_status make_streams(const ks_child_spec *spec, ks_started *out, streams *child,
                              ks_error *err)
{
    memset(out, 0, sizeof *out);
    out->pid = -1;
    out->pidfd = out->out = out->err = out->go = out->reports = -1;
    if (!make_pipe(&out->out, &child->out) || !make_pipe(&out->err, &child->err)) {
        return fail_start(spec, errno, err);
    }
    fcntl(out->out, F_SETFL, O_NONBLOCK);
    fcntl(out->err, F_SETFL, O_NONBLOCK);
    fcntl(out->out, F_SETPIPE_SZ, PIPE_BYTES);
    return KS_OK;
}

ks_status ks_fail_lost(const ks_child_spec *spec, int number, ks_error *err)
{
    return ks_fail(
        err, KS_ESTATE, "program", number,
        "what %s used is lost: this process ignores SIGCHLD, or another part of it waits "
        "for all children",
        spec->path);
}

static ks_status watch(const ks_child_spec *spec, ks_started *started, ks_error *err)
{
    started->pidfd = (int)syscall(SYS_pidfd_open, started->pid, 0);
    if (started->pidfd < 0 && errno == ESRCH) {
        started->pid = -1;
        return ks_fail_lost(spec, ESRCH, err);
    }
    if (started->pidfd < 0) {
        return ks_fail(err, KS_UNAVAILABLE, "program", errno,
                       "measuring programs needs pidfd_open (Linux 5.3): %s", ks_errno_text(errno));
    }
    return KS_OK;
}

/* ---- spawned ----------------------------------------------------------------------------------
 */

static int add_actions(const ks_child_spec *spec, const streams *child,
                       posix_spawn_file_actions_t *actions)
{
    int number = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (number == 0) {
        number = posix_spawn_file_actions_adddup2(actions, child->out, 1);
    }
    if (number == 0) {
        number = posix_spawn_file_actions_adddup2(actions, child->err, 2);
    }
    if (number == 0 && spec->cwd != NULL) {
        number = posix_spawn_file_actions_addchdir_np(actions, spec->cwd);
    }
    return number;
}

static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(attributes, &set);
    for (int i = 0; i < RESET_SIGNALS; i++) {
        sigaddset(&set, reset_signals[i]);
    }
    posix_spawnattr_setsigdefault(attributes, &set);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETSIGMASK);
}

static int spawn(const ks_child_spec *spec, const streams *child, ks_started *out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes);
    int number = add_actions(spec, child, &actions);
    if (number == 0) {
        struct rusage ours;
        getrusage(RUSAGE_SELF, &ours);
        out->had.ru_maxrss = ours.ru_maxrss; /* it begins with our peak, but not with our time */
        out->stamp_ns = ks_now_ns();
        number = posix_spawn(&out->pid, spec->path, &actions, &attributes, spec->argv, spec->envp);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return number;
}

ks_status ks_start_spawned(const ks_child_spec *spec, ks_started *out, ks_error *err)
{
    streams child = {-1, -1};
    ks_status status = make_streams(spec, out, &child, err);
    if (status == KS_OK) {
        int number = spawn(spec, &child, out);
        if (number != 0) {
            out->pid = -1;
            status = fail_start(spec, number, err);
        }
    }
    close_fd(&child.out);
    close_fd(&child.err);
    return status == KS_OK ? watch(spec, out, err) : status;
}

/* ---- held -------------------------------------------------------------------------------------
 */

/* What a held process tells before it becomes the program, and if it cannot. */
typedef struct report {
    uint64_t stamp_ns;
    struct rusage had;
    int failed; /* errno of what failed; 0: nothing */
} report;

static void send_report(int to, const report *r)
{
    ssize_t ignored = write(to, r, sizeof *r);
    (void)ignored;
}

static void default_signals(void)
{
    for (int i = 0; i < RESET_SIGNALS; i++) {
        signal(reset_signals[i], SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the forked process: only calls that are safe there. */
static _Noreturn void become_program(const ks_child_spec *spec, const streams *child, int go,
                                     int reports)
{
    report r = {0};
    setpgid(0, 0);
    default_signals();
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool ready = nothing >= 0 && dup2(nothing, 0) == 0 && dup2(child->out, 1) == 1 &&
                 dup2(child->err, 2) == 2 && (spec->cwd == NULL || chdir(spec->cwd) == 0);
    char byte = 0;
    if (ready && read(go, &byte, 1) == 1) {
        getrusage(RUSAGE_SELF, &r.had);
        r.stamp_ns = ks_now_ns();
        send_report(reports, &r);
        execve(spec->path, spec->argv, spec->envp);
    }
    r.failed = errno;
    send_report(reports, &r);
    _exit(127);
}

ks_status ks_start_held(const ks_child_spec *spec, ks_started *out, ks_error *err)
{
    streams child = {-1, -1};
    int go = -1;
    int reports = -1;
    ks_status status = make_streams(spec, out, &child, err);
    if (status == KS_OK) {
        bool ready = make_pipe(&go, &out->go) && make_pipe(&out->reports, &reports);
        out->pid = ready ? fork() : -1;
        int number = errno;
        if (out->pid == 0) {
            close_fd(&out->go); /* else our own end would keep us waiting if the parent dies */
            become_program(spec, &child, go, reports);
        }
        status = out->pid < 0 ? fail_start(spec, number, err) : KS_OK;
    }
    close_fd(&child.out);
    close_fd(&child.err);
    close_fd(&go);
    close_fd(&reports);
    KS_TRY(status);
    setpgid(out->pid, out->pid); /* whoever comes first: both do it */
    return watch(spec, out, err);
}

static bool read_report(int from, report *out)
{
    ssize_t got = 0;
    do {
        got = read(from, out, sizeof *out);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *out;
}

ks_status ks_start_let_go(const ks_child_spec *spec, ks_started *started, ks_error *err)
{
    report last = {0};
    ssize_t sent = 0;
    do {
        sent = ks_write_quietly(started->go, "g", 1);
    } while (sent < 0 && errno == EINTR); /* a process that died already says so below */
    close_fd(&started->go);
    while (read_report(started->reports, &last)) {
    }
    started->stamp_ns = last.stamp_ns;
    started->had = last.had;
    if (last.failed != 0) {
        return fail_start(spec, last.failed, err);
    }
    if (last.stamp_ns == 0) {
        return ks_fail(err, KS_EIO, "program", 0, "cannot start %s: its process ended before that",
                       spec->path);
    }
    return KS_OK;
}
