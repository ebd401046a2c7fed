/* Writing to a descriptor. */
#ifndef DOPPEL_CORE_FILES_WRITE_ALL_H
#define DOPPEL_CORE_FILES_WRITE_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include <doppel/core.h>

/* All of it, whatever signals come. @return false, with errno */
static inline bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno != EINTR)
            return false;
        at += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* The status of a write, or of what makes or lengthens a file, that failed with this errno. */
static inline enum doppel_status write_failure(int reason)
{
    return reason == ENOSPC || reason == EDQUOT ? DOPPEL_E_NO_SPACE : DOPPEL_E_IO;
}

#endif
