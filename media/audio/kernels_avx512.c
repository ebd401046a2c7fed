/* The loops that samples go through with AVX-512. */
#define SAMPLE_VECTOR 16
#define DECIMATE_STEPS 5
#include "media/audio/kernels_loop.h"

const struct sample_kernels sample_kernels_avx512 = SAMPLE_KERNELS;
