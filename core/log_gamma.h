/* The logarithm of the gamma function, for threads: lgamma writes to a global. */
#ifndef DOPPEL_CORE_LOG_GAMMA_H
#define DOPPEL_CORE_LOG_GAMMA_H

#include <math.h>

/** lgamma(x), where Γ(x) > 0. Thread-safe. */
static inline double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

#endif
