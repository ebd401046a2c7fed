/* Arrays that grow in chunks and stay where they are: in memory up to a limit, beyond it in a file
 * without a name, mapped. */
#ifndef DOPPEL_CORPUS_DEDUP_SPACE_H
#define DOPPEL_CORPUS_DEDUP_SPACE_H

#include <stdbool.h>

#include <doppel/core.h>

#include "core/array.h"

/* Where chunks come from. One thread grows them. */
struct space {
    uint64_t limit; /* bytes in memory; 0: no limit */
    uint64_t used;
    const char *folder;
    int file; /* -1: not needed yet */
    uint64_t file_bytes;
};

void space_init(struct space *space, uint64_t limit, const char *folder);
void space_close(struct space *space);

enum { CHUNK_ROWS_LOG2 = 14, CHUNK_ROWS = 1 << CHUNK_ROWS_LOG2 };

struct chunk {
    uint8_t *bytes;
    bool in_file;
};

/* Rows of equal size, zero at first. */
struct chunked {
    size_t row_bytes;
    ARRAY(struct chunk) chunks;
};

/** Room for rows 0 to count - 1. */
enum doppel_status chunked_grow(struct chunked *rows, struct space *space, size_t count,
                                struct doppel_error *error);
void chunked_free(struct chunked *rows, struct space *space);
/** Take pages of the file out of this process's memory; they stay in the file. */
void chunked_let_go(const struct chunked *rows);

static inline void *row_at(const struct chunked *rows, size_t number)
{
    return rows->chunks.items[number >> CHUNK_ROWS_LOG2].bytes +
           (number & (CHUNK_ROWS - 1)) * rows->row_bytes;
}

struct arena_chunk {
    char *bytes;
    size_t size;
    bool in_file;
};

/* Bytes of any length, each run of them whole in a chunk. */
struct arena {
    ARRAY(struct arena_chunk) chunks;
    size_t chunk_used; /* of the last one */
};

/** See that what is added next, up to `size` bytes, lies together. @param out_at where */
enum doppel_status arena_reserve(struct arena *arena, struct space *space, size_t size,
                                 uint64_t *out_at, struct doppel_error *error);
/** Copy bytes. @param out_at for arena_at */
enum doppel_status arena_add(struct arena *arena, struct space *space, const void *bytes,
                             size_t size, uint64_t *out_at, struct doppel_error *error);
void arena_free(struct arena *arena, struct space *space);

static inline const char *arena_at(const struct arena *arena, uint64_t at)
{
    return arena->chunks.items[at >> 32].bytes + (at & UINT32_MAX);
}

#endif
