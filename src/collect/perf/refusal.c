#include "collect/perf/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"

int ks_perf_try(const ks_perf_event *event)
{
    const ks_perf_sys *sys = ks_perf_system();
    struct perf_event_attr attr = ks_perf_attr(event);
    attr.disabled = 1;
    int fd = sys->absent == NULL ? sys->open(&attr, 0, -1) : -ENOSYS;
    if (fd < 0) {
        return -fd;
    }
    sys->close(fd);
    return 0;
}

static bool read_number(const char *path, int64_t *out)
{
    char text[32];
    return ks_perf_system()->read_file(path, text, sizeof text) &&
           ks_num_read_i64(text, strcspn(text, "\n"), out);
}

bool ks_perf_paranoid(int64_t *out)
{
    return read_number("/proc/sys/kernel/perf_event_paranoid", out);
}

bool ks_perf_watchdog(void)
{
    int64_t on = 0;
    return read_number("/proc/sys/kernel/nmi_watchdog", &on) && on != 0;
}

bool ks_perf_capable(void)
{
    enum {
        CAP_SYS_ADMIN_BIT = 21,
        CAP_PERFMON_BIT = 38
    };
    static const char LABEL[] = "CapEff:\t";
    char status[4096];
    const char *line = NULL;
    uint64_t bits = 0;
    if (ks_perf_system()->read_file("/proc/self/status", status, sizeof status)) {
        line = strstr(status, LABEL);
    }
    return line != NULL &&
           ks_num_read_hex(line + sizeof LABEL - 1, strcspn(line + sizeof LABEL - 1, "\n"),
                           &bits) &&
           (bits >> CAP_SYS_ADMIN_BIT | bits >> CAP_PERFMON_BIT) % 2 != 0;
}

static void say(ks_refusal *out, const char *why, const char *cure)
{
    out->of_event = false;
    snprintf(out->why, sizeof out->why, "%s", why);
    snprintf(out->cure, sizeof out->cure, "%s", cure);
}

/* ENOENT and its kin: the kernel has nobody who counts it. */
static void say_unknown(const ks_perf_event *event, ks_refusal *out)
{
    if (event->soft) {
        say(out, "this kernel does not know the event", "ask for another one");
        out->of_event = true;
    } else if (ks_perf_same(event, &ks_perf_cycles) || ks_perf_try(&ks_perf_cycles) != 0) {
        say(out, "there are no performance counters (PMU)",
            "most virtual machines have none: measure on the machine itself, or give the virtual "
            "machine a PMU (QEMU: -cpu host,pmu=on); page faults, context switches and migrations "
            "need none");
    } else {
        say(out, "this processor has no such event",
            "ask for another one: `kernsight metrics` and `perf list` show what there is");
        out->of_event = true;
    }
}

/* EACCES: by the paranoid level, or by a security module. */
static void say_forbidden(const ks_perf_event *event, ks_refusal *out)
{
    out->of_event = false;
    int64_t level = 0;
    int64_t allowed = event->exclude_kernel ? 2 : 1;
    if (!ks_perf_paranoid(&level) || level <= allowed) {
        say(out, "a security module of the kernel (such as SELinux) forbids it",
            "ask who looks after this machine");
        return;
    }
    snprintf(out->why, sizeof out->why,
             "this user may not count %s here: kernel.perf_event_paranoid is %lld",
             event->exclude_kernel ? "events of the processor" : "events in the kernel",
             (long long)level);
    snprintf(out->cure, sizeof out->cure,
             "as root, sysctl kernel.perf_event_paranoid=%lld; or give the measuring program the "
             "right (setcap cap_perfmon=ep FILE)",
             (long long)allowed);
}

/* EPERM and ENOSYS: the call itself does not come through. */
static void say_blocked(ks_refusal *out)
{
    int64_t level = 0;
    const char *absent = ks_perf_system()->absent;
    if (absent != NULL) {
        say(out, absent, "build it with -DKS_WITH_PERF=ON");
    } else if (!ks_perf_paranoid(&level)) {
        say(out, "this kernel has no perf_event_open", "use a kernel with CONFIG_PERF_EVENTS");
    } else {
        say(out, "perf_event_open is blocked, as it is in most containers (seccomp)",
            "start the container with --cap-add PERFMON; if that is not enough, with "
            "--security-opt seccomp=unconfined");
    }
}

void ks_perf_refusal(const ks_perf_event *event, int number, ks_refusal *out)
{
    switch (number) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        say_unknown(event, out);
        return;
    case EACCES:
        say_forbidden(event, out);
        return;
    case EPERM:
    case ENOSYS:
        say_blocked(out);
        return;
    case EINVAL:
        say(out, "the kernel does not count this event for a thread or program",
            "events of the whole machine (uncore, power) cannot be told apart by region; of "
            "others, check the code");
        out->of_event = true;
        return;
    case EMFILE:
    case ENFILE:
        say(out, "there was no file descriptor left for the counters",
            "raise the limit (ulimit -n): each live thread that entered a region needs one per event");
        out->of_event = true;
        return;
    case EBUSY:
        say(out, "somebody else holds the performance counters",
            "end other profilers of this machine");
        out->of_event = true;
        return;
    default:
        say(out, ks_errno_text(number), "`kernsight doctor` says what works here");
        return;
    }
}

void ks_perf_reason(const ks_perf_event *event, int number, char to[KS_REASON_MAX])
{
    ks_refusal refusal;
    ks_perf_refusal(event, number, &refusal);
    snprintf(to, KS_REASON_MAX, "%s; %s", refusal.why,
             refusal.of_event ? refusal.cure : "`kernsight doctor` says what to do");
}
