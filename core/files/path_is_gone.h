/* Whether anything is at a path. */
#ifndef DOPPEL_CORE_FILES_PATH_IS_GONE_H
#define DOPPEL_CORE_FILES_PATH_IS_GONE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Nothing is there; not where that cannot be known. */
static inline bool path_is_gone(const char *path)
{
    struct stat status;
    return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

#endif
