/* Of recordings and videos what is needed is kept; what is none is refused. */
#include "tests/library/tracks.h"

static void test_the_strong_peaks_are_kept(void **state)
{
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_track(library, &recordings, "/music/1", 1, 20, DOPPEL_ADDED_NEW);
    commit(library);
    struct doppel_audio_track made = peaks_make(1, 20), kept;
    struct doppel_item item;
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_OK);
    assert_int_equal(item.record.kind, DOPPEL_KIND_AUDIO);
    assert_int_equal(item.record.fingerprint.count, 0);
    assert_int_equal(
        doppel_audio_track_read(item.record.attachment, item.record.attachment_size, &kept, NULL),
        DOPPEL_OK);
    size_t at = 0;
    for (size_t i = 0; i < made.count; i++)
        if (made.peaks[i].strong) {
            assert_true(at < kept.count);
            assert_int_equal(kept.peaks[at].time, made.peaks[i].time);
            assert_int_equal(kept.peaks[at].frequency, made.peaks[i].frequency);
            assert_true(kept.peaks[at++].strong);
        }
    assert_int_equal(at, kept.count);
    assert_int_equal(kept.duration_ms, made.duration_ms);
    doppel_audio_track_free(&made);
    doppel_audio_track_free(&kept);
    doppel_item_free(&item);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory_of(*state)) > 1000);
}

static void test_the_audio_of_a_video(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_record record = audio_record(1, 10);
    const struct doppel_file_stamp stamp = {.inode = 1};
    enum doppel_added added;
    struct doppel_item item;
    uint64_t id;
    record.kind = DOPPEL_KIND_VIDEO;
    assert_int_equal(doppel_library_add(library, "/film", &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    commit(library);
    assert_int_equal(doppel_library_get(library, id, false, &item, NULL), DOPPEL_OK);
    assert_int_equal(item.record.kind, DOPPEL_KIND_VIDEO);
    doppel_item_free(&item);
    doppel_record_free(&record);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory_of(*state)) > 0);
}

static void give_cells(struct doppel_video_track *clip)
{
    const size_t size = clip->count * DOPPEL_VIDEO_CELL_BYTES;
    clip->cells = calloc(1, size);
    clip->rectangle_cells[0] = calloc(1, size);
    clip->rectangles[0] = (struct doppel_video_box){.25F, .25F, .75F, .75F};
    clip->rectangle_count = 1;
    assert_true(clip->cells && clip->rectangle_cells[0]);
    for (size_t i = 0; i < size; i++)
        clip->cells[i] = (uint8_t)(i * i >> 3);
}

static void assert_strong(const struct doppel_video_track *clip)
{
    struct doppel_audio_track peaks;
    assert_int_equal(doppel_audio_track_read(clip->audio, clip->audio_size, &peaks, NULL),
                     DOPPEL_OK);
    assert_int_equal(peaks.count, 20 * 40);
    for (size_t i = 0; i < peaks.count; i++)
        assert_true(peaks.peaks[i].strong);
    doppel_audio_track_free(&peaks);
}

static void test_the_codes_are_kept(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track made = video_make(1, 20), kept;
    struct doppel_item item;
    give_cells(&made);
    struct doppel_record record = record_of_video(1, &made);
    uint64_t id = add_record(library, "/films/1", 1, &record, DOPPEL_ADDED_NEW);
    commit(library);
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_OK);
    assert_int_equal(item.record.kind, DOPPEL_KIND_VIDEO);
    assert_int_equal(item.record.width, 640);
    assert_int_equal(item.record.fingerprint.count, 0);
    assert_int_equal(doppel_video_track_read(item.record.attachment, item.record.attachment_size,
                                             DOPPEL_VIDEO_ALL, &kept, NULL),
                     DOPPEL_OK);
    assert_int_equal(kept.count, made.count);
    assert_memory_equal(kept.frames, made.frames, made.count * sizeof *made.frames);
    assert_int_equal(kept.duration_ms, made.duration_ms);
    assert_null(kept.cells);
    assert_int_equal(kept.rectangle_count, 0);
    assert_strong(&kept);
    doppel_video_track_free(&made);
    doppel_video_track_free(&kept);
    doppel_record_free(&record);
    doppel_item_free(&item);
    doppel_library_close(library);
    assert_indexes_fit(directory_of(*state));
}

/* Without audio, without frames. */
static void test_half_a_video(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track clip = video_make(1, 10);
    size_t count = clip.count;
    clip.count = 0;
    struct doppel_record heard = record_of_video(1, &clip);
    clip.count = count;
    free(clip.audio);
    clip.audio = NULL;
    clip.audio_size = 0;
    struct doppel_record seen = record_of_video(2, &clip);
    clip.count = 0;
    struct doppel_record neither = record_of_video(3, &clip);
    add_record(library, "/heard", 1, &heard, DOPPEL_ADDED_NEW);
    add_record(library, "/seen", 2, &seen, DOPPEL_ADDED_NEW);
    add_record(library, "/neither", 3, &neither, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory_of(*state)) > 2 * count);
    library = open_library(*state);
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    assert_int_equal(assert_indexes_fit(directory_of(*state)), 0);
    doppel_video_track_free(&clip);
    doppel_record_free(&heard);
    doppel_record_free(&seen);
    doppel_record_free(&neither);
}

