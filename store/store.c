/* Opening a database of ours, or making it; transactions. */
#include "store/checkpoint.h"
#include "core/try.h"
#include "store/index_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Rows of ours are far smaller; an unrelated item's blob of gigabytes would be read as a whole. */
enum { PAGES_PER_CHECKPOINT = 4096, WAL_RETRY_MS = 5, MAX_ROW_BYTES = 64 << 20 };

enum doppel_status store_read_number(struct doppel_store *store, const char *sql, int64_t *out,
                                     struct doppel_error *error)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW)
            *out = sqlite3_column_int64(statement, 0);
    }
    enum doppel_status status = code == SQLITE_ROW ? DOPPEL_OK : store_fail(store, code, error);
    sqlite3_finalize(statement);
    return status;
}

/* ---- opening ---- */

/* A file: URI for a path of any bytes; given (sqlite3_free). */
static char *immutable_uri(const char *path)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, "file:");
    for (const unsigned char *byte = (const unsigned char *)path; *byte; byte++)
        if (strchr("%?#", *byte) || *byte < ' ' || *byte > '~')
            sqlite3_str_appendf(uri, "%%%02x", *byte);
        else
            sqlite3_str_appendchar(uri, 1, (char)*byte);
    sqlite3_str_appendall(uri, "?immutable=1");
    return sqlite3_str_finish(uri);
}

static bool is_missing_or_empty(const char *path, const char *suffix)
{
    char *name = sqlite3_mprintf("%s%s", path, suffix);
    struct stat status;
    bool nothing = name && (stat(name, &status) || status.st_size == 0);
    sqlite3_free(name);
    return nothing;
}

static int open_store_file(struct doppel_store *store, const struct doppel_store_options *options)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (options->read_only)
        flags |= SQLITE_OPEN_READONLY;
    else
        flags |= SQLITE_OPEN_READWRITE | (options->create ? SQLITE_OPEN_CREATE : 0);
    return sqlite3_open_v2(store->path, &store->database, flags, NULL);
}

/* A reader in a directory that it cannot write makes no -shm file; where no log waits to be read
 * either, the file itself is all there is. */
static int reopen_immutable(struct doppel_store *store)
{
    char *uri = immutable_uri(store->path);
    if (!uri)
        return SQLITE_NOMEM;
    sqlite3_close(store->database);
    store->database = NULL;
    int flags =
        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(uri, &store->database, flags, NULL);
    sqlite3_free(uri);
    return code;
}

/* A database may come from an unrelated item: nothing in it runs, and its cells are checked. */
static enum doppel_status harden(struct doppel_store *store,
                                 const struct doppel_store_options *options,
                                 struct doppel_error *error)
{
    sqlite3 *database = store->database;
    sqlite3_busy_timeout(database, (int)options->busy_timeout_ms);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_wal_autocheckpoint(database, PAGES_PER_CHECKPOINT);
    if (options->log_pages && !options->read_only)
        store->checkpointer = checkpointer_new(database, (int)options->log_pages);
    char pages[48];
    snprintf(pages, sizeof pages, "PRAGMA cache_size=-%u", options->cache_kb);
    if (options->cache_kb) /* it looks into the file: what is wrong there is told by what follows */
        (void)sqlite3_exec(database, pages, NULL, NULL, NULL);
    return doppel_store_execute(store,
                                options->durable ? "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;"
                                                   "PRAGMA synchronous=FULL"
                                                 : "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;"
                                                   "PRAGMA synchronous=NORMAL",
                                error);
}

/* ---- whose is it ---- */

struct identity {
    int64_t application_id, version, tables;
};

static enum doppel_status identify(struct doppel_store *store, struct identity *out,
                                   struct doppel_error *error)
{
    enum doppel_status status;
    TRY(store_read_number(store, "PRAGMA application_id", &out->application_id, error));
    TRY(store_read_number(store, "PRAGMA user_version", &out->version, error));
    TRY(store_read_number(store, "SELECT count(*) FROM sqlite_schema", &out->tables, error));
done:
    return status;
}

/* In one view of the file, which another process may just be making. */
static enum doppel_status identify_at_once(struct doppel_store *store, struct identity *out,
                                           struct doppel_error *error)
{
    enum doppel_status status = doppel_store_execute(store, "BEGIN", error);
    if (!status)
        status = identify(store, out, error);
    doppel_store_rollback(store);
    return status;
}

static bool is_blank(const struct identity *identity)
{
    return !identity->application_id && !identity->version && !identity->tables;
}

