/* Waits of the nvidia collectors on the fake's time: they let it pass, and sleep not at all. */
#ifndef FAKE_NVIDIA_TIMER_H
#define FAKE_NVIDIA_TIMER_H

#include "collect/nvidia/timer.h"
#include "fakes/nvidia/fake_nvidia.h"

static inline uint64_t fake_timer_now(void)
{
    return fake_now_ns();
}

static const ks_timer fake_timer = {fake_timer_now, fake_pass};

#endif
