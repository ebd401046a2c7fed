/* The loops over a row with AVX-512. */
#include "audio/kernels_loop.h"

const struct row_kernels row_kernels_avx512 = ROW_KERNELS;