static void test_others_get_no_folder(void **state)
{
    const char *path = folder_path(*state, "one"), *directory = directory_of(*state);
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
    commit(library);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    add_track(library, &recordings, "/two", 2, 2, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
    assert_int_equal(count_segments(directory, "videos"), -1);
    assert_int_equal(count_segments(directory, "sounds"), 0);
}

static bool assert_length(void *context, const struct doppel_item *item)
{
    uint64_t *sum = context;
    *sum += item->duration_ms;
    assert_int_equal(item->damaged_ms, item->duration_ms == 20000 ? 5 : 0);
    return true;
}

/* Also of one whose attachment is gone, or no attachment at all. */
static void test_how_long_they_are(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track clip = video_make(2, 20);
    struct doppel_item item;
    uint64_t sum = 0;
    clip.damaged_ms = 5;
    struct doppel_record record = record_of_video(2, &clip);
    add_track(library, &recordings, "/one", 1, 10, DOPPEL_ADDED_NEW);
    add_record(library, "/two", 2, &record, DOPPEL_ADDED_NEW);
    add_track(library, &clips, "/three", 3, 10, DOPPEL_ADDED_NEW);
    add_track(library, &clips, "/four", 4, 10, DOPPEL_ADDED_NEW);
    commit(library);
    run_raw(folder_path(directory_of(*state), "catalogue.db"),
            "DELETE FROM attachment WHERE item = 3;"
            "UPDATE attachment SET data = substr(data, 1, 20) WHERE item = 4");
    assert_int_equal(doppel_library_each(library, assert_length, &sum, NULL), DOPPEL_OK);
    assert_int_equal(sum, 30000);
    assert_int_equal(doppel_library_by_path(library, "/two", &item, NULL), DOPPEL_OK);
    assert_int_equal(item.duration_ms, 20000);
    doppel_item_free(&item);
    doppel_video_track_free(&clip);
    doppel_record_free(&record);
    doppel_library_close(library);
}

static void assert_refused(struct doppel_library *library, const struct doppel_record *record)
{
    const struct doppel_file_stamp stamp = {.inode = 1};
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_add(library, "/one", &stamp, record, &added, &id, &error),
                     DOPPEL_E_ARGUMENT);
    assert_non_null(strstr(error.message, kind == &clips ? "video" : "recording"));
}

static void test_what_is_no_track_is_refused(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_record record = kind->make(1, 5);
    size_t size = record.attachment_size;
    record.attachment_size = size - 1;
    assert_refused(library, &record);
    record.attachment_size = 0;
    assert_refused(library, &record);
    record.attachment_size = size;
    add_record(library, "/one", 1, &record, DOPPEL_ADDED_NEW);
    doppel_record_free(&record);
    doppel_library_close(library);
}

static void test_a_video_with_what_is_no_audio_is_refused(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track clip = video_make(1, 5);
    clip.audio_size--;
    struct doppel_record record = record_of_video(1, &clip);
    kind = &clips;
    assert_refused(library, &record);
    doppel_record_free(&record);
    doppel_video_track_free(&clip);
    doppel_library_close(library);
}

/* The cache keeps all peaks, and cells. */
static void test_the_cache_keeps_all(void **state)
{
    struct doppel_record made = kind->make(1, 10), known;
    struct doppel_cache *cache = open_cache(*state, false);
    assert_int_equal(doppel_cache_put_record(cache, &made, NULL), DOPPEL_OK);
    doppel_cache_close(cache);
    cache = open_cache(*state, false);
    assert_int_equal(recall(cache, &made, made.scheme, false, &known), DOPPEL_OK);
    assert_null(known.attachment);
    doppel_record_free(&known);
    assert_int_equal(recall(cache, &made, made.scheme, true, &known), DOPPEL_OK);
    assert_non_null(known.attachment);
    record_assert_equal(&known, &made);
    doppel_record_free(&known);
    doppel_record_free(&made);
    doppel_cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_the_strong_peaks_are_kept),
        IN_FOLDER(test_the_audio_of_a_video),
        IN_FOLDER(test_the_codes_are_kept),
        IN_FOLDER(test_half_a_video),
        IN_FOLDER(test_how_long_they_are),
        IN_FOLDER(test_others_get_no_folder),
        WITH_BOTH(test_what_is_no_track_is_refused),
        IN_FOLDER(test_a_video_with_what_is_no_audio_is_refused),
        WITH_BOTH(test_the_cache_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
