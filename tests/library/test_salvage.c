/* A catalogue of which a page is damaged, each in turn, or several: all rows are saved but those of
 * that page, and none that was not there. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/salvage/pages.h"
#include "tests/library/salvaged.h"

/* Of pages that are much alike some will do. */
static bool is_one_of_many(const struct owner *owner, size_t page)
{
    bool table = strcmp(owner->name, "sqlite_schema") == 0;
    for (size_t i = 0; i < ORIGINAL_TABLES; i++)
        table |= strcmp(owner->name, original_tables[i].name) == 0;
    return page % 5 != 0 && (!table || owner->type == 'o');
}

static void zero_each_page(const char *folder, int page_size)
{
    struct original *original = original_open(folder, page_size);
    for (size_t page = 1; page <= original->pages; page++) {
        if (is_one_of_many(&original->owners[page], page))
            continue;
        memcpy(original->damaged, original->bytes, original->size);
        memset(original_page(original, page), 0, original->page_size);
        struct outcome outcome = original_salvage(folder, original, original->size);
        assert_saved(original, &outcome, page, 1, false, "zeroed");
    }
    original_close(original);
}

static void test_zeroed_pages(void **state)
{
    zero_each_page(*state, 4096);
}

static void test_zeroed_small_pages(void **state)
{
    zero_each_page(*state, 1024);
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* All of a page, its beginning, or a few bytes. */
static void test_random_bytes(void **state)
{
    struct original *original = original_open(*state, 1024);
    const char *seed = getenv("DOPPEL_TEST_SEED"), *rounds = getenv("DOPPEL_TEST_ROUNDS");
    uint64_t random = seed ? strtoull(seed, NULL, 10) : 1;
    for (long round = 0; round < (rounds ? atol(rounds) : 40); round++) {
        char damage[64];
        size_t page = 1 + next(&random) % original->pages, what = next(&random) % 3;
        size_t changes = what == 0 ? 1024 : what == 1 ? 16 : 1 + next(&random) % 8;
        memcpy(original->damaged, original->bytes, original->size);
        uint8_t *bytes = original_page(original, page);
        for (size_t i = 0; i < changes; i++)
            bytes[what < 2 ? i : next(&random) % 1024] = (uint8_t)next(&random);
        snprintf(damage, sizeof damage, "round %ld, %zu bytes", round, changes);
        struct outcome outcome = original_salvage(*state, original, original->size);
        assert_saved(original, &outcome, page, 1, true, damage);
    }
    original_close(original);
}

/* As many pages on end as lie in a block of a disk. */
static void test_blocks(void **state)
{
    struct original *original = original_open(*state, 1024);
    const char *seed = getenv("DOPPEL_TEST_SEED"), *rounds = getenv("DOPPEL_TEST_ROUNDS");
    uint64_t random = seed ? strtoull(seed, NULL, 10) : 1;
    for (long round = 0; round < (rounds ? atol(rounds) : 30); round++) {
        char damage[64];
        size_t count = 2 + next(&random) % 15, first = 2 + next(&random) % (original->pages - 17);
        memcpy(original->damaged, original->bytes, original->size);
        memset(original_page(original, first), 0, count * original->page_size);
        snprintf(damage, sizeof damage, "round %ld, %zu pages", round, count);
        struct outcome outcome = original_salvage(*state, original, original->size);
        assert_saved(original, &outcome, first, count, false, damage);
    }
    original_close(original);
}

static void test_cut_short(void **state)
{
    struct original *original = original_open(*state, 4096);
    for (size_t pages = 1; pages < original->pages; pages += 5) {
        memcpy(original->damaged, original->bytes, original->size);
        struct outcome outcome =
            original_salvage(*state, original, pages * original->page_size + 100);
        assert_saved(original, &outcome, pages + 1, original->pages - pages, false, "cut off");
    }
    original_close(original);
}

static bool hear_problem(void *context, const struct doppel_problem *problem)
{
    (void)context, (void)problem;
    return true;
}

/* Less than its first page: nothing can be saved, nothing beyond it is looked at, and it stays. */
static void test_cut_within_the_first_page(void **state)
{
    char path[512];
    struct stat status;
    doppel_library_close(open_library(*state));
    snprintf(path, sizeof path, "%s/catalogue.db", directory_of(*state));
    for (long size = 4000; size >= 0; size -= 500) {
        assert_int_equal(truncate(path, size), 0);
        assert_int_equal(doppel_library_salvage(directory_of(*state), hear_problem, NULL, NULL),
                         DOPPEL_E_FORMAT);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, size);
    }
}

/* Both the list of free pages and what leads to rows are gone. */
static void test_first_page_and_another(void **state)
{
    struct original *original = original_open(*state, 1024);
    for (size_t page = 2; page <= original->pages; page++) {
        if (original->owners[page].type != 'i' || is_one_of_many(&original->owners[page], page))
            continue;
        memcpy(original->damaged, original->bytes, original->size);
        memset(original->damaged, 0x5a, original->page_size);
        memset(original_page(original, page), 0xff, original->page_size);
        struct outcome outcome = original_salvage(*state, original, original->size);
        assert_saved(original, &outcome, page, 1, false, "after the first one");
    }
    original_close(original);
}

