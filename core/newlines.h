/* How many lines some bytes end. */
#ifndef DOPPEL_CORE_NEWLINES_H
#define DOPPEL_CORE_NEWLINES_H

#include <stdint.h>
#include <string.h>

static inline uint64_t count_newlines(const char *bytes, size_t size)
{
    uint64_t lines = 0;
    const char *end = bytes + size;
    while (bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        lines++;
        bytes++;
    }
    return lines;
}

#endif
