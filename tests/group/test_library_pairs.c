/* The groups of images of a library, by pairs that are kept, are those that are found without:
 * after any additions, removals and changes, of parts of the library, with other options, and
 * whatever became of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doppel/group.h>
#include <sqlite3.h>

#include "compare/image.h"
#include "tests/match/images.h"
#include "tests/store/folder.h"

enum { FILES = 90, ROUNDS = 160, OPTIONS = 4, MOST_TEXT = 1 << 16 };

struct world {
    const char *folder;
    char *directory;
    struct doppel_library *library;
    struct doppel_run *run;
    uint64_t ids[FILES]; /* 0: it is not there */
    uint64_t random, notices;
    bool damaged;
    struct doppel_item_set wanted;
    struct doppel_group_options options;
};

/* Groups as text: of each the ids of its members, in order. */
struct told_groups {
    char text[MOST_TEXT];
    size_t used;
    struct doppel_group_counts counts;
};

static unsigned draw(struct world *world, unsigned end)
{
    return (unsigned)(random_word(&world->random) % end);
}

static void note_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct world *world = context;
    (void)level, (void)path, (void)text;
    world->notices++;
}

static void open_world(struct world *world)
{
    const struct doppel_library_options options = {.create = true};
    assert_int_equal(doppel_library_open(world->directory, &options, &world->library, NULL),
                     DOPPEL_OK);
}

static void world_make(struct world *world, const char *folder, uint64_t seed)
{
    const struct doppel_run_options run = {.jobs = 2, .on_notice = note_notice, .context = world};
    *world =
        (struct world){.folder = folder, .random = seed, .options = doppel_group_options_default()};
    world->directory = strdup(folder_path(folder, "library"));
    assert_int_equal(doppel_run_new(&run, &world->run, NULL), DOPPEL_OK);
    open_world(world);
}

static void world_free(struct world *world)
{
    doppel_library_close(world->library);
    doppel_run_free(world->run);
    doppel_item_set_free(&world->wanted);
    free(world->directory);
}

/* ---- items ---- */

/* In families; some have the bytes of another one. */
static struct doppel_record make_record(struct world *world)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    const unsigned family = draw(world, 30);
    uint64_t seed = 1000 + family, bytes = random_word(&world->random);
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE,
                                   .scheme = scheme->id,
                                   .version = scheme->version,
                                   .width = 64,
                                   .height = 64,
                                   .quality = draw(world, 12) ? 90 : 1};
    record.fingerprint = make_fingerprint(scheme->id, family % 2 ? 0x7 : 0xfff, &seed);
    if (draw(world, 4))
        disturb(&record.fingerprint, 5 + draw(world, 30), &world->random);
    if (draw(world, 5) == 0)
        bytes = draw(world, 20);
    record.digest = doppel_digest_bytes(&bytes, sizeof bytes);
    return record;
}

static struct doppel_record make_record_of_bytes(struct world *world)
{
    const uint64_t bytes = draw(world, 20);
    return (struct doppel_record){.digest = doppel_digest_bytes(&bytes, sizeof bytes)};
}

static void put_file(struct world *world, unsigned file)
{
    char path[64];
    enum doppel_added added;
    const struct doppel_file_stamp stamp = {
        .device = 1, .inode = file + 1, .size = 100, .mtime_ns = (int64_t)draw(world, 1000)};
    struct doppel_record record = draw(world, 8) ? make_record(world) : make_record_of_bytes(world);
    snprintf(path, sizeof path, "/files/%u.jpg", file);
    assert_int_equal(
        doppel_library_add(world->library, path, &stamp, &record, &added, &world->ids[file], NULL),
        DOPPEL_OK);
    doppel_record_free(&record);
    for (unsigned other = 0; other < FILES; other++)
        if (other != file && world->ids[other] == world->ids[file])
            world->ids[other] = 0; /* it has moved: no file is really there */
}

