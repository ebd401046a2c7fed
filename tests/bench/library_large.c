/* library_large DOPPEL [MILLIONS [FOLDER]]: what it takes to open a library of so many items, to
 * show one, and to ask its log; by the room and by the command, with the catalogue in the page
 * cache and not. The library is made in FOLDER, unless it is there, and stays. */
#include <doppel/library.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "library/checksum.h"

enum {
    ROUNDS = 20,
    VIEWS = 3,
    LINK_EVERY = 10,
    PER_FOLDER = 1000,
    CODE_WORDS = 4,
    DOUBLE_EVERY = 50 /* such an item is a near-duplicate of the one before it */
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void must(bool done, sqlite3 *database)
{
    if (done)
        return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    exit(1);
}

static void execute(sqlite3 *database, const char *sql)
{
    must(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, database);
}

/* ---- making ---- */

#define ITEM "?1, 1, ?2, 1, ?3, 100000, ?2, ?4, 2, 1, ?5, 1024, 768, 80"
#define LOG                                                                                        \
    "?1, 'added', ?2, ?3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL," \
    " NULL, NULL, NULL"
static const char *const inserts[4] = {
    "INSERT INTO item(path, settled, added_ns, device, inode, size, mtime_ns, digest, kind, scheme,"
    " version, width, height, quality, checksum) VALUES(" ITEM ", " CHECKSUM_OF(ITEM) ")",
    "INSERT INTO fingerprint VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")",
    "INSERT INTO log(time_ns, action, item, path, former_item, former_path, source, decision, of,"
    " reason, scheme, version, distance, bits, similarity, limit_kind, match_limit,"
    " false_positive_rate, detail, checksum) VALUES(" LOG ", " CHECKSUM_OF(LOG) ")",
    "INSERT INTO link VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")",
};

static size_t write_code(uint64_t id, uint16_t version, uint8_t out[512])
{
    struct doppel_code codes[VIEWS];
    uint32_t positions[VIEWS] = {0, 1, 2};
    const bool double_of_last = id % DOUBLE_EVERY == 0;
    const uint64_t first = (id - double_of_last) * VIEWS * CODE_WORDS;
    for (size_t i = 0; i < VIEWS * CODE_WORDS; i++)
        codes[i / CODE_WORDS].word[i % CODE_WORDS] =
            mix(first + i) ^ (double_of_last ? UINT64_C(1) << mix(id + i) % 64 : 0);
    const struct doppel_fingerprint fingerprint = {.scheme = DOPPEL_SCHEME_PHASH64,
                                                   .version = version,
                                                   .code_bits = 64 * CODE_WORDS,
                                                   .count = VIEWS,
                                                   .codes = codes,
                                                   .positions = positions};
    doppel_fingerprint_write(&fingerprint, out);
    return doppel_fingerprint_size(&fingerprint);
}

static size_t name_item(uint64_t id, char out[64])
{
    return (size_t)snprintf(out, 64, "/pictures/%06" PRIu64 "/%09" PRIu64 ".jpg", id / PER_FOLDER,
                            id);
}

static void insert_one(sqlite3 *database, sqlite3_stmt *const statements[4], uint64_t id)
{
    char path[64];
    uint8_t code[512];
    const uint64_t digest[2] = {mix(2 * id), mix(2 * id + 1)};
    const uint16_t version = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64)->version;
    const int64_t time_ns = INT64_C(1700000000000000000) + (int64_t)id * 1000000;
    int size = (int)name_item(id, path), code_size = (int)write_code(id, version, code);
    sqlite3_bind_blob(statements[0], 1, path, size, SQLITE_STATIC);
    sqlite3_bind_int64(statements[0], 2, time_ns);
    sqlite3_bind_int64(statements[0], 3, (int64_t)id);
    sqlite3_bind_blob(statements[0], 4, digest, sizeof digest, SQLITE_STATIC);
    sqlite3_bind_int(statements[0], 5, version);
    sqlite3_bind_int64(statements[1], 1, (int64_t)id);
    sqlite3_bind_blob(statements[1], 2, code, code_size, SQLITE_STATIC);
    sqlite3_bind_int64(statements[2], 1, time_ns);
    sqlite3_bind_int64(statements[2], 2, (int64_t)id);
    sqlite3_bind_blob(statements[2], 3, path, size, SQLITE_STATIC);
    sqlite3_bind_int64(statements[3], 1, (int64_t)id);
    sqlite3_bind_int64(statements[3], 2, (int64_t)(id - 1));
    for (size_t i = 0; i < (id % LINK_EVERY ? 3 : 4); i++) {
        must(sqlite3_step(statements[i]) == SQLITE_DONE, database);
        sqlite3_reset(statements[i]);
    }
}