/* Of the header, all but the version may be anything. */
static void test_header(void **state)
{
    enum { HEADER_BYTES = 108, VERSION_AT = 60 };
    struct original *original = original_open(*state, 4096);
    struct doppel_error error;
    struct told told = {0};
    for (size_t at = 0; at < HEADER_BYTES; at += 5) {
        memcpy(original->damaged, original->bytes, original->size);
        original->damaged[at == VERSION_AT ? at + 8 : at] ^= 0xff;
        struct outcome outcome = original_salvage(*state, original, original->size);
        assert_saved(original, &outcome, 1, 1, false, "header");
    }
    memcpy(original->damaged, original->bytes, 100);
    original->damaged[VERSION_AT + 3] = 99;
    write_bytes(original->path, original->damaged, original->size);
    assert_int_equal(doppel_library_salvage(directory_of(*state), take_problem, &told, &error),
                     DOPPEL_E_VERSION);
    assert_non_null(strstr(error.message, "newer"));
    original_close(original);
}

/* ---- the log ---- */

static const char *const commits[] = {
    "PRAGMA journal_mode=WAL",
    "PRAGMA wal_autocheckpoint=0",
    "UPDATE label SET label = 'other ' || label",
    "INSERT INTO revision VALUES(77, 1)",
    "CREATE TABLE more(a); INSERT INTO more SELECT zeroblob(3000) FROM label",
    "DELETE FROM exact WHERE item % 2 = 1; UPDATE revision SET number = number + 1",
};

static size_t read_bytes(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(bytes, 1, ORIGINAL_BYTES, file);
    fclose(file);
    assert_true(size < ORIGINAL_BYTES);
    return size;
}

/* What SQLite reads of a whole file and a log is salvaged of a damaged file and that log. */
static void assert_log_is_read(const char *folder, struct original *original, const uint8_t *log,
                               size_t size, const char *damage)
{
    char *copied = strdup(folder_path(folder, "original.db-wal"));
    write_bytes(original->copy, original->bytes, original->size);
    write_bytes(copied, log, size);
    memcpy(original->damaged, original->bytes, original->size);
    memset(original->damaged, 0, original->page_size);
    original->log = log;
    original->log_size = size;
    struct outcome outcome = original_salvage(folder, original, original->size);
    assert_saved(original, &outcome, 1, 1, false, damage);
    free(copied);
}

static void test_log(void **state)
{
    static uint8_t log[ORIGINAL_BYTES];
    struct original *original = original_open(*state, 4096);
    sqlite3 *database = open_raw(original->path);
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++)
        assert_int_equal(sqlite3_exec(database, commits[i], NULL, NULL, NULL), SQLITE_OK);
    char *path = sqlite3_mprintf("%s-wal", original->path);
    const size_t size = read_bytes(path, log);
    original->size = read_bytes(original->path, original->bytes);
    sqlite3_close(database);
    assert_log_is_read(*state, original, log, size, "log");
    for (size_t part = 1; part < 8; part++)
        assert_log_is_read(*state, original, log, size * part / 8, "log that was cut short");
    log[size / 2] ^= 1;
    assert_log_is_read(*state, original, log, size, "log with a flipped bit");
    log[17] ^= 1;
    assert_log_is_read(*state, original, log, size, "log with another salt");
    sqlite3_free(path);
    original_close(original);
}

/* ---- pages ---- */

/* Large values first, so that the beginning of the file has few pages of trees. */
static void make_pages(const char *path, int size)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "PRAGMA page_size=%d; PRAGMA synchronous=OFF; CREATE TABLE a(value);"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
             " INSERT INTO a SELECT randomblob(600000) FROM n;"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)"
             " INSERT INTO a SELECT randomblob(100 + i %% 100) FROM n",
             size);
    run_raw(path, sql);
}

static void test_page_sizes(void **state)
{
    for (int size = 512; size <= 65536; size *= 2) {
        struct pages pages;
        const char *path = folder_path(*state, "any.db");
        make_pages(path, size);
        assert_int_equal(pages_open(path, &pages, NULL), DOPPEL_OK);
        assert_int_equal(pages.size, size);
        pages_close(&pages);
        assert_int_equal(unlink(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_zeroed_pages),
        IN_FOLDER(test_zeroed_small_pages),
        IN_FOLDER(test_random_bytes),
        IN_FOLDER(test_blocks),
        IN_FOLDER(test_cut_short),
        IN_FOLDER(test_cut_within_the_first_page),
        IN_FOLDER(test_first_page_and_another),
        IN_FOLDER(test_header),
        IN_FOLDER(test_log),
        IN_FOLDER(test_page_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
