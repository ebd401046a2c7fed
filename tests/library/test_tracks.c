/* Sounds and films of a library: kept with what is needed of them, and indexes that follow them. */
#include "tests/library/tracks.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void commit(struct doppel_library *library)
{
    struct doppel_error error = {0};
    if (doppel_library_commit(library, &error))
        fail_msg("%s", error.message);
}

static const char *directory_of(const char *folder)
{
    return folder_path(folder, "a/library");
}

static void test_the_strong_peaks_are_kept(void **state)
{
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_track(library, &sounds, "/music/1", 1, 20, DOPPEL_ADDED_NEW);
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

static void test_the_sound_of_a_video(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_record record = sound_record(1, 10);
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

static void give_cells(struct doppel_video_track *film)
{
    const size_t size = film->count * DOPPEL_VIDEO_CELL_BYTES;
    film->cells = calloc(1, size);
    film->rectangle_cells[0] = calloc(1, size);
    film->rectangles[0] = (struct doppel_video_box){.25F, .25F, .75F, .75F};
    film->rectangle_count = 1;
    assert_true(film->cells && film->rectangle_cells[0]);
    for (size_t i = 0; i < size; i++)
        film->cells[i] = (uint8_t)(i * i >> 3);
}

static void assert_strong(const struct doppel_video_track *film)
{
    struct doppel_audio_track peaks;
    assert_int_equal(doppel_audio_track_read(film->sound, film->sound_size, &peaks, NULL),
                     DOPPEL_OK);
    assert_int_equal(peaks.count, 20 * 40);
    for (size_t i = 0; i < peaks.count; i++)
        assert_true(peaks.peaks[i].strong);
    doppel_audio_track_free(&peaks);
}

static void test_the_codes_are_kept(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track made = film_make(1, 20), kept;
    struct doppel_item item;
    give_cells(&made);
    struct doppel_record record = record_of_film(1, &made);
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

/* Without sound, without frames. */
static void test_half_a_film(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track film = film_make(1, 10);
    size_t count = film.count;
    film.count = 0;
    struct doppel_record heard = record_of_film(1, &film);
    film.count = count;
    free(film.sound);
    film.sound = NULL;
    film.sound_size = 0;
    struct doppel_record seen = record_of_film(2, &film);
    film.count = 0;
    struct doppel_record neither = record_of_film(3, &film);
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
    doppel_video_track_free(&film);
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
    add_track(library, &sounds, "/two", 2, 2, DOPPEL_ADDED_NEW);
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
    struct doppel_video_track film = film_make(2, 20);
    struct doppel_item item;
    uint64_t sum = 0;
    film.damaged_ms = 5;
    struct doppel_record record = record_of_film(2, &film);
    add_track(library, &sounds, "/one", 1, 10, DOPPEL_ADDED_NEW);
    add_record(library, "/two", 2, &record, DOPPEL_ADDED_NEW);
    add_track(library, &films, "/three", 3, 10, DOPPEL_ADDED_NEW);
    add_track(library, &films, "/four", 4, 10, DOPPEL_ADDED_NEW);
    commit(library);
    run_raw(folder_path(directory_of(*state), "catalogue.db"),
            "DELETE FROM attachment WHERE item = 3;"
            "UPDATE attachment SET data = substr(data, 1, 20) WHERE item = 4");
    assert_int_equal(doppel_library_each(library, assert_length, &sum, NULL), DOPPEL_OK);
    assert_int_equal(sum, 30000);
    assert_int_equal(doppel_library_by_path(library, "/two", &item, NULL), DOPPEL_OK);
    assert_int_equal(item.duration_ms, 20000);
    doppel_item_free(&item);
    doppel_video_track_free(&film);
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
    assert_non_null(strstr(error.message, kind == &films ? "film" : "sound"));
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

static void test_a_film_with_what_is_no_sound_is_refused(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track film = film_make(1, 5);
    film.sound_size--;
    struct doppel_record record = record_of_film(1, &film);
    kind = &films;
    assert_refused(library, &record);
    doppel_record_free(&record);
    doppel_video_track_free(&film);
    doppel_library_close(library);
}

/* A segment of five minutes, and what befalls it later. */
static void test_updated_removed_and_moved(void **state)
{
    const char *directory = directory_of(*state);
    const char *path = folder_path(*state, "one"), *other = folder_path(*state, "two");
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t first = add_track(library, kind, path, 1, 300, DOPPEL_ADDED_NEW);
    uint64_t second = add_track(library, kind, "/music/2", 2, 30, DOPPEL_ADDED_NEW);
    doppel_library_commit(library, NULL);
    assert_int_equal(add_track(library, kind, path, 1, 300, DOPPEL_ADDED_UNCHANGED), first);
    doppel_library_close(library);
    assert_int_equal(count_segments(directory, kind->folder), 1);
    assert_indexes_fit(directory);

    library = open_library(*state);
    uint64_t third = add_track(library, kind, path, 3, 10, DOPPEL_ADDED_UPDATED);
    assert_true(third > second);
    commit(library);
    assert_indexes_fit(directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(add_track(library, kind, other, 3, 10, DOPPEL_ADDED_MOVED), third);
    commit(library);
    assert_indexes_fit(directory);
    assert_int_equal(doppel_library_remove(library, second, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    size_t left = assert_indexes_fit(directory);
    assert_true(left > 0);

    library = open_library(*state);
    assert_int_equal(doppel_library_remove(library, third, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    assert_int_equal(assert_indexes_fit(directory), 0);
}

/* The file at a path becomes a picture, a track again, and one of the other kind. */
static void test_another_kind_at_a_path(void **state)
{
    const char *path = folder_path(*state, "one"), *directory = directory_of(*state);
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    add_track(library, kind, path, 1, 10, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
    library = open_library(*state);
    add_file(library, path, 7, DOPPEL_ADDED_UPDATED);
    commit(library);
    doppel_library_close(library);
    assert_int_equal(assert_indexes_fit(directory), 0);
    library = open_library(*state);
    add_track(library, kind, path, 1, 10, DOPPEL_ADDED_UPDATED);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory) > 0);
    library = open_library(*state);
    add_track(library, kind == &sounds ? &films : &sounds, path, 1, 10, DOPPEL_ADDED_UPDATED);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory) > 0);
}

/* The bytes are the same, but not what was made of them. */
static void test_moved_and_of_another_kind(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_record film = film_record(1, 10), sound = sound_record(1, 10);
    const struct doppel_record *records[] = {&film, &sound, &film, &sound};
    char path[16];
    sound.kind = DOPPEL_KIND_VIDEO;
    sound.digest = film.digest;
    for (size_t i = 0; i < 4; i++) {
        struct doppel_library *library = open_library(*state);
        snprintf(path, sizeof path, "/films/%zu", i);
        add_record(library, path, 1, records[i], i ? DOPPEL_ADDED_MOVED : DOPPEL_ADDED_NEW);
        commit(library);
        doppel_library_close(library);
        assert_indexes_fit(directory);
    }
    doppel_record_free(&film);
    doppel_record_free(&sound);
}

static void test_another_version_updates_in_place(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_track(library, kind, "/one", 1, 10, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
    run_raw(folder_path(directory, "catalogue.db"), "UPDATE item SET version = 0");
    library = open_library(*state);
    assert_int_equal(add_track(library, kind, "/one", 1, 10, DOPPEL_ADDED_UPDATED), id);
    commit(library);
    doppel_library_close(library);
    assert_indexes_fit(directory);
}

/* Keyframes alone, then all of them. */
static void test_read_in_another_way_updates_in_place(void **state)
{
    const char *path = folder_path(*state, "one"), *directory = directory_of(*state);
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    struct doppel_video_track film = film_make(1, 10);
    struct doppel_record full = record_of_film(1, &film);
    film.count /= 4;
    film.keyframes_only = true;
    struct doppel_record fast = record_of_film(1, &film);
    uint64_t id = add_record(library, path, 1, &fast, DOPPEL_ADDED_NEW);
    assert_int_equal(add_record(library, path, 1, &fast, DOPPEL_ADDED_UNCHANGED), id);
    assert_int_equal(add_record(library, path, 1, &full, DOPPEL_ADDED_UPDATED), id);
    assert_int_equal(add_record(library, path, 1, &full, DOPPEL_ADDED_UNCHANGED), id);
    commit(library);
    doppel_library_close(library);
    size_t count = assert_indexes_fit(directory);
    assert_int_equal(unlink(path), 0);
    library = open_library(*state);
    assert_int_equal(add_record(library, "/two", 1, &fast, DOPPEL_ADDED_MOVED), id);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory) < count);
    doppel_record_free(&full);
    doppel_record_free(&fast);
    doppel_video_track_free(&film);
}

static void test_what_is_taken_back_leaves_nothing(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_track(library, kind, "/one", 1, 10, DOPPEL_ADDED_NEW);
    commit(library);
    add_track(library, kind, "/two", 2, 200, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    doppel_library_close(library);
    size_t count = assert_indexes_fit(directory);
    library = open_library(*state);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(assert_indexes_fit(directory), count);
    assert_true(count > 0);
}

/* So many in one transaction that it is cut. */
static void test_many_commit_by_themselves(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    const uint64_t count = kind == &films ? 8 : 24;
    char path[32];
    for (uint64_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/music/%llu", (unsigned long long)i);
        add_track(library, kind, path, i, 240, DOPPEL_ADDED_NEW);
    }
    assert_true(count_segments(directory, kind->folder) > 0);
    assert_true(assert_indexes_fit(directory) > 0);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory) > count * 240 * 40 * 3);
}

/* The tables of version 3, with a picture in them. */
static const char version_3[] =
    "PRAGMA journal_mode = WAL;"
    "CREATE TABLE item(id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE,"
    " device INTEGER NOT NULL, inode INTEGER NOT NULL,"
    " size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
    " settled INTEGER NOT NULL, added_ns INTEGER NOT NULL,"
    " digest BLOB NOT NULL, kind INTEGER NOT NULL,"
    " scheme INTEGER NOT NULL, version INTEGER NOT NULL,"
    " width INTEGER NOT NULL, height INTEGER NOT NULL, quality INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL) STRICT;"
    "CREATE INDEX item_digest ON item(digest);"
    "CREATE TABLE fingerprint(item INTEGER PRIMARY KEY REFERENCES item ON DELETE CASCADE,"
    " data BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE attachment(item INTEGER PRIMARY KEY REFERENCES item ON DELETE CASCADE,"
    " data BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE log(entry INTEGER PRIMARY KEY AUTOINCREMENT, time_ns INTEGER NOT NULL,"
    " action TEXT NOT NULL, item INTEGER NOT NULL, path BLOB NOT NULL,"
    " former_item INTEGER, former_path BLOB) STRICT;"
    "CREATE TABLE corpus(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE,"
    " checksum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE text(id INTEGER PRIMARY KEY, record_id BLOB, source BLOB, date BLOB,"
    " corpus INTEGER REFERENCES corpus, line INTEGER NOT NULL, place INTEGER NOT NULL,"
    " size INTEGER NOT NULL, added_ns INTEGER NOT NULL, content BLOB NOT NULL,"
    " words INTEGER NOT NULL, shingles INTEGER NOT NULL, too_short INTEGER NOT NULL,"
    " decision INTEGER NOT NULL, leader INTEGER NOT NULL, leads INTEGER NOT NULL,"
    " lanes BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE text_shingles(text INTEGER PRIMARY KEY REFERENCES text ON DELETE CASCADE,"
    " data BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE text_options(one INTEGER PRIMARY KEY CHECK(one = 1),"
    " format INTEGER NOT NULL, nfkc INTEGER NOT NULL, fold_case INTEGER NOT NULL,"
    " drop_punctuation INTEGER NOT NULL, unit INTEGER NOT NULL, shingle INTEGER NOT NULL,"
    " min_words INTEGER NOT NULL, lanes INTEGER NOT NULL, min_similarity REAL NOT NULL,"
    " min_containment REAL NOT NULL, checksum INTEGER NOT NULL) STRICT;"
    "PRAGMA application_id = 1685089356; PRAGMA user_version = 3;"
    "ATTACH '%s' AS now;"
    "INSERT INTO item SELECT * FROM now.item;"
    "INSERT INTO fingerprint SELECT * FROM now.fingerprint;"
    "INSERT INTO attachment SELECT * FROM now.attachment;"
    "INSERT INTO log SELECT * FROM now.log";

static void test_version_3(void **state)
{
    const char *path = folder_path(*state, "one"), *now = directory_of(*state);
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    add_file(library, path, 1, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);

    char sql[sizeof version_3 + 1024];
    const char *old = folder_path(*state, "old");
    snprintf(sql, sizeof sql, version_3, folder_path(now, "catalogue.db"));
    assert_int_equal(mkdir(old, 0700), 0);
    run_raw(folder_path(old, "catalogue.db"), sql);
    const struct doppel_library_options reader = {.read_only = true}, writer = {0};
    assert_int_equal(doppel_library_open(old, &reader, &library, NULL), DOPPEL_E_VERSION);
    assert_int_equal(doppel_library_open(old, &writer, &library, NULL), DOPPEL_OK);
    assert_int_equal(add_track(library, kind, "/two", 2, 10, DOPPEL_ADDED_NEW), 2);
    add_file(library, path, 1, DOPPEL_ADDED_UNCHANGED);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(old) > 0);
    const struct doppel_sounds *set;
    assert_int_equal(doppel_library_open(old, &reader, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_sounds(library, &set, NULL), DOPPEL_OK);
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
        IN_FOLDER(test_the_sound_of_a_video),
        IN_FOLDER(test_the_codes_are_kept),
        IN_FOLDER(test_half_a_film),
        IN_FOLDER(test_how_long_they_are),
        IN_FOLDER(test_others_get_no_folder),
        WITH_BOTH(test_what_is_no_track_is_refused),
        IN_FOLDER(test_a_film_with_what_is_no_sound_is_refused),
        WITH_BOTH(test_updated_removed_and_moved),
        WITH_BOTH(test_another_kind_at_a_path),
        IN_FOLDER(test_moved_and_of_another_kind),
        WITH_BOTH(test_another_version_updates_in_place),
        IN_FOLDER(test_read_in_another_way_updates_in_place),
        WITH_BOTH(test_what_is_taken_back_leaves_nothing),
        WITH_BOTH(test_many_commit_by_themselves),
        WITH_BOTH(test_version_3),
        WITH_BOTH(test_the_cache_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
