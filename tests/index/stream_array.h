/* Arrays of codes and payloads as a stream, for the tests of the tables. */
#ifndef TESTS_INDEX_STREAM_ARRAY_H
#define TESTS_INDEX_STREAM_ARRAY_H

#include <string.h>

#include "index/stream.h"

struct array_stream {
    const uint64_t *codes, *payloads;
    size_t words, count, at;
};

static inline size_t array_stream_read(void *context, uint64_t *codes, uint64_t *payloads,
                                       size_t max)
{
    struct array_stream *stream = context;
    size_t left = stream->count - stream->at, n = max < left ? max : left;
    if (!n)
        return 0;
    memcpy(codes, stream->codes + stream->at * stream->words, n * stream->words * sizeof *codes);
    memcpy(payloads, stream->payloads + stream->at, n * sizeof *payloads);
    stream->at += n;
    return n;
}

static inline void array_stream_rewind(void *context)
{
    ((struct array_stream *)context)->at = 0;
}

/* Everything is borrowed. */
static inline struct code_stream array_stream(struct array_stream *stream, const uint64_t *codes,
                                              const uint64_t *payloads, size_t words, size_t count)
{
    *stream = (struct array_stream){codes, payloads, words, count, 0};
    return (struct code_stream){stream, count, array_stream_read, array_stream_rewind};
}

#endif
