/* What the kernels of the DCT share; each kernel's file compiles it for its instructions. All sums
 * are whole numbers under 2^53: they are the same in whatever order. */
#ifndef DOPPEL_IMAGE_DCT_LOOP_H
#define DOPPEL_IMAGE_DCT_LOOP_H

#include "image/dct.h"

enum { DCT_HALF = DCT_SIDE / 2 };

extern const double dct_basis[DCT_KEPT][DCT_HALF];

typedef void dct_kernel(const uint16_t cells[DCT_SIDE * DCT_SIDE], double out[DCT_KEPT][DCT_KEPT]);
dct_kernel dct_portable, dct_avx2;

/* Transform each column of `in`, which has `columns` of them in rows of DCT_SIDE; out is
 * transposed. */
static inline __attribute__((always_inline)) void dct_columns(const double *in, unsigned columns,
                                                              double *out, unsigned pitch)
{
    double folded[2][DCT_HALF][DCT_SIDE];
    for (unsigned i = 0; i < DCT_HALF; i++)
        for (unsigned x = 0; x < columns; x++) {
            double near = in[i * DCT_SIDE + x], far = in[(DCT_SIDE - 1 - i) * DCT_SIDE + x];
            folded[0][i][x] = near + far;
            folded[1][i][x] = near - far;
        }
    for (unsigned k = 0; k < DCT_KEPT; k++) {
        double sums[DCT_SIDE] = {0};
        for (unsigned i = 0; i < DCT_HALF; i++)
            for (unsigned x = 0; x < columns; x++)
                sums[x] += dct_basis[k][i] * folded[k % 2][i][x];
        for (unsigned x = 0; x < columns; x++)
            out[x * pitch + k] = sums[x];
    }
}

static inline __attribute__((always_inline)) void dct_loop(
    const uint16_t cells[DCT_SIDE * DCT_SIDE], double out[DCT_KEPT][DCT_KEPT])
{
    double in[DCT_SIDE * DCT_SIDE], halfway[DCT_SIDE * DCT_SIDE];
    for (unsigned i = 0; i < DCT_SIDE * DCT_SIDE; i++)
        in[i] = cells[i];
    dct_columns(in, DCT_SIDE, halfway, DCT_SIDE);
    dct_columns(halfway, DCT_KEPT, &out[0][0], DCT_KEPT);
}

#endif
