/* Waits of the nvidia collectors on the fake's time, which they let pass: nothing sleeps. And the
 * start of tests with that and the fake NVML; FAKE_LIBRARIES is its folder. */
#ifndef FAKE_NVIDIA_TIMER_H
#define FAKE_NVIDIA_TIMER_H

#include "fakes/nvidia/fixture.h"

#include "collect/nvidia/timer.h"

static inline uint64_t fake_timer_now(void)
{
    return fake_now_ns();
}

static const ks_timer fake_timer = {fake_timer_now, fake_pass};

static inline int start_timed(void **state)
{
    setenv("KERNSIGHT_NVML_LIB", FAKE_LIBRARIES "/libnvidia-ml.so.1", 1);
    ks_nvidia_timer = &fake_timer;
    int failed = start(state);
    know_kernels();
    return failed;
}

#define TIMED(test) cmocka_unit_test_setup_teardown(test, start_timed, stop)

#endif
