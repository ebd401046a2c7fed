/* The sums of a decimator with AVX-512. */
#define DECIMATE_VECTOR 16
#include "media/audio/decimate_loop.h"

void decimate_avx512(const struct decimate_work *work, size_t count, float *out)
{
    decimate_loop(work, count, out);
}
