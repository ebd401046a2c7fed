/* A library is checked and mended: each kind of damage is told, and gone after a repair. */
#include "tests/library/upkeep.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ITEMS = 12 };

static uint64_t add_one_text(struct doppel_library *library, uint64_t leader)
{
    static uint16_t lanes[128];
    const struct doppel_library_text text = {.record_id = "r",
                                             .origin = {"source", "2020-01-01"},
                                             .path = "/corpus.jsonl",
                                             .line = 1,
                                             .words = 12,
                                             .leader = leader,
                                             .decision = leader ? DOPPEL_DECISION_DUPLICATE
                                                                : DOPPEL_DECISION_NEW,
                                             .leads = !leader,
                                             .lanes = lanes,
                                             .lane_count = 128,
                                             .shingle_total = 1,
                                             .shingles = (const uint32_t[]){7}};
    uint64_t id;
    assert_int_equal(doppel_library_add_text(library, &text, &id, NULL), DOPPEL_OK);
    return id;
}

static void put_failure(struct doppel_library *library)
{
    const struct doppel_file_stamp stamp = {.inode = 1};
    struct doppel_failure failure = {.path = "/broken", .stamp = &stamp, .limits = ""};
    doppel_fail(&failure.error, DOPPEL_E_CORRUPT, "broken");
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_OK);
}

/* Pictures 1 to 12, a recording 13, a video 14, texts 15 and 16, a digest 17, and something in each
 * table. */
static void make(const char *folder)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error;
    char *names[] = {(char *)"one"};
    const struct doppel_metadata about = {.source = (char *)"camera",
                                          .labels = names,
                                          .label_count = 1,
                                          .lists = names,
                                          .list_count = 1};
    struct doppel_text_options options = doppel_text_options_default();
    const struct doppel_text_limits limits = {0.7, 0.9};
    const struct doppel_keep_policy policy = doppel_keep_policy_default();
    const uint8_t digest[32] = {1};
    uint64_t id;
    bool added;
    for (uint64_t number = 1; number <= ITEMS; number++)
        if (add_numbered(library, number, record_make(number), &error))
            fail_msg("%s", error.message);
    add_track(library, &recordings, "/sound", 100, 20, DOPPEL_ADDED_NEW);
    add_track(library, &clips, "/film", 101, 20, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_set_text_options(library, &options, &limits, NULL), DOPPEL_OK);
    add_one_text(library, add_one_text(library, 0));
    assert_int_equal(
        doppel_library_add_exact(
            library, &(struct doppel_exact_digest){DOPPEL_EXACT_MD5, digest, 0}, &id, &added, NULL),
        DOPPEL_OK);
    assert_int_equal(doppel_library_set_metadata(library, 2, &about, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 5, 3, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 6, 3, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_canonical(library, 3, 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_source(library, "*.in", 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_policy(library, &policy, NULL), DOPPEL_OK);
    put_failure(library);
    commit(library);
    doppel_library_close(library);
}

static const char *catalogue_of(const char *folder)
{
    return folder_path(folder, "a/library/catalogue.db");
}

static bool has_aside(const char *folder)
{
    return access(folder_path(folder, "a/library/damaged.jsonl"), F_OK) == 0;
}

static void test_what_is_whole(void **state)
{
    make(*state);
    assert_clean(*state);
    struct told told = verify(*state, true);
    assert_int_equal(told.count, 0);
    assert_false(has_aside(*state));
}

/* ---- rows ---- */

static const struct {
    const char *told, *sql;
} damages[] = {
    {"corpus 0", "UPDATE corpus SET path = x'2f'"},
    {"text_shingles 15", "UPDATE text_shingles SET data = x'00000000' WHERE text = 15"},
    {"text_options 0", "UPDATE text_options SET shingle = 6"},
    {"text 16", "UPDATE text SET words = words + 1 WHERE id = 16"},
    {"log 4", "UPDATE log SET path = x'2f' WHERE entry = 4"},
    {"about 2", "UPDATE about SET source = x'00'"},
    {"list 0", "UPDATE list SET state = 2"},
    {"link 5", "UPDATE link SET leader = 4 WHERE item = 5"},
    {"canonical 3", "UPDATE canonical SET item = 6"},
    {"source 0", "UPDATE source SET authority = 6"},
    {"policy 0", "UPDATE policy SET keep = 'size'"},
    {"failure 0", "UPDATE failure SET message = 'x'"},
    /* of nothing */
    {"fingerprint 99", "INSERT INTO fingerprint SELECT 99, data, row_checksum(99, data)"
                       " FROM fingerprint WHERE item = 1"},
    {"attachment 99", "INSERT INTO attachment SELECT 99, data, row_checksum(99, data)"
                      " FROM attachment WHERE item = 1"},
    {"label 99", "INSERT INTO label VALUES(99, 'x')"},
    {"list_item 99", "INSERT INTO list_item SELECT 99, id FROM list"},
    {"list_item 3", "INSERT INTO list_item VALUES(3, 77)"},
    {"exact 99", "INSERT INTO exact VALUES(1, x'00', 99)"},
    {"about 99", "INSERT INTO about SELECT 99, source, date, external_id, meta, row_checksum(99,"
                 " source, date, external_id, meta) FROM about WHERE item = 2"},
    {"link 8", "INSERT INTO link VALUES(8, 99, row_checksum(8, 99))"},
    {"link 99", "INSERT INTO link VALUES(99, 3, row_checksum(99, 3))"},
    {"link 8", "INSERT INTO link VALUES(8, 8, row_checksum(8, 8))"},
    {"link 8", "INSERT INTO link VALUES(8, 5, row_checksum(8, 5))"},
    {"canonical 8", "INSERT INTO canonical VALUES(8, 5, row_checksum(8, 5))"},
    {"canonical 3", "UPDATE canonical SET item = 8, checksum = row_checksum(leader, 8)"},
    {"text 15", "DELETE FROM corpus"},
    {"catalogue 0", "UPDATE sqlite_sequence SET seq = 5 WHERE name = 'item'"},
};

static void damage(const char *folder, const char *sql)
{
    make(folder);
    run_raw(catalogue_of(folder), "PRAGMA foreign_keys=OFF");
    run_raw(catalogue_of(folder), sql);
}

static void test_rows(void **state)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char name[32];
        snprintf(name, sizeof name, "%zu", i);
        char *folder = strdup(folder_path(*state, name));
        assert_int_equal(mkdir(folder, 0700), 0);
        damage(folder, damages[i].sql);
        struct told told = verify(folder, false);
        if (!is_told(&told, damages[i].told))
            fail_msg("%s: told %zu: %s", damages[i].sql, told.count, told.lines[0]);
        struct told mended = verify(folder, true);
        assert_int_equal(mended.repaired, mended.count);
        assert_true(is_told(&mended, damages[i].told));
        assert_int_equal(has_aside(folder), strncmp(damages[i].told, "catalogue", 9) != 0);
        assert_clean(folder);
        free(folder);
    }
}

