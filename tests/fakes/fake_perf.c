#include "fakes/fake_perf.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FDS = 256,
    FIRST_FD = 1000000, /* no descriptor of the process */
    PROGRAM_NS = 1000,  /* that every program takes */
    CALL_NS = 1000      /* in the kernel, of a system call */
};

/* An open counter. */
typedef struct counter {
    bool open;
    struct perf_event_attr attr;
    int leader;
    bool enabled;
    long owner; /* thread; 0: a program */
    double count, enabled_ns, running_ns;
} counter;

fake_perf_state fake_perf;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static counter fds[FDS];
static double now_ns;

static bool is_hard(const struct perf_event_attr *attr)
{
    return attr->type != PERF_TYPE_SOFTWARE;
}

static double rate_of(const struct perf_event_attr *attr)
{
    bool plain = attr->type == PERF_TYPE_HARDWARE;
    return plain && attr->config == PERF_COUNT_HW_INSTRUCTIONS ? 3.0
           : plain && attr->config == PERF_COUNT_HW_CPU_CYCLES ? 2.0
                                                               : 1.0;
}

static unsigned group_size(int leader)
{
    unsigned size = 0;
    for (int i = 0; i < FDS; i++) {
        size += fds[i].open && fds[i].leader == leader && is_hard(&fds[i].attr);
    }
    return size;
}

/* The share of the time in which a counter runs. */
static double share_of(const counter *c)
{
    const fake_perf_script *s = &fake_perf.script;
    if (!is_hard(&c->attr)) {
        return 1.0;
    }
    if (group_size(c->leader) > s->counters - (s->watchdog ? 1 : 0)) {
        return 0.0;
    }
    return now_ns >= s->idle_from_ns ? 1.0 - s->idle_share : 1.0;
}

/* Time of a thread, with user-mode work in it or not. The caller holds the lock. */
static void pass_time(double ns, long thread, bool work)
{
    for (int i = 0; i < FDS && !fake_perf.script.silent; i++) {
        counter *c = &fds[i];
        bool enabled = c->open && c->owner == thread && fds[c->leader].enabled;
        if (enabled) {
            double share = share_of(c);
            c->enabled_ns += ns;
            c->running_ns += ns * share;
            c->count += work ? ns * share * rate_of(&c->attr) : 0.0;
        }
    }
    now_ns += ns;
}

void fake_perf_work(double ns)
{
    pthread_mutex_lock(&lock);
    pass_time(ns, syscall(SYS_gettid), true);
    pthread_mutex_unlock(&lock);
}

/* Of every system call that counts: time in the kernel, and what it adds in user mode. */
static void pass_call(void)
{
    long thread = syscall(SYS_gettid);
    pass_time(CALL_NS, thread, false);
    pass_time(fake_perf.script.overhead_ns, thread, true);
}

double fake_perf_now(void)
{
    pthread_mutex_lock(&lock);
    double now = now_ns;
    pthread_mutex_unlock(&lock);
    return now;
}

static int refusal_of(const struct perf_event_attr *attr)
{
    for (const fake_refusal *r = fake_perf.script.refusals; r->number != 0; r++) {
        if (r->type == FAKE_ANY || (r->type == attr->type && r->config == attr->config)) {
            return r->number;
        }
    }
    return 0;
}

