/* Pages of Parquet, unpacked by the libraries of their formats. */
#include "corpus/read/parquet/unpack.h"

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