/* Indexes are made at the end, sorted. @param out SQL that makes them */
static void drop_indexes(sqlite3 *database, char out[8192])
{
    sqlite3_stmt *statement;
    char drops[4096] = "";
    out[0] = '\0';
    must(!sqlite3_prepare_v2(database,
                             "SELECT sql || ';', 'DROP INDEX ' || name || ';' FROM sqlite_schema"
                             " WHERE type = 'index' AND sql IS NOT NULL",
                             -1, &statement, NULL),
         database);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        strncat(out, (const char *)sqlite3_column_text(statement, 0), 8191 - strlen(out));
        strncat(drops, (const char *)sqlite3_column_text(statement, 1), 4095 - strlen(drops));
    }
    sqlite3_finalize(statement);
    execute(database, drops);
}

static void fill(const char *catalogue, uint64_t count)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statements[4];
    char indexes[8192];
    must(!sqlite3_open(catalogue, &database) && !checksum_define(database), database);
    execute(database, "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA cache_size=-200000;"
                      "PRAGMA locking_mode=EXCLUSIVE;BEGIN");
    drop_indexes(database, indexes);
    for (size_t i = 0; i < 4; i++)
        must(!sqlite3_prepare_v2(database, inserts[i], -1, &statements[i], NULL), database);
    for (uint64_t id = 1; id <= count; id++)
        insert_one(database, statements, id);
    for (size_t i = 0; i < 4; i++)
        sqlite3_finalize(statements[i]);
    execute(database, indexes);
    execute(database, "COMMIT;PRAGMA locking_mode=NORMAL;PRAGMA journal_mode=WAL");
    sqlite3_close(database);
}

static struct doppel_library *open_library(const char *folder, bool create)
{
    const struct doppel_library_options options = {.create = create, .read_only = !create};
    struct doppel_library *library;
    struct doppel_error error;
    bench_must(doppel_library_open(folder, &options, &library, &error), &error);
    return library;
}

static void make(const char *folder, const char *catalogue, uint64_t count)
{
    struct bench_time begun = bench_now();
    if (access(catalogue, F_OK) == 0)
        return;
    doppel_library_close(open_library(folder, true));
    fill(catalogue, count);
    printf("made in %.0f s\n", bench_each_ms(begun, 1).wall / 1e3);
}

/* ---- measuring ---- */

struct measure {
    const char *folder, *catalogue, *doppel;
    uint64_t count;
    bool cold;
};

