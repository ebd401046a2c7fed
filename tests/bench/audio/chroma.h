/* The peer: Chromaprint's fingerprints, every place of every track compared with the clip. */
#ifndef BENCH_AUDIO_CHROMA_H
#define BENCH_AUDIO_CHROMA_H

#include "tracks.h"

struct chroma;

/** Of the tracks indexed in a fold, borrowed; NULL without libchromaprint. */
struct chroma *chroma_new(const struct tracks *tracks, unsigned fold);
void chroma_free(struct chroma *chroma);

/** The track with the place that differs in the fewest bits; NULL when the clip is too short. */
const struct track *chroma_best(const struct chroma *chroma, const struct recording *clip);

#endif
