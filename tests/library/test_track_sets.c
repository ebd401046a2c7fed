/* The recordings and videos of a library as sets: of the last commit, searched by threads. */
#include "tests/library/tracks.h"

#include <pthread.h>
#include <stdio.h>

#include "match/audio/audio_internal.h"

enum { CLIP_FROM = 6, CLIP_TO = 11 };

/* ---- looking for five seconds ---- */

struct sets {
    const struct doppel_recordings *recordings;
    const struct doppel_videos *videos;
};

static struct sets open_sets(struct doppel_library *library)
{
    struct sets sets;
    struct doppel_error error = {0};
    if (doppel_library_recordings(library, &sets.recordings, &error) ||
        doppel_library_videos(library, &sets.videos, &error))
        fail_msg("%s", error.message);
    return sets;
}

static bool note_first(void *context, const struct doppel_found *found)
{
    uint64_t *id = context;
    *id = *id ? *id : found->id;
    return true;
}

static uint64_t find_audio(const struct doppel_recordings *set, uint64_t seed, uint32_t seconds)
{
    struct doppel_audio_options options = doppel_audio_options_default();
    struct doppel_audio_track track = peaks_make(seed, seconds);
    uint64_t id = 0;
    size_t first = 0, end;
    while (track.peaks[first].time < doppel_audio_time(CLIP_FROM))
        first++;
    for (end = first; track.peaks[end].time < doppel_audio_time(CLIP_TO); end++)
        track.peaks[end].time -= (uint32_t)doppel_audio_time(CLIP_FROM);
    const struct doppel_recording query = {track.peaks + first, end - first, CLIP_TO - CLIP_FROM};
    assert_int_equal(doppel_recordings_find(set, &query, &options, note_first, &id, NULL),
                     DOPPEL_OK);
    doppel_audio_track_free(&track);
    return id;
}

static uint64_t find_video(const struct doppel_videos *set, uint64_t seed, uint32_t seconds)
{
    struct doppel_video_search options = doppel_video_search_default();
    struct doppel_video_track clip = video_make(seed, seconds), query = {0};
    struct doppel_error error = {0};
    uint64_t id = 0;
    query.frames = clip.frames + CLIP_FROM * FRAMES_A_SECOND;
    query.count = (CLIP_TO - CLIP_FROM) * FRAMES_A_SECOND;
    query.duration_ms = (CLIP_TO - CLIP_FROM) * 1000;
    query.width = clip.width;
    query.height = clip.height;
    query.box = clip.box;
    for (size_t i = 0; i < query.count; i++) {
        query.frames[i].start_ms -= CLIP_FROM * 1000;
        query.frames[i].end_ms -= CLIP_FROM * 1000;
    }
    if (doppel_videos_find(set, &query, &options, note_first, &id, &error))
        fail_msg("%s", error.message);
    doppel_video_track_free(&clip);
    return id;
}

/* @return the id of the track that a clip is of, 0 when it is not found */
static uint64_t find(const struct sets *sets, uint64_t seed, uint32_t seconds)
{
    uint64_t id = find_audio(sets->recordings, seed, seconds);
    assert_int_equal(find_video(sets->videos, seed, seconds), kind == &clips ? id : 0);
    return id;
}

/* ---- the sets ---- */

static void test_the_sets_are_of_the_last_commit(void **state)
{
    struct doppel_library *library = open_library(*state), *writer = open_library(*state);
    struct sets sets = open_sets(library), again;
    assert_int_equal(find(&sets, 1, 20), 0);
    uint64_t one = add_track(writer, kind, "/one", 1, 20, DOPPEL_ADDED_NEW);
    sets = open_sets(library);
    assert_int_equal(find(&sets, 1, 20), 0);
    commit(writer);
    sets = open_sets(library);
    assert_int_equal(find(&sets, 1, 20), one);
    assert_int_equal(find(&sets, 2, 20), 0);
    uint64_t two = add_track(writer, kind, "/two", 2, 20, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_remove(writer, one, NULL), DOPPEL_OK);
    again = open_sets(library);
    assert_ptr_equal(again.recordings, sets.recordings);
    assert_ptr_equal(again.videos, sets.videos);
    commit(writer);
    assert_int_equal(find(&sets, 2, 20), 0);
    sets = open_sets(library);
    assert_int_equal(find(&sets, 2, 20), two);
    assert_int_equal(find(&sets, 1, 20), 0);
    doppel_library_close(writer);
    sets = open_sets(library);
    assert_int_equal(find(&sets, 2, 20), two);
    doppel_library_close(library);
}

static void add_many(struct doppel_library *library, uint64_t first, uint64_t last,
                     uint32_t seconds)
{
    char path[32];
    for (uint64_t i = first; i <= last; i++) {
        snprintf(path, sizeof path, "/tracks/%llu", (unsigned long long)i);
        assert_int_equal(add_track(library, kind, path, i, seconds, DOPPEL_ADDED_NEW), i);
    }
    commit(library);
}

