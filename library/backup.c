/* A copy of a library as of one moment, while others use it. */
#include "library/derived/codes.h"
#include "core/files/sync_path.h"
#include "core/try.h"
#include "core/files/unfinished.h"
#include "library/derived/derived.h"
#include "library/items/rows.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP_PAGES = 2048 };

/* ---- the folder ---- */

static enum doppel_status fail_backup(const char *path, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
}

/* Nothing may be there but an empty folder. */
static enum doppel_status check_place(const char *directory, struct doppel_error *error)
{
    DIR *folder = opendir(directory);
    if (!folder)
        return errno == ENOENT ? DOPPEL_OK : fail_backup(directory, error);
    int entries = 0;
    while (entries < 3 && readdir(folder))
        entries++;
    closedir(folder);
    return entries <= 2 ? DOPPEL_OK /* . and .. */
                        : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                      "%s: there is something already; a backup makes a folder of "
                                      "its own",
                                      directory);
}

static enum doppel_status make_lasting(const char *path, struct doppel_error *error)
{
    return sync_path(path) ? DOPPEL_OK : fail_backup(path, error);
}

/* The folder in which a folder lies; given (free). */
static char *parent_of(const char *directory)
{
    size_t size = strlen(directory);
    while (size > 1 && directory[size - 1] == '/')
        size--;
    while (size && directory[size - 1] != '/')
        size--;
    return size ? strndup(directory, size) : strdup(".");
}

/* ---- the catalogue ---- */

struct copying {
    struct doppel_library *library;
    const char *path; /* of the copy */
    doppel_library_progress *progress;
    void *context;
};

static enum doppel_status backup_step(const struct copying *copying, sqlite3_backup *backup,
                                      int page_bytes, struct doppel_error *error)
{
    int result = SQLITE_OK;
    while (result == SQLITE_OK) {
        result = sqlite3_backup_step(backup, STEP_PAGES);
        uint64_t total = (uint64_t)sqlite3_backup_pagecount(backup) * (uint64_t)page_bytes;
        uint64_t left = (uint64_t)sqlite3_backup_remaining(backup) * (uint64_t)page_bytes;
        if (copying->progress && !copying->progress(copying->context, total - left, total))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    }
    if (result == SQLITE_DONE)
        return DOPPEL_OK;
    return doppel_fail(error, result == SQLITE_CORRUPT ? DOPPEL_E_CORRUPT : DOPPEL_E_IO,
                       "%s: cannot be copied: %s", copying->path, sqlite3_errstr(result));
}

static enum doppel_status copy_to(const struct copying *copying, sqlite3 *from, sqlite3 *to,
                                  struct doppel_error *error)
{
    int64_t page_bytes = 0;
    enum doppel_status status =
        rows_number(copying->library, "PRAGMA page_size", NO_VALUES, &page_bytes, NULL, error);
    if (status)
        return status;
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", copying->path, sqlite3_errmsg(to));
    status = backup_step(copying, backup, (int)page_bytes, error);
    if (sqlite3_backup_finish(backup) && !status)
        status = doppel_fail(error, DOPPEL_E_IO, "%s: %s", copying->path, sqlite3_errmsg(to));
    return status;
}

/* Within one transaction that reads: what others commit meanwhile is not seen, and does not make it
 * begin again. */
static enum doppel_status copy_catalogue(const struct copying *copying, struct doppel_error *error)
{
    struct doppel_library *library = copying->library;
    sqlite3_stmt *statement;
    sqlite3 *to = NULL;
    int64_t seen;
    enum doppel_status status = doppel_store_execute(library->store, "BEGIN", error);
    if (status)
        return status;
    TRY(rows_number(library, "SELECT count(*) FROM sqlite_schema", NO_VALUES, &seen, NULL, error));
    TRY(doppel_store_statement(library->store, "SELECT 1", &statement, error));
    if (sqlite3_open_v2(copying->path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
        TRY(doppel_fail(error, DOPPEL_E_IO, "%s: %s", copying->path,
                        to ? sqlite3_errmsg(to) : "no memory"));
    TRY(copy_to(copying, sqlite3_db_handle(statement), to, error));
done:
    if (sqlite3_close(to) && !status)
        status = doppel_fail(error, DOPPEL_E_IO, "%s: cannot be closed", copying->path);
    doppel_store_execute(library->store, "ROLLBACK", NULL);
    return status ? status : make_lasting(copying->path, error);
}

/* ---- all of it ---- */

/* The indexes are made from the copy: so it is seen to be one, too. */
static enum doppel_status make_whole(const char *directory, struct doppel_error *error)
{
    static const struct doppel_library_options options;
    struct doppel_library *copy;
    enum doppel_status status = doppel_library_open(directory, &options, &copy, error);
    if (!status) {
        status = codes_complete(copy, error);
        doppel_library_close(copy);
    }
    return status ? status : make_lasting(directory, error);
}

/* The copy is there under its name. */
static enum doppel_status sync_place(const char *directory, struct doppel_error *error)
{
    char *parent = parent_of(directory);
    enum doppel_status status =
        parent ? make_lasting(parent, error)
               : doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", directory);
    free(parent);
    return status;
}

enum doppel_status doppel_library_backup(struct doppel_library *library, const char *directory,
                                         doppel_library_progress *progress, void *context,
                                         struct doppel_error *error)
{
    struct unfinished copy = {0};
    char *path = NULL;
    enum doppel_status status = check_place(directory, error);
    if (status)
        return status;
    TRY(unfinished_make(directory, &copy, error));
    path = sqlite3_mprintf("%s/catalogue.db", copy.path);
    if (!path)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", directory));
    TRY(copy_catalogue(&(struct copying){library, path, progress, context}, error));
    TRY(make_whole(copy.path, error));
    TRY(unfinished_rename(&copy, directory, error));
    TRY(sync_place(directory, error));
done:
    unfinished_remove(&copy);
    sqlite3_free(path);
    return status;
}
