/* Which images of a library may match: what of it is kept and what is not, which items are looked
 * at though no image is like them, and what upkeep does with the file. */
#include "tests/group/paired_library.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/match/images.h"
#include "tests/store/folder.h"

/* The groups are given all the same, and one sentence says that the file could not be written. */
static void test_no_room_for_the_file(void **state)
{
    struct world world;
    struct rlimit former, none;
    char path[256];
    world_make(&world, *state, 13);
    for (unsigned file = 0; file < FILES; file++)
        put_file(&world, file);
    assert_int_equal(doppel_library_commit(world.library, NULL), DOPPEL_OK);
    getrlimit(RLIMIT_FSIZE, &former);
    signal(SIGXFSZ, SIG_IGN);
    none = (struct rlimit){64, former.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    assert_groups(&world, "no room");
    setrlimit(RLIMIT_FSIZE, &former);
    assert_int_equal(world.notices, 1);
    assert_false(find_pairs_file(&world, path, sizeof path));
    assert_groups(&world, "room again");
    assert_true(find_pairs_file(&world, path, sizeof path));
    assert_int_equal(world.notices, 1);
    world_free(&world);
}

static bool count_problem(void *context, const struct doppel_problem *problem)
{
    assert_string_equal(problem->problem, "index");
    ++*(size_t *)context;
    return true;
}

/* Damage is found by verify, and mended; what nobody reads goes when the library is packed. */
static void test_upkeep(void **state)
{
    struct world world;
    char path[256], beside[300];
    size_t problems = 0;
    world_make(&world, *state, 17);
    for (unsigned file = 0; file < FILES; file++)
        put_file(&world, file);
    assert_int_equal(doppel_library_commit(world.library, NULL), DOPPEL_OK);
    assert_groups(&world, "first");
    assert_true(find_pairs_file(&world, path, sizeof path));
    assert_int_equal(doppel_library_verify(world.library, false, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_int_equal(problems, 0);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(doppel_library_verify(world.library, false, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_int_equal(problems, 1);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(doppel_library_verify(world.library, true, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_int_equal(problems, 2);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_groups(&world, "mended");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody waits for what comes out of it */
    assert_groups(&world, "a pipe");
    snprintf(beside, sizeof beside, "%s/phash64-pairs/unfinished-abcdef", world.directory);
    copy_file(path, beside);
    assert_int_equal(doppel_library_compact(world.library, NULL, NULL, NULL), DOPPEL_OK);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(beside, F_OK), 0);
    world_free(&world);
}

static struct doppel_record make_image(struct world *world, const struct doppel_digest *digest,
                                       uint64_t seed)
{
    struct doppel_record record = make_record(world);
    doppel_fingerprint_free(&record.fingerprint);
    record.fingerprint = make_fingerprint(DOPPEL_SCHEME_PHASH64, 0x7, &seed);
    record.digest = *digest;
    record.quality = 90;
    return record;
}

static void put_image(struct world *world, unsigned file, const struct doppel_digest *digest,
                      uint64_t seed)
{
    char path[64];
    enum doppel_added added;
    uint64_t id;
    const struct doppel_file_stamp stamp = {
        .device = 1, .inode = file + 1, .size = 100, .mtime_ns = 1};
    struct doppel_record record = make_image(world, digest, seed);
    snprintf(path, sizeof path, "/files/%u.jpg", file);
    assert_int_equal(doppel_library_add(world->library, path, &stamp, &record, &added, &id, NULL),
                     DOPPEL_OK);
    doppel_record_free(&record);
}

static struct doppel_digest digest_of_number(uint64_t number)
{
    return doppel_digest_bytes(&number, sizeof number);
}

/* A file that is there: what has its bytes elsewhere has not moved. */
static uint64_t put_real_file(struct world *world, unsigned file,
                              const struct doppel_record *record)
{
    char name[24];
    enum doppel_added added;
    struct stat status;
    uint64_t id = 0;
    snprintf(name, sizeof name, "%u.jpg", file);
    const char *path = folder_path(world->folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fclose(stream);
    assert_int_equal(stat(path, &status), 0);
    const struct doppel_file_stamp stamp = {.device = (uint64_t)status.st_dev,
                                            .inode = (uint64_t)status.st_ino};
    assert_int_equal(doppel_library_add(world->library, path, &stamp, record, &added, &id, NULL),
                     DOPPEL_OK);
    assert_int_equal(added, DOPPEL_ADDED_NEW);
    return id;
}

/* Images whose fingerprints others borrow are looked up once, though one of them is wanted itself.
 */
static void test_borrowed_ones_are_compared_once(void **state)
{
    enum { IMAGES = 9 };
    static struct told_groups found;
    struct world world;
    size_t problems = 0;
    world_make(&world, *state, 31);
    world.wanted.some = true;
    world.wanted.ids = calloc(2 * IMAGES, sizeof *world.wanted.ids);
    for (unsigned i = 0; i < 2 * IMAGES; i++) {
        const struct doppel_digest digest = digest_of_number(i % IMAGES);
        struct doppel_record record = {.digest = digest};
        if (i < IMAGES)
            record = make_image(&world, &digest, i);
        const uint64_t id = put_real_file(&world, i, &record);
        doppel_record_free(&record);
        if (i == 0 || i + 1 >= IMAGES)
            world.wanted.ids[world.wanted.count++] = id;
        assert_int_equal(doppel_library_commit(world.library, NULL), DOPPEL_OK);
        if (i == 0) /* what comes later is looked up */
            find_groups(&world, &found);
    }
    find_groups(&world, &found);
    assert_string_equal(found.text, "1 10\n9 18\n");
    assert_int_equal(doppel_library_verify(world.library, false, count_problem, &problems, NULL),
                     DOPPEL_OK);
    assert_int_equal(problems, 0);
    world_free(&world);
}

/* Images that nothing is like are in a group by a label, and images that are the same in none. */
static void test_labels_count(void **state)
{
    static struct told_groups found;
    struct world world;
    world_make(&world, *state, 19);
    struct doppel_digest digests[6];
    for (unsigned file = 0; file < 6; file++) {
        digests[file] = digest_of_number(file);
        put_image(&world, file, &digests[file], file < 4 ? file : 9);
    }
    assert_int_equal(doppel_library_commit(world.library, NULL), DOPPEL_OK);
    find_groups(&world, &found);
    assert_string_equal(found.text, "5 6\n");
    assert_int_equal(doppel_library_mark(world.library, &digests[1], &digests[3], NULL,
                                         DOPPEL_LABEL_SAME, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_mark(world.library, &digests[4], &digests[5], NULL,
                                         DOPPEL_LABEL_DISTINCT, NULL, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_commit(world.library, NULL), DOPPEL_OK);
    find_groups(&world, &found);
    assert_string_equal(found.text, "2 4\n");
    world_free(&world);
}

/* A glob that protects files in no group meets them; one that meets none is still reported. */
static void test_rules_meet_files_of_no_group(void **state)
{
    static struct told_groups found;
    const char *const globs[] = {"1.jpg", "none.jpg"};
    struct world world;
    world_make(&world, *state, 23);
    for (unsigned file = 0; file < 4; file++) {
        const struct doppel_digest digest = digest_of_number(file);
        put_image(&world, file, &digest, file < 2 ? file : 9);
    }
    assert_int_equal(doppel_library_commit(world.library, NULL), DOPPEL_OK);
    for (int run = 1; run <= 2; run++) {
        world.options.protect.items = globs;
        world.options.protect.count = 2;
        find_groups(&world, &found);
        assert_string_equal(found.text, "3 4\n");
        assert_int_equal(world.notices, run);
    }
    world_free(&world);
}

static enum doppel_status count_members(void *context, const struct doppel_group *group,
                                        struct doppel_error *error)
{
    (void)error;
    *(size_t *)context += group->count;
    return DOPPEL_OK;
}

/* Of too many pairs nothing is kept. */
static void test_too_much_alike(void **state)
{
    enum { ALIKE = 380 };
    struct world world;
    char path[256];
    world_make(&world, *state, 29);
    for (unsigned file = 0; file < ALIKE; file++) {
        const struct doppel_digest digest = digest_of_number(file);
        put_image(&world, file, &digest, 5);
    }
    assert_int_equal(doppel_library_commit(world.library, NULL), DOPPEL_OK);
    for (int run = 1; run <= 2; run++) {
        size_t members = 0;
        struct doppel_group_counts counts;
        assert_int_equal(doppel_library_groups(world.run, world.library, &world.options,
                                               count_members, &members, &counts, NULL),
                         DOPPEL_OK);
        assert_int_equal(members, ALIKE);
        assert_int_equal(counts.items[DOPPEL_KIND_IMAGE], ALIKE);
    }
    assert_false(find_pairs_file(&world, path, sizeof path));
    world_free(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_no_room_for_the_file),
        IN_FOLDER(test_upkeep),
        IN_FOLDER(test_borrowed_ones_are_compared_once),
        IN_FOLDER(test_labels_count),
        IN_FOLDER(test_rules_meet_files_of_no_group),
        IN_FOLDER(test_too_much_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
