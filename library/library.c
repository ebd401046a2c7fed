/* A library's directory: opened or made; transactions. */
#include "library/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/sync_path.h"
#include "library/derived/codes.h"
#include "library/derived/derived.h"
#include "library/schema.h"

enum { BUSY_TIMEOUT_MS = 5000, LOG_PAGES = 16384 };

enum doppel_status catalogue_open(const char *directory,
                                  const struct doppel_library_options *options,
                                  struct doppel_store **out, struct doppel_error *error)
{
    const struct doppel_store_options store_options = {
        .application_id = CATALOGUE_APPLICATION_ID,
        .schema_version = CATALOGUE_VERSION,
        .schema = catalogue_schema,
        .upgrades = catalogue_upgrades,
        .upgrade_count = CATALOGUE_UPGRADES,
        .create = options->create,
        .drop_but = options->drop_unused ? "'log','text_options'" : NULL,
        .read_only = options->read_only,
        .durable = options->durable,
        .busy_timeout_ms = BUSY_TIMEOUT_MS,
        .log_pages = LOG_PAGES,
        .cache_kb = options->read_only ? 0 : WRITER_CACHE_KB,
    };
    struct doppel_store *store = NULL;
    char *path = sqlite3_mprintf("%s/catalogue.db", directory);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", directory);
    enum doppel_status status = doppel_store_open(path, &store_options, &store, error);
    bool is_there = access(path, F_OK) == 0; /* a file that holds nothing is none, either */
    sqlite3_free(path);
    if (!status)
        status = checksum_install(store, error);
    if (status == DOPPEL_E_NOT_FOUND && !is_there)
        doppel_fail(error, status, "%s: no library here", directory);
    if (status)
        doppel_store_close(store);
    else
        *out = store;
    return status;
}

/* Who only reads has the tables of today, too: an older catalogue is brought up to date first. */
static enum doppel_status open_up_to_date(const char *directory,
                                          const struct doppel_library_options *options,
                                          struct doppel_store **out, struct doppel_error *error)
{
    struct doppel_library_options writing = *options;
    struct doppel_error cause = {0};
    struct doppel_store *store;
    enum doppel_status status = catalogue_open(directory, options, out, error);
    writing.read_only = writing.create = false;
    if (status != DOPPEL_E_VERSION || !options->read_only)
        return status;
    enum doppel_status upgraded = catalogue_open(directory, &writing, &store, &cause);
    if (upgraded == DOPPEL_E_VERSION)
        return status;
    if (upgraded)
        return doppel_fail(error, upgraded,
                           "%s; made by an older doppel, it has to be brought up to date before it "
                           "can be read",
                           cause.message);
    doppel_store_close(store);
    return catalogue_open(directory, options, out, error);
}

/* An empty catalogue is one whose making was interrupted, but not where items had indexes. */
static enum doppel_status refuse_emptied(const struct doppel_library *library,
                                         struct doppel_error *error)
{
    struct stat file;
    char *path = sqlite3_mprintf("%s/catalogue.db", library->directory);
    bool empty = path && stat(path, &file) == 0 && S_ISREG(file.st_mode) && !file.st_size;
    sqlite3_free(path);
    uint64_t bytes = empty ? codes_bytes(library) : 0;
    for (int i = 0; i < DERIVATIONS && empty; i++)
        bytes += derived_bytes(library, i);
    if (!bytes)
        return DOPPEL_OK;
    return doppel_fail(
        error, DOPPEL_E_CORRUPT,
        "%s/catalogue.db: it is empty, but the indexes of its items are there: the "
        "library is damaged; put a backup in its place, or remove the folder and add "
        "the files again",
        library->directory);
}