static void disable_file(struct world *world, unsigned file)
{
    char *lists[] = {"off"};
    const struct doppel_metadata metadata = {.lists = lists, .list_count = 1};
    if (doppel_library_remove_from_list(world->library, world->ids[file], "off", NULL))
        assert_int_equal(
            doppel_library_set_metadata(world->library, world->ids[file], &metadata, NULL),
            DOPPEL_OK);
    assert_int_equal(doppel_library_set_list(world->library, "off", DOPPEL_LIST_DISABLED, NULL),
                     DOPPEL_OK);
}

static void change_items(struct world *world)
{
    for (unsigned left = draw(world, 6); left; left--) {
        const unsigned file = draw(world, FILES);
        if (!world->ids[file] || draw(world, 3) == 0) {
            put_file(world, file);
        } else if (draw(world, 4) == 0) {
            disable_file(world, file);
        } else {
            assert_int_equal(doppel_library_remove(world->library, world->ids[file], NULL),
                             DOPPEL_OK);
            world->ids[file] = 0;
        }
    }
    assert_int_equal(doppel_library_commit(world->library, NULL), DOPPEL_OK);
}

/* ---- groups ---- */

static int compare_ids(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void tell_group(struct told_groups *told, uint64_t *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        told->used += (size_t)snprintf(told->text + told->used, sizeof told->text - told->used,
                                       "%s%llu", i ? " " : "", (unsigned long long)ids[i]);
    told->used += (size_t)snprintf(told->text + told->used, sizeof told->text - told->used, "\n");
    assert_true(told->used < sizeof told->text);
}

static enum doppel_status take_group(void *context, const struct doppel_group *group,
                                     struct doppel_error *error)
{
    uint64_t ids[FILES];
    (void)error;
    assert_true(group->count <= FILES);
    for (size_t i = 0; i < group->count; i++)
        ids[i] = group->members[i].id;
    tell_group(context, ids, group->count);
    return DOPPEL_OK;
}

/* By the matcher alone, from all items. */
struct expected {
    struct world *world;
    struct doppel_matcher *matcher;
    struct doppel_digest digests[FILES];
    uint64_t ids[FILES];
    uint32_t first[FILES], leaders[FILES], joined[FILES], count;
    struct doppel_edge edges[FILES * FILES];
    size_t edge_count;
};

static bool is_disabled(struct world *world, uint64_t id)
{
    enum doppel_list_state state;
    assert_int_equal(doppel_library_state_of(world->library, id, &state, NULL), DOPPEL_OK);
    return state == DOPPEL_LIST_DISABLED;
}

static void expect_image(struct expected *expected, uint64_t id, const struct doppel_record *record)
{
    const uint32_t number = expected->count++;
    const struct doppel_match_item item = {&record->fingerprint, record->quality};
    expected->ids[number] = id;
    expected->digests[number] = record->digest;
    for (expected->first[number] = 0; memcmp(&expected->digests[expected->first[number]],
                                             &record->digest, sizeof record->digest) != 0;)
        expected->first[number]++;
    if (expected->first[number] == number)
        assert_int_equal(doppel_matcher_add(expected->matcher, number, &item, NULL), DOPPEL_OK);
}

static bool expect_item(void *context, const struct doppel_item *item)
{
    struct expected *expected = context;
    struct world *world = expected->world;
    struct doppel_item same;
    uint64_t id;
    if (item->record.error.status || !doppel_item_set_has(&world->wanted, item->id) ||
        is_disabled(world, item->id))
        return true;
    if (item->record.scheme == DOPPEL_SCHEME_PHASH64) {
        expect_image(expected, item->id, &item->record);
        return true;
    }
    assert_int_equal(doppel_library_by_digest(world->library, &item->record.digest, &id, NULL),
                     DOPPEL_OK);
    if (id == item->id)
        return true;
    if (doppel_library_get(world->library, id, false, &same, NULL)) /* it is damaged */
        return true;
    if (same.record.scheme == DOPPEL_SCHEME_PHASH64)
        expect_image(expected, item->id, &same.record);
    doppel_item_free(&same);
    return true;
}

static bool expect_pair(void *context, const struct doppel_found *found, bool *out_follows)
{
    struct expected *expected = context;
    *out_follows = true;
    expected->edges[expected->edge_count++] = (struct doppel_edge){
        (uint32_t)found->query, (uint32_t)found->id, found->match.similarity, 0};
    return true;
}

static void expect_groups(struct world *world, struct told_groups *out)
{
    static struct expected expected;
    const struct doppel_match_options match = match_options_from(&world->options.compare);
    memset(&expected, 0, sizeof expected);
    expected.world = world;
    assert_int_equal(doppel_matcher_new(DOPPEL_SCHEME_PHASH64, &match, 1, &expected.matcher, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_each(world->library, expect_item, &expected, NULL), DOPPEL_OK);
    assert_int_equal(doppel_matcher_lead(expected.matcher, expect_pair, &expected, NULL),
                     DOPPEL_OK);
    doppel_group_by_leader(expected.count, expected.edges, expected.edge_count, expected.leaders,
                           expected.joined);
    out->used = 0;
    out->text[0] = '\0';
    for (uint32_t leader = 0; leader < expected.count; leader++) {
        uint64_t ids[FILES];
        size_t count = 0;
        for (uint32_t i = 0; i < expected.count; i++)
            if (expected.leaders[expected.first[i]] == leader)
                ids[count++] = expected.ids[i];
        if (count > 1)
            tell_group(out, ids, count);
    }
    out->counts.items[DOPPEL_KIND_IMAGE] = expected.count;
    doppel_matcher_free(expected.matcher);
}

static void find_groups(struct world *world, struct told_groups *out)
{
    out->used = 0;
    out->text[0] = '\0';
    world->options.bytes_alone = false;
    world->options.wanted = &world->wanted;
    struct doppel_error error = {0};
    if (doppel_library_groups(world->run, world->library, &world->options, take_group, out,
                              &out->counts, &error))
        fail_msg("%s", error.message);
}

static void assert_groups(struct world *world, const char *when)
{
    static struct told_groups expected, found;
    expect_groups(world, &expected);
    find_groups(world, &found);
    if (strcmp(expected.text, found.text) != 0)
        print_error("%s\n", when);
    assert_string_equal(found.text, expected.text);
    assert_int_equal(found.counts.items[DOPPEL_KIND_IMAGE],
                     expected.counts.items[DOPPEL_KIND_IMAGE]);
}

/* ---- what befalls the file ---- */

/* @return false: there is none */
static bool find_pairs_file(const struct world *world, char *out, size_t size)
{
    bool found = false;
    snprintf(out, size, "%s/phash64-pairs", world->directory);
    DIR *folder = opendir(out);
    const size_t length = strlen(out);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".pairs")) {
            snprintf(out + length, size - length, "/%s", entry->d_name);
            found = true;
        }
    if (folder)
        closedir(folder);
    return found;
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(out);
    size_t size = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
    if (in)
        fclose(in);
}

