/* Small recordings in many containers, and changes to them: what the robust tests and the fuzzer's
 * driver begin with. */
#ifndef DOPPEL_TESTS_MEDIA_RECORDING_MUTANTS_H
#define DOPPEL_TESTS_MEDIA_RECORDING_MUTANTS_H

#include "make_audio.h"

enum { AUDIO_SEEDS = 16 };

/** Files of a second and a half; fewer than SOUND_SEEDS where FFmpeg lacks an encoder. Each given
 * (file_free). @return how many */
size_t audio_seeds(struct file seeds[AUDIO_SEEDS]);

/** A copy with some bits, bytes and the length changed, mostly near the beginning; given. */
struct file file_mutant(const struct file *seed, uint64_t *random);

#endif
