/* What the files of local/ share: points as they are found, packed positions, the parts of a code.
 */
#ifndef DOPPEL_LOCAL_LOCAL_INTERNAL_H
#define DOPPEL_LOCAL_LOCAL_INTERNAL_H

#include <stdbool.h>

#include <doppel/local.h>

#include "local/scales.h"

/* ---- finding ---- */

/* A blob, in samples of the first octave. */
struct blob {
    float x, y, sigma;
    float worth;           /* > 0 */
    uint8_t octave, level; /* that it is described by */
    bool described;
    uint32_t angle; /* once it is described */
    struct doppel_code code;
};

struct blob_list {
    struct blob *items; /* given (free) */
    size_t count;
};

/** Extrema of the differences, of some strength, that are no edges; in order of octave, level, row.
 * False without memory. */
bool blobs_find(const struct scales *scales, struct blob_list *out);

/** Put those of most worth that are spread over the picture first, and keep at most `most`. False
 * without memory. */
bool blobs_spread(struct blob_list *blobs, uint32_t width, uint32_t height, size_t most);

/** Of less worth is what is not met, or looks different, when the picture is smaller. Of many blobs
 * the first are looked for, which may be kept.
 * @param scales,blobs of the plane; described. DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status blobs_weigh(const struct doppel_plane *plane, const struct scales *scales,
                               struct blob_list *blobs, struct doppel_error *error);

/* ---- describing ---- */

/* The lowest bits of word 0 are the key's; the highest 32 say which of the lowest 32 are unsure:
 * their coefficients are small; of a library's points, none. Word 1 has bits of further
 * coefficients. */
enum {
    CODE_PATCH = 16, /* samples of a neighbourhood, each way */
    CODE_KEPT = 12,  /* coefficients, each way */
    CODE_FIRST_BITS = 32,
    CODE_KEY_BITS = 24,
    CODE_UNSURE_KEY = 6,  /* so many bits of a key are unsure */
    CODE_UNSURE_REST = 2, /* and of the bits up to CODE_FIRST_BITS */
    CODE_BITS = 96        /* all but those that say it */
};

/** Find the angle, 0 to 127, and the code of a blob. */
void blob_describe(const struct scales *scales, struct blob *blob);

/** cos and sin of a difference of angles. */
void angle_vector(int32_t angle, double *out_cosine, double *out_sine);

/** The code of the same point in the mirrored picture. */
struct doppel_code code_mirror(const struct doppel_code *code);

static inline struct doppel_code code_without_marks(const struct doppel_code *code)
{
    return (struct doppel_code){{code->word[0] & UINT32_MAX, code->word[1]}};
}

static inline uint32_t point_distance(const struct doppel_code *a, const struct doppel_code *b)
{
    uint64_t first = (a->word[0] ^ b->word[0]) & UINT32_MAX;
    return (uint32_t)(__builtin_popcountll(first) + __builtin_popcountll(a->word[1] ^ b->word[1]));
}

/* ---- positions ---- */

/* 2 bits rank, 9 y, 9 x, 5 scale, 7 angle. */
enum {
    POSITION_SIDE = 512,
    POSITION_SCALES = 32, /* quarters of an octave */
    POSITION_ANGLES = 128,
    POSITION_RANKS = 4
};

/* A point in the units of its position. */
struct point_place {
    int32_t x, y, scale, angle;
};

static inline struct point_place unpack_place(uint32_t position)
{
    return (struct point_place){(int32_t)(position >> 12 & 511), (int32_t)(position >> 21 & 511),
                                (int32_t)(position >> 7 & 31), (int32_t)(position & 127)};
}

static inline uint32_t pack_place(struct point_place place, uint32_t rank)
{
    return rank << 30 | (uint32_t)place.y << 21 | (uint32_t)place.x << 12 |
           (uint32_t)place.scale << 7 | (uint32_t)place.angle;
}

/** The sigma of a scale, and back, in units of a position's x. */
double scale_sigma(int32_t scale);
int32_t scale_nearest(double sigma);

#endif