enum doppel_status doppel_library_open(const char *directory,
                                       const struct doppel_library_options *options,
                                       struct doppel_library **out, struct doppel_error *error)
{
    static const struct doppel_library_options defaults;
    options = options ? options : &defaults;
    if (!directory || !*directory)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no folder of a library is named");
    bool made = options->create && access(directory, F_OK) != 0;
    if (options->create && !options->read_only) {
        enum doppel_status status = make_directories(directory, options->durable, error);
        if (status)
            return status;
        if (options->durable && !made)
            (void)sync_parent(directory); /* whoever made it may not have */
    }
    struct doppel_library *library = calloc(1, sizeof *library);
    if (!library || !(library->directory = strdup(directory))) {
        free(library);
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to open it", directory);
    }
    library->opened_ns = now_ns();
    library->processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    library->read_only = options->read_only;
    library->no_rebuild = options->no_rebuild;
    library->may_go = made && options->drop_unused;
    enum doppel_status status = refuse_emptied(library, error);
    if (!status)
        status = open_up_to_date(directory, options, &library->store, error);
    if (status) {
        doppel_library_close(library);
        return status;
    }
    if (!options->read_only)
        derived_mend(library);
    *out = library;
    return DOPPEL_OK;
}

void doppel_library_begin_reading(struct doppel_library *library)
{
    library->reading = doppel_store_begin_reading(library->store);
}

void doppel_library_end_reading(struct doppel_library *library)
{
    doppel_store_end_reading(library->store, library->reading);
    library->reading = false;
}

static void library_rolled_back(struct doppel_library *library)
{
    texts_rolled_back(library);
    codes_rolled_back(library);
    memory_free(&library->memory);
}

void doppel_library_close(struct doppel_library *library)
{
    if (!library)
        return;
    derived_readers_free(library);
    if (library->writing)
        doppel_store_rollback(library->store);
    derived_close(library);
    codes_close(library);
    library_rolled_back(library);
    doppel_store_close(library->store);
    if (library->may_go)
        (void)rmdir(library->directory); /* unless there is something in it */
    free(library->directory);
    free(library);
}

enum doppel_status doppel_library_commit(struct doppel_library *library, struct doppel_error *error)
{
    if (!library->writing)
        return DOPPEL_OK;
    library->writing = false;
    enum doppel_status status = doppel_store_commit(library->store, error);
    if (status)
        library_rolled_back(library);
    else if (doppel_store_is_moved(library->store))
        status =
            doppel_fail(error, DOPPEL_E_IO,
                        "%s: the library is not in its place any more: it was removed, renamed "
                        "or replaced while in use; what was added last is not there",
                        library->directory);
    return status;
}

void doppel_library_rollback(struct doppel_library *library)
{
    if (!library->writing)
        return;
    doppel_store_rollback(library->store);
    library->writing = false;
    library_rolled_back(library);
}

void library_set_cache(struct doppel_library *library, int kilobytes)
{
    char pragma[48];
    snprintf(pragma, sizeof pragma, "PRAGMA cache_size=-%d", kilobytes);
    (void)doppel_store_execute(library->store, pragma, NULL);
}

void visit_begin(struct doppel_error *error)
{
    if (error)
        error->status = DOPPEL_OK;
}

enum doppel_status visit_ended(struct doppel_error *error)
{
    bool said = error && error->status;
    return said ? DOPPEL_E_CANCELLED : doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
}

enum doppel_status library_begin(struct doppel_library *library, struct doppel_error *error)
{
    if (library->writing)
        return DOPPEL_OK;
    enum doppel_status status = doppel_store_begin(library->store, error);
    library->writing = !status;
    return status ? status : library_end(library, memory_refresh(library, error));
}

enum doppel_status library_end(struct doppel_library *library, enum doppel_status status)
{
    bool refused = status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_ARGUMENT; /* unchanged */
    if (status && !refused)
        doppel_library_rollback(library);
    return status;
}

enum doppel_status library_run(struct doppel_library *library, sqlite3_stmt *statement,
                               struct doppel_error *error)
{
    bool row;
    return doppel_store_step(library->store, statement, &row, error);
}

/* ---- paths: any bytes but NUL ---- */

void path_bind(sqlite3_stmt *statement, int parameter, const char *path)
{
    sqlite3_bind_blob64(statement, parameter, path, strlen(path), SQLITE_STATIC);
}

enum doppel_status path_read(sqlite3_stmt *statement, int column, char **out)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    bool none = bytes && size == NO_FILE_BYTES && *(const char *)bytes == '\0';
    if (!bytes || size == 0 || (!none && memchr(bytes, '\0', size)))
        return DOPPEL_E_CORRUPT;
    char *path = strndup(bytes, size);
    if (!path)
        return DOPPEL_E_MEMORY;
    *out = path;
    return DOPPEL_OK;
}