static void flip_byte(struct world *world, const char *path, long size)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)draw(world, (unsigned)size), SEEK_SET);
    int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 1 << draw(world, 8), file);
    fclose(file);
}

/* @param stash a file of another time */
static void harm_file(struct world *world, const char *stash)
{
    char path[256];
    struct stat status;
    if (!find_pairs_file(world, path, sizeof path) || stat(path, &status) || !status.st_size)
        return;
    switch (draw(world, 6)) {
    case 0:
        assert_int_equal(truncate(path, (off_t)draw(world, (unsigned)status.st_size)), 0);
        break;
    case 1:
        flip_byte(world, path, (long)status.st_size);
        break;
    case 2:
        unlink(path);
        break;
    case 3:
        copy_file(path, stash);
        break;
    case 4:
        copy_file(stash, path);
        break;
    }
}

static void change_catalogue(struct world *world, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(folder_path(world->folder, "library/catalogue.db"), &database),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

/* The kept tables are forgotten: what is new is joined. */
static void forget_tables(struct world *world)
{
    doppel_library_close(world->library);
    change_catalogue(world, "DELETE FROM doppel_index_log; DELETE FROM doppel_index_segment;"
                            "DELETE FROM doppel_index");
    open_world(world);
}

/* Some fingerprints are damaged, until they are as they were. */
static void toggle_damage(struct world *world)
{
    char sql[160];
    world->damaged = !world->damaged;
    snprintf(sql, sizeof sql, "UPDATE fingerprint SET data = %s WHERE item %% 7 = 3",
             world->damaged ? "CAST(data || x'00' AS BLOB)" : "substr(data, 1, length(data) - 1)");
    change_catalogue(world, sql);
}

static void choose_wanted(struct world *world)
{
    doppel_item_set_free(&world->wanted);
    if (draw(world, 4))
        return;
    world->wanted.some = true;
    world->wanted.ids = calloc(FILES, sizeof *world->wanted.ids);
    for (unsigned i = 0; i < FILES; i++)
        if (world->ids[i] && draw(world, 3))
            world->wanted.ids[world->wanted.count++] = world->ids[i];
    qsort(world->wanted.ids, world->wanted.count, sizeof *world->wanted.ids, compare_ids);
}

static void choose_options(struct world *world)
{
    const int32_t distances[OPTIONS] = {-1, -1, 3, 9};
    if (draw(world, 6))
        return;
    world->options.compare.max_distance = distances[draw(world, OPTIONS)];
    world->options.compare.orientations = draw(world, 3);
}

static void test_groups_are_those_found_without(void **state)
{
    struct world world;
    char *stash = strdup(folder_path(*state, "stash"));
    world_make(&world, *state, 7);
    for (unsigned file = 0; file < FILES / 2; file++)
        put_file(&world, file);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char when[32];
        snprintf(when, sizeof when, "round %u", round);
        change_items(&world);
        choose_wanted(&world);
        choose_options(&world);
        if (draw(&world, 3) == 0)
            harm_file(&world, stash);
        if (draw(&world, 8) == 0)
            forget_tables(&world);
        const bool damage = draw(&world, 5) == 0;
        if (damage)
            toggle_damage(&world);
        assert_groups(&world, when);
        assert_groups(&world, "again");
        if (damage) {
            toggle_damage(&world);
            assert_groups(&world, "mended");
        }
    }
    free(stash);
    world_free(&world);
}

/* Killed at any moment, the file is the former one, or the next. */
static void test_killed_while_it_is_written(void **state)
{
    enum { KILLS = 25 };
    static struct told_groups found;
    struct world world;
    world_make(&world, *state, 11);
    for (unsigned file = 0; file < FILES; file++)
        put_file(&world, file);
    for (unsigned kill_number = 0; kill_number < KILLS; kill_number++) {
        change_items(&world);
        const unsigned wait_us = draw(&world, 20000);
        pid_t child = fork();
        if (child == 0) {
            find_groups(&world, &found);
            _exit(0);
        }
        usleep(wait_us);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_groups(&world, "killed");
    }
    world_free(&world);
}

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
        IN_FOLDER(test_groups_are_those_found_without),
        IN_FOLDER(test_killed_while_it_is_written),
        IN_FOLDER(test_no_room_for_the_file),
        IN_FOLDER(test_upkeep),
        IN_FOLDER(test_borrowed_ones_are_compared_once),
        IN_FOLDER(test_labels_count),
        IN_FOLDER(test_rules_meet_files_of_no_group),
        IN_FOLDER(test_too_much_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
