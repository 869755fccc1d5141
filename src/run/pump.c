#include "run/pump.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

ssize_t ks_write_quietly(int to, const void *bytes, size_t count)
{
    sigset_t pipe_signal;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t written = write(to, bytes, count);
    int number = errno;
    if (written < 0 && number == EPIPE && sigismember(&pending, SIGPIPE) != 1) {
        const struct timespec now = {0, 0};
        sigtimedwait(&pipe_signal, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return written;
}

void ks_pump_init(ks_pump *pump, int to, char *tail, size_t tail_size)
{
    pump->from = -1;
    pump->to = to;
    pump->failed = 0;
    pump->bytes = 0;
    pump->tail = tail;
    pump->tail_size = tail_size;
    pump->sent = pump->waiting = 0;
}

bool ks_pump_waiting(const ks_pump *pump)
{
    return pump->sent < pump->waiting;
}

struct pollfd ks_pump_poll(const ks_pump *pump)
{
    return ks_pump_waiting(pump) ? (struct pollfd){pump->to, POLLOUT, 0}
                                 : (struct pollfd){pump->from, POLLIN, 0};
}

size_t ks_pump_readable(const ks_pump *pump)
{
    int bytes = 0;
    return pump->from >= 0 && ioctl(pump->from, FIONREAD, &bytes) == 0 && bytes > 0 ? (size_t)bytes
                                                                                    : 0;
}

void ks_pump_close(ks_pump *pump)
{
    if (pump->from >= 0) {
        close(pump->from);
        pump->from = -1;
    }
}

static void keep_tail(ks_pump *pump, const char *bytes, size_t count)
{
    for (size_t i = count > pump->tail_size ? count - pump->tail_size : 0; i < count; i++) {
        pump->tail[(pump->bytes + i) % pump->tail_size] = bytes[i];
    }
}

static void read_block(ks_pump *pump)
{
    ssize_t got = read(pump->from, pump->block, sizeof pump->block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (got <= 0) {
        ks_pump_close(pump);
        return;
    }
    if (pump->tail != NULL) {
        keep_tail(pump, pump->block, (size_t)got);
    }
    pump->bytes += (uint64_t)got;
    pump->sent = 0;
    pump->waiting = pump->to >= 0 ? (size_t)got : 0;
}

/* A pipe or terminal that can be written takes so much at least without making us wait. */
static size_t taken_at_once(int to, size_t count)
{
    struct stat st;
    bool file = fstat(to, &st) == 0 && S_ISREG(st.st_mode);
    return file || count < PIPE_BUF ? count : PIPE_BUF;
}

static void pass_on(ks_pump *pump)
{
    size_t count = taken_at_once(pump->to, pump->waiting - pump->sent);
    ssize_t written = ks_write_quietly(pump->to, pump->block + pump->sent, count);
    if (written > 0) {
        pump->sent += (size_t)written;
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
        pump->failed = errno;
        pump->to = -1;
        pump->waiting = 0;
    }
}

void ks_pump_step(ks_pump *pump)
{
    if (ks_pump_waiting(pump)) {
        pass_on(pump);
    } else if (pump->from >= 0) {
        read_block(pump);
    }
}

void ks_pump_tail(const ks_pump *pump, char *to)
{
    size_t count = pump->bytes < pump->tail_size ? (size_t)pump->bytes : pump->tail_size;
    for (size_t i = 0; i < count; i++) {
        char c = pump->tail[(pump->bytes - count + i) % pump->tail_size];
        to[i] = c;
        if (c == '\0') {
            to[i] = ' ';
        }
    }
    to[count] = '\0';
}