static enum doppel_status check_identity(const struct doppel_store *store,
                                         const struct identity *identity,
                                         const struct doppel_store_options *options,
                                         struct doppel_error *error)
{
    if (is_blank(identity))
        return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                           "%s: holds nothing: its making was interrupted", store->path);
    if ((uint32_t)identity->application_id != options->application_id)
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: another program's database, not doppel's",
                           store->path);
    if (identity->version == options->schema_version)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_VERSION,
                       "%s: made by %s doppel (its format is %lld, this doppel's is %u)%s",
                       store->path,
                       identity->version > options->schema_version ? "a newer" : "an older",
                       (long long)identity->version, options->schema_version,
                       options->read_only && identity->version < options->schema_version
                           ? "; where it can be written, opening it brings it up to date"
                           : "");
}

/* The switch to WAL needs the file for itself, and SQLite does not wait for that by itself. */
static enum doppel_status switch_to_wal(struct doppel_store *store, uint32_t timeout_ms,
                                        struct doppel_error *error)
{
    const struct timespec pause = {.tv_nsec = WAL_RETRY_MS * 1000000L};
    for (uint32_t waited = 0;; waited += WAL_RETRY_MS) {
        int code = sqlite3_exec(store->database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            return DOPPEL_OK;
        if ((code & 0xff) != SQLITE_BUSY || waited >= timeout_ms)
            return store_fail(store, code, error);
        nanosleep(&pause, NULL);
    }
}

/* Whether it is of an older version that can be brought up. */
static bool is_upgradable(const struct identity *identity,
                          const struct doppel_store_options *options)
{
    return !options->read_only && (uint32_t)identity->application_id == options->application_id &&
           identity->version < options->schema_version &&
           identity->version + options->upgrade_count >= options->schema_version;
}

static enum doppel_status make_tables(struct doppel_store *store, const struct identity *identity,
                                      const struct doppel_store_options *options,
                                      struct doppel_error *error)
{
    if (is_blank(identity))
        return doppel_store_execute(store, options->schema, error);
    enum doppel_status status = DOPPEL_OK;
    for (int64_t version = identity->version; version < options->schema_version && !status;
         version++)
        status = doppel_store_execute(
            store, options->upgrades[version + options->upgrade_count - options->schema_version],
            error);
    return status;
}

/* All tables in one transaction; another process may have been quicker. */
static enum doppel_status make_schema(struct doppel_store *store,
                                      const struct doppel_store_options *options,
                                      struct doppel_error *error)
{
    struct identity identity = {0};
    char marks[96];
    snprintf(marks, sizeof marks, "PRAGMA application_id=%d;PRAGMA user_version=%u",
             (int32_t)options->application_id, options->schema_version);
    enum doppel_status status = doppel_store_begin(store, error);
    if (status)
        return status;
    TRY(identify(store, &identity, error));
    if (is_blank(&identity) || is_upgradable(&identity, options)) {
        TRY(make_tables(store, &identity, options, error));
        TRY(doppel_store_execute(store, marks, error));
    }
    return doppel_store_commit(store, error);
done:
    doppel_store_rollback(store);
    return status;
}

static enum doppel_status prepare_statement(struct doppel_store *store,
                                            const struct doppel_store_options *options,
                                            struct doppel_error *error)
{
    struct identity identity = {0};
    enum doppel_status status;
    TRY(harden(store, options, error));
    TRY(identify_at_once(store, &identity, error));
    bool to_make = is_blank(&identity) && options->create && !options->read_only;
    if (to_make || is_upgradable(&identity, options)) {
        TRY(switch_to_wal(store, options->busy_timeout_ms, error));
        TRY(make_schema(store, options, error));
        TRY(identify_at_once(store, &identity, error));
        store->made = to_make;
    }
    TRY(check_identity(store, &identity, options, error));
    if (!options->read_only)
        TRY(switch_to_wal(store, options->busy_timeout_ms, error));
done:
    return status;
}

static enum doppel_status open_and_prepare(struct doppel_store *store,
                                           const struct doppel_store_options *options,
                                           struct doppel_error *error)
{
    int code = open_store_file(store, options);
    if (code != SQLITE_OK)
        return store_fail(store, code, error);
    enum doppel_status status = prepare_statement(store, options, error);
    if (status != DOPPEL_E_IO || !options->read_only || !is_missing_or_empty(store->path, "-wal"))
        return status;
    code = reopen_immutable(store);
    return code == SQLITE_OK ? prepare_statement(store, options, error)
                             : store_fail(store, code, error);
}

static void close_database(struct doppel_store *store)
{
    store_forget_statements(store);
    checkpointer_free(store->checkpointer);
    store->checkpointer = NULL;
    if (store->made && store->options.drop_but)
        store_drop_unused(store);
    store->made = false;
    sqlite3_close(store->database);
    store->database = NULL;
}

bool doppel_store_skip_memory_count(void)
{
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK;
}

enum doppel_status doppel_store_open(const char *path, const struct doppel_store_options *options,
                                     struct doppel_store **out, struct doppel_error *error)
{
    struct stat status_of_file;
    if (stat(path, &status_of_file)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
        if (!options->create || options->read_only)
            return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no such file", path);
    } else if (!S_ISREG(status_of_file.st_mode)) {
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: not a file", path);
    }
    struct doppel_store *store = calloc(1, sizeof *store);
    if (!store || !(store->path = strdup(path))) {
        free(store);
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to open it", path);
    }
    store->options = *options;
    store->options.schema = NULL;
    store->options.upgrade_count = 0;
    enum doppel_status status = open_and_prepare(store, options, error);
    if (!status && options->create && doppel_store_is_moved(store)) { /* dropped by who made it */
        close_database(store);
        status = open_and_prepare(store, options, error);
    }
    if (status) {
        doppel_store_close(store);
        return status;
    }
    *out = store;
    return DOPPEL_OK;
}

void doppel_store_close(struct doppel_store *store)
{
    if (!store)
        return;
    close_database(store);
    free(store->path);
    free(store);
}

enum doppel_status doppel_store_execute(struct doppel_store *store, const char *sql,
                                        struct doppel_error *error)
{
    errno = 0;
    int code = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? DOPPEL_OK : store_fail(store, code, error);
}

void doppel_store_interrupt(struct doppel_store *store)
{
    sqlite3_interrupt(store->database);
}

const char *doppel_store_path(const struct doppel_store *store)
{
    return store->path;
}

/* ---- transactions ---- */

enum doppel_status doppel_store_begin(struct doppel_store *store, struct doppel_error *error)
{
    return doppel_store_execute(store, "BEGIN IMMEDIATE", error);
}

enum doppel_status doppel_store_commit(struct doppel_store *store, struct doppel_error *error)
{
    enum doppel_status status = indexes_may_commit(store, error);
    if (!status)
        status = doppel_store_execute(store, "COMMIT", error);
    if (status)
        doppel_store_rollback(store);
    else
        indexes_committed(store);
    return status;
}

bool doppel_store_is_moved(struct doppel_store *store)
{
    int moved = 0;
    return sqlite3_file_control(store->database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
               SQLITE_OK &&
           moved;
}

/* Also where somebody interrupts what the database does, again and again: else the next
 * transaction would be one within this. */
static void roll_back(struct doppel_store *store)
{
    while (store_in_transaction(store) &&
           sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL) == SQLITE_INTERRUPT)
        ;
}

void doppel_store_rollback(struct doppel_store *store)
{
    roll_back(store);
    indexes_rolled_back(store);
}

void doppel_store_empty_log(struct doppel_store *store)
{
    checkpointer_wait(store->checkpointer);
    (void)sqlite3_wal_checkpoint_v2(store->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

bool store_in_transaction(const struct doppel_store *store)
{
    return !sqlite3_get_autocommit(store->database);
}

/* What is run for each request is not parsed each time. */
static bool run_prepared(struct doppel_store *store, const char *sql)
{
    sqlite3_stmt *statement;
    if (doppel_store_statement(store, sql, &statement, NULL))
        return false;
    const bool done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return done;
}

bool doppel_store_begin_reading(struct doppel_store *store)
{
    if (store->reading != READING_NOT || store_in_transaction(store))
        return false;
    store->reading = READING_LATER;
    return true;
}

void store_read_first(struct doppel_store *store)
{
    store->reading = READING_NOT; /* BEGIN is a statement, too */
    if (!store_in_transaction(store) && run_prepared(store, "BEGIN"))
        store->reading = READING_NOW;
}

void doppel_store_end_reading(struct doppel_store *store, bool begun)
{
    if (!begun)
        return;
    const bool now = store->reading == READING_NOW;
    store->reading = READING_NOT;
    if (now && !run_prepared(store, "ROLLBACK"))
        roll_back(store);
}

void doppel_store_renew_reading(struct doppel_store *store)
{
    if (store->reading != READING_NOW)
        return;
    doppel_store_end_reading(store, true);
    (void)doppel_store_begin_reading(store);
}
