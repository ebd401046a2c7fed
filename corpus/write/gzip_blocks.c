/* gzip on several threads. */
#include "corpus/write/gzip_blocks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "corpus/dedup/dedup_internal.h"

enum { LEVEL = 6, WINDOW_BYTES = 1 << 15, HEADER_BYTES = 10, TRAILER_BYTES = 8 };

struct gzip_block {
    z_stream stream;
    const uint8_t *in;
    size_t in_size;
    const uint8_t *before; /* the dictionary */
    size_t before_size;
    bool last;
    uint32_t sum;
    uint8_t *out; /* with room for header and trailer */
    size_t out_size, out_capacity;
};

struct gzip_blocks {
    uint32_t count;
    size_t used; /* of this pack */
    atomic_size_t next;
    bool begun;
    uint32_t sum, total; /* of all, modulo 2^32 */
    uint8_t window[WINDOW_BYTES];
    size_t window_size; /* of what came before */
    struct gzip_block blocks[];
};

struct gzip_blocks *gzip_blocks_new(uint32_t threads)
{
    struct gzip_blocks *blocks = calloc(1, sizeof *blocks + threads * sizeof *blocks->blocks);
    for (; blocks && blocks->count < threads; blocks->count++) {
        struct gzip_block *block = &blocks->blocks[blocks->count];
        bool good =
            deflateInit2(&block->stream, LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
        block->out_capacity = HEADER_BYTES + TRAILER_BYTES + 64;
        if (good)
            block->out_capacity += deflateBound(&block->stream, GZIP_BLOCK_BYTES);
        block->out = good ? malloc(block->out_capacity) : NULL;
        if (block->out)
            continue;
        if (good)
            deflateEnd(&block->stream);
        gzip_blocks_free(blocks);
        return NULL;
    }
    return blocks;
}

void gzip_blocks_free(struct gzip_blocks *blocks)
{
    for (uint32_t i = 0; blocks && i < blocks->count; i++) {
        deflateEnd(&blocks->blocks[i].stream);
        free(blocks->blocks[i].out);
    }
    free(blocks);
}

size_t gzip_blocks_capacity(const struct gzip_blocks *blocks)
{
    return (size_t)blocks->count * GZIP_BLOCK_BYTES;
}

/* ---- one block ---- */

/* The out has room for the worst that comes of it, so that one call is enough. */
static void compress_block(struct gzip_block *block)
{
    z_stream *stream = &block->stream;
    deflateReset(stream);
    if (block->before_size)
        deflateSetDictionary(stream, block->before, (uInt)block->before_size);
    stream->next_in = (Bytef *)(uintptr_t)block->in;
    stream->avail_in = (uInt)block->in_size;
    stream->next_out = block->out + block->out_size;
    stream->avail_out = (uInt)(block->out_capacity - TRAILER_BYTES - block->out_size);
    deflate(stream, block->last ? Z_FINISH : Z_SYNC_FLUSH);
    block->out_size = (size_t)(stream->next_out - block->out);
    block->sum = (uint32_t)crc32(0, block->in, (uInt)block->in_size);
}

static void compress_blocks(void *context, uint32_t thread)
{
    struct gzip_blocks *blocks = context;
    size_t i;
    (void)thread;
    while ((i = atomic_fetch_add(&blocks->next, 1)) < blocks->used)
        compress_block(&blocks->blocks[i]);
}

/* ---- all ---- */

static void share_out(struct gzip_blocks *blocks, const uint8_t *in, size_t size, bool last)
{
    blocks->used = (size + GZIP_BLOCK_BYTES - 1) / GZIP_BLOCK_BYTES;
    if (!blocks->used && last)
        blocks->used = 1;
    for (size_t i = 0; i < blocks->used; i++) {
        struct gzip_block *block = &blocks->blocks[i];
        size_t at = i * GZIP_BLOCK_BYTES;
        block->in = in + at;
        block->in_size = size - at < GZIP_BLOCK_BYTES ? size - at : GZIP_BLOCK_BYTES;
        block->before = i ? block->in - WINDOW_BYTES : blocks->window;
        block->before_size = i ? WINDOW_BYTES : blocks->window_size;
        block->last = last && i + 1 == blocks->used;
        block->out_size = 0;
    }
}

static void put_number(struct gzip_block *block, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        block->out[block->out_size++] = (uint8_t)(number >> 8 * i);
}

static void add_sums(struct gzip_blocks *blocks)
{
    for (size_t i = 0; i < blocks->used; i++) {
        const struct gzip_block *block = &blocks->blocks[i];
        blocks->sum = (uint32_t)crc32_combine(blocks->sum, block->sum, (z_off_t)block->in_size);
        blocks->total += (uint32_t)block->in_size;
    }
}

void gzip_blocks_pack(struct gzip_blocks *blocks, const uint8_t *in, size_t size, bool last)
{
    static const uint8_t header[HEADER_BYTES] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3};
    struct thread_team team;
    share_out(blocks, in, size, last);
    if (!blocks->begun && blocks->used) {
        memcpy(blocks->blocks[0].out, header, HEADER_BYTES);
        blocks->blocks[0].out_size = HEADER_BYTES;
        blocks->begun = true;
    }
    atomic_store(&blocks->next, 0);
    thread_team_init(&team, blocks->used > 1 ? (uint32_t)blocks->used : 1);
    thread_team_run(&team, compress_blocks, blocks, NULL);
    thread_team_end(&team);
    add_sums(blocks);
    if (last) {
        put_number(&blocks->blocks[blocks->used - 1], blocks->sum);
        put_number(&blocks->blocks[blocks->used - 1], blocks->total);
    }
    blocks->window_size = size < WINDOW_BYTES ? size : WINDOW_BYTES;
    memcpy(blocks->window, in + size - blocks->window_size, blocks->window_size);
}

bool gzip_blocks_part(const struct gzip_blocks *blocks, size_t number, const uint8_t **out,
                      size_t *out_size)
{
    if (number >= blocks->used)
        return false;
    *out = blocks->blocks[number].out;
    *out_size = blocks->blocks[number].out_size;
    return true;
}
