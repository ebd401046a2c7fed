/* A DCT-II of 32×32 cells by two folded matrix products. */
#include "image/dct.h"

enum { HALF = DCT_SIDE / 2 };

/* round(2^14 · cos(pi · k / 64)), k = 0..32. */
static const int16_t quarter_wave[DCT_SIDE + 1] = {
    16384, 16364, 16305, 16207, 16069, 15893, 15679, 15426, 15137, 14811, 14449,
    14053, 13623, 13160, 12665, 12140, 11585, 11003, 10394, 9760,  9102,  8423,
    7723,  7005,  6270,  5520,  4756,  3981,  3196,  2404,  1606,  804,   0,
};

static double cosine(unsigned k)
{
    k %= 4 * DCT_SIDE;
    if (k > 2 * DCT_SIDE)
        k = 4 * DCT_SIDE - k;
    return k <= DCT_SIDE ? quarter_wave[k] : -quarter_wave[2 * DCT_SIDE - k];
}

/* A row of a DCT is even or odd about its middle: half of it says all. */
static void fill_basis(double basis[DCT_KEPT][HALF])
{
    for (unsigned k = 0; k < DCT_KEPT; k++)
        for (unsigned i = 0; i < HALF; i++)
            basis[k][i] = cosine((2 * i + 1) * k);
}

/* Transform each column of `in`, which has `columns` of them in rows of DCT_SIDE; out is
 * transposed. */
static void transform_columns(const double *in, unsigned columns,
                              const double basis[DCT_KEPT][HALF], double *out, unsigned pitch)
{
    double folded[2][HALF][DCT_SIDE];
    for (unsigned i = 0; i < HALF; i++)
        for (unsigned x = 0; x < columns; x++) {
            double near = in[i * DCT_SIDE + x], far = in[(DCT_SIDE - 1 - i) * DCT_SIDE + x];
            folded[0][i][x] = near + far;
            folded[1][i][x] = near - far;
        }
    for (unsigned k = 0; k < DCT_KEPT; k++) {
        double sums[DCT_SIDE] = {0};
        for (unsigned i = 0; i < HALF; i++)
            for (unsigned x = 0; x < columns; x++)
                sums[x] += basis[k][i] * folded[k % 2][i][x];
        for (unsigned x = 0; x < columns; x++)
            out[x * pitch + k] = sums[x];
    }
}

void dct_lowest(const uint16_t cells[DCT_SIDE * DCT_SIDE], double out[DCT_KEPT][DCT_KEPT])
{
    double basis[DCT_KEPT][HALF], in[DCT_SIDE * DCT_SIDE], halfway[DCT_SIDE * DCT_SIDE];
    fill_basis(basis);
    for (unsigned i = 0; i < DCT_SIDE * DCT_SIDE; i++)
        in[i] = cells[i];
    transform_columns(in, DCT_SIDE, basis, halfway, DCT_SIDE);
    transform_columns(halfway, DCT_KEPT, basis, &out[0][0], DCT_KEPT);
}
