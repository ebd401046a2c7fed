/* Pages of Parquet, unpacked by the libraries of their formats, and the runs of small numbers in
 * them: repeated ones, and packed ones. */
#include "corpus/read/parquet/parquet.h"

#include <limits.h>
#include <snappy-c.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { CODEC_NONE = 0, CODEC_SNAPPY = 1, CODEC_GZIP = 2, CODEC_ZSTD = 6 };

bool parquet_codec_is_known(int codec)
{
    return codec == CODEC_NONE || codec == CODEC_SNAPPY || codec == CODEC_GZIP ||
           codec == CODEC_ZSTD;
}

static bool unpack_gzip(const uint8_t *from, size_t size, uint8_t *to, size_t to_size)
{
    z_stream stream = {.next_in = (Bytef *)from, .next_out = to};
    if (size > UINT_MAX || to_size > UINT_MAX || inflateInit2(&stream, 15 + 32) != Z_OK)
        return false;
    stream.avail_in = (uInt)size;
    stream.avail_out = (uInt)to_size;
    bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    return whole;
}

bool parquet_unpack(int codec, const uint8_t *from, size_t size, uint8_t *to, size_t to_size)
{
    size_t stated = 0;
    switch (codec) {
    case CODEC_NONE:
        if (size == to_size)
            memcpy(to, from, size);
        return size == to_size;
    case CODEC_SNAPPY:
        return snappy_uncompressed_length((const char *)from, size, &stated) == SNAPPY_OK &&
               stated == to_size &&
               snappy_uncompress((const char *)from, size, (char *)to, &stated) == SNAPPY_OK &&
               stated == to_size;
    case CODEC_GZIP:
        return unpack_gzip(from, size, to, to_size);
    case CODEC_ZSTD:
        return ZSTD_decompress(to, to_size, from, size) == to_size;
    default:
        return false;
    }
}

/* ---- runs ---- */

static void begin_level_run(struct parquet_levels *levels)
{
    struct thrift *bytes = &levels->bytes;
    while (!levels->left && !bytes->broken) {
        uint64_t header = thrift_varint(bytes);
        size_t at_hand = (size_t)(bytes->end - bytes->at);
        size_t size = (levels->width + 7) / 8;
        levels->packed = header & 1;
        levels->left = header >> 1;
        if (levels->packed) {
            bytes->broken |= levels->left > UINT32_MAX;
            uint64_t wanted = levels->left * levels->width;
            levels->left = levels->left * 8;
            levels->numbers = bytes->at;
            levels->bit = 0;
            size = wanted < at_hand ? (size_t)wanted : at_hand; /* the last may be cut */
            if (levels->width && levels->left > (uint64_t)size * 8 / levels->width)
                levels->left = (uint64_t)size * 8 / levels->width;
            bytes->broken |= levels->width && !levels->left && wanted;
        } else if (size > at_hand) {
            bytes->broken = true;
        } else {
            levels->repeated = 0;
            for (size_t i = 0; i < size; i++)
                levels->repeated |= (uint32_t)bytes->at[i] << 8 * i;
        }
        if (!bytes->broken)
            bytes->at += size;
    }
}

uint32_t parquet_levels_next(struct parquet_levels *levels)
{
    if (!levels->left)
        begin_level_run(levels);
    if (levels->bytes.broken)
        return 0;
    levels->left--;
    if (!levels->packed)
        return levels->repeated;
    uint64_t value = 0;
    unsigned shift = levels->bit & 7, wanted = shift + levels->width;
    const uint8_t *at = levels->numbers + levels->bit / 8;
    for (unsigned i = 0; i * 8 < wanted; i++)
        value |= (uint64_t)at[i] << 8 * i;
    levels->bit += levels->width;
    return (uint32_t)(value >> shift & ((UINT64_C(1) << levels->width) - 1));
}
