/* The loops over a row with AVX2. */
#include "audio/kernels_loop.h"

const struct row_kernels row_kernels_avx2 = ROW_KERNELS;
