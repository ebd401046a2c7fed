/* A part of a file, whole. */
#ifndef DOPPEL_CORE_FILES_READ_AT_H
#define DOPPEL_CORE_FILES_READ_AT_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/** How many bytes there are from an offset, `size` at most; -1: errno says why. */
static inline ssize_t read_at(int fd, void *out, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)out + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

#endif
