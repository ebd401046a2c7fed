/* What the blocks of a picture tell of how it came about: how strong its high frequencies are, and
 * whether it was a JPEG before. */
#ifndef DOPPEL_MEDIA_ORIGIN_H
#define DOPPEL_MEDIA_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>

enum { ORIGIN_SIDE = 8, ORIGIN_CELLS = 64, ORIGIN_COUNTED = 9, ORIGIN_VALUES = 64 };

/* Of a sample of the 8×8 blocks of a picture in full size. */
struct origin_meter {
    uint32_t met, most;                             /* blocks met; see origin_wants */
    uint32_t taken;                                 /* of these, blocks that were measured */
    uint16_t steps[ORIGIN_CELLS];                   /* of the quantisation, in natural order */
    uint32_t sums[ORIGIN_CELLS];                    /* of magnitudes */
    uint16_t counts[ORIGIN_COUNTED][ORIGIN_VALUES]; /* of magnitudes of low frequencies, in steps */
};

/* @param blocks of the picture, about
 * @param steps  the quantisation table in natural order; NULL: all 1 */
void origin_begin(struct origin_meter *meter, uint64_t blocks, const uint16_t *steps);

/* Whether the next block is of the sample. */
static inline bool origin_wants(struct origin_meter *meter)
{
    return meter->met++ * 2654435769U < meter->most;
}

/* @param coefficients of a block, in steps, in natural order */
void origin_take(struct origin_meter *meter, const int16_t coefficients[ORIGIN_CELLS]);

/* The same of eight rows of samples: those of the blocks that the sample wants. */
void origin_take_rows(struct origin_meter *meter, const uint8_t *rows, uint32_t width);

/* Fill in what was measured. */
void origin_finish(const struct origin_meter *meter, struct doppel_image_origin *out);

/* The quality of libjpeg's scale that a quantisation table in natural order comes near. */
uint8_t origin_quality(const uint16_t steps[ORIGIN_CELLS]);

#endif
