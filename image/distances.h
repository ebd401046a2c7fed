/* How far a code is from each of several. */
#ifndef DOPPEL_IMAGE_DISTANCES_H
#define DOPPEL_IMAGE_DISTANCES_H

#include <doppel/core.h>

struct code_distances {
    uint16_t distance64, distance256;
};

/** Of 256-bit codes. @param out room for `count` */
void measure_distances(const struct doppel_code *code, const struct doppel_code *others,
                       uint32_t count, struct code_distances *out);

typedef void distances_kernel(const struct doppel_code *code, const struct doppel_code *others,
                              uint32_t count, struct code_distances *out);
distances_kernel distances_portable, distances_avx2;

static inline __attribute__((always_inline)) void distances_loop(const struct doppel_code *code,
                                                                 const struct doppel_code *others,
                                                                 uint32_t count,
                                                                 struct code_distances *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *a = code->word, *b = others[i].word;
        const int low = __builtin_popcountll(a[0] ^ b[0]);
        const int high = __builtin_popcountll(a[1] ^ b[1]) + __builtin_popcountll(a[2] ^ b[2]) +
                         __builtin_popcountll(a[3] ^ b[3]);
        out[i] = (struct code_distances){(uint16_t)low, (uint16_t)(low + high)};
    }
}

#endif
