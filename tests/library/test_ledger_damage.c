/* Damage in the tables of what is decided and said: it is told, or the row is left out, and all
 * others go on. */
#include "tests/library/fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

enum { ITEMS = 4 };

static const struct doppel_digest digest_a = {{1}}, digest_b = {{2}}, digest_c = {{3}};

static const char *catalogue_of(const char *folder)
{
    return folder_path(folder, "a/library/catalogue.db");
}

static void make(const char *folder)
{
    struct doppel_library *library = open_library(folder);
    char *labels[] = {(char *)"l"}, *lists[] = {(char *)"stock"}, *other[] = {(char *)"other"};
    const uint8_t md5[16] = {1};
    const struct doppel_file_stamp stamp = {.inode = 9};
    struct doppel_failure failure = {.path = "/broken", .stamp = &stamp, .limits = ""};
    struct doppel_keep_policy policy;
    struct doppel_metadata about = {.source = (char *)"s",
                                    .meta = (char *)"{}",
                                    .labels = labels,
                                    .label_count = 1,
                                    .lists = lists,
                                    .list_count = 1};
    uint64_t id;
    bool added;
    for (uint64_t number = 1; number <= ITEMS; number++)
        assert_int_equal(add_numbered(library, number, record_make(number), NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_metadata(library, 2, &about, NULL), DOPPEL_OK);
    about.lists = other;
    assert_int_equal(doppel_library_set_metadata(library, 3, &about, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_list(library, "stock", DOPPEL_LIST_BENIGN, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_set_list(library, "other", DOPPEL_LIST_BENIGN, NULL),
                     DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 2, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 3, 1, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_canonical(library, 1, 2, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_source(library, "s", 5, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_source(library, "t*", 6, NULL), DOPPEL_OK);
    assert_int_equal(doppel_keep_policy_parse("date", &policy, NULL), DOPPEL_OK);
    assert_int_equal(doppel_library_set_policy(library, &policy, NULL), DOPPEL_OK);
    assert_int_equal(
        doppel_library_mark(library, &digest_a, &digest_b, NULL, DOPPEL_LABEL_SAME, "n", NULL),
        DOPPEL_OK);
    assert_int_equal(
        doppel_library_mark(library, &digest_b, &digest_c, NULL, DOPPEL_LABEL_SAME, "n", NULL),
        DOPPEL_OK);
    assert_int_equal(
        doppel_library_add_exact(library, &(struct doppel_exact_digest){DOPPEL_EXACT_MD5, md5, 0},
                                 &id, &added, NULL),
        DOPPEL_OK);
    doppel_fail(&failure.error, DOPPEL_E_CORRUPT, "why");
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_OK);
    failure.path = "/broken too";
    assert_int_equal(doppel_library_put_failure(library, &failure, NULL), DOPPEL_OK);
    commit(library);
    doppel_library_close(library);
}

/* ---- visitors that count ---- */

static bool count_id(void *context, uint64_t id)
{
    (void)id;
    ++*(int *)context;
    return true;
}

static bool count_source(void *context, const char *pattern, int64_t authority)
{
    (void)pattern;
    (void)authority;
    ++*(int *)context;
    return true;
}

static bool count_list(void *context, const struct doppel_list *list)
{
    assert_non_null(list->name);
    ++*(int *)context;
    return true;
}

static bool count_mark(void *context, const struct doppel_mark *mark)
{
    assert_int_equal(mark->word, DOPPEL_LABEL_SAME);
    ++*(int *)context;
    return true;
}

static bool count_failure(void *context, const struct doppel_failure *failure)
{
    assert_string_equal(failure->error.message, "why");
    ++*(int *)context;
    return true;
}

struct entries {
    int whole, damaged;
};

static bool count_entry(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *error)
{
    struct entries *entries = context;
    assert_non_null(entry->name);
    assert_true(entry->entry > 0);
    entries->whole += !error->status;
    entries->damaged += error->status == DOPPEL_E_CORRUPT;
    return true;
}

/* ---- one row of each table ---- */

static struct doppel_library *damaged(const char *folder, const char *sql)
{
    make(folder);
    run_raw(catalogue_of(folder), sql);
    return open_library(folder);
}

static void assert_told(const struct doppel_error *error)
{
    assert_int_equal(error->status, DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error->message, "damaged"));
}

static void test_a_link(void **state)
{
    struct doppel_library *library = damaged(*state, "UPDATE link SET leader = 4 WHERE item = 2");
    struct doppel_error error;
    uint64_t leader = 0;
    int count = 0;
    assert_int_equal(doppel_library_leader(library, 2, &leader, &error), DOPPEL_E_CORRUPT);
    assert_told(&error);
    assert_int_equal(doppel_library_leader(library, 3, &leader, &error), DOPPEL_OK);
    assert_int_equal(leader, 1);
    assert_int_equal(doppel_library_each_follower(library, 4, 0, count_id, &count, &error),
                     DOPPEL_E_CORRUPT);
    assert_int_equal(count, 1);
    assert_int_equal(doppel_library_remove(library, 2, &error), DOPPEL_OK);
    assert_int_equal(doppel_library_link(library, 4, 1, &error), DOPPEL_OK);
    doppel_library_close(library);
}

static void test_who_is_canonical(void **state)
{
    struct doppel_library *library = damaged(*state, "UPDATE canonical SET item = 3");
    struct doppel_error error;
    uint64_t item = 0;
    assert_int_equal(doppel_library_canonical(library, 1, &item, &error), DOPPEL_E_CORRUPT);
    assert_told(&error);
    assert_int_equal(doppel_library_set_canonical(library, 1, 2, &error), DOPPEL_OK);
    assert_int_equal(doppel_library_canonical(library, 1, &item, &error), DOPPEL_OK);
    assert_int_equal(item, 2);
    doppel_library_close(library);
}

static void test_what_is_said(void **state)
{
    struct doppel_library *library =
        damaged(*state, "UPDATE about SET meta = '{\"x\":1}' WHERE item = 2");
    struct doppel_error error;
    struct doppel_metadata about = {0};
    assert_int_equal(doppel_library_get_metadata(library, 2, &about, &error), DOPPEL_E_CORRUPT);
    assert_told(&error);
    assert_int_equal(doppel_library_get_metadata(library, 3, &about, &error), DOPPEL_OK);
    doppel_metadata_free(&about);
    about = (struct doppel_metadata){.source = (char *)"new"};
    assert_int_equal(doppel_library_set_metadata(library, 2, &about, &error), DOPPEL_OK);
    assert_int_equal(doppel_library_get_metadata(library, 2, &about, &error), DOPPEL_OK);
    assert_null(about.meta);
    doppel_metadata_free(&about);
    doppel_library_close(library);
}

static void test_a_list(void **state)
{
    static const char *const changes[] = {
        "UPDATE list SET state = 1 WHERE name = 'stock'",
        "UPDATE list SET state = 77 WHERE name = 'stock'",
        "UPDATE list SET name = 'stack' WHERE name = 'stock'",
    };
    make(*state);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        run_raw(catalogue_of(*state), "CREATE TABLE kept AS SELECT * FROM list");
        run_raw(catalogue_of(*state), changes[i]);
        struct doppel_library *library = open_library(*state);
        struct doppel_error error;
        enum doppel_list_state of_item;
        int count = 0;
        assert_int_equal(doppel_library_each_list(library, count_list, &count, &error),
                         DOPPEL_E_CORRUPT);
        assert_told(&error);
        assert_int_equal(count, 1);
        assert_int_equal(doppel_library_state_of(library, 2, &of_item, &error), DOPPEL_OK);
        assert_int_equal(of_item, DOPPEL_LIST_ACTIVE);
        assert_int_equal(doppel_library_state_of(library, 3, &of_item, &error), DOPPEL_OK);
        assert_int_equal(of_item, DOPPEL_LIST_BENIGN);
        doppel_library_close(library);
        run_raw(catalogue_of(*state), "REPLACE INTO list SELECT * FROM kept; DROP TABLE kept");
    }
}

static void test_sources_and_the_policy(void **state)
{
    struct doppel_library *library = damaged(
        *state,
        "UPDATE source SET authority = 9 WHERE pattern = 's'; UPDATE policy SET keep = 'size'");
    struct doppel_error error;
    struct doppel_keep_policy policy;
    int64_t authority;
    int count = 0;
    assert_int_equal(doppel_library_authority(library, "s", &authority, &error), DOPPEL_OK);
    assert_int_equal(authority, 0);
    assert_int_equal(doppel_library_authority(library, "tv", &authority, &error), DOPPEL_OK);
    assert_int_equal(authority, 6);
    assert_int_equal(doppel_library_each_source(library, count_source, &count, &error),
                     DOPPEL_E_CORRUPT);
    assert_told(&error);
    assert_int_equal(count, 1);
    assert_int_equal(doppel_library_policy(library, &policy, &error), DOPPEL_E_CORRUPT);
    assert_told(&error);
    doppel_library_close(library);
}

static void test_words(void **state)
{
    struct doppel_library *library =
        damaged(*state, "UPDATE mark SET same = 0 WHERE substr(a, 1, 1) = x'01'");
    struct doppel_error error;
    enum doppel_manual_label word;
    int count = 0;
    assert_int_equal(doppel_library_get_label(library, &digest_a, &digest_b, &word, &error),
                     DOPPEL_OK);
    assert_int_equal(word, DOPPEL_LABEL_NONE);
    assert_int_equal(doppel_library_get_label(library, &digest_b, &digest_c, &word, &error),
                     DOPPEL_OK);
    assert_int_equal(word, DOPPEL_LABEL_SAME);
    assert_int_equal(doppel_library_each_mark(library, NULL, count_mark, &count, &error),
                     DOPPEL_E_CORRUPT);
    assert_told(&error);
    assert_int_equal(count, 1);
    doppel_library_close(library);
}

static void test_failures(void **state)
{
    struct doppel_library *library =
        damaged(*state, "UPDATE failure SET message = 'lies' WHERE path = CAST('/broken' AS BLOB)");
    const struct doppel_file_stamp stamp = {.inode = 9};
    struct doppel_error error;
    int count = 0;
    assert_int_equal(doppel_library_failure(library, "/broken", &stamp, "", &error),
                     DOPPEL_E_NOT_FOUND);
    assert_int_equal(doppel_library_failure(library, "/broken too", &stamp, "", &error), DOPPEL_OK);
    assert_int_equal(doppel_library_each_failure(library, count_failure, &count, &error),
                     DOPPEL_E_CORRUPT);
    assert_told(&error);
    assert_int_equal(count, 1);
    doppel_library_close(library);
}

static void test_the_log(void **state)
{
    static const char *const changes[] = {
        "UPDATE log SET item = 4 WHERE entry = 2",
        "UPDATE log SET action = 'removed' WHERE entry = 2",
        "UPDATE log SET action = 'nothing', checksum = NULL WHERE entry = 2",
        "UPDATE log SET path = x'00' WHERE entry = 2",
        "UPDATE log SET time_ns = 5 WHERE entry = 2",
        "UPDATE log SET reason = 'because' WHERE entry = 2",
        "UPDATE log SET limit_kind = 9, checksum = NULL WHERE entry = 2",
    };
    const struct doppel_log_query all = {0};
    make(*state);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct entries before = {0}, after = {0};
        struct doppel_library *library = open_library(*state);
        assert_int_equal(doppel_library_each_log(library, &all, count_entry, &before, NULL),
                         DOPPEL_OK);
        assert_int_equal(before.damaged, 0);
        doppel_library_close(library);
        run_raw(catalogue_of(*state), "CREATE TABLE kept AS SELECT * FROM log");
        run_raw(catalogue_of(*state), changes[i]);
        library = open_library(*state);
        assert_int_equal(doppel_library_each_log(library, &all, count_entry, &after, NULL),
                         DOPPEL_OK);
        if (after.damaged != 1 || after.whole != before.whole - 1)
            fail_msg("%s: %d damaged", changes[i], after.damaged);
        doppel_library_close(library);
        run_raw(catalogue_of(*state), "REPLACE INTO log SELECT * FROM kept; DROP TABLE kept");
    }
}

/* Rows of before version 5 have no checksum, and fewer columns that say something. */
static void test_old_rows_of_the_log(void **state)
{
    make(*state);
    run_raw(catalogue_of(*state),
            "INSERT INTO log(time_ns, action, item, path, former_item, former_path)"
            " VALUES(1, 'moved', 2, CAST('/new' AS BLOB), NULL, CAST('/old' AS BLOB))");
    struct doppel_library *library = open_library(*state);
    const struct doppel_log_query of_item = {.item = 2, .until_ns = 1};
    struct entries entries = {0};
    assert_int_equal(doppel_library_each_log(library, &of_item, count_entry, &entries, NULL),
                     DOPPEL_OK);
    assert_int_equal(entries.whole, 1);
    assert_int_equal(entries.damaged, 0);
    doppel_library_close(library);
}

/* ---- bytes changed at random: any answer but a crash ---- */

static void ask_everything(struct doppel_library *library)
{
    const struct doppel_log_query all = {0}, of_item = {.item = 2};
    const struct doppel_file_stamp stamp = {.inode = 9};
    struct doppel_error error;
    struct doppel_metadata about;
    struct doppel_candidate candidate;
    struct doppel_keep_policy policy;
    enum doppel_list_state state;
    enum doppel_manual_label word;
    uint64_t id;
    int64_t authority;
    char *name;
    int count = 0;
    for (uint64_t item = 1; item <= ITEMS + 1; item++) {
        doppel_library_leader(library, item, &id, &error);
        doppel_library_canonical(library, item, &id, &error);
        doppel_library_each_follower(library, item, 0, count_id, &count, &error);
        doppel_library_state_of(library, item, &state, &error);
        if (!doppel_library_get_metadata(library, item, &about, &error))
            doppel_metadata_free(&about);
        if (!doppel_library_candidate(library, item, &candidate, &name, &error))
            free(name);
    }
    doppel_library_policy(library, &policy, &error);
    doppel_library_authority(library, "tv", &authority, &error);
    doppel_library_each_source(library, count_source, &count, &error);
    doppel_library_each_list(library, count_list, &count, &error);
    doppel_library_get_label(library, &digest_a, &digest_b, &word, &error);
    doppel_library_failure(library, "/broken", &stamp, "", &error);
    doppel_library_where(library, "labels LIKE '%l%' AND leader = 1", 1000, count_id, &count,
                         &error);
    struct entries entries = {0};
    doppel_library_each_log(library, &all, count_entry, &entries, &error);
    doppel_library_each_log(library, &of_item, count_entry, &entries, &error);
    doppel_library_remove(library, 1, &error);
}

enum { MUTANTS = 60, MAX_BYTES = 1 << 20 };

static void test_flipped_bytes(void **state)
{
    static uint8_t original[MAX_BYTES], mutant[MAX_BYTES];
    make(*state);
    run_raw(catalogue_of(*state), "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE");
    FILE *file = fopen(catalogue_of(*state), "rb");
    size_t size = fread(original, 1, sizeof original, file);
    fclose(file);
    assert_true(size > 4096 && size < sizeof original);
    uint64_t random = 99;
    for (int round = 0; round < MUTANTS; round++) {
        memcpy(mutant, original, size);
        for (int i = 0; i < 40; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            mutant[100 + (random >> 33) % (size - 100)] ^= (uint8_t)(1u << (random >> 29 & 7));
        }
        file = fopen(catalogue_of(*state), "wb");
        assert_int_equal(fwrite(mutant, 1, size, file), size);
        fclose(file);
        unlink(folder_path(*state, "a/library/catalogue.db-wal"));
        unlink(folder_path(*state, "a/library/catalogue.db-shm"));
        const struct doppel_library_options options = {0};
        struct doppel_library *library;
        if (doppel_library_open(directory_of(*state), &options, &library, NULL))
            continue;
        ask_everything(library);
        doppel_library_close(library);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_link),
        IN_FOLDER(test_who_is_canonical),
        IN_FOLDER(test_what_is_said),
        IN_FOLDER(test_a_list),
        IN_FOLDER(test_sources_and_the_policy),
        IN_FOLDER(test_words),
        IN_FOLDER(test_failures),
        IN_FOLDER(test_the_log),
        IN_FOLDER(test_old_rows_of_the_log),
        IN_FOLDER(test_flipped_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
