/* The cache's file: opened, or quarantined and started again; what is put, and when it is written.
 */
#include "library/cache/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files/quarantine.h"
#include "core/try.h"
#include "library/schema.h"

enum { BUSY_TIMEOUT_MS = 2000, MAX_PENDING = 500 };

static const int64_t SECOND_NS = 1000000000;

#define MOVE(table, columns)                                                                       \
    "INSERT OR REPLACE INTO main." table "(" columns ") SELECT " columns " FROM temp." table

/* Put all that is pending into the file, and have nothing pending. */
static const char *const moves[] = {
    MOVE("file", FILE_STORED),
    MOVE("record", DETAIL_STORED),
    MOVE("joined", JOINED_STORED),
    "DELETE FROM main.joined WHERE collection NOT IN"
    " (SELECT collection FROM main.joined ORDER BY written_ns DESC LIMIT 32)",
    "DELETE FROM temp.file",
    "DELETE FROM temp.record",
    "DELETE FROM temp.joined",
};

enum { MOVES = sizeof moves / sizeof *moves };

/* The tables of what is pending; and preparing the moves proves that the file's are as they should
 * be. */
static enum doppel_status prepare_cache(struct doppel_cache *cache, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status;
    TRY(checksum_install(cache->store, error));
    TRY(doppel_store_execute(cache->store, cache_pending_schema, error));
    for (size_t i = 0; i < MOVES; i++)
        TRY(doppel_store_statement(cache->store, moves[i], &statement, error));
    if (stat(cache->path, &cache->identity))
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", cache->path, strerror(errno));
done:
    return status;
}

static enum doppel_status open_store(struct doppel_cache *cache, struct doppel_error *error)
{
    const struct doppel_store_options options = {
        .application_id = CACHE_APPLICATION_ID,
        .schema_version = CACHE_VERSION,
        .schema = cache_schema,
        .upgrades = cache_upgrades,
        .upgrade_count = CACHE_UPGRADES,
        .create = true,
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
    };
    enum doppel_status status = doppel_store_open(cache->path, &options, &cache->store, error);
    if (!status)
        status = prepare_cache(cache, error);
    if (status) {
        doppel_store_close(cache->store);
        cache->store = NULL;
    }
    return status;
}

/* ---- setting a cache aside ---- */

static void unlock_directory(int fd)
{
    if (fd >= 0)
        close(fd);
}

static enum doppel_status renew(struct doppel_cache *cache, bool *out_renewed,
                                struct doppel_error *error)
{
    int lock = lock_folder_of(cache->path);
    enum doppel_status status = open_store(cache, error); /* another process may have mended it */
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_VERSION) {
        *out_renewed = true;
        status =
            quarantine_database(cache->path, status == DOPPEL_E_CORRUPT ? "damaged" : "old", error);
        if (!status)
            status = open_store(cache, error);
    }
    unlock_directory(lock);
    return status;
}

static bool is_in_its_place(const struct doppel_cache *cache)
{
    struct stat now;
    return stat(cache->path, &now) == 0 && now.st_ino == cache->identity.st_ino &&
           now.st_dev == cache->identity.st_dev;
}

static void set_aside_if_same(const struct doppel_cache *cache)
{
    int lock = lock_folder_of(cache->path);
    if (is_in_its_place(cache))
        quarantine_database(cache->path, "damaged", NULL);
    unlock_directory(lock);
}

/* ---- opening and closing ---- */

static enum doppel_status make_parent(const char *path, struct doppel_error *error)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return DOPPEL_OK;
    char *parent = strndup(path, (size_t)(slash - path));
    if (!parent)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", path);
    enum doppel_status status = make_directories(parent, false, error);
    free(parent);
    return status;
}

enum doppel_status doppel_cache_open(const char *path, struct doppel_cache **out, bool *out_renewed,
                                     struct doppel_error *error)
{
    enum doppel_status status = make_parent(path, error);
    if (status)
        return status;
    struct doppel_cache *cache = calloc(1, sizeof *cache);
    if (!cache || !(cache->path = strdup(path))) {
        free(cache);
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to open it", path);
    }
    bool renewed = false;
    cache->opened_ns = now_ns();
    status = open_store(cache, error);
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_VERSION)
        status = renew(cache, &renewed, error);
    if (status) {
        doppel_cache_close(cache);
        return status;
    }
    if (out_renewed)
        *out_renewed = renewed;
    *out = cache;
    return DOPPEL_OK;
}

bool doppel_cache_resume(struct doppel_cache *cache)
{
    cache->opened_ns = now_ns();
    return !cache->damaged && is_in_its_place(cache);
}

