/* What EXIF says of a picture: read; and its orientation applied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "media/decode.h"

/* One tag of one directory is wanted, of blocks that anybody wrote: a general EXIF library
 * would copy every entry first (5 000 entries may share 64 KiB) and cannot look into a TIFF. */

enum { TYPE_ASCII = 2, TYPE_SHORT = 3, TYPE_LONG = 4, ENTRY_BYTES = 12 };

struct exif_block {
    const uint8_t *data;
    size_t size;
    bool big_endian;
};

static uint32_t number_block(const struct exif_block *block, size_t offset, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | block->data[offset + (block->big_endian ? i : bytes - 1 - i)];
    return value;
}

/* Where the entry of a tag lies in a directory; 0: there is none. */
static size_t find_entry(const struct exif_block *block, size_t directory, enum tiff_tag tag)
{
    if (directory < 8 || directory > block->size - 2)
        return 0;
    size_t fitting = (block->size - directory - 2) / ENTRY_BYTES;
    size_t count = number_block(block, directory, 2);
    for (size_t i = 0; i < count && i < fitting; i++) {
        size_t entry = directory + 2 + i * ENTRY_BYTES;
        if (number_block(block, entry, 2) == (uint32_t)tag)
            return entry;
    }
    return 0;
}

static uint32_t find_tag(const struct exif_block *block, enum tiff_tag tag)
{
    size_t entry = find_entry(block, number_block(block, 4, 4), tag);
    uint32_t type = entry ? number_block(block, entry + 2, 2) : 0;
    if (type != TYPE_SHORT && type != TYPE_LONG)
        return 0;
    return number_block(block, entry + 8, type == TYPE_SHORT ? 2 : 4);
}

/* The printable ASCII that a tag of a directory begins with; "": there is none. */
static void read_tag_text(const struct exif_block *block, size_t directory, enum tiff_tag tag,
                          char *out, size_t room)
{
    size_t entry = find_entry(block, directory, tag), used = 0;
    if (entry && number_block(block, entry + 2, 2) == TYPE_ASCII) {
        size_t size = number_block(block, entry + 4, 4);
        size_t at = size <= 4 ? entry + 8 : number_block(block, entry + 8, 4);
        while (used + 1 < room && used < size && at < block->size && block->data[at] >= ' ' &&
               block->data[at] < 127)
            out[used++] = (char)block->data[at++];
    }
    out[used] = 0;
}

/* "2020:12:31 23:59:58" as seconds since 1970, as if it were UTC; 0: it is no date. */
static int64_t exif_seconds(const char *text)
{
    struct tm time = {0};
    if (sscanf(text, "%4d:%2d:%2d %2d:%2d:%2d", &time.tm_year, &time.tm_mon, &time.tm_mday,
               &time.tm_hour, &time.tm_min, &time.tm_sec) != 6 ||
        time.tm_year < 1900 || time.tm_mon < 1 || time.tm_mon > 12 || time.tm_mday < 1 ||
        time.tm_mday > 31 || time.tm_hour < 0 || time.tm_hour > 23 || time.tm_min < 0 ||
        time.tm_min > 59 || time.tm_sec < 0 || time.tm_sec > 60)
        return 0;
    time.tm_year -= 1900;
    time.tm_mon--;
    return timegm(&time);
}

void exif_read(const uint8_t *data, size_t size, struct image *out)
{
    char date[24];
    size_t prefix = size >= 6 && !memcmp(data, "Exif\0", 6) ? 6 : 0;
    out->orientation = orientation_read(data, size);
    if (size < prefix + 8 ||
        (memcmp(data + prefix, "II*\0", 4) != 0 && memcmp(data + prefix, "MM\0*", 4) != 0))
        return;
    struct exif_block block = {data + prefix, size - prefix, data[prefix] == 'M'};
    size_t directory = number_block(&block, 4, 4), more = find_tag(&block, TIFF_EXIF_DIRECTORY);
    read_tag_text(&block, directory, TIFF_MODEL, out->origin.camera, sizeof out->origin.camera);
    read_tag_text(&block, more, TIFF_DATE_TAKEN, date, sizeof date);
    out->origin.taken_s = exif_seconds(date);
}

bool tiff_is_cut(const uint8_t *data, size_t size)
{
    struct exif_block block = {data, size, data[0] == 'M'};
    size_t directory = number_block(&block, 4, 4);
    return directory + 2 > size ||
           directory + 2 + (size_t)number_block(&block, directory, 2) * ENTRY_BYTES > size;
}

bool tiff_has_more(const uint8_t *data, size_t size)
{
    struct exif_block block = {data, size, data[0] == 'M'};
    uint64_t directory = number_block(&block, 4, 4);
    if (directory + 2 > size)
        return false;
    uint64_t end =
        directory + 2 + (uint64_t)number_block(&block, (size_t)directory, 2) * ENTRY_BYTES;
    return end + 4 <= size && number_block(&block, (size_t)end, 4) != 0;
}

