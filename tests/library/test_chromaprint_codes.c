/* Recordings that are found in the index of AcoustID's codes are those that a set in memory finds,
 * after any additions, changes, removals, rollbacks, packing and damage. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include <doppel/library.h>
#include <doppel/match.h>

#include "tests/library/fixture.h"

enum { RECORDINGS = 24, LENGTH_MAX = 200, SHOTS = 400, LIMIT = 8, FINDS_MAX = 64 };

struct recorded {
    uint64_t id; /* 0: not there */
    uint32_t codes[LENGTH_MAX];
    size_t length;
};

struct shelf {
    const char *folder;
    struct doppel_library *library;
    struct recorded now[RECORDINGS], committed[RECORDINGS];
    uint64_t random;
};

static uint64_t draw_number(struct shelf *shelf)
{
    uint64_t z = shelf->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Of its own, or with a stretch of another one, of which some bits are changed. */
static void record_anew(struct shelf *shelf, struct recorded *out)
{
    const struct recorded *other = &shelf->now[draw_number(shelf) % RECORDINGS];
    out->length = 60 + draw_number(shelf) % (LENGTH_MAX - 60);
    for (size_t i = 0; i < out->length; i++)
        out->codes[i] = (uint32_t)draw_number(shelf);
    if (!other->id || other == out || draw_number(shelf) % 3 == 0)
        return;
    size_t from = draw_number(shelf) % 10, to = draw_number(shelf) % 10;
    for (size_t i = 0; i < 50; i++)
        out->codes[to + i] = other->codes[from + i] ^ (UINT32_C(1) << draw_number(shelf) % 32);
}

static struct doppel_fingerprint fingerprint_of_recorded(const struct recorded *recorded)
{
    struct doppel_fingerprint made;
    assert_int_equal(doppel_chromaprint_fingerprint(recorded->codes, recorded->length, &made, NULL),
                     DOPPEL_OK);
    return made;
}

/* ---- steps ---- */

static void put_recorded(struct shelf *shelf, size_t at)
{
    struct recorded *recorded = &shelf->now[at];
    enum doppel_added added;
    char name[32];
    record_anew(shelf, recorded);
    snprintf(name, sizeof name, "recording %zu", at);
    const struct doppel_metadata about = {.external_id = name};
    struct doppel_fingerprint fingerprint = fingerprint_of_recorded(recorded);
    const struct doppel_item given = {.record = {.kind = DOPPEL_KIND_AUDIO,
                                                 .scheme = fingerprint.scheme,
                                                 .version = fingerprint.version,
                                                 .quality = 100,
                                                 .fingerprint = fingerprint}};
    struct doppel_error error = {0};
    if (doppel_library_import(shelf->library, &given, &about, &added, &recorded->id, &error))
        fail_msg("%s", error.message);
    doppel_fingerprint_free(&fingerprint);
}

static void drop_recorded(struct shelf *shelf, size_t at)
{
    if (shelf->now[at].id)
        assert_int_equal(doppel_library_remove(shelf->library, shelf->now[at].id, NULL), DOPPEL_OK);
    shelf->now[at].id = 0;
}

static void settle_shelf(struct shelf *shelf)
{
    assert_int_equal(doppel_library_commit(shelf->library, NULL), DOPPEL_OK);
    memcpy(shelf->committed, shelf->now, sizeof shelf->now);
}

/* The files of the index are gone, while nobody has it open. */
static void lose_index(struct shelf *shelf)
{
    char folder_path[600], path[1200];
    snprintf(folder_path, sizeof folder_path, "%s/chromaprint", directory_of(shelf->folder));
    DIR *folder = opendir(folder_path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
        if (entry->d_name[0] != '.')
            assert_int_equal(unlink(path), 0);
    }
    if (folder)
        closedir(folder);
}

static void reopen_shelf(struct shelf *shelf, bool lose)
{
    settle_shelf(shelf);
    doppel_library_close(shelf->library);
    if (lose)
        lose_index(shelf);
    shelf->library = open_library(shelf->folder);
}

static void change_shelf(struct shelf *shelf)
{
    const size_t at = draw_number(shelf) % RECORDINGS;
    const uint64_t what = draw_number(shelf) % 100;
    if (what < 55) {
        put_recorded(shelf, at);
    } else if (what < 75) {
        drop_recorded(shelf, at);
    } else if (what < 85) {
        settle_shelf(shelf);
    } else if (what < 91) {
        doppel_library_rollback(shelf->library);
        memcpy(shelf->now, shelf->committed, sizeof shelf->now);
    } else if (what < 98) {
        reopen_shelf(shelf, what >= 95);
    } else {
        settle_shelf(shelf);
        assert_int_equal(doppel_library_compact(shelf->library, NULL, NULL, NULL), DOPPEL_OK);
    }
}

/* ---- comparing ---- */

struct finds {
    uint64_t ids[FINDS_MAX];
    uint32_t distances[FINDS_MAX];
    double starts[FINDS_MAX];
    size_t count;
};

static bool take_find(void *context, const struct doppel_found *found)
{
    struct finds *finds = context;
    assert_true(finds->count < FINDS_MAX);
    finds->ids[finds->count] = found->id;
    finds->distances[finds->count] = found->match.distance;
    finds->starts[finds->count++] = found->match.segments->b_start;
    return true;
}

static int compare_recorded_ids(const void *left, const void *right)
{
    const struct recorded *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Added by id, as the library visits them. */
static struct doppel_chromaprints *set_in_memory(const struct shelf *shelf)
{
    static struct recorded sorted[RECORDINGS];
    struct doppel_chromaprints *set;
    memcpy(sorted, shelf->now, sizeof sorted);
    qsort(sorted, RECORDINGS, sizeof *sorted, compare_recorded_ids);
    assert_int_equal(doppel_chromaprints_new(&set, NULL), DOPPEL_OK);
    for (size_t i = 0; i < RECORDINGS; i++) {
        if (!sorted[i].id)
            continue;
        struct doppel_fingerprint fingerprint = fingerprint_of_recorded(&sorted[i]);
        assert_int_equal(doppel_chromaprints_add(set, sorted[i].id, &fingerprint, NULL), DOPPEL_OK);
        doppel_fingerprint_free(&fingerprint);
    }
    return set;
}

static size_t compare_with_memory(struct shelf *shelf)
{
    struct doppel_chromaprints *set = set_in_memory(shelf);
    size_t matches = 0;
    for (int i = 0; i < 4; i++) {
        struct recorded asked;
        struct finds kept = {.count = 0}, expected = {.count = 0};
        struct doppel_error error = {0};
        record_anew(shelf, &asked);
        struct doppel_fingerprint query = fingerprint_of_recorded(&asked);
        if (doppel_library_find_chromaprints(shelf->library, &query, LIMIT, take_find, &kept,
                                             &error))
            fail_msg("%s", error.message);
        assert_int_equal(doppel_chromaprints_find(set, &query, LIMIT, take_find, &expected, NULL),
                         DOPPEL_OK);
        assert_int_equal(kept.count, expected.count);
        for (size_t k = 0; k < kept.count; k++) {
            assert_int_equal(kept.ids[k], expected.ids[k]);
            assert_int_equal(kept.distances[k], expected.distances[k]);
            assert_true(kept.starts[k] == expected.starts[k]);
        }
        matches += kept.count;
        doppel_fingerprint_free(&query);
    }
    doppel_chromaprints_free(set);
    return matches;
}

static bool fail_for_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->detail);
    return false;
}

static void what_is_found_is_what_a_set_in_memory_finds(void **state)
{
    static struct shelf shelf;
    size_t matches = 0;
    shelf = (struct shelf){.folder = *state, .random = 11};
    shelf.library = open_library(*state);
    for (int shot = 0; shot < SHOTS; shot++) {
        change_shelf(&shelf);
        if (shot % 5 == 0)
            matches += compare_with_memory(&shelf);
        if (shot % 50 == 0) {
            settle_shelf(&shelf);
            assert_int_equal(
                doppel_library_verify(shelf.library, false, fail_for_problem, NULL, NULL),
                DOPPEL_OK);
        }
    }
    assert_true(matches > SHOTS / 4);
    doppel_library_close(shelf.library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(what_is_found_is_what_a_set_in_memory_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
