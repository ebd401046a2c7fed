/* Codes and payloads as builders read them, more than once and piece by piece: from arrays, from
 * segments that are being merged, from a file larger than memory. */
#ifndef DOPPEL_INDEX_STREAM_H
#define DOPPEL_INDEX_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct code_stream {
    void *context;
    uint64_t count; /* codes in all */
    /** Read the next at most `max` codes, `words` 64-bit words each (32-bit codes: the low half of
     * one word), and their payloads. @return how many; 0 at the end */
    size_t (*read)(void *context, uint64_t *codes, uint64_t *payloads, size_t max);
    void (*rewind)(void *context);
};

#endif
