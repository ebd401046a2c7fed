/* A sample of every few: a low-pass filter that is computed at the lower rate alone. */
#ifndef DOPPEL_MEDIA_DECIMATE_H
#define DOPPEL_MEDIA_DECIMATE_H

#include <stdbool.h>
#include <stddef.h>

/* Outputs that a kernel makes at once; it reads and writes up to as many, less one, too far. */
enum { DECIMATE_LANES = 64 };

/* Samples that are taken at once, at most. */
enum { DECIMATE_BLOCK = 4800 };

/** What audio_decimate gives at most, with the lanes behind it. */
enum { DECIMATE_ROOM = DECIMATE_BLOCK + 2 * DECIMATE_LANES };

struct audio_decimator;

/** @param step how many samples become one, 2 and more
 * @return NULL: no memory; audio_decimator_free */
struct audio_decimator *audio_decimator_new(size_t step);
void audio_decimator_free(struct audio_decimator *decimator);

/** Take samples and give what they decide.
 * @param count at most DECIMATE_BLOCK
 * @param out room for DECIMATE_ROOM
 * @return how many are given */
size_t audio_decimate(struct audio_decimator *decimator, const float *samples, size_t count,
                      float *out);

/** The end: give what is held back, so that `count` samples gave count / step in all, rounded up.
 * Nothing may follow.
 * @param out room for DECIMATE_ROOM */
size_t audio_decimate_rest(struct audio_decimator *decimator, float *out);

/* ---- kernels ---- */

/* Phase p of the samples is each step-th from sample p on; phases are `width` apart. Output n is
 * the sum over phases p and rows j, in this order, of taps[p * rows + j] × phase p [n + j]. */
struct decimate_work {
    const float *taps, *phases;
    size_t step, rows, width;
};

/* All versions give the same bits. */
typedef void decimate_kernel(const struct decimate_work *work, size_t count, float *out);

extern decimate_kernel decimate_avx2, decimate_avx512;

#endif
