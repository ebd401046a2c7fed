/* Directories that libraries and caches live in. */
#include "library/items/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/sync_path.h"
#include "core/files/write_all.h"

/* Paths and small pictures are private: what is made here is for its owner. */
enum { DIRECTORY_MODE = 0700 };

static enum doppel_status make_one(const char *path, bool durable, struct doppel_error *error)
{
    struct stat status;
    if (mkdir(path, DIRECTORY_MODE) == 0) {
        if (!durable || sync_parent(path))
            return DOPPEL_OK;
        return doppel_fail(error, write_failure(errno),
                           "%s: the directory cannot be made lasting: %s", path, strerror(errno));
    }
    int reason = errno;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return DOPPEL_OK;
    return doppel_fail(error, write_failure(reason), "%s: the directory cannot be made: %s", path,
                       strerror(reason));
}

enum doppel_status make_directories(const char *path, bool durable, struct doppel_error *error)
{
    char *prefix = strdup(path);
    if (!prefix)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", path);
    enum doppel_status status = DOPPEL_OK;
    for (char *slash = prefix; !status && (slash = strchr(slash + 1, '/')); *slash = '/') {
        *slash = '\0';
        status = make_one(prefix, durable, error);
    }
    if (!status)
        status = make_one(prefix, durable, error);
    free(prefix);
    return status;
}