static void test_sets_of_many_items(void **state)
{
    enum { ITEMS = 50 };
    struct doppel_library *library = open_library(*state);
    add_many(library, 1, ITEMS, 30);
    struct sets sets = open_sets(library);
    for (uint64_t i = 1; i <= ITEMS; i++)
        assert_int_equal(find(&sets, i, 30), i);
    doppel_library_close(library);
}

/* What is given of an item's peaks are its strong ones in that range, and perhaps others. */
static void assert_range(const struct doppel_recordings *set, uint64_t id, uint32_t from,
                         uint32_t to, const struct doppel_audio_track *made)
{
    struct doppel_audio_track given;
    size_t at = 0;
    assert_true(audio_peaks(set, id, from, to, &given));
    while (at < given.count && given.peaks[at].time < from)
        at++;
    for (size_t i = 0; i < made->count; i++) {
        const struct doppel_audio_peak *peak = &made->peaks[i];
        if (!peak->strong || peak->time < from || peak->time >= to)
            continue;
        assert_true(at < given.count);
        assert_int_equal(given.peaks[at].time, peak->time);
        assert_int_equal(given.peaks[at++].frequency, peak->frequency);
    }
    assert_true(at == given.count || given.peaks[at].time >= to);
    doppel_audio_track_free(&given);
}

/* More items than are kept in memory. */
static void test_peaks_of_items(void **state)
{
    enum { ITEMS = 70, SECONDS = 12 };
    struct doppel_library *library = open_library(*state);
    struct doppel_audio_track none;
    add_many(library, 1, ITEMS, SECONDS);
    const struct doppel_recordings *set = open_sets(library).recordings;
    for (uint64_t round = 0; round < 3; round++)
        for (uint64_t i = 1; i <= ITEMS; i += 1 + round) {
            struct doppel_audio_track made = peaks_make(i, SECONDS);
            assert_range(set, i, (uint32_t)(i * 97 % 8000), (uint32_t)(i * 97 % 8000 + 700), &made);
            assert_range(set, i, 0, UINT32_MAX, &made);
            doppel_audio_track_free(&made);
        }
    assert_false(audio_peaks(set, ITEMS + 1, 0, 1000, &none));
    doppel_library_close(library);
}

/* Videos that have no audio, and recordings. */
static void test_silent_videos_have_no_peaks(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track clip = video_make(1, 12);
    struct doppel_audio_track none;
    free(clip.audio);
    clip.audio = NULL;
    clip.audio_size = 0;
    struct doppel_record record = record_of_video(1, &clip);
    add_record(library, "/one", 1, &record, DOPPEL_ADDED_NEW);
    add_track(library, &recordings, "/two", 2, 12, DOPPEL_ADDED_NEW);
    commit(library);
    struct sets sets = open_sets(library);
    assert_int_equal(find_video(sets.videos, 1, 12), 1);
    assert_int_equal(find_video(sets.videos, 2, 12), 0);
    assert_int_equal(find_audio(sets.recordings, 1, 12), 0);
    assert_int_equal(find_audio(sets.recordings, 2, 12), 2);
    assert_false(audio_peaks(sets.recordings, 1, 0, 1000, &none));
    doppel_record_free(&record);
    doppel_video_track_free(&clip);
    doppel_library_close(library);
}

/* ---- threads ---- */

struct search {
    struct sets sets;
    uint64_t first;
    size_t found;
};

static void *search_some(void *context)
{
    struct search *search = context;
    for (uint64_t i = search->first; i < search->first + 20; i++)
        search->found += find(&search->sets, i, 20) == i;
    return NULL;
}

static void test_threads_search_while_items_come(void **state)
{
    enum { THREADS = 3, ITEMS = 20 * THREADS };
    struct doppel_library *library = open_library(*state);
    pthread_t threads[THREADS];
    struct search searches[THREADS];
    add_many(library, 1, ITEMS, 20);
    struct sets sets = open_sets(library);
    for (size_t t = 0; t < THREADS; t++) {
        searches[t] = (struct search){.sets = sets, .first = 1 + 20 * t};
        assert_int_equal(pthread_create(&threads[t], NULL, search_some, &searches[t]), 0);
    }
    for (uint64_t i = ITEMS + 1; i <= ITEMS + 20; i++)
        add_many(library, i, i, 20);
    for (size_t t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(searches[t].found, 20);
    }
    doppel_library_close(library);
}

/* ---- read only ---- */

static void test_read_only(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    add_many(library, 1, 1, 300);
    doppel_library_close(library);
    const struct doppel_library_options options = {.read_only = true};
    assert_int_equal(doppel_library_open(directory, &options, &library, NULL), DOPPEL_OK);
    struct sets sets = open_sets(library);
    assert_int_equal(find(&sets, 1, 300), 1);
    assert_int_not_equal(doppel_library_remove(library, 1, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_indexes_fit(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BOTH(test_the_sets_are_of_the_last_commit),
        WITH_BOTH(test_sets_of_many_items),
        WITH_BOTH(test_peaks_of_items),
        IN_FOLDER(test_silent_videos_have_no_peaks),
        WITH_BOTH(test_threads_search_while_items_come),
        WITH_BOTH(test_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
