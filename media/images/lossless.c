/* Whether a file that libavcodec decodes holds its picture without loss: decoders make do with what
 * is damaged, and of two ways to read the same bytes take one. */
#include "media/images/lossless.h"

#include "core/bytes.h"
#include "media/decode.h"
#include "media/images/gif.h"

/* The packets of runs, to their last byte: FFmpeg makes up what is missing of the last one. */
static bool tga_has_all_runs(const uint8_t *data, size_t size)
{
    uint64_t pixel = (data[16] + 7u) / 8, map_entry = (data[7] + 7u) / 8;
    uint64_t at = 18 + (uint64_t)data[0] + (data[1] ? get_u16(data + 5) * map_entry : 0);
    uint64_t left = (uint64_t)get_u16(data + 12) * get_u16(data + 14);
    while (left && at < size) {
        uint64_t count = (data[at] & 127u) + 1;
        at += 1 + (data[at] & 128 ? 1 : count) * pixel;
        left -= count < left ? count : left;
    }
    return !left && at <= size;
}

/* The attribute bit of 16 is dropped. */
static bool tga_is_lossless(const uint8_t *data, size_t size)
{
    bool attribute = data[16] == 16 && data[17] & 15;
    return !attribute && (data[2] < 8 || tga_has_all_runs(data, size));
}

/* Runs may leave pixels out, whose colour nobody tells, and end early. */
static bool bmp_is_lossless(const uint8_t *data, size_t size)
{
    enum { RLE8 = 1, RLE4 = 2 };
    bool runs = size >= 34 && get_u32(data + 14) >= 40 &&
                (get_u32(data + 30) == RLE8 || get_u32(data + 30) == RLE4);
    return !runs;
}

bool lossless_is_whole(enum doppel_format format, const uint8_t *data, size_t size)
{
    switch (format) {
    case DOPPEL_FORMAT_GIF:
        return gif_is_still(data, size);
    case DOPPEL_FORMAT_BMP:
        return bmp_is_lossless(data, size);
    case DOPPEL_FORMAT_TGA:
        return tga_is_lossless(data, size);
    default:
        return false;
    }
}
