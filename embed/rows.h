/* Sums of rows: kernels that give the same bits. Number d of the sum is, token by token in their
 * order, sum[d] + weight × row[d], each product and each sum rounded to a float. */
#ifndef DOPPEL_EMBED_ROWS_H
#define DOPPEL_EMBED_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct embed_kernels {
    /* @param sum     `stride` numbers, a multiple of 64
     * @param which   numbers of rows; number i begins at rows + which[i] × stride
     * @param weights of the rows, `count` like them */
    void (*add_int8)(float *sum, const int8_t *rows, size_t stride, const uint32_t *which,
                     const float *weights, size_t count);
    void (*add_float)(float *sum, const float *rows, size_t stride, const uint32_t *which,
                      const float *weights, size_t count);
};

extern const struct embed_kernels embed_kernels_portable, embed_kernels_avx2, embed_kernels_avx512;

const struct embed_kernels *embed_kernels_choose(void);

#endif
