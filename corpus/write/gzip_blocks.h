/* gzip on several threads: blocks of one member, each compressed with the end of the one before as
 * its dictionary, as pigz does it. */
#ifndef DOPPEL_CORPUS_WRITE_GZIP_BLOCKS_H
#define DOPPEL_CORPUS_WRITE_GZIP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GZIP_BLOCK_BYTES = 1 << 18 };

struct gzip_blocks;

/** @param threads from 1: as many blocks are compressed at once. @return given; NULL: no memory */
struct gzip_blocks *gzip_blocks_new(uint32_t threads);
void gzip_blocks_free(struct gzip_blocks *blocks);

/** How many bytes are compressed at once. */
size_t gzip_blocks_capacity(const struct gzip_blocks *blocks);

/** Compress all that follows what came before; `size` is the capacity, or less where it is the
 * last. */
void gzip_blocks_pack(struct gzip_blocks *blocks, const uint8_t *in, size_t size, bool last);

/** What came of it, part by part; the first begins with the header, the last ends with the trailer.
 * False: there is no such part. @param out borrowed until the next pack */
bool gzip_blocks_part(const struct gzip_blocks *blocks, size_t number, const uint8_t **out,
                      size_t *out_size);

#endif
