/* The loops that samples go through with AVX2. */
#define SAMPLE_VECTOR 8
#define DECIMATE_STEPS 4
#include "media/audio/kernels_loop.h"

const struct sample_kernels sample_kernels_avx2 = SAMPLE_KERNELS;
