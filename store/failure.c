/* What SQLite's result codes mean to a person. */
#include "store/handle.h"

#include <errno.h>
#include <string.h>

#include "core/files/write_all.h"

/* SQLite does not keep the reason of a commit that failed; then it is still where the system left
 * it. */
static int system_reason(const struct doppel_store *store)
{
    int reason = sqlite3_system_errno(store->database);
    return reason ? reason : errno;
}

static enum doppel_status fail_system(const struct doppel_store *store, const char *what,
                                      struct doppel_error *error)
{
    int reason = system_reason(store);
    return doppel_fail(error, DOPPEL_E_IO, "%s: %s: %s", store->path, what,
                       reason ? strerror(reason) : sqlite3_errmsg(store->database));
}

static enum doppel_status fail_io(const struct doppel_store *store, int code,
                                  struct doppel_error *error)
{
    int reason = system_reason(store);
    if (write_failure(reason) == DOPPEL_E_NO_SPACE)
        return store_fail(store, SQLITE_FULL, error);
    if (reason == EFBIG)
        return doppel_fail(error, DOPPEL_E_IO,
                           "%s: the system's limit on the size of a file is reached", store->path);
    /* A page that the file should have and has not. */
    if (code == SQLITE_IOERR_SHORT_READ)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: the database is damaged: cut short",
                           store->path);
    return fail_system(store, "cannot be read or written", error);
}

enum doppel_status store_fail(const struct doppel_store *store, int code,
                              struct doppel_error *error)
{
    const char *path = store->path;
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return doppel_fail(error, DOPPEL_E_BUSY,
                           "%s: another process is writing to it; try again when it is done", path);
    case SQLITE_NOTADB:
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: not a doppel database, or its first page is damaged", path);
    case SQLITE_CORRUPT:
        /* So SQLite calls it, too, when the device cannot read its own blocks. */
        if (errno == EIO)
            return fail_system(store, "cannot be read", error);
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: the database is damaged", path);
    /* Our own SQL has no errors: the tables are not what they were when they were made. */
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG: /* over our limit, which no row of ours comes near */
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: the database is damaged: %s", path,
                           sqlite3_errmsg(store->database));
    case SQLITE_FULL:
        return doppel_fail(error, DOPPEL_E_NO_SPACE, "%s: no space left on the device", path);
    case SQLITE_READONLY:
        return doppel_fail(error, DOPPEL_E_IO,
                           "%s: cannot be written: the file, its directory or the file system is "
                           "read-only",
                           path);
    case SQLITE_CANTOPEN:
        /* SQLite tries to read what it could not make, and keeps the reason of that. */
        if (store->options.create && system_reason(store) == ENOENT)
            return doppel_fail(error, DOPPEL_E_IO,
                               "%s: cannot be made: its directory cannot be written", path);
        return fail_system(store, "cannot be opened", error);
    case SQLITE_IOERR:
        return fail_io(store, code, error);
    case SQLITE_INTERRUPT:
        return doppel_fail(error, DOPPEL_E_CANCELLED, "%s: ended early", path);
    case SQLITE_NOMEM:
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", path);
    default:
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, sqlite3_errmsg(store->database));
    }
}
