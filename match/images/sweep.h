/*
 * Codes of pictures against many, in all orientations at once. Sorted by parity (see image.h's
 * doppel_image_sort_bits), word 0 is four boxes: 16 bits that mirroring leaves alone, two times 16
 * and 13 that it negates, of which the last is negated when one of the two others is, and three
 * more that it leaves alone. So the distance of two codes, in the mirror image in which they are
 * nearest, follows from what they differ by in each box: no image has to be made.
 */
#ifndef DOPPEL_MATCH_IMAGES_SWEEP_H
#define DOPPEL_MATCH_IMAGES_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/image.h>

enum {
    SWEEP_LANES = 32,
    SWEEP_GROUPS = 3,  /* boxes that are compared; the fourth chose the bucket */
    SWEEP_NIBBLES = 4, /* half-bytes of a box */
    SWEEP_PLANES = SWEEP_GROUPS * SWEEP_NIBBLES,
    SWEEP_LAST_BITS = 13,
    SWEEP_HITS = 512 /* they are fetched ahead, into the level-2 cache */
};

/* The boxes of 32 codes, a half-byte in a byte. */
struct sweep_block {
    _Alignas(16) uint8_t planes[SWEEP_PLANES][SWEEP_LANES];
};

/* How the distances a, b, c of the three boxes are taken together; doubled, less the bits of the
 * box, where the sign is open: then negating gives the opposite. */
enum sweep_form {
    SWEEP_SUM,       /* a + b + c */
    SWEEP_FOLD_TWO,  /* a - |b + c|: one sign is open, of b and c */
    SWEEP_FOLD_THREE /* c is negated when one of a and b is: both are open */
};

/* A code, as what each of its half-bytes makes of another one: a table of 16 distances, by how far
 * it lies from the first, in bytes. */
struct sweep_row {
    uint16_t tables[SWEEP_PLANES];
};

/* Codes against blocks of others. */
struct sweep_task {
    const int8_t *tables; /* aligned to 16 bytes */
    const struct sweep_row *rows;
    const struct sweep_block *blocks;
    uint32_t row_count, block_count;
    int32_t centre; /* less the bits of the boxes that are folded together */
    int32_t limit;  /* -128 to 127, as is any distance */
};

/* Lanes of a block that are near a row, as bits. */
struct sweep_near {
    uint16_t row, block;
    uint32_t lanes;
};
enum { SWEEP_TASK_ROWS = 64, SWEEP_TASK_BLOCKS = 64 }; /* at most */

/* @param out room for all rows × blocks. @return how many have any lane that is near */
typedef size_t sweep_kernel(const struct sweep_task *task, struct sweep_near *out);

/* How far whole codes may be apart, word 0 being sorted: `weight` × low bits + high bits. */
struct sweep_limit {
    uint64_t parts[4][4]; /* bits of each word that are negated together: none, two kinds, those of
                             one of both */
    int32_t size[4];      /* weighted bits of a part */
    int32_t weight, most;
    bool turned; /* in the nearest mirror image */
};

typedef bool sweep_check(const struct sweep_limit *limit, const struct doppel_code *a,
                         const struct doppel_code *b);

struct sweep_kernels {
    sweep_kernel *forms[SWEEP_FOLD_THREE + 1];
    sweep_check *check;
};

extern const struct sweep_kernels sweep_portable, sweep_avx2;

/* The fastest of this processor, by core/cpu.h. */
const struct sweep_kernels *sweep_kernels_choose(void);

#endif
