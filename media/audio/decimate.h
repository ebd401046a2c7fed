/* A sample of every few: a low-pass filter that is computed at the lower rate alone. */
#ifndef DOPPEL_MEDIA_DECIMATE_H
#define DOPPEL_MEDIA_DECIMATE_H

#include <stdbool.h>
#include <stddef.h>

/* Samples that are taken at once, at most. */
enum { DECIMATE_BLOCK = 4800 };

struct audio_decimator;

/** @param step how many samples become one, 2 and more
 * @return NULL: no memory; audio_decimator_free */
struct audio_decimator *audio_decimator_new(size_t step);
void audio_decimator_free(struct audio_decimator *decimator);

/** Where samples that are taken next need not be copied: room for DECIMATE_BLOCK. */
float *audio_decimate_room(struct audio_decimator *decimator);

/** Take samples and give what they decide.
 * @param count at most DECIMATE_BLOCK
 * @param out room for DECIMATE_BLOCK
 * @return how many are given */
size_t audio_decimate(struct audio_decimator *decimator, const float *samples, size_t count,
                      float *out);

/** The end: give what is held back, so that `count` samples gave count / step in all, rounded up.
 * Nothing may follow.
 * @param out room for DECIMATE_BLOCK */
size_t audio_decimate_rest(struct audio_decimator *decimator, float *out);

#endif
