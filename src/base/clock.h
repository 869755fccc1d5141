/* Clocks. */
#ifndef KS_BASE_CLOCK_H
#define KS_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/** Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t ks_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Room for an ISO 8601 time, terminator included. */
#define KS_UTC_MAX 96

/** The present time in UTC, such as "2026-03-01T09:30:00.123456Z". */
void ks_utc_now(char to[KS_UTC_MAX]);

#endif
