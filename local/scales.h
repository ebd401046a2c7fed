/* A picture at a row of scales: blurred more and more, each octave half as large. In integers. */
#ifndef DOPPEL_LOCAL_SCALES_H
#define DOPPEL_LOCAL_SCALES_H

#include <stdint.h>

#include <doppel/core.h>

enum {
    SCALES_SIDE = 640,     /* usual longer side of the first octave, at most */
    SCALES_OCTAVES = 7,    /* at most */
    SCALES_LEVELS = 6,     /* of an octave: of variance 1, 2, 4, 8, 16, 32 in its samples */
    SCALES_UNIT = 16,      /* a level of grey */
    SCALES_LEAST_SIDE = 16 /* of the last octave, shorter side */
};

struct scale_octave {
    uint32_t width, height;
    double step; /* of a sample, in samples of the first octave */
    uint16_t *levels[SCALES_LEVELS];
    int16_t *differences[SCALES_LEVELS - 1]; /* level i + 1 less level i */
};

struct scales {
    struct scale_octave octaves[SCALES_OCTAVES];
    uint32_t count; /* octaves; 0: the picture is too small */
    void *memory;
};

/** @param plane not empty. @param side longer side of the first octave, at most
 * @param out given (scales_free). DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status scales_make(const struct doppel_plane *plane, uint32_t side, struct scales *out,
                               struct doppel_error *error);
void scales_free(struct scales *scales);

#endif