static void evict(const struct measure *measure)
{
    int fd = open(measure->catalogue, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static uint64_t any_id(const struct measure *measure, int round)
{
    return 1 + mix((uint64_t)round + 77) % measure->count;
}

static bool count_entry(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *error)
{
    (void)entry;
    *(size_t *)context += !error->status;
    return true;
}

static void ask_item(struct doppel_library *library, uint64_t id)
{
    struct doppel_item item;
    struct doppel_error error;
    bench_must(doppel_library_get(library, id, true, &item, &error), &error);
    doppel_item_free(&item);
}

static void ask_path(struct doppel_library *library, uint64_t id)
{
    char path[64];
    struct doppel_item item;
    struct doppel_error error;
    name_item(id, path);
    bench_must(doppel_library_by_path(library, path, &item, &error), &error);
    doppel_item_free(&item);
}

static void ask_log(struct doppel_library *library, uint64_t id)
{
    size_t entries = 0;
    struct doppel_error error;
    const struct doppel_log_query query = {.item = id};
    bench_must(doppel_library_each_log(library, &query, count_entry, &entries, &error), &error);
}

static void ask_last(struct doppel_library *library, uint64_t id)
{
    size_t entries = 0;
    struct doppel_error error;
    const struct doppel_log_query query = {.limit = 20, .newest_first = true};
    (void)id;
    bench_must(doppel_library_each_log(library, &query, count_entry, &entries, &error), &error);
}

static void ask_nothing(struct doppel_library *library, uint64_t id)
{
    (void)library;
    (void)id;
}

typedef void question(struct doppel_library *library, uint64_t id);

/* Opened, asked and closed each time. */
static void measure_room(const struct measure *measure, const char *name, question *ask)
{
    double opens[ROUNDS], asks[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        if (measure->cold)
            evict(measure);
        struct bench_time begun = bench_now();
        struct doppel_library *library = open_library(measure->folder, false);
        opens[round] = bench_each_ms(begun, 1).wall;
        begun = bench_now();
        ask(library, any_id(measure, round));
        asks[round] = bench_each_ms(begun, 1).wall;
        doppel_library_close(library);
    }
    double open_ms = bench_median(opens, ROUNDS), ask_ms = bench_median(asks, ROUNDS);
    printf("%-24s %-5s open %8.2f ms (most %.2f), answer %8.2f ms (most %.2f)\n", name,
           measure->cold ? "cold" : "warm", open_ms, opens[ROUNDS - 1], ask_ms, asks[ROUNDS - 1]);
}

static void measure_memory(const struct measure *measure)
{
    double before = bench_memory("smaps_rollup", "Private_Dirty:");
    struct doppel_library *library = open_library(measure->folder, false);
    double after = bench_memory("smaps_rollup", "Private_Dirty:");
    double clean = bench_memory("smaps_rollup", "Private_Clean:");
    doppel_library_close(library);
    printf("private memory when open: %.1f MB dirty (%.1f MB by the open), %.1f MB clean\n",
           after / 1e6, (after - before) / 1e6, clean / 1e6);
}

static void measure_command(const struct measure *measure, const char *verb, const char *option)
{
    double seconds[ROUNDS], peak = 0;
    for (int round = 0; round < ROUNDS; round++) {
        char id[32];
        snprintf(id, sizeof id, "%" PRIu64, any_id(measure, round));
        const char *operand = option ? option : strcmp(verb, "stats") ? id : NULL;
        const char *words[] = {measure->doppel,      verb, "-L", measure->folder, "--json", operand,
                               option ? "20" : NULL, NULL};
        if (measure->cold)
            evict(measure);
        struct bench_run run = bench_run(words);
        seconds[round] = run.wall;
        peak = run.peak_bytes > peak ? run.peak_bytes : peak;
        if (run.wall > 2 && round == 2) { /* enough is known */
            printf("doppel %-17s %-5s %8.2f ms, %.1f MB at most\n", verb,
                   measure->cold ? "cold" : "warm", run.wall * 1e3, peak / 1e6);
            return;
        }
    }
    printf("doppel %-17s %-5s %8.2f ms, %.1f MB at most\n", option ? "log --last 20" : verb,
           measure->cold ? "cold" : "warm", bench_median(seconds, ROUNDS) * 1e3, peak / 1e6);
}

int main(int argc, char **argv)
{
    char catalogue[600], temporary[] = "/tmp/doppel-large-XXXXXX";
    if (argc < 2)
        return 2;
    uint64_t count = (uint64_t)(1e6 * (argc > 2 ? atof(argv[2]) : 1));
    const char *folder = argc > 3 ? argv[3] : mkdtemp(temporary);
    if (!folder || !count)
        return 2;
    snprintf(catalogue, sizeof catalogue, "%s/catalogue.db", folder);
    make(folder, catalogue, count);
    struct measure measure = {folder, catalogue, argv[1], count, false};
    printf("%.1f million items and entries, %.0f MB\n", (double)count / 1e6,
           bench_file_mb(catalogue));
    measure_memory(&measure);
    for (int cold = 0; cold < 2; cold++) {
        measure.cold = cold;
        measure_room(&measure, "open", ask_nothing);
        measure_room(&measure, "an item by id", ask_item);
        measure_room(&measure, "an item by path", ask_path);
        measure_room(&measure, "the log of an item", ask_log);
        measure_room(&measure, "the last 20 entries", ask_last);
        measure_command(&measure, "show", NULL);
        measure_command(&measure, "log", NULL);
        measure_command(&measure, "log", "--last");
        measure_command(&measure, "stats", NULL);
    }
    if (argc <= 3)
        bench_remove_folder(folder);
    return 0;
}