static bool is_wrong(const struct perf_event_attr *attr, pid_t pid, int leader)
{
    bool group = leader >= 0 &&
                 (leader < FIRST_FD || leader >= FIRST_FD + FDS || !fds[leader - FIRST_FD].open);
    bool program = pid != 0 && (!attr->enable_on_exec || !attr->disabled || leader >= 0);
    bool hidden = attr->type == PERF_TYPE_SOFTWARE && attr->exclude_kernel;
    bool times =
        attr->read_format != (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    return group || program || hidden || times || !attr->inherit || attr->size != sizeof *attr;
}

static int open_counter(const struct perf_event_attr *attr, pid_t pid, int leader)
{
    int at = 0;
    while (at < FDS && fds[at].open) {
        at++;
    }
    if (at == FDS ||
        (fake_perf.script.descriptors != 0 && fake_perf.open >= fake_perf.script.descriptors)) {
        return -EMFILE;
    }
    int group = leader < 0 ? at : leader - FIRST_FD;
    if (is_hard(attr) && leader >= 0 && group_size(group) >= fake_perf.script.counters) {
        return -EINVAL;
    }
    fds[at] = (counter){.open = true,
                        .attr = *attr,
                        .leader = group,
                        .enabled = !attr->disabled,
                        .owner = pid == 0 ? syscall(SYS_gettid) : 0};
    fake_perf.open++;
    fake_perf.opened++;
    fake_perf.most = fake_perf.open > fake_perf.most ? fake_perf.open : fake_perf.most;
    return FIRST_FD + at;
}

static int fake_open(const struct perf_event_attr *attr, pid_t pid, int leader)
{
    pthread_mutex_lock(&lock);
    fake_perf.wrong += is_wrong(attr, pid, leader);
    int refused = refusal_of(attr);
    int fd = refused != 0 ? -refused : open_counter(attr, pid, leader);
    pthread_mutex_unlock(&lock);
    return fd;
}

/* The counter of a descriptor; NULL: there is none. The caller holds the lock. */
static counter *counter_of(int fd)
{
    bool known = fd >= FIRST_FD && fd < FIRST_FD + FDS && fds[fd - FIRST_FD].open;
    fake_perf.wrong += !known;
    return known ? &fds[fd - FIRST_FD] : NULL;
}

static int fake_enable(int leader)
{
    pthread_mutex_lock(&lock);
    counter *c = counter_of(leader);
    if (c != NULL) {
        c->enabled = true;
    }
    pass_call();
    pthread_mutex_unlock(&lock);
    return c != NULL ? 0 : EBADF;
}

/* A program has ended when it is read. */
static void run_program(counter *c)
{
    double share = fake_perf.script.silent ? 0.0 : share_of(c);
    c->enabled_ns = fake_perf.script.silent ? 0.0 : PROGRAM_NS;
    c->running_ns = PROGRAM_NS * share;
    c->count = PROGRAM_NS * share * rate_of(&c->attr);
}

static int fake_read(int fd, ks_perf_count *out)
{
    pthread_mutex_lock(&lock);
    counter *c = counter_of(fd);
    if (c != NULL) {
        if (c->owner == 0) {
            run_program(c);
        }
        *out =
            (ks_perf_count){(uint64_t)c->count, (uint64_t)c->enabled_ns, (uint64_t)c->running_ns};
        pass_call();
    }
    pthread_mutex_unlock(&lock);
    return c != NULL ? 0 : EBADF;
}

static void fake_close(int fd)
{
    pthread_mutex_lock(&lock);
    counter *c = counter_of(fd);
    if (c != NULL) {
        c->open = false;
        fake_perf.open--;
    }
    pthread_mutex_unlock(&lock);
}

static uint64_t fake_process_ns(void)
{
    return (uint64_t)fake_perf_now();
}

static unsigned fake_threads(void)
{
    return fake_perf.script.threads;
}

static bool fake_read_file(const char *path, char *to, size_t size)
{
    for (const fake_text *f = fake_perf.script.files; f->path != NULL; f++) {
        if (strcmp(f->path, path) == 0) {
            size_t length = strlen(f->text) < size ? strlen(f->text) : size - 1;
            memcpy(to, f->text, length);
            to[length] = '\0';
            return true;
        }
    }
    return false;
}

/* Folders are those of the files: each name once, as its "type" file has it. */
static void fake_list(const char *folder, bool (*each)(void *self, const char *name), void *self)
{
    size_t length = strlen(folder);
    for (const fake_text *f = fake_perf.script.files; f->path != NULL; f++) {
        const char *rest = f->path + length + 1;
        const char *end = strncmp(f->path, folder, length) == 0 ? strstr(rest, "/type") : NULL;
        if (end != NULL) {
            char name[64] = "";
            memcpy(name, rest, (size_t)(end - rest));
            each(self, name);
        }
    }
}

static bool fake_encode(const char *name, struct perf_event_attr *out)
{
    memset(out, 0, sizeof *out);
    out->exclude_kernel = out->exclude_hv = 1; /* as libpfm4 has it for user mode */
    if (fake_perf.script.library != NULL && strcmp(name, "FAKE:EVENT=7") == 0) {
        out->type = PERF_TYPE_RAW;
        out->config = 0x1234;
        return true;
    }
    if (fake_perf.script.library != NULL && strcmp(name, "context-switches") == 0) {
        out->type = PERF_TYPE_SOFTWARE;
        out->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
        return true;
    }
    return false;
}

static const char *fake_encoder(void)
{
    return fake_perf.script.library;
}

void fake_perf_reset(fake_perf_script script)
{
    static ks_perf_sys sys;
    sys = (ks_perf_sys){.absent = script.absent,
                        .open = fake_open,
                        .enable = fake_enable,
                        .read = fake_read,
                        .close = fake_close,
                        .process_ns = fake_process_ns,
                        .threads = fake_threads,
                        .read_file = fake_read_file,
                        .list = fake_list,
                        .encode = fake_encode,
                        .encoder = fake_encoder};
    memset(fds, 0, sizeof fds);
    now_ns = 0.0;
    fake_perf = (fake_perf_state){.script = script};
    ks_perf_use(&sys);
}
