/* The blocks of a GIF, and how much of its first frame is there: codes are counted, not decoded.
 * Source: GIF89a specification, CompuServe 1990. */
#include "media/images/gif.h"

#include "core/bytes.h"

enum {
    HEAD_BYTES = 13,
    DESCRIPTOR_BYTES = 10,
    EXTENSION = 0x21,
    FRAME = 0x2c,
    TRAILER = 0x3b,
    MAX_CODES = 4096,
    MAX_CODE_BITS = 12,
    NO_CODE = MAX_CODES
};

struct gif_bytes {
    const uint8_t *data;
    size_t size;
};

/* Bytes of a table of colours, as a field of flags tells. */
static size_t colours_bytes(uint8_t flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

/* What follows the blocks at `at`, and the empty one that ends them; beyond the size: it is not
 * there. */
static size_t skip_blocks(const struct gif_bytes *file, size_t at)
{
    while (at < file->size && file->data[at])
        at += 1 + (size_t)file->data[at];
    return at + 1;
}

/* The first frame's descriptor, past all extensions; the size without one. */
static size_t find_frame(const struct gif_bytes *file)
{
    size_t at = HEAD_BYTES + colours_bytes(file->data[10]);
    while (at + 2 <= file->size && file->data[at] == EXTENSION)
        at = skip_blocks(file, at + 2);
    return at + DESCRIPTOR_BYTES <= file->size && file->data[at] == FRAME ? at : file->size;
}

/* ---- codes ---- */

/* The bits of the blocks, lowest first. */
struct gif_codes {
    struct gif_bytes file;
    size_t at, block_end;
    uint32_t bits, count;
};

static bool next_code(struct gif_codes *codes, unsigned width, unsigned *out)
{
    while (codes->count < width) {
        if (codes->at == codes->block_end) {
            if (codes->at >= codes->file.size || !codes->file.data[codes->at])
                return false;
            codes->block_end = codes->at + 1 + codes->file.data[codes->at];
            codes->at++;
        }
        if (codes->at >= codes->file.size)
            return false;
        codes->bits |= (uint32_t)codes->file.data[codes->at++] << codes->count;
        codes->count += 8;
    }
    *out = codes->bits & ((1u << width) - 1);
    codes->bits >>= width;
    codes->count -= width;
    return true;
}

/* Pixels that the codes make, up to `most`: of each code it is enough to know how many. */
static uint64_t count_pixels(struct gif_codes *codes, unsigned min_bits, uint64_t most)
{
    uint16_t lengths[MAX_CODES] = {0};
    const unsigned clear = 1u << min_bits;
    unsigned width = min_bits + 1, next = clear + 2, last = NO_CODE, code;
    uint64_t pixels = 0;
    for (unsigned i = 0; i < clear; i++)
        lengths[i] = 1;
    while (pixels < most && next_code(codes, width, &code) && code != clear + 1) {
        if (code == clear) {
            width = min_bits + 1;
            next = clear + 2;
            last = NO_CODE;
            continue;
        }
        if (last != NO_CODE && next < MAX_CODES) {
            lengths[next++] = (uint16_t)(lengths[last] + 1);
            if (next == 1u << width && width < MAX_CODE_BITS)
                width++;
        }
        if (code >= next)
            break;
        pixels += lengths[code];
        last = code;
    }
    return pixels < most ? pixels : most;
}

/* Of the frame whose descriptor is at `frame`; `most` when all that it declares are there. */
static uint64_t frame_pixels(const struct gif_bytes *file, size_t frame, uint64_t most)
{
    const uint8_t *descriptor = file->data + frame;
    size_t first = frame + DESCRIPTOR_BYTES + colours_bytes(descriptor[9]) + 1;
    unsigned min_bits = first <= file->size ? file->data[first - 1] : 0;
    struct gif_codes codes = {.file = *file, .at = first, .block_end = first};
    return min_bits && min_bits < MAX_CODE_BITS ? count_pixels(&codes, min_bits, most) : 0;
}

/* ---- whole ---- */

/* Whether the frame is as large as the canvas, and no code of it is missing or wrong. */
static bool fills_canvas(const struct gif_bytes *file, size_t frame)
{
    const uint8_t *descriptor = file->data + frame;
    uint32_t width = get_u16(file->data + 6), height = get_u16(file->data + 8);
    uint64_t most = (uint64_t)width * height;
    return !get_u32(descriptor + 1) && get_u16(descriptor + 5) == width &&
           get_u16(descriptor + 7) == height && frame_pixels(file, frame, most) == most;
}

bool gif_is_still(const uint8_t *data, size_t size)
{
    const struct gif_bytes file = {data, size};
    unsigned frames = 0;
    size_t first = size > HEAD_BYTES ? find_frame(&file) : size, at = first;
    while (at < size && (data[at] == EXTENSION || data[at] == FRAME)) {
        bool frame = data[at] == FRAME;
        if (frame && at + DESCRIPTOR_BYTES > size)
            return false;
        frames += frame;
        at += frame ? DESCRIPTOR_BYTES + colours_bytes(data[at + 9]) + 1 : 2;
        at = skip_blocks(&file, at);
    }
    bool ends = at == size || (at < size && data[at] == TRAILER);
    return frames == 1 && ends && fills_canvas(&file, first);
}

/* ---- rows ---- */

static struct gif_rows rows_of(const struct gif_bytes *file, const uint8_t *descriptor,
                               uint64_t pixels)
{
    uint32_t width = get_u16(descriptor + 5), known;
    struct gif_rows gif = {.height = get_u16(file->data + 8),
                           .top = get_u16(descriptor + 3),
                           .frame_height = get_u16(descriptor + 7),
                           .read = width ? (uint32_t)(pixels / width) : 0,
                           .interlaced = descriptor[9] & 0x40};
    known = gif.interlaced ? 8 * gif.read : gif.read;
    gif.rows = gif.top + (known < gif.frame_height ? known : gif.frame_height);
    if (gif.rows > gif.height || known >= gif.frame_height)
        gif.rows = gif.height;
    return gif;
}

bool gif_is_cut(const uint8_t *data, size_t size, struct gif_rows *out)
{
    const struct gif_bytes file = {data, size};
    size_t frame = size > HEAD_BYTES ? find_frame(&file) : size;
    if (frame == size)
        return false;
    const uint8_t *descriptor = data + frame;
    size_t first = frame + DESCRIPTOR_BYTES + colours_bytes(descriptor[9]) + 1;
    if (first < size && skip_blocks(&file, first) <= size)
        return false;
    uint64_t most = (uint64_t)get_u16(descriptor + 5) * get_u16(descriptor + 7);
    uint64_t pixels = frame_pixels(&file, frame, most);
    *out = rows_of(&file, descriptor, pixels);
    return pixels < most;
}

/* Rows 0, 8, …; 4, 12, …; 2, 6, …; 1, 3, … */
static uint32_t turn_of_gif(uint32_t y, uint32_t height)
{
    uint32_t eighths = (height + 7) / 8, fours = (height + 3) / 8, twos = (height + 1) / 4;
    return y % 8 == 0   ? y / 8
           : y % 8 == 4 ? eighths + y / 8
           : y % 4 == 2 ? eighths + fours + y / 4
                        : eighths + fours + twos + y / 2;
}

bool gif_lacks_row(const struct gif_rows *gif, uint32_t y)
{
    return gif->interlaced && y > gif->top && y - gif->top < gif->frame_height &&
           turn_of_gif(y - gif->top, gif->frame_height) >= gif->read;
}
