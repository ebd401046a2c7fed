/* The time since some moment of the past, which nobody sets back. */
#ifndef DOPPEL_CORE_CLOCK_H
#define DOPPEL_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int64_t monotonic_ms(void)
{
    return monotonic_ns() / 1000000;
}

static inline double monotonic_seconds(void)
{
    return (double)monotonic_ns() * 1e-9;
}

#endif
