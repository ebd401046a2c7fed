/* What is on the disk when power is lost. */
#ifndef DOPPEL_CORE_FILES_SYNC_PATH_H
#define DOPPEL_CORE_FILES_SYNC_PATH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** The bytes of a file, or the names in a folder. @return false, with errno */
static inline bool sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced;
}

/** The names in the folder that holds a folder, and so its own. @return false, with errno */
static inline bool sync_parent(const char *folder)
{
    char *parent;
    if (asprintf(&parent, "%s/..", folder) < 0)
        return false;
    bool synced = sync_path(parent);
    free(parent);
    return synced;
}

#endif
