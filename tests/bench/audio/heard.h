/* Whether two recordings hold the same waveform: the proof of a loop or a sample that both are made
 * with. */
#ifndef BENCH_AUDIO_HEARD_H
#define BENCH_AUDIO_HEARD_H

#include <doppel/match.h>

#include "audio.h"

/**
 * How far the highest peak of their whitened cross-correlation stands out, in standard deviations
 * of what chance gives: the best of stretches of 1.5 s of the segment, half a minute at most.
 * Of other pairs one in a hundred gets 13, none of over 1000 got 20: HEARD_ALIKE proves one
 * waveform.
 * @param segment a_ is of the clip, b_ of the other one; .1 s to either side is tried
 */
double heard_alike(const struct recording *clip, const struct recording *other,
                   const struct doppel_segment *segment);

enum { HEARD_ALIKE = 20 };

#endif
