/* Made-up recordings and videos, and whether the indexes of a library have what its items have. */
#ifndef TESTS_LIBRARY_TRACKS_H
#define TESTS_LIBRARY_TRACKS_H

#include "tests/library/fixture.h"

/** Peaks that follow from `seed`, at random places: 40 strong ones a second, and 20 that are not;
 * given (doppel_audio_track_free). */
struct doppel_audio_track peaks_make(uint64_t seed, uint32_t seconds);

/** Frames that follow from `seed`, of random codes, FRAMES_A_SECOND of them, without cells, and the
 * peaks of the same seed; given (doppel_video_track_free). */
enum { FRAMES_A_SECOND = 50 };
struct doppel_video_track video_make(uint64_t seed, uint32_t seconds);

/** A record of the one or the other as a worker tells it; given (doppel_record_free). */
struct doppel_record audio_record(uint64_t seed, uint32_t seconds);
struct doppel_record video_record(uint64_t seed, uint32_t seconds);

/** A video as a record; it may be changed before. */
struct doppel_record record_of_video(uint64_t seed, const struct doppel_video_track *clip);

/** The two kinds that tests go through. */
struct track_kind {
    const char *folder; /* of the index */
    enum doppel_scheme_id scheme;
    struct doppel_record (*make)(uint64_t seed, uint32_t seconds);
};

extern const struct track_kind recordings, clips;

/** The one that a test goes through now: WITH_BOTH runs it twice, each in a folder of its own. */
extern const struct track_kind *kind;
int set_up_audio(void **state);
int set_up_videos(void **state);

#define WITH_BOTH(test)                                                                            \
    {"recordings: " #test, test, set_up_audio, folder_tear_down, NULL},                            \
    {                                                                                              \
        "videos: " #test, test, set_up_videos, folder_tear_down, NULL                              \
    }

/** As doppel_library_add; the stamp has `inode`. Fails the test unless it can be added. @return its
 * id */
uint64_t add_record(struct doppel_library *library, const char *path, uint64_t inode,
                    const struct doppel_record *record, enum doppel_added expected);

/** The same of what `make` makes of `seed`, which is the inode, too. */
uint64_t add_track(struct doppel_library *library, const struct track_kind *of, const char *path,
                   uint64_t seed, uint32_t seconds, enum doppel_added expected);

/** Fail the test unless the index of recordings has just the postings of the recordings and videos
 * among the items, and the one of videos just the codes of the videos. @return postings and codes
 */
size_t assert_indexes_fit(const char *directory);

/** Files in the folder of an index; -1: there is none. */
int count_segments(const char *directory, const char *folder);

#endif
