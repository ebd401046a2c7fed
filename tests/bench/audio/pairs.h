/* Pairs of clips that have nothing to do with each other. */
#ifndef BENCH_AUDIO_PAIRS_H
#define BENCH_AUDIO_PAIRS_H

#include "tracks.h"

/** Compare so many pairs of each length, and print what share of them is within which rate. */
void compare_pairs(const struct tracks *tracks, size_t most, uint64_t seed);

#endif
