/* Recordings and videos of a library: writers killed at any moment, two of them at once, and files
 * of the indexes gone or damaged. */
#include "tests/library/killed.h"
#include "tests/library/tracks.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 6, SECONDS = 60, BATCH = 3, MOST = 45 };

static const struct doppel_library_options create = {.create = true};

static enum doppel_status try_track(struct doppel_library *library, uint64_t number,
                                    uint32_t seconds, struct doppel_error *error)
{
    return add_numbered(library, number, kind->make(number, seconds), error);
}

static void make_tracks(const char *directory, uint64_t count, uint32_t seconds)
{
    struct doppel_library *library;
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    for (uint64_t i = 1; i <= count; i++)
        assert_int_equal(try_track(library, i, seconds, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
}

static enum doppel_status open_set(struct doppel_library *library, struct doppel_error *error)
{
    const struct doppel_recordings *of_audio;
    const struct doppel_videos *of_videos;
    return kind == &recordings ? doppel_library_recordings(library, &of_audio, error)
                               : doppel_library_videos(library, &of_videos, error);
}

/* ---- killed ---- */

static int write_tracks(const char *directory, atomic_ullong *acknowledged)
{
    struct doppel_library *library;
    if (doppel_library_open(directory, &create, &library, NULL))
        return 1;
    for (uint64_t number = atomic_load(acknowledged) + 1;; number++) {
        /* Every ninth takes an earlier one with it. */
        if (try_track(library, number, SECONDS, NULL) ||
            (number % 9 == 0 && doppel_library_remove(library, number - 4, NULL)))
            return 2;
        if (number % BATCH)
            continue;
        if (doppel_library_commit(library, NULL))
            return 3;
        atomic_store(acknowledged, number);
    }
}

static bool note_last(void *context, const struct doppel_item *item)
{
    assert_int_equal(item->record.error.status, DOPPEL_OK);
    *(uint64_t *)context = item->id;
    return true;
}

static uint64_t last_item(const char *directory)
{
    struct doppel_library *library;
    uint64_t last = 0;
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_each(library, note_last, &last, NULL), DOPPEL_OK);
    doppel_library_close(library);
    return last;
}

static void test_a_killed_writer_loses_nothing_committed(void **state)
{
    const char *directory = folder_path(*state, "library");
    make_tracks(directory, BATCH, SECONDS);
    uint64_t there = BATCH;
    const int kills = kind == &clips ? KILLS / 2 : KILLS; /* they are more work */
    for (int kill = 0; kill < kills; kill++) {
        uint64_t acknowledged = run_and_kill(write_tracks, directory, there, MOST);
        there = last_item(directory);
        assert_true(there >= acknowledged);
        assert_int_equal(there % BATCH, 0); /* whole commits only */
        assert_indexes_fit(directory);
    }
    assert_true(count_segments(directory, kind->folder) > 0);
}

/* ---- two at once ---- */

static void test_one_writer_of_tracks(void **state)
{
    const char *directory = folder_path(*state, "library");
    struct doppel_library *first, *second;
    struct doppel_error error = {0};
    assert_int_equal(doppel_library_open(directory, &create, &first, NULL), DOPPEL_OK);
    assert_int_equal(try_track(first, 1, 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(first, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_open(directory, &create, &second, NULL), DOPPEL_OK);
    /* A picture has nothing to do with it. */
    const struct doppel_file_stamp stamp = {.inode = 9};
    struct doppel_record image = record_make(9);
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_add(second, "/nine", &stamp, &image, &added, &id, NULL),
                     DOPPEL_OK);
    doppel_record_free(&image);
    assert_int_equal(try_track(second, 2, 5, &error), DOPPEL_E_BUSY);
    assert_non_null(strstr(error.message, "another process"));
    doppel_library_close(first);
    assert_int_equal(try_track(second, 2, 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(second, NULL), DOPPEL_OK);
    doppel_library_close(second);
    assert_int_equal(last_item(directory), 3);
    assert_indexes_fit(directory);
}

static void wait_until(const atomic_int *flag)
{
    while (!atomic_load(flag))
        sleep_us(1000);
}

/* A reader that opens sets while a writer goes on sees whole commits. */
static void test_a_reader_beside_a_writer(void **state)
{
    const char *directory = folder_path(*state, "library");
    struct doppel_library *library;
    make_tracks(directory, BATCH, SECONDS);
    atomic_int *begun =
        mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(begun != MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        atomic_ullong acknowledged = BATCH;
        atomic_store(begun, 1);
        _exit(write_tracks(directory, &acknowledged));
    }
    wait_until(begun);
    const struct doppel_library_options reader = {.read_only = true};
    assert_int_equal(doppel_library_open(directory, &reader, &library, NULL), DOPPEL_OK);
    for (int i = 0; i < 30; i++) {
        struct doppel_error error = {0};
        if (open_set(library, &error))
            fail_msg("%s", error.message);
        sleep_us(20000);
    }
    doppel_library_close(library);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    munmap(begun, sizeof *begun);
    assert_indexes_fit(directory);
}

/* ---- damage ---- */

/* The path of a segment; given (free). */
static char *find_segment(const char *directory)
{
    const char *name = folder_path(directory, kind->folder);
    DIR *folder = opendir(name);
    char *path = NULL;
    assert_non_null(folder);
    for (struct dirent *entry; !path && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".segment"))
            path = strdup(folder_path(name, entry->d_name));
    closedir(folder);
    assert_non_null(path);
    return path;
}

static void spoil(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

static void remove_folder_of_index(const char *directory)
{
    while (count_segments(directory, kind->folder) > 0) {
        char *path = find_segment(directory);
        assert_int_equal(unlink(path), 0);
        free(path);
    }
    assert_int_equal(rmdir(folder_path(directory, kind->folder)), 0);
}

static void assert_refused(const char *directory)
{
    const struct doppel_library_options reader = {.read_only = true};
    struct doppel_library *library;
    struct doppel_error error = {0};
    assert_int_equal(doppel_library_open(directory, &reader, &library, NULL), DOPPEL_OK);
    assert_int_equal(open_set(library, &error), DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "doppel verify --repair"));
    doppel_library_close(library);
}

/* Whoever opens the library to write. */
static void open_and_close(const char *directory)
{
    struct doppel_library *library;
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    doppel_library_close(library);
}

static void test_missing_files_are_made_anew(void **state)
{
    const char *directory = folder_path(*state, "library");
    make_tracks(directory, 6, SECONDS);
    size_t count = assert_indexes_fit(directory);
    char *path = find_segment(directory);
    assert_int_equal(unlink(path), 0);
    free(path);
    assert_refused(directory);
    open_and_close(directory);
    assert_int_equal(assert_indexes_fit(directory), count);
    remove_folder_of_index(directory);
    assert_refused(directory);
    open_and_close(directory);
    assert_int_equal(assert_indexes_fit(directory), count);
}

static void test_a_damaged_file_is_told_and_made_anew(void **state)
{
    const char *directory = folder_path(*state, "library");
    make_tracks(directory, 6, SECONDS);
    size_t count = assert_indexes_fit(directory);
    char *path = find_segment(directory);
    spoil(path, 100);
    free(path);
    assert_refused(directory);
    remove_folder_of_index(directory);
    open_and_close(directory);
    assert_int_equal(assert_indexes_fit(directory), count);
}

static void test_damaged_tracks_are_mended(void **state)
{
    const char *directory = folder_path(*state, "library");
    const struct doppel_scheme *scheme = doppel_scheme_by_id(kind->scheme);
    const struct doppel_file_stamp stamp = {.inode = 1};
    struct doppel_library *library;
    struct doppel_item item;
    uint64_t id;
    make_tracks(directory, 2, 20);
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_known(library, "/files/1", &stamp, scheme, &id), DOPPEL_OK);
    run_raw(folder_path(directory, "catalogue.db"),
            "UPDATE attachment SET data = zeroblob(length(data)) WHERE item = 1");
    assert_int_equal(doppel_library_known(library, "/files/1", &stamp, scheme, &id),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_get(library, 1, false, &item, NULL), DOPPEL_OK);
    doppel_item_free(&item);
    assert_int_equal(doppel_library_get(library, 1, true, &item, NULL), DOPPEL_E_CORRUPT);
    assert_int_equal(try_track(library, 1, 20, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_known(library, "/files/1", &stamp, scheme, &id), DOPPEL_OK);
    doppel_library_close(library);
    assert_indexes_fit(directory);
}

/* A damaged item leaves nothing in the indexes. */
static void test_damaged_tracks_are_removed(void **state)
{
    const char *directory = folder_path(*state, "library");
    struct doppel_library *library;
    make_tracks(directory, 3, 20);
    run_raw(folder_path(directory, "catalogue.db"),
            "UPDATE attachment SET data = substr(data, 1, 40) WHERE item = 2;"
            "DELETE FROM attachment WHERE item = 3");
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_remove(library, 2, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_remove(library, 3, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory) > 0);
}

/* The index is made without the item, and with it when it has been mended. */
static void test_a_rebuild_beside_damage(void **state)
{
    const char *directory = folder_path(*state, "library");
    struct doppel_library *library;
    make_tracks(directory, 6, SECONDS);
    size_t count = assert_indexes_fit(directory);
    run_raw(folder_path(directory, "catalogue.db"),
            "UPDATE attachment SET data = substr(data, 1, 40) WHERE item = 2");
    remove_folder_of_index(directory);
    open_and_close(directory);
    assert_int_equal(doppel_library_open(directory, &create, &library, NULL), DOPPEL_OK);
    assert_int_equal(try_track(library, 2, SECONDS, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_commit(library, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(assert_indexes_fit(directory), count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BOTH(test_a_killed_writer_loses_nothing_committed),
        WITH_BOTH(test_one_writer_of_tracks),
        WITH_BOTH(test_a_reader_beside_a_writer),
        WITH_BOTH(test_missing_files_are_made_anew),
        WITH_BOTH(test_a_damaged_file_is_told_and_made_anew),
        WITH_BOTH(test_damaged_tracks_are_mended),
        WITH_BOTH(test_damaged_tracks_are_removed),
        WITH_BOTH(test_a_rebuild_beside_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
