/* The time since some moment of the past, which nobody sets back; and times in nanoseconds. */
#ifndef DOPPEL_CORE_CLOCK_H
#define DOPPEL_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What is out of reach, as files and archives may claim, is the nearest. */
static inline int64_t timespec_ns(struct timespec time)
{
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)time.tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)time.tv_nsec, &ns))
        return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

static inline int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return timespec_ns(now);
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
