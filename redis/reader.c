/* hiredis' reader of answers with limits. */
#include "redis/reader.h"

#include <string.h>

enum { LONG_BYTES = 1 << 16 };

#if HIREDIS_MAJOR < 1
typedef int array_size;
#else
typedef size_t array_size;
#endif

static void *create_limited_array(const redisReadTask *task, array_size size)
{
    struct redis_limits *limits = task->privdata;
    const size_t elements = size > 0 ? (size_t)size : 0;
    if (elements > REDIS_MOST_ELEMENTS - limits->elements)
        return NULL;
    limits->elements += elements;
    return limits->usual->createArray(task, size);
}

redisReader *redis_reader_new(struct redis_limits *limits)
{
    redisReader *reader = redisReaderCreate();
    if (!reader)
        return NULL;
    *limits = (struct redis_limits){.functions = *reader->fn, .usual = reader->fn};
    limits->functions.createArray = create_limited_array;
    reader->fn = &limits->functions;
    reader->privdata = limits;
    return reader;
}

int redis_reader_feed(redisReader *reader, struct redis_limits *limits, const char *bytes,
                      size_t size)
{
    if (size > REDIS_MOST_BYTES - limits->bytes)
        return REDIS_ERR;
    limits->bytes += size;
    limits->line_ends = limits->line_ends || memchr(bytes, '\n', size);
    return redisReaderFeed(reader, bytes, size);
}

int redis_reader_next(redisReader *reader, struct redis_limits *limits, void **out)
{
    /* hiredis looks through a line from its beginning each time: a long one waits for its end. */
    if (limits->bytes > LONG_BYTES && !limits->line_ends) {
        *out = NULL;
        return REDIS_OK;
    }
    const int result = redisReaderGetReply(reader, out);
    limits->line_ends = result == REDIS_OK && *out;
    if (result == REDIS_OK && *out)
        limits->elements = limits->bytes = 0;
    return result;
}
