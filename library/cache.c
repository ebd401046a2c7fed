/* The cache's file: opened, or set aside and begun anew; look-ups and writes in groups. */
#include "library/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "library/schema.h"

enum { BUSY_TIMEOUT_MS = 2000, MAX_PENDING = 500 };

/* A group is open no longer than this; after having found the cache busy, so long it is
 * left alone. */
static const int64_t GROUP_NS = 1000000000;

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static enum doppel_status open_store(struct doppel_cache *cache, struct doppel_error *error)
{
    const struct doppel_store_options options = {
        .application_id = CACHE_APPLICATION_ID,
        .schema_version = CACHE_VERSION,
        .schema = cache_schema,
        .create = true,
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
    };
    enum doppel_status status = doppel_store_open(cache->path, &options, &cache->store, error);
    if (!status && stat(cache->path, &cache->identity)) {
        status = doppel_fail(error, DOPPEL_E_IO, "%s: %s", cache->path, strerror(errno));
        doppel_store_close(cache->store);
        cache->store = NULL;
    }
    return status;
}

/* ---- setting a cache aside ---- */

static bool rename_one(const char *path, const char *extension, const char *suffix)
{
    char *from = sqlite3_mprintf("%s%s", path, suffix);
    char *to = sqlite3_mprintf("%s.%s%s", path, extension, suffix);
    bool done = from && to && rename(from, to) == 0;
    if (!done && from && to && errno == ENOENT) {
        unlink(to); /* it belongs to what was set aside earlier */
        done = true;
    }
    sqlite3_free(from);
    sqlite3_free(to);
    return done;
}

/* With its log, which belongs to it. */
static enum doppel_status set_aside(const char *path, const char *extension,
                                    struct doppel_error *error)
{
    if (rename_one(path, extension, "-wal") && rename_one(path, extension, "-shm") &&
        rename_one(path, extension, ""))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_IO, "%s: the damaged cache cannot be set aside: %s", path,
                       strerror(errno));
}

/* One process at a time sets aside: a lock on the directory, which outlives the file. */
static int lock_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(directory);
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

static void unlock_directory(int fd)
{
    if (fd >= 0)
        close(fd);
}

static enum doppel_status renew(struct doppel_cache *cache, bool *out_renewed,
                                struct doppel_error *error)
{
    int lock = lock_directory(cache->path);
    enum doppel_status status = open_store(cache, error); /* another process may have mended it */
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_VERSION) {
        *out_renewed = true;
        status = set_aside(cache->path, status == DOPPEL_E_CORRUPT ? "damaged" : "old", error);
        if (!status)
            status = open_store(cache, error);
    }
    unlock_directory(lock);
    return status;
}

static void set_aside_if_same(const struct doppel_cache *cache)
{
    int lock = lock_directory(cache->path);
    struct stat now;
    if (stat(cache->path, &now) == 0 && now.st_ino == cache->identity.st_ino &&
        now.st_dev == cache->identity.st_dev)
        set_aside(cache->path, "damaged", NULL);
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
    enum doppel_status status = make_directories(parent, error);
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
    free(cache);
}

/* ---- groups ---- */

enum doppel_status doppel_cache_flush(struct doppel_cache *cache, struct doppel_error *error)
{
    if (cache->group == GROUP_NONE)
        return DOPPEL_OK;
    cache->group = GROUP_NONE;
    cache->pending = 0;
    return doppel_store_commit(cache->store, error);
}

static bool is_group_full(const struct doppel_cache *cache)
{
    return cache->pending >= MAX_PENDING || monotonic_ns() - cache->group_began_ns >= GROUP_NS;
}

static enum doppel_status begin_writes(struct doppel_cache *cache, struct doppel_error *error)
{
    if (cache->damaged)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: the cache is damaged", cache->path);
    if (cache->group == GROUP_WRITES)
        return DOPPEL_OK;
    int64_t now = monotonic_ns();
    if (now < cache->retry_ns)
        return doppel_fail(error, DOPPEL_E_BUSY, "%s: another process is writing to it",
                           cache->path);
    enum doppel_status status = doppel_cache_flush(cache, error);
    if (!status)
        status = doppel_store_begin(cache->store, error);
    if (!status)
        cache->group = GROUP_WRITES;
    cache->group_began_ns = monotonic_ns();
    if (status == DOPPEL_E_BUSY)
        cache->retry_ns = cache->group_began_ns + GROUP_NS;
    return status;
}

enum doppel_status cache_writer(struct doppel_cache *cache, const char *sql, sqlite3_stmt **out,
                                struct doppel_error *error)
{
    enum doppel_status status = begin_writes(cache, error);
    return status ? status : doppel_store_statement(cache->store, sql, out, error);
}

enum doppel_status cache_run(struct doppel_cache *cache, sqlite3_stmt *statement, int64_t *out,
                             struct doppel_error *error)
{
    bool row;
    enum doppel_status status = doppel_store_step(cache->store, statement, &row, error);
    if (!status && row && out)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return status;
}

enum doppel_status cache_end_write(struct doppel_cache *cache, enum doppel_status status,
                                   struct doppel_error *error)
{
    if (!status) {
        cache->pending++;
        return is_group_full(cache) ? doppel_cache_flush(cache, error) : DOPPEL_OK;
    }
    doppel_store_rollback(cache->store);
    cache->group = GROUP_NONE;
    cache->pending = 0;
    cache->damaged |= status == DOPPEL_E_CORRUPT;
    return status;
}

/* ---- reading ---- */

static enum doppel_status begin_reads(struct doppel_cache *cache)
{
    if (cache->group != GROUP_NONE && is_group_full(cache))
        doppel_cache_flush(cache, NULL); /* if it fails, so will the next write, which says so */
    if (cache->group != GROUP_NONE)
        return DOPPEL_OK;
    sqlite3_stmt *begin;
    bool row;
    enum doppel_status status = doppel_store_statement(cache->store, "BEGIN", &begin, NULL);
    if (!status)
        status = doppel_store_step(cache->store, begin, &row, NULL);
    if (!status)
        cache->group = GROUP_READS;
    cache->group_began_ns = monotonic_ns();
    return status;
}

sqlite3_stmt *cache_reader(struct doppel_cache *cache, const char *sql)
{
    sqlite3_stmt *statement;
    if (cache->damaged || begin_reads(cache))
        return NULL;
    return doppel_store_statement(cache->store, sql, &statement, NULL) ? NULL : statement;
}

enum doppel_status cache_look_up(struct doppel_cache *cache, sqlite3_stmt *statement)
{
    bool row = false;
    enum doppel_status status = doppel_store_step(cache->store, statement, &row, NULL);
    cache->damaged |= status == DOPPEL_E_CORRUPT;
    return !status && row ? DOPPEL_OK : DOPPEL_E_NOT_FOUND;
}
