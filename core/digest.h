/* Checksums for the rooms, which do not see xxHash themselves. */
#ifndef DOPPEL_CORE_DIGEST_H
#define DOPPEL_CORE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <doppel/core.h>

/** XXH3-64 of `bytes` bytes. Thread-safe. Source: xxHash, seed 0. */
uint64_t checksum64(const void *data, size_t bytes);

/** Whether a digest that may be missing is: then it is zero. */
static inline bool digest_is_none(const struct doppel_digest *digest)
{
    static const struct doppel_digest none;
    return memcmp(digest, &none, sizeof none) == 0;
}

/* XXH3-128 of bytes that come in pieces. */
struct digest_stream;

/** NULL when there is no memory. */
struct digest_stream *digest_stream_new(void);
void digest_stream_free(struct digest_stream *stream);
void digest_stream_begin(struct digest_stream *stream);
void digest_stream_add(struct digest_stream *stream, const void *data, size_t bytes);
/** Of the bytes so far. */
struct doppel_digest digest_stream_get(const struct digest_stream *stream);

/* Takes the bytes of a file, piece by piece. */
typedef void digest_taker(void *context, const void *data, size_t bytes);

/** doppel_digest_fd, and the bytes are shown to a taker on the way; NULL: to nobody. */
enum doppel_status digest_fd_with(int fd, digest_taker *taker, void *context,
                                  struct doppel_digest *out, uint64_t *out_size,
                                  struct doppel_error *error);

#endif
