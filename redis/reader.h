/* hiredis' reader of answers with limits: what a peer announces is not allocated on its word. */
#ifndef DOPPEL_REDIS_READER_H
#define DOPPEL_REDIS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

/* Elements of one answer, those of arrays in it included, and its bytes. */
enum { REDIS_MOST_ELEMENTS = 1 << 23, REDIS_MOST_BYTES = 1 << 28 };

/* What has come of the answer that is read. Stays where it is as long as its reader lives. */
struct redis_limits {
    redisReplyObjectFunctions functions;
    const redisReplyObjectFunctions *usual;
    size_t elements, bytes; /* of the answer that comes */
    bool line_ends;         /* one has come since the last look at it */
};

/* @return given (redisReaderFree); NULL: no memory */
redisReader *redis_reader_new(struct redis_limits *limits);

/* As redisReaderFeed. REDIS_ERR also where an answer is too long: then `err` of the reader is 0 */
int redis_reader_feed(redisReader *reader, struct redis_limits *limits, const char *bytes,
                      size_t size);

/* As redisReaderGetReply; an answer of too many elements ends in REDIS_ERR_OOM. */
int redis_reader_next(redisReader *reader, struct redis_limits *limits, void **out);

#endif