/* A text whose leader never was; one whose leader was removed is no problem. */
static void test_leaders_of_texts(void **state)
{
    make(*state);
    struct doppel_library *library = open_library(*state);
    assert_int_equal(doppel_library_remove(library, 15, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
    assert_clean(*state);
    run_raw(catalogue_of(*state),
            "DELETE FROM log WHERE item = 15; UPDATE text SET leader = 15, checksum = "
            "row_checksum(id, record_id, source, date, corpus, line, place, size, added_ns, "
            "content, words, shingles, too_short, decision, 15, leads, lanes) WHERE id = 16");
    struct told told = verify(*state, false);
    assert_int_equal(told.count, 1);
    assert_true(is_told(&told, "text 16"));
    told = verify(*state, true);
    assert_clean(*state);
}

/* ---- items ---- */

static void test_items(void **state)
{
    make(*state);
    run_raw(catalogue_of(*state), "UPDATE item SET width = 7 WHERE id = 4;"
                                  "UPDATE fingerprint SET data = x'00' WHERE item = 5;"
                                  "UPDATE attachment SET data = x'00' WHERE item IN (6, 13)");
    struct told told = verify(*state, true);
    assert_true(is_told(&told, "item 4"));
    assert_true(is_told(&told, "item 5"));
    assert_true(is_told(&told, "attachment 6"));
    assert_true(is_told(&told, "item 13"));
    struct doppel_library *library = open_library(*state);
    struct doppel_item item;
    assert_int_equal(doppel_library_set_aside(library, 99, NULL), DOPPEL_E_NOT_FOUND);
    for (uint64_t id = 4; id <= 6; id++)
        assert_int_equal(doppel_library_set_aside(library, id, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_aside(library, 13, NULL), DOPPEL_OK);
    commit(library);
    assert_int_equal(doppel_library_get(library, 4, true, &item, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_get(library, 6, true, &item, NULL), DOPPEL_OK);
    assert_null(item.record.attachment);
    doppel_item_free(&item);
    doppel_library_close(library);
    verify(*state, true);
    assert_clean(*state);
    assert_indexes_fit(directory_of(*state));
    assert_true(has_aside(*state));
}

/* ---- indexes ---- */

/* Change a byte in the middle of each segment of an index. */
static void flip_segments(const char *folder, const char *index)
{
    char name[64];
    snprintf(name, sizeof name, "a/library/%s", index);
    char *path = strdup(folder_path(folder, name));
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat status;
        char *file = strdup(folder_path(path, entry->d_name));
        FILE *stream =
            stat(file, &status) == 0 && S_ISREG(status.st_mode) ? fopen(file, "r+") : NULL;
        if (stream) {
            fseek(stream, status.st_size / 2, SEEK_SET);
            int byte = fgetc(stream);
            fseek(stream, status.st_size / 2, SEEK_SET);
            fputc(byte ^ 0x10, stream);
            fclose(stream);
        }
        free(file);
    }
    closedir(directory);
    free(path);
}

static void compact(struct doppel_library *library)
{
    uint64_t before = 0, after = 0;
    assert_int_equal(doppel_library_compact(library, &before, &after, NULL), DOPPEL_OK);
    assert_in_range(after, 1, before);
}

/* What waits in logs stays there while a segment would take more room. */
static void test_nothing_grows(void **state)
{
    make(*state);
    struct doppel_library *library = open_library(*state);
    compact(library);
    compact(library);
    doppel_library_close(library);
    assert_true(count_segments(directory_of(*state), "videos") < 1);
    assert_clean(*state);
    assert_indexes_fit(directory_of(*state));
}

/* Postings and codes become segments: something of each index was removed. */
static void pack(const char *folder)
{
    uint64_t before, after;
    struct doppel_library *library = open_library(folder);
    uint64_t recording = add_track(library, &recordings, "/sound2", 102, 20, DOPPEL_ADDED_NEW);
    uint64_t clip = add_track(library, &clips, "/film2", 103, 20, DOPPEL_ADDED_NEW);
    assert_int_equal(doppel_library_remove(library, recording, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_remove(library, clip, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_compact(library, &before, &after, NULL), DOPPEL_OK);
    doppel_library_close(library);
    assert_int_equal(count_segments(directory_of(folder), "sounds"), 1);
    assert_int_equal(count_segments(directory_of(folder), "videos"), 1);
}

static void test_indexes(void **state)
{
    make(*state);
    pack(*state);
    assert_clean(*state);
    flip_segments(*state, "sounds");
    flip_segments(*state, "videos");
    struct told told = verify(*state, false);
    assert_int_equal(told.count, 2);
    assert_true(is_told(&told, "index 0: the index 'sounds'"));
    assert_true(is_told(&told, "index 0: the index 'videos'"));
    told = verify(*state, true);
    assert_int_equal(told.repaired, 2);
    assert_clean(*state);
    assert_indexes_fit(directory_of(*state));
}

/* It is made again when the library is opened to write, and that is said. */
static void test_a_missing_folder(void **state)
{
    make(*state);
    pack(*state);
    char *folder = strdup(folder_path(*state, "a/library/sounds"));
    assert_int_equal(rename(folder, folder_path(*state, "a/away")), 0);
    struct told told = verify(*state, true);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.repaired, 1);
    assert_true(is_told(&told, "index 0: the index 'sounds': files of it were missing"));
    assert_clean(*state);
    free(folder);
}

/* Items that are gone, past the library; and a recording that comes so. */
static void test_indexes_of_others(void **state)
{
    make(*state);
    pack(*state);
    run_raw(catalogue_of(*state),
            "DELETE FROM attachment WHERE item = 14; DELETE FROM fingerprint WHERE item = 14;"
            "DELETE FROM item WHERE id = 14; UPDATE item SET id = 50 WHERE id = 13;"
            "UPDATE fingerprint SET item = 50, checksum = row_checksum(50, data) WHERE item = 13;"
            "UPDATE attachment SET item = 50, checksum = row_checksum(50, data) WHERE item = 13");
    struct told told = verify(*state, false);
    assert_true(is_told(&told, "index 14"));
    assert_true(is_told(&told, "index 13"));
    assert_true(is_told(&told, "index 50"));
    told = verify(*state, true);
    assert_clean(*state);
    assert_indexes_fit(directory_of(*state));
}

/* ---- ended early ---- */

struct stopping {
    struct doppel_library *library;
    atomic_bool done;
};

static void *stop(void *context)
{
    struct stopping *stopping = context;
    while (!atomic_load(&stopping->done))
        doppel_library_interrupt(stopping->library);
    return NULL;
}

/* Whenever it comes, nothing is half done. */
static void test_an_end(void **state)
{
    make(*state);
    pthread_t thread;
    struct told told = {0};
    struct doppel_error error = {0};
    struct stopping stopping = {.library = open_library(*state)};
    enum doppel_status status = DOPPEL_OK;
    assert_int_equal(pthread_create(&thread, NULL, stop, &stopping), 0);
    for (int i = 0; i < 1000 && !status; i++)
        status = doppel_library_verify(stopping.library, i % 2, take_problem, &told, &error);
    atomic_store(&stopping.done, true);
    pthread_join(thread, NULL);
    if (status != DOPPEL_E_CANCELLED)
        fail_msg("%d: %s", (int)status, error.message);
    assert_int_equal(told.count, 0);
    doppel_library_close(stopping.library);
    assert_clean(*state);
}

/* ---- packing and counting ---- */

static void test_packing(void **state)
{
    make(*state);
    struct doppel_library *library = open_library(*state), *reader, *writer;
    struct doppel_item item;
    struct doppel_error error;
    uint64_t before = 0, after = 0;
    for (uint64_t number = 100; number < 600; number++)
        if (add_numbered(library, number, record_make(number), &error))
            fail_msg("%s", error.message);
    commit(library);
    for (uint64_t id = 18; id < 518; id++)
        assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    commit(library);
    const struct doppel_library_options read_only = {.read_only = true};
    assert_int_equal(doppel_library_open(directory_of(*state), &read_only, &reader, NULL),
                     DOPPEL_OK);
    setenv("SQLITE_TMPDIR", "/proc", 1); /* which has no room */
    assert_int_equal(doppel_library_compact(library, &before, &after, NULL), DOPPEL_E_NO_SPACE);
    unsetenv("SQLITE_TMPDIR");
    writer = open_library(*state);
    assert_int_equal(doppel_library_begin(writer, NULL, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_compact(library, &before, &after, &error), DOPPEL_E_BUSY);
    assert_non_null(strstr(error.message, "another process is writing"));
    doppel_library_close(writer);
    assert_int_equal(doppel_library_get(reader, 3, true, &item, NULL), DOPPEL_OK);
    doppel_item_free(&item);
    assert_int_equal(doppel_library_compact(library, &before, &after, NULL), DOPPEL_OK);
    assert_true(after < before);
    assert_int_equal(doppel_library_get(reader, 3, true, &item, NULL), DOPPEL_OK);
    doppel_item_free(&item);
    doppel_library_close(reader);
    doppel_library_close(library);
    assert_clean(*state);
    assert_indexes_fit(directory_of(*state));
}

/* Indexes under names that no table has any more go with their folders. */
static void test_former_indexes(void **state)
{
    static const char *const folders[] = {"phash64", "phash64-asks", "phash64-full"};
    char path[600];
    make(*state);
    run_raw(catalogue_of(*state),
            "CREATE TEMP TABLE former AS SELECT * FROM doppel_index WHERE name = 'phash64-views.2';"
            "CREATE TEMP TABLE one(there CHECK(there = 1));"
            "INSERT INTO one SELECT count(*) FROM former;"
            "UPDATE former SET id = 1000, name = 'phash64-asks.2';"
            "INSERT INTO doppel_index SELECT * FROM former;"
            "INSERT INTO doppel_index_log VALUES((1000 << 40) + 1, x'00');"
            "INSERT INTO doppel_index_segment VALUES(1000, 0, '1.segment', 0, 0, 0, 0)");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", directory_of(*state), folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(path, sizeof path, "%s/%s/1.segment", directory_of(*state), folders[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        for (int byte = 0; byte < 100000; byte++)
            fputc(0, file);
        assert_int_equal(fclose(file), 0);
    }
    struct doppel_library *library = open_library(*state);
    uint64_t before = 0, after = 0;
    assert_int_equal(doppel_library_compact(library, &before, &after, NULL), DOPPEL_OK);
    assert_true(before >= after + 3 * 100000);
    doppel_library_close(library);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", directory_of(*state), folders[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
    run_raw(catalogue_of(*state),
            "CREATE TEMP TABLE none(left CHECK(left = 0));"
            "INSERT INTO none SELECT count(*) FROM doppel_index WHERE id = 1000;"
            "INSERT INTO none SELECT count(*) FROM doppel_index_segment WHERE owner = 1000;"
            "INSERT INTO none SELECT count(*) FROM doppel_index_log WHERE record >> 40 = 1000");
    assert_clean(*state);
}

static void test_counting(void **state)
{
    make(*state);
    struct doppel_library_stats stats;
    run_raw(catalogue_of(*state),
            "UPDATE item SET version = 1 WHERE id IN (3, 4)"); /* a former version */
    struct doppel_library *library = open_library(*state);
    assert_int_equal(doppel_library_stats(library, &stats, NULL), DOPPEL_OK);
    assert_int_equal(stats.items, ITEMS + 3);
    assert_int_equal(stats.texts, 2);
    assert_int_equal(stats.old_items, 2);
    assert_int_equal(stats.share_count, 5);
    assert_int_equal(stats.shares[0].kind, DOPPEL_KIND_UNKNOWN);
    assert_int_equal(stats.shares[1].kind, DOPPEL_KIND_IMAGE);
    assert_int_equal(stats.shares[1].version, 1);
    assert_true(stats.shares[1].old);
    assert_int_equal(stats.shares[2].items, ITEMS - 2);
    assert_false(stats.shares[2].old);
    assert_int_equal(stats.decisions[DOPPEL_DECISION_NEW], 1);
    assert_int_equal(stats.decisions[DOPPEL_DECISION_DUPLICATE], 1);
    assert_int_equal(stats.groups, 2);
    assert_int_equal(stats.followers, 3);
    assert_int_equal(stats.lists[DOPPEL_LIST_ACTIVE], 1);
    assert_int_equal(stats.listed, 1);
    assert_int_equal(stats.labels, 1);
    assert_int_equal(stats.sources, 1);
    assert_int_equal(stats.digests, 1);
    assert_int_equal(stats.failures, 1);
    assert_true(stats.log_entries >= ITEMS + 3);
    assert_true(stats.oldest_ns > 0 && stats.oldest_ns < stats.newest_ns);
    assert_true(stats.catalogue_bytes > 0);
    doppel_library_close(library);
}

static void test_counting_changes(void **state)
{
    make(*state);
    struct doppel_library_changes all, day;
    run_raw(catalogue_of(*state), "UPDATE log SET time_ns = time_ns - 90000000000000 WHERE entry IN"
                                  " (SELECT entry FROM log WHERE action = 'added' LIMIT 2);"
                                  "INSERT INTO log(time_ns, action, item, last_item, path) SELECT"
                                  " max(time_ns), 'added', 1000, 1009, x'' FROM log;"
                                  "INSERT INTO log(time_ns, action, item, path, decision) SELECT"
                                  " max(time_ns), 'decided', 1, x'', 1 FROM log");
    struct doppel_library *library = open_library(*state);
    assert_int_equal(doppel_library_count_changes(library, 365 * 86400, &all, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_count_changes(library, 86400, &day, NULL), DOPPEL_OK);
    assert_true(all.added >= ITEMS + 10);
    assert_int_equal(day.added, all.added - 2);
    assert_int_equal(day.decisions[DOPPEL_DECISION_DUPLICATE], 1);
    assert_int_equal(day.decisions[DOPPEL_DECISION_NEW], 0);
    doppel_library_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_what_is_whole),     IN_FOLDER(test_rows),
        IN_FOLDER(test_leaders_of_texts),  IN_FOLDER(test_items),
        IN_FOLDER(test_nothing_grows),     IN_FOLDER(test_items),
        IN_FOLDER(test_indexes),           IN_FOLDER(test_a_missing_folder),
        IN_FOLDER(test_indexes_of_others), IN_FOLDER(test_an_end),
        IN_FOLDER(test_packing),           IN_FOLDER(test_former_indexes),
        IN_FOLDER(test_counting),          IN_FOLDER(test_counting_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
