/* The sums of a decimator with AVX2. */
#include "media/audio/decimate_loop.h"

void decimate_avx2(const struct decimate_work *work, size_t count, float *out)
{
    decimate_loop(work, count, out);
}
