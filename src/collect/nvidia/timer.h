/* The time that waits take: another one in tests, so that they do not sleep. */
#ifndef KS_COLLECT_NVIDIA_TIMER_H
#define KS_COLLECT_NVIDIA_TIMER_H

#include <stdint.h>

typedef struct ks_timer {
    uint64_t (*now_ns)(void);
    void (*pause)(double seconds);
} ks_timer;

/** The system's, unless a test put another one here. */
extern const ks_timer *ks_nvidia_timer;

#endif
