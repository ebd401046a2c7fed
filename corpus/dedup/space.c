/* Chunks of memory up to a limit, then of a file without a name. */
#include "corpus/dedup/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "corpus/read/temporary.h"

enum { ARENA_CHUNK_BYTES = 1 << 18 };

void space_init(struct space *space, uint64_t limit, const char *folder)
{
    *space = (struct space){.limit = limit, .folder = folder, .file = -1};
}

void space_close(struct space *space)
{
    if (space->file >= 0)
        close(space->file);
    space->file = -1;
}

/* Its blocks are claimed now: a full disk must not show as SIGBUS later. */
static enum doppel_status map_space_file(struct space *space, size_t bytes, void **out,
                                         struct doppel_error *error)
{
    if (space->file < 0) {
        enum doppel_status status = temporary_file(space->folder, &space->file, error);
        if (status)
            return status;
    }
    int reason = posix_fallocate(space->file, (off_t)space->file_bytes, (off_t)bytes);
    if (reason)
        return temporary_failed(space->folder, reason, error);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, space->file,
                     (off_t)space->file_bytes);
    if (map == MAP_FAILED)
        return temporary_failed(space->folder, errno, error);
    space->file_bytes += bytes;
    *out = map;
    return DOPPEL_OK;
}

/* `bytes` is a multiple of the page size. */
static enum doppel_status take_space_chunk(struct space *space, size_t bytes, void **out,
                                           bool *out_in_file, struct doppel_error *error)
{
    *out_in_file = space->limit && space->used + bytes > space->limit;
    if (*out_in_file)
        return map_space_file(space, bytes, out, error);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory; --memory limits it");
    space->used += bytes;
    *out = map;
    return DOPPEL_OK;
}

static void give_chunk(struct space *space, void *chunk, size_t bytes, bool in_file)
{
    munmap(chunk, bytes);
    if (!in_file)
        space->used -= bytes;
}

static size_t chunk_bytes_chunked(const struct chunked *rows)
{
    return rows->row_bytes << CHUNK_ROWS_LOG2;
}

enum doppel_status chunked_grow(struct chunked *rows, struct space *space, size_t count,
                                struct doppel_error *error)
{
    while (rows->chunks.count << CHUNK_ROWS_LOG2 < count) {
        if (!array_reserve(&rows->chunks))
            return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
        struct chunk chunk;
        void *bytes = NULL;
        enum doppel_status status =
            take_space_chunk(space, chunk_bytes_chunked(rows), &bytes, &chunk.in_file, error);
        if (status)
            return status;
        chunk.bytes = bytes;
        rows->chunks.items[rows->chunks.count++] = chunk;
    }
    return DOPPEL_OK;
}

void chunked_free(struct chunked *rows, struct space *space)
{
    for (size_t i = 0; i < rows->chunks.count; i++)
        give_chunk(space, rows->chunks.items[i].bytes, chunk_bytes_chunked(rows),
                   rows->chunks.items[i].in_file);
    array_free(&rows->chunks);
}

void chunked_let_go(const struct chunked *rows)
{
    for (size_t i = 0; i < rows->chunks.count; i++)
        if (rows->chunks.items[i].in_file)
            madvise(rows->chunks.items[i].bytes, chunk_bytes_chunked(rows), MADV_DONTNEED);
}

static enum doppel_status arena_grow(struct arena *arena, struct space *space, size_t size,
                                     struct doppel_error *error)
{
    if (!array_reserve(&arena->chunks))
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    struct arena_chunk chunk = {.size = ARENA_CHUNK_BYTES};
    while (chunk.size < size)
        chunk.size *= 2;
    void *bytes = NULL;
    enum doppel_status status = take_space_chunk(space, chunk.size, &bytes, &chunk.in_file, error);
    if (status)
        return status;
    chunk.bytes = bytes;
    arena->chunks.items[arena->chunks.count++] = chunk;
    arena->chunk_used = 0;
    return DOPPEL_OK;
}

enum doppel_status arena_reserve(struct arena *arena, struct space *space, size_t size,
                                 uint64_t *out_at, struct doppel_error *error)
{
    size_t last = arena->chunks.count - 1;
    if (!arena->chunks.count || arena->chunks.items[last].size - arena->chunk_used < size) {
        enum doppel_status status = arena_grow(arena, space, size, error);
        if (status)
            return status;
        last = arena->chunks.count - 1;
    }
    *out_at = (uint64_t)last << 32 | arena->chunk_used;
    return DOPPEL_OK;
}

enum doppel_status arena_add(struct arena *arena, struct space *space, const void *bytes,
                             size_t size, uint64_t *out_at, struct doppel_error *error)
{
    enum doppel_status status = arena_reserve(arena, space, size, out_at, error);
    if (status)
        return status;
    char *chunk = arena->chunks.items[arena->chunks.count - 1].bytes;
    /* DOPPEL_OK: there is a chunk. */
    memcpy(chunk + arena->chunk_used, bytes, size); // NOLINT(clang-analyzer-core.*)
    arena->chunk_used += size;
    return DOPPEL_OK;
}

void arena_free(struct arena *arena, struct space *space)
{
    for (size_t i = 0; i < arena->chunks.count; i++)
        give_chunk(space, arena->chunks.items[i].bytes, arena->chunks.items[i].size,
                   arena->chunks.items[i].in_file);
    array_free(&arena->chunks);
}
