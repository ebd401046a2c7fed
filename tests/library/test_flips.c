/* Bytes of a catalogue changed at random: every question is answered or refused in words, the check
 * tells, and a repair leaves a library that works, with all that could still be read. */
#include "tests/library/upkeep.h"

#include <stdio.h>
#include <unistd.h>

enum { ITEMS = 150, FLIPS = 200, MAX_BYTES = 4 << 20 };

static const struct doppel_library_options read_only = {.read_only = true};

static void make(const char *folder)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error;
    for (uint64_t number = 1; number <= ITEMS; number++)
        if (add_numbered(library, number, record_make(number), &error))
            fail_msg("%s", error.message);
    add_track(library, &recordings, "/sound", 1000, 10, DOPPEL_ADDED_NEW);
    add_track(library, &clips, "/film", 1001, 10, DOPPEL_ADDED_NEW);
    for (uint64_t id = 11; id <= ITEMS; id += 10)
        assert_int_equal(doppel_library_link(library, id, id - 1, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static size_t read_bytes(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(bytes, 1, MAX_BYTES, file);
    fclose(file);
    return size;
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- every question ---- */

static bool take_item(void *context, const struct doppel_item *item)
{
    (void)context;
    assert_non_null(item->path);
    return true;
}

static bool take_entry(void *context, const struct doppel_log_entry *entry,
                       const struct doppel_error *error)
{
    (void)error;
    *(uint64_t *)context += entry->entry;
    return true;
}

static bool take_id(void *context, uint64_t id)
{
    *(uint64_t *)context += id;
    return true;
}

static void assert_in_words(enum doppel_status status, const struct doppel_error *error)
{
    if (status && status != DOPPEL_E_CORRUPT && status != DOPPEL_E_NOT_FOUND &&
        status != DOPPEL_E_FORMAT && status != DOPPEL_E_VERSION && status != DOPPEL_E_IO &&
        status != DOPPEL_E_ARGUMENT)
        fail_msg("status %d: %s", (int)status, error->message);
    if (status)
        assert_true(error->message[0] != '\0');
}

/* Which items can still be read. */
static void query_all(struct doppel_library *library, bool readable[ITEMS + 1])
{
    struct doppel_error error = {0};
    struct doppel_library_stats stats;
    const struct doppel_recordings *set;
    const struct doppel_log_query query = {0};
    uint64_t sum = 0;
    assert_in_words(doppel_library_each(library, take_item, NULL, &error), &error);
    assert_in_words(doppel_library_each_log(library, &query, take_entry, &sum, &error), &error);
    assert_in_words(doppel_library_stats(library, &stats, &error), &error);
    assert_in_words(doppel_library_where(library, "width > 3", 5000, take_id, &sum, &error),
                    &error);
    assert_in_words(doppel_library_recordings(library, &set, &error), &error);
    for (uint64_t id = 1; id <= ITEMS; id++) {
        struct doppel_item item;
        enum doppel_status status = doppel_library_get(library, id, true, &item, &error);
        assert_in_words(status, &error);
        readable[id] = !status;
        if (!status)
            doppel_item_free(&item);
        assert_in_words(doppel_library_each_follower(library, id, 0, take_id, &sum, &error),
                        &error);
    }
}

/* ---- repair ---- */

static void clear(const char *folder)
{
    static const char *const names[] = {
        "a/library/catalogue.db-wal",         "a/library/catalogue.db-shm",
        "a/library/catalogue.db.damaged",     "a/library/catalogue.db.damaged-wal",
        "a/library/catalogue.db.damaged-shm", "a/library/damaged.jsonl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(folder_path(folder, names[i]));
}

/* As the command does it. @return false where the catalogue is beyond it, in words */
static bool repair(const char *folder, struct told *told)
{
    const struct doppel_library_options options = {0};
    struct doppel_library *library = NULL;
    struct doppel_error error = {0};
    enum doppel_status status =
        doppel_library_open(directory_of(folder), &options, &library, &error);
    if (!status)
        status = doppel_library_verify(library, true, take_problem, told, &error);
    if (status == DOPPEL_E_CORRUPT) {
        doppel_library_close(library);
        library = NULL;
        status = doppel_library_salvage(directory_of(folder), take_problem, told, &error);
        if (!status)
            status = doppel_library_open(directory_of(folder), &options, &library, &error);
        if (!status)
            status = doppel_library_verify(library, true, take_problem, told, &error);
    }
    assert_in_words(status, &error);
    for (uint64_t id = 1; !status && id <= ITEMS + 2; id++) {
        struct doppel_item item;
        enum doppel_status got = doppel_library_get(library, id, true, &item, NULL);
        if (got == DOPPEL_E_CORRUPT)
            assert_int_equal(doppel_library_set_aside(library, id, NULL), DOPPEL_OK);
        else if (!got)
            doppel_item_free(&item);
    }
    if (!status)
        commit(library);
    doppel_library_close(library);
    return !status;
}

static void assert_works(const char *folder, const bool readable[ITEMS + 1], const char *what)
{
    struct told told = verify(folder, true); /* what was set aside may have been followed */
    told = verify(folder, false);
    if (told.count)
        fail_msg("%s: still %s", what, told.lines[0]);
    struct doppel_library *library = open_library(folder);
    struct doppel_error error;
    for (uint64_t id = 1; id <= ITEMS; id++) {
        struct doppel_item item;
        if (!readable[id])
            continue;
        if (doppel_library_get(library, id, true, &item, &error))
            fail_msg("%s: item %d is lost: %s", what, (int)id, error.message);
        doppel_item_free(&item);
    }
    add_file(library, folder_path(folder, "a/library/catalogue.db"), 7777, DOPPEL_ADDED_NEW);
    commit(library);
    doppel_library_close(library);
}

/* ---- flips ---- */

static void assert_survives(const char *folder, const char *what, size_t *refused)
{
    bool readable[ITEMS + 1] = {false};
    struct doppel_library *library = NULL;
    struct doppel_error error = {0};
    struct told told = {0};
    enum doppel_status status =
        doppel_library_open(directory_of(folder), &read_only, &library, &error);
    assert_in_words(status, &error);
    if (!status)
        query_all(library, readable);
    if (!status)
        assert_in_words(doppel_library_verify(library, false, take_problem, &told, &error), &error);
    doppel_library_close(library);
    if (repair(folder, &told))
        assert_works(folder, readable, what);
    else
        ++*refused;
}

static void test_flips(void **state)
{
    static uint8_t whole[MAX_BYTES], bytes[MAX_BYTES];
    uint64_t random = 7;
    size_t refused = 0;
    make(*state);
    char *path = strdup(folder_path(*state, "a/library/catalogue.db"));
    const size_t size = read_bytes(path, whole);
    for (int flip = 0; flip < FLIPS; flip++) {
        char what[64];
        size_t at = (size_t)(next(&random) % size), count = flip % 4 ? 1 : 1 + next(&random) % 600;
        memcpy(bytes, whole, size);
        for (size_t i = at; i < at + count && i < size; i++)
            bytes[i] ^= (uint8_t)(1 + next(&random) % 255);
        clear(*state);
        write_bytes(path, bytes, size);
        snprintf(what, sizeof what, "flip %d of %zu at %zu", flip, count, at);
        assert_survives(*state, what, &refused);
    }
    assert_true(refused <= FLIPS / 50); /* another version in the first page */
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_flips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
