/* Whether anything is at a path. */
#ifndef DOPPEL_CORE_FILES_PATH_IS_GONE_H
#define DOPPEL_CORE_FILES_PATH_IS_GONE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "core/files/archive_path.h"

/* Nothing is there, nor an archive that it lies in; not where that cannot be known. */
static inline bool path_is_gone(const char *path)
{
    struct stat status;
    return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
           !path_lies_in_archive(path);
}

#endif
