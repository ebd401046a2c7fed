/* Made-up sounds, and whether the index of a library has the postings of its items. */
#ifndef TESTS_LIBRARY_SOUNDS_H
#define TESTS_LIBRARY_SOUNDS_H

#include "tests/library/fixture.h"

/** A track of random peaks that follow from `seed`: 40 strong ones a second, and 20 that are not;
 * given (doppel_audio_track_free). */
struct doppel_audio_track track_make(uint64_t seed, uint32_t seconds);

/** A record of such a track, with all its peaks; given (doppel_record_free). */
struct doppel_record sound_make(uint64_t seed, uint32_t seconds);

/** As add_file, of a sound; the stamp has `inode`. Fails the test unless it can be added. */
uint64_t add_sound(struct doppel_library *library, const char *path, uint64_t inode, uint64_t seed,
                   uint32_t seconds, enum doppel_added expected);

/** Fail the test unless the index has just the postings of the sounds among the items.
 * @return postings */
size_t assert_index_fits(const char *directory);

/** Files in the folder of the index; -1: there is none. */
int count_segments(const char *directory);

#endif
