/* The lowest coefficients of a picture's two-dimensional DCT, in exact integers. */
#ifndef DOPPEL_IMAGE_DCT_H
#define DOPPEL_IMAGE_DCT_H

#include <stdint.h>

enum { DCT_SIDE = 32, DCT_KEPT = 18 };

/**
 * out[v][u] = sum over x, y of cells[y][x] · c(u, x) · c(v, y), with
 * c(k, i) = round(2^14 · cos(pi · (2i + 1) · k / 64)); u counts along a row.
 * Whole numbers under 2^53 held in duplicates: nothing is rounded, in whatever order it is summed.
 */
void dct_lowest(const uint16_t cells[DCT_SIDE * DCT_SIDE], double out[DCT_KEPT][DCT_KEPT]);

#endif
