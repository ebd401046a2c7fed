/* A copy of an index of vectors as of one moment, while others write to it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/sync_path.h"
#include "core/files/write_all.h"
#include "core/try.h"
#include "embed/index/vector_index.h"

enum { FOLDER_MODE = 0700, FILE_MODE = 0600, PIECE_BYTES = 1 << 20, MOST_ATTEMPTS = 10 };

static enum doppel_status fail_copy(const char *path, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(errno), "%s: %s", path, strerror(errno));
}

/* Given (free); NULL without memory. */
static char *path_beside(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static enum doppel_status copy_file_bytes(int from, int to, const char *path, char *buffer,
                                          struct doppel_error *error)
{
    for (;;) {
        const ssize_t got = read(from, buffer, PIECE_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || !write_all(to, buffer, (size_t)got))
            return fail_copy(path, error);
        if (!got)
            return fsync(to) ? fail_copy(path, error) : DOPPEL_OK;
    }
}

/* @return DOPPEL_E_NOT_FOUND: it was merged with others meanwhile */
static enum doppel_status copy_vector_segment(const char *from, const char *to,
                                              struct doppel_error *error)
{
    char *buffer = malloc(PIECE_BYTES);
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int reason = errno;
    const int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    enum doppel_status status = DOPPEL_OK;
    if (in < 0)
        TRY(doppel_fail(error, reason == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s", from,
                        strerror(reason)));
    if (out < 0)
        TRY(fail_copy(to, error));
    if (!buffer)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to copy it", from));
    TRY(copy_file_bytes(in, out, to, buffer, error));
done:
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) && !status)
        status = fail_copy(to, error);
    free(buffer);
    return status;
}

/* ---- the database ---- */

static enum doppel_status fail_sqlite(const char *path, sqlite3 *database,
                                      struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be copied: %s", path,
                       database ? sqlite3_errmsg(database) : "no memory");
}

static enum doppel_status copy_pages(sqlite3 *from, sqlite3 *to, const char *path,
                                     struct doppel_error *error)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return fail_sqlite(path, to, error);
    (void)sqlite3_backup_step(backup, -1); /* all, as of one moment */
    return sqlite3_backup_finish(backup) ? fail_sqlite(path, to, error) : DOPPEL_OK;
}

/* The segments that the copy names. */
static enum doppel_status copy_vector_segments(struct doppel_vector_index *index,
                                               const char *folder, sqlite3 *copy,
                                               struct doppel_error *error)
{
    sqlite3_stmt *statement = NULL;
    char *from = NULL, *to = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (sqlite3_prepare_v2(copy, "SELECT name FROM doppel_index_segment", -1, &statement, NULL))
        TRY(fail_sqlite(folder, copy, error));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        from = name ? path_beside(index->folder, name) : NULL;
        to = name ? path_beside(folder, name) : NULL;
        if (!from || !to)
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to copy it", folder));
        TRY(copy_vector_segment(from, to, error));
        free(from);
        free(to);
        from = to = NULL;
    }
done:
    sqlite3_finalize(statement);
    free(from);
    free(to);
    return status;
}

static enum doppel_status copy_once(struct doppel_vector_index *index, const char *folder,
                                    const char *path, struct doppel_error *error)
{
    sqlite3 *to = NULL;
    sqlite3_stmt *any;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store, "SELECT 1", &any, error));
    if (sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
        TRY(fail_sqlite(path, to, error));
    TRY(copy_pages(sqlite3_db_handle(any), to, path, error));
    TRY(copy_vector_segments(index, folder, to, error));
done:
    if (sqlite3_close(to) && !status)
        status = doppel_fail(error, DOPPEL_E_IO, "%s: cannot be closed", path);
    return status;
}

enum doppel_status doppel_vector_index_copy(struct doppel_vector_index *index, const char *folder,
                                            struct doppel_error *error)
{
    char *path = path_beside(folder, "vectors.db");
    enum doppel_status status = DOPPEL_OK;
    if (!path)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory to copy it", folder));
    /* damage is not copied as if it were none */
    TRY(doppel_index_verify(doppel_store_index_get(index->codes), error));
    if (mkdir(folder, FOLDER_MODE))
        TRY(fail_copy(folder, error));
    status = DOPPEL_E_NOT_FOUND;
    for (int i = 0; i < MOST_ATTEMPTS && status == DOPPEL_E_NOT_FOUND; i++)
        status = copy_once(index, folder, path, error);
    if (!status && (!sync_path(path) || !sync_path(folder)))
        status = fail_copy(folder, error);
done:
    free(path);
    return status;
}
