/* Sounds of a library: kept with their strong peaks, and found by an index that follows them. */
#include "tests/library/sounds.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "match/sounds_room.h"

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
    uint64_t id = add_sound(library, "/music/1", 1, 1, 20, DOPPEL_ADDED_NEW);
    commit(library);
    struct doppel_audio_track made = track_make(1, 20), kept;
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
    assert_true(assert_index_fits(directory_of(*state)) > 1000);
}

static void test_the_sound_of_a_video(void **state)
{
    struct doppel_library *library = open_library(*state);
    struct doppel_record record = sound_make(1, 10);
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
    assert_true(assert_index_fits(directory_of(*state)) > 0);
}

static void test_others_get_no_folder(void **state)
{
    const char *path = folder_path(*state, "one");
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_file(library, path, 1, DOPPEL_ADDED_NEW);
    commit(library);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    assert_int_equal(count_segments(directory_of(*state)), -1);
}

static void test_what_is_no_sound_is_refused(void **state)
{
    struct doppel_library *library = open_library(*state);
    const struct doppel_file_stamp stamp = {.inode = 1};
    struct doppel_record record = sound_make(1, 5);
    enum doppel_added added;
    uint64_t id;
    size_t size = record.attachment_size;
    record.attachment_size = size - 1;
    assert_int_equal(doppel_library_add(library, "/one", &stamp, &record, &added, &id, NULL),
                     DOPPEL_E_ARGUMENT);
    record.attachment_size = 0;
    assert_int_equal(doppel_library_add(library, "/one", &stamp, &record, &added, &id, NULL),
                     DOPPEL_E_ARGUMENT);
    record.attachment_size = size;
    assert_int_equal(doppel_library_add(library, "/one", &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    doppel_record_free(&record);
    doppel_library_close(library);
}

/* A segment of five minutes, and what befalls it later. */
static void test_updated_removed_and_moved(void **state)
{
    const char *directory = directory_of(*state);
    const char *path = folder_path(*state, "one"), *other = folder_path(*state, "two");
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    uint64_t first = add_sound(library, path, 1, 1, 300, DOPPEL_ADDED_NEW);
    uint64_t second = add_sound(library, "/music/2", 2, 2, 30, DOPPEL_ADDED_NEW);
    doppel_library_commit(library, NULL);
    assert_int_equal(add_sound(library, path, 1, 1, 300, DOPPEL_ADDED_UNCHANGED), first);
    doppel_library_close(library);
    assert_int_equal(count_segments(directory), 1);
    assert_index_fits(directory);

    library = open_library(*state);
    uint64_t third = add_sound(library, path, 3, 3, 10, DOPPEL_ADDED_UPDATED);
    assert_true(third > second);
    commit(library);
    assert_index_fits(directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(add_sound(library, other, 3, 3, 10, DOPPEL_ADDED_MOVED), third);
    commit(library);
    assert_index_fits(directory);
    assert_int_equal(doppel_library_remove(library, second, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    size_t left = assert_index_fits(directory);
    assert_true(left > 0);

    library = open_library(*state);
    assert_int_equal(doppel_library_remove(library, third, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    assert_int_equal(assert_index_fits(directory), 0);
}

/* The file at a path becomes a picture, and a sound again. */
static void test_another_kind_at_a_path(void **state)
{
    const char *path = folder_path(*state, "one"), *directory = directory_of(*state);
    folder_write(path, "one");
    struct doppel_library *library = open_library(*state);
    add_sound(library, path, 1, 1, 10, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
    library = open_library(*state);
    add_file(library, path, 7, DOPPEL_ADDED_UPDATED);
    commit(library);
    doppel_library_close(library);
    assert_int_equal(assert_index_fits(directory), 0);
    library = open_library(*state);
    add_sound(library, path, 1, 1, 10, DOPPEL_ADDED_UPDATED);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_index_fits(directory) > 0);
}

static void test_another_version_updates_in_place(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_sound(library, "/one", 1, 1, 10, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
    run_raw(folder_path(directory, "catalogue.db"), "UPDATE item SET version = 0");
    library = open_library(*state);
    assert_int_equal(add_sound(library, "/one", 1, 1, 10, DOPPEL_ADDED_UPDATED), id);
    commit(library);
    doppel_library_close(library);
    assert_index_fits(directory);
}

static void test_what_is_taken_back_leaves_no_postings(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    uint64_t id = add_sound(library, "/one", 1, 1, 10, DOPPEL_ADDED_NEW);
    commit(library);
    add_sound(library, "/two", 2, 2, 200, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    doppel_library_close(library);
    size_t count = assert_index_fits(directory);
    library = open_library(*state);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(assert_index_fits(directory), count);
    assert_true(count > 0);
}

/* So many in one transaction that it is cut. */
static void test_many_commit_by_themselves(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    char path[32];
    for (uint64_t i = 0; i < 24; i++) {
        snprintf(path, sizeof path, "/music/%llu", (unsigned long long)i);
        add_sound(library, path, i, i, 240, DOPPEL_ADDED_NEW);
    }
    assert_true(count_segments(directory) > 0);
    assert_true(assert_index_fits(directory) > 0);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_index_fits(directory) > 24 * 240 * 40 * 3);
}

/* ---- the set ---- */

static bool note_first(void *context, const struct doppel_found *found)
{
    uint64_t *id = context;
    *id = *id ? *id : found->id;
    return true;
}

/* Look for five seconds out of a track. @return its id, 0 when it is not found */
static uint64_t find(const struct doppel_sounds *sounds, uint64_t seed, uint32_t seconds)
{
    struct doppel_sound_options options = doppel_sound_options_default();
    struct doppel_audio_track track = track_make(seed, seconds);
    uint64_t id = 0;
    size_t first = 0, end;
    while (track.peaks[first].time < doppel_audio_time(6))
        first++;
    for (end = first; track.peaks[end].time < doppel_audio_time(11); end++)
        track.peaks[end].time -= (uint32_t)doppel_audio_time(6);
    const struct doppel_sound query = {track.peaks + first, end - first, 5};
    assert_int_equal(doppel_sounds_find(sounds, &query, &options, note_first, &id, NULL),
                     DOPPEL_OK);
    doppel_audio_track_free(&track);
    return id;
}

static void test_the_set_is_of_the_last_commit(void **state)
{
    struct doppel_library *library = open_library(*state), *writer = open_library(*state);
    const struct doppel_sounds *sounds, *again;
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    assert_int_equal(find(sounds, 1, 20), 0);
    uint64_t one = add_sound(writer, "/one", 1, 1, 20, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    assert_int_equal(find(sounds, 1, 20), 0);
    commit(writer);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    assert_int_equal(find(sounds, 1, 20), one);
    assert_int_equal(find(sounds, 2, 20), 0);
    uint64_t two = add_sound(writer, "/two", 2, 2, 20, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_remove(writer, one, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_sounds(library, &again, NULL), DOPPEL_OK);
    assert_ptr_equal(again, sounds);
    commit(writer);
    assert_int_equal(find(sounds, 2, 20), 0);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    assert_int_equal(find(sounds, 2, 20), two);
    assert_int_equal(find(sounds, 1, 20), 0);
    doppel_library_close(writer);
    assert_int_equal(doppel_library_sounds(library, &again, NULL), DOPPEL_OK);
    assert_int_equal(find(again, 2, 20), two);
    doppel_library_close(library);
}

static void test_a_set_of_many_items(void **state)
{
    enum { ITEMS = 50 };
    struct doppel_library *library = open_library(*state);
    const struct doppel_sounds *sounds;
    char path[32];
    for (uint64_t i = 1; i <= ITEMS; i++) {
        snprintf(path, sizeof path, "/music/%llu", (unsigned long long)i);
        assert_int_equal(add_sound(library, path, i, i, 30, DOPPEL_ADDED_NEW), i);
    }
    commit(library);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    for (uint64_t i = 1; i <= ITEMS; i++)
        assert_int_equal(find(sounds, i, 30), i);
    doppel_library_close(library);
}

/* What is given of an item's peaks are its strong ones in that range, and perhaps others. */
static void assert_range(const struct doppel_sounds *sounds, uint64_t id, uint32_t from,
                         uint32_t to, const struct doppel_audio_track *made)
{
    struct doppel_audio_track given;
    size_t at = 0;
    assert_true(sounds_peaks(sounds, id, from, to, &given));
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
    const struct doppel_sounds *sounds;
    struct doppel_audio_track none;
    char path[32];
    for (uint64_t i = 1; i <= ITEMS; i++) {
        snprintf(path, sizeof path, "/music/%llu", (unsigned long long)i);
        add_sound(library, path, i, i, SECONDS, DOPPEL_ADDED_NEW);
    }
    commit(library);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    for (uint64_t round = 0; round < 3; round++)
        for (uint64_t i = 1; i <= ITEMS; i += 1 + round) {
            struct doppel_audio_track made = track_make(i, SECONDS);
            assert_range(sounds, i, (uint32_t)(i * 97 % 8000), (uint32_t)(i * 97 % 8000 + 700),
                         &made);
            assert_range(sounds, i, 0, UINT32_MAX, &made);
            doppel_audio_track_free(&made);
        }
    assert_false(sounds_peaks(sounds, ITEMS + 1, 0, 1000, &none));
    doppel_library_close(library);
}

/* ---- threads ---- */

struct search {
    const struct doppel_sounds *sounds;
    uint64_t first;
    size_t found;
};

static void *search_some(void *context)
{
    struct search *search = context;
    for (uint64_t i = search->first; i < search->first + 20; i++)
        search->found += find(search->sounds, i, 20) == i;
    return NULL;
}

static void test_threads_search_while_items_come(void **state)
{
    enum { THREADS = 3, ITEMS = 20 * THREADS };
    struct doppel_library *library = open_library(*state);
    const struct doppel_sounds *sounds;
    pthread_t threads[THREADS];
    struct search searches[THREADS];
    char path[32];
    uint64_t i;
    for (i = 1; i <= ITEMS; i++) {
        snprintf(path, sizeof path, "/music/%llu", (unsigned long long)i);
        assert_int_equal(add_sound(library, path, i, i, 20, DOPPEL_ADDED_NEW), i);
    }
    commit(library);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    for (size_t t = 0; t < THREADS; t++) {
        searches[t] = (struct search){.sounds = sounds, .first = 1 + 20 * t};
        assert_int_equal(pthread_create(&threads[t], NULL, search_some, &searches[t]), 0);
    }
    for (; i <= ITEMS + 20; i++) {
        snprintf(path, sizeof path, "/music/%llu", (unsigned long long)i);
        add_sound(library, path, i, i, 20, DOPPEL_ADDED_NEW);
        commit(library);
    }
    for (size_t t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(searches[t].found, 20);
    }
    doppel_library_close(library);
}

/* ---- read only, upgrade ---- */

static void test_read_only(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_library *library = open_library(*state);
    add_sound(library, "/one", 1, 1, 300, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
    const struct doppel_library_options options = {.read_only = true};
    const struct doppel_sounds *sounds;
    assert_int_equal(doppel_library_open(directory, &options, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    assert_int_equal(find(sounds, 1, 300), 1);
    assert_int_not_equal(doppel_library_remove(library, 1, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_index_fits(directory);
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
    assert_int_equal(add_sound(library, "/two", 2, 2, 10, DOPPEL_ADDED_NEW), 2);
    add_file(library, path, 1, DOPPEL_ADDED_UNCHANGED);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_index_fits(old) > 0);
    const struct doppel_sounds *sounds;
    assert_int_equal(doppel_library_open(old, &reader, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_sounds(library, &sounds, NULL), DOPPEL_OK);
    doppel_library_close(library);
}

/* The cache keeps all peaks. */
static void test_the_cache_keeps_all(void **state)
{
    struct doppel_record made = sound_make(1, 10), known;
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
        IN_FOLDER(test_others_get_no_folder),
        IN_FOLDER(test_what_is_no_sound_is_refused),
        IN_FOLDER(test_updated_removed_and_moved),
        IN_FOLDER(test_another_kind_at_a_path),
        IN_FOLDER(test_another_version_updates_in_place),
        IN_FOLDER(test_what_is_taken_back_leaves_no_postings),
        IN_FOLDER(test_many_commit_by_themselves),
        IN_FOLDER(test_the_set_is_of_the_last_commit),
        IN_FOLDER(test_a_set_of_many_items),
        IN_FOLDER(test_peaks_of_items),
        IN_FOLDER(test_threads_search_while_items_come),
        IN_FOLDER(test_read_only),
        IN_FOLDER(test_version_3),
        IN_FOLDER(test_the_cache_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
