/* The loops over a row in portable C, and which version a processor runs. */
#include "audio/kernels_loop.h"

static const struct row_kernels PORTABLE = ROW_KERNELS;

const struct row_kernels *row_kernels_choose(void)
{
    return &PORTABLE;
}
