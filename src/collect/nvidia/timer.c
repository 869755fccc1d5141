#include "collect/nvidia/timer.h"

#include "base/clock.h"

static uint64_t system_now(void)
{
    return ks_now_ns();
}

/* A signal cuts it short: who waits looks again, and waits on. */
static void system_pause(double seconds)
{
    const struct timespec pause = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
}

static const ks_timer system_timer = {system_now, system_pause};

const ks_timer *ks_nvidia_timer = &system_timer;
