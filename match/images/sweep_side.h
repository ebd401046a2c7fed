/* The codes of many pictures, in buckets by one box of theirs. */
#ifndef DOPPEL_MATCH_IMAGES_SWEEP_SIDE_H
#define DOPPEL_MATCH_IMAGES_SWEEP_SIDE_H

#include "match/images/join_internal.h"
#include "match/images/sweep.h"

enum { SWEEP_BOX_BITS = 16, SWEEP_TURNED_BOXES = 4, SWEEP_BOXES = 16, SWEEP_NOBODY = UINT32_MAX };

/* Bits of a sorted word: the two kinds that mirroring negates, and those of both kinds. */
#define SWEEP_FIRST_KIND (UINT64_C(0xffff) << 16)
#define SWEEP_SECOND_KIND (UINT64_C(0xffff) << 32)
#define SWEEP_BOTH_KINDS (UINT64_C(0x1fff) << 48)

/* What of a word each byte becomes when its bits are sorted. */
struct sweep_sorter {
    uint64_t of_byte[8][256];
};
void sweep_sorter_make(struct sweep_sorter *out);

/* Which codes, and how they are cut. Turned: the boxes are those of the sorted word 0, and a code
 * stands for its mirror images, in the one in which the highest bit of the box that may be negated
 * is 0. Else they are 16 runs of 16 bits, word 0 sorted. */
struct sweep_choice {
    const struct join *join;
    const struct sweep_sorter *sorter;
    const bool *left_out; /* by rank */
    uint32_t views;       /* as bits */
    bool transposed;      /* these, and these transposed */
    bool turned;
    unsigned box, spared; /* the lowest bits of the box are not looked at */
};

/* A bucket begins with a block of its own; in the last block some lanes are nobody's. */
struct sweep_side {
    uint32_t buckets;
    uint32_t *starts; /* blocks, by bucket, and the end */
    struct sweep_block *blocks;
    struct doppel_code *codes; /* by lane of all blocks; word 0 is sorted */
    uint32_t *owners;          /* ranks, likewise */
};

/* How many codes there are. */
uint64_t sweep_count_codes(const struct sweep_choice *choice);

/* Bits of the number of a bucket. */
uint32_t sweep_bucket_bits(const struct sweep_choice *choice);

/* @param out given (sweep_side_free). DOPPEL_E_MEMORY; DOPPEL_E_LIMIT: too many to be numbered */
enum doppel_status sweep_side_make(const struct sweep_choice *choice, struct sweep_side *out);
void sweep_side_free(struct sweep_side *side);

#endif
