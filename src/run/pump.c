#include "run/pump.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Write all of it. A reader that has gone must not end this process: its SIGPIPE is swallowed. */
static void pass_on(int to, const char *bytes, size_t count)
{
    sigset_t pipe_signal;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    while (count > 0) {
        ssize_t written = write(to, bytes, count);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0 && errno == EPIPE && !was_pending) {
            const struct timespec now = {0, 0};
            sigtimedwait(&pipe_signal, NULL, &now);
        }
        if (written <= 0) {
            break;
        }
        bytes += written;
        count -= (size_t)written;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void keep_tail(ks_pump *pump, const char *bytes, size_t count)
{
    for (size_t i = count > pump->tail_size ? count - pump->tail_size : 0; i < count; i++) {
        pump->tail[(pump->bytes + i) % pump->tail_size] = bytes[i];
    }
}

void ks_pump_close(ks_pump *pump)
{
    if (pump->from >= 0) {
        close(pump->from);
        pump->from = -1;
    }
}

void ks_pump_read(ks_pump *pump)
{
    char block[1 << 16];
    while (pump->from >= 0) {
        ssize_t got = read(pump->from, block, sizeof block);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            ks_pump_close(pump);
            return;
        }
        if (pump->tail != NULL) {
            keep_tail(pump, block, (size_t)got);
        }
        pump->bytes += (uint64_t)got;
        if (pump->to >= 0) {
            pass_on(pump->to, block, (size_t)got);
        }
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