void doppel_cache_close(struct doppel_cache *cache)
{
    if (!cache)
        return;
    if (cache->store)
        doppel_cache_flush(cache, NULL);
    doppel_store_close(cache->store);
    if (cache->damaged)
        set_aside_if_same(cache);
    free(cache->path);
    free(cache->limits);
    free(cache);
}

enum doppel_status doppel_cache_set_limits(struct doppel_cache *cache, const char *limits,
                                           bool retry)
{
    size_t size = strlen(doppel_version()) + strlen(limits) + 2;
    char *text = malloc(size);
    if (!text)
        return DOPPEL_E_MEMORY;
    snprintf(text, size, "%s %s", doppel_version(), limits);
    free(cache->limits);
    cache->limits = text;
    cache->retry = retry;
    return DOPPEL_OK;
}

/* ---- putting ---- */

static void end_reads(struct doppel_cache *cache)
{
    if (cache->reading)
        doppel_store_execute(cache->store, "COMMIT", NULL);
    cache->reading = false;
}

static enum doppel_status run_cache_sql(struct doppel_cache *cache, const char *sql,
                                        struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status = doppel_store_statement(cache->store, sql, &statement, error);
    return status ? status : doppel_store_step(cache->store, statement, &row, error);
}

static enum doppel_status write_pending(struct doppel_cache *cache, struct doppel_error *error)
{
    enum doppel_status status = doppel_store_begin(cache->store, error);
    if (status)
        return status;
    for (size_t i = 0; i < MOVES && !status; i++)
        status = run_cache_sql(cache, moves[i], error);
    if (!status)
        return doppel_store_commit(cache->store, error);
    doppel_store_rollback(cache->store);
    return status;
}

enum doppel_status doppel_cache_flush(struct doppel_cache *cache, struct doppel_error *error)
{
    end_reads(cache);
    if (cache->pending == 0)
        return DOPPEL_OK;
    enum doppel_status status = cache->damaged ? doppel_fail(error, DOPPEL_E_CORRUPT,
                                                             "%s: the cache is damaged; it is "
                                                             "quarantined after this run",
                                                             cache->path)
                                               : write_pending(cache, error);
    if (status) {
        cache->retry_ns = monotonic_ns() + SECOND_NS;
        cache->damaged |= status == DOPPEL_E_CORRUPT;
        return status;
    }
    cache->pending = 0;
    return DOPPEL_OK;
}

static bool is_time_to_flush(const struct doppel_cache *cache)
{
    int64_t now = monotonic_ns();
    return now >= cache->retry_ns &&
           (cache->pending >= MAX_PENDING ||
            (cache->pending && now - cache->pending_since_ns >= SECOND_NS));
}

enum doppel_status cache_put(struct doppel_cache *cache, sqlite3_stmt *statement,
                             struct doppel_error *error)
{
    bool row;
    end_reads(cache); /* which may have to be taken back */
    enum doppel_status status = doppel_store_step(cache->store, statement, &row, error);
    if (status)
        return status;
    if (cache->pending++ == 0)
        cache->pending_since_ns = monotonic_ns();
    return is_time_to_flush(cache) ? doppel_cache_flush(cache, error) : DOPPEL_OK;
}

/* ---- looking up ---- */

/* A flush that fails here will fail, and be reported, at the next put. */
static enum doppel_status begin_reads(struct doppel_cache *cache)
{
    if (is_time_to_flush(cache))
        doppel_cache_flush(cache, NULL);
    if (cache->reading && monotonic_ns() - cache->reads_began_ns < SECOND_NS)
        return DOPPEL_OK;
    end_reads(cache);
    if (cache->damaged)
        return DOPPEL_OK;
    enum doppel_status status = run_cache_sql(cache, "BEGIN", NULL);
    cache->reading = !status;
    cache->reads_began_ns = monotonic_ns();
    return status;
}

sqlite3_stmt *cache_reader(struct doppel_cache *cache, const char *sql)
{
    sqlite3_stmt *statement;
    if (begin_reads(cache) || doppel_store_statement(cache->store, sql, &statement, NULL))
        return NULL;
    return statement;
}

enum doppel_status cache_look_up(struct doppel_cache *cache, sqlite3_stmt *statement)
{
    bool row = false;
    enum doppel_status status = doppel_store_step(cache->store, statement, &row, NULL);
    if (status == DOPPEL_E_CORRUPT) {
        /* Until its end SQLite refuses to write within this transaction, even temporary tables. */
        doppel_store_rollback(cache->store);
        cache->reading = false;
        cache->damaged = true;
    }
    return !status && row ? DOPPEL_OK : DOPPEL_E_NOT_FOUND;
}
