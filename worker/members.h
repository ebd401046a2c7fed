/* What crosses the socket when a worker unpacks archives: the archive's descriptor with an order,
 * again and again; then, each when it is asked for, members, whose bytes lie in a file in memory
 * beside the frame; last how it ended (end_write). The parent trusts nothing of it. */
#ifndef DOPPEL_WORKER_MEMBERS_H
#define DOPPEL_WORKER_MEMBERS_H

#include "worker/listening.h"

enum { MEMBER_NAME_BYTES = 4096 };

/* The first frame, in place of hello, and each that comes after an end. */
struct unpack_order {
    uint64_t max_memory; /* as of worker_limits; the first counts */
    uint64_t most;       /* bytes of one member */
    uint64_t budget;     /* bytes of all */
    uint32_t members;    /* so many at most */
    uint32_t sandbox;    /* enum doppel_sandbox; the first counts */
};

void unpack_order_write(const struct unpack_order *order, uint8_t out[PROTOCOL_HELLO_BYTES]);
bool unpack_order_read(const uint8_t *data, size_t size, struct unpack_order *out);

/* The parent wants the next member. */
enum { NEXT_BYTES = 8 };
void next_write(uint8_t out[NEXT_BYTES]);
bool next_read(const uint8_t *data, size_t size);

/* A member: with its bytes beside, or with an error. */
struct member_frame {
    struct doppel_error error;
    uint64_t size;
    int64_t mtime_s;
    char name[MEMBER_NAME_BYTES];
};

size_t member_write(const struct member_frame *member, uint8_t *out, size_t capacity);
bool member_read(const uint8_t *data, size_t size, struct member_frame *out);

/* Whether it is a file in memory of that size that nobody changes any more. */
bool member_file_is(int fd, uint64_t size);

#endif
