/* Recordings and videos of a library that come, change and go: the indexes follow them. */
#include "tests/library/tracks.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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
    add_track(library, kind == &recordings ? &clips : &recordings, path, 1, 10,
              DOPPEL_ADDED_UPDATED);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory) > 0);
}

/* The bytes are the same, but not what was made of them. */
static void test_moved_and_of_another_kind(void **state)
{
    const char *directory = directory_of(*state);
    struct doppel_record clip = video_record(1, 10), recording = audio_record(1, 10);
    const struct doppel_record *records[] = {&clip, &recording, &clip, &recording};
    char path[16];
    recording.kind = DOPPEL_KIND_VIDEO;
    recording.digest = clip.digest;
    for (size_t i = 0; i < 4; i++) {
        struct doppel_library *library = open_library(*state);
        snprintf(path, sizeof path, "/films/%zu", i);
        add_record(library, path, 1, records[i], i ? DOPPEL_ADDED_MOVED : DOPPEL_ADDED_NEW);
        commit(library);
        doppel_library_close(library);
        assert_indexes_fit(directory);
    }
    doppel_record_free(&clip);
    doppel_record_free(&recording);
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
    struct doppel_video_track clip = video_make(1, 10);
    struct doppel_record full = record_of_video(1, &clip);
    clip.count /= 4;
    clip.keyframes_only = true;
    struct doppel_record fast = record_of_video(1, &clip);
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
    doppel_video_track_free(&clip);
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
    const uint64_t count = kind == &clips ? 8 : 24;
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
    "INSERT INTO item SELECT id, path, device, inode, size, mtime_ns, settled, added_ns, digest, "
    "kind,"
    " scheme, version, width, height, quality, checksum FROM now.item;"
    "INSERT INTO fingerprint SELECT * FROM now.fingerprint;"
    "INSERT INTO attachment SELECT * FROM now.attachment;"
    "INSERT INTO log SELECT entry, time_ns, action, item, path, former_item, former_path FROM "
    "now.log";

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
    assert_int_equal(doppel_library_open(old, &reader, &library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(doppel_library_open(old, &writer, &library, NULL), DOPPEL_OK);
    assert_int_equal(add_track(library, kind, "/two", 2, 10, DOPPEL_ADDED_NEW), 2);
    add_file(library, path, 1, DOPPEL_ADDED_UPDATED); /* it had no simhash */
    add_file(library, path, 1, DOPPEL_ADDED_UNCHANGED);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(old) > 0);
    const struct doppel_recordings *set;
    assert_int_equal(doppel_library_open(old, &reader, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_recordings(library, &set, NULL), DOPPEL_OK);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BOTH(test_updated_removed_and_moved),
        WITH_BOTH(test_another_kind_at_a_path),
        IN_FOLDER(test_moved_and_of_another_kind),
        WITH_BOTH(test_another_version_updates_in_place),
        IN_FOLDER(test_read_in_another_way_updates_in_place),
        WITH_BOTH(test_what_is_taken_back_leaves_nothing),
        WITH_BOTH(test_many_commit_by_themselves),
        WITH_BOTH(test_version_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