uint32_t tiff_number(const uint8_t *data, size_t size, enum tiff_tag tag)
{
    if (size < 8 || (memcmp(data, "II*\0", 4) && memcmp(data, "MM\0*", 4)))
        return 0;
    struct exif_block block = {data, size, data[0] == 'M'};
    return find_tag(&block, tag);
}

unsigned orientation_read(const uint8_t *data, size_t size)
{
    bool prefixed = size >= 6 && !memcmp(data, "Exif\0", 6);
    uint32_t value = prefixed ? tiff_number(data + 6, size - 6, TIFF_ORIENTATION)
                              : tiff_number(data, size, TIFF_ORIENTATION);
    return value >= 1 && value <= 8 ? value : 0;
}

/* Where the sample shown at (0, 0) lies, and the steps to its right and lower neighbours. */
struct turn {
    ptrdiff_t first, right, down;
    uint32_t width, height; /* as shown */
};

static struct turn turn_of_plane(const struct doppel_plane *plane, unsigned orientation)
{
    bool transposed = orientation >= 5;
    ptrdiff_t width = plane->width, height = plane->height, stride = (ptrdiff_t)plane->stride;
    /* EXIF 2.32, tag 0x0112: which side of the stored picture is its top and its left as shown. */
    bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    ptrdiff_t along_row = from_right ? -1 : 1, along_column = from_bottom ? -stride : stride;
    return (struct turn){
        .first = (from_right ? width - 1 : 0) + (from_bottom ? (height - 1) * stride : 0),
        .right = transposed ? along_column : along_row,
        .down = transposed ? along_row : along_column,
        .width = transposed ? plane->height : plane->width,
        .height = transposed ? plane->width : plane->height,
    };
}

/* Where the data of a chunk begin, in a file of chunks: a PNG has length and name before, and a
 * checksum after them; a WebP has name and length before them, and is padded to even. */
static const uint8_t *find_chunk(const uint8_t *data, size_t size, bool png, const char name[4],
                                 size_t *out_size)
{
    for (size_t at = png ? 8 : 12; size >= 8 && at <= size - 8;) {
        const uint8_t *head = data + at;
        struct exif_block block = {head, 8, png};
        uint64_t length = number_block(&block, png ? 0 : 4, 4);
        if (length > size - at - 8)
            return NULL;
        if (memcmp(head + (png ? 4 : 0), name, 4) == 0) {
            *out_size = (size_t)length;
            return head + 8;
        }
        at += 8 + (size_t)length + (png ? 4 : length % 2);
    }
    return NULL;
}

unsigned orientation_of_file(enum doppel_format format, const uint8_t *data, size_t size)
{
    if (format == DOPPEL_FORMAT_TIFF)
        return orientation_read(data, size);
    if (format != DOPPEL_FORMAT_PNG && format != DOPPEL_FORMAT_WEBP)
        return 0;
    bool png = format == DOPPEL_FORMAT_PNG;
    size_t exif_size = 0;
    const uint8_t *exif = find_chunk(data, size, png, png ? "eXIf" : "EXIF", &exif_size);
    return exif ? orientation_read(exif, exif_size) : 0;
}

void orientation_turn(const struct doppel_plane *plane, unsigned orientation, uint8_t *out)
{
    struct turn turn = turn_of_plane(plane, orientation);
    for (uint32_t y = 0; y < turn.height; y++) {
        const uint8_t *in = plane->data + turn.first + (ptrdiff_t)y * turn.down;
        for (uint32_t x = 0; x < turn.width; x++)
            *out++ = in[(ptrdiff_t)x * turn.right];
    }
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

enum doppel_status orientation_apply(struct image *image, const struct doppel_media_limits *limits,
                                     struct doppel_error *error)
{
    if (image->orientation <= 1)
        return DOPPEL_OK;
    struct doppel_plane plane = {image->pixels, image->width, image->height, image->width};
    size_t bytes = (size_t)plane.width * plane.height;
    enum doppel_status status = check_memory(limits, 2 * (uint64_t)bytes, error);
    if (status != DOPPEL_OK)
        return status;
    uint8_t *upright = malloc(bytes);
    if (!upright)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to turn a picture of %u x %u",
                           image->width, image->height);
    orientation_turn(&plane, image->orientation, upright);
    free(image->pixels);
    image->pixels = upright;
    if (image->orientation >= 5) {
        swap(&image->full_width, &image->full_height);
        swap(&image->width, &image->height);
    }
    image->orientation = 1;
    return DOPPEL_OK;
}
