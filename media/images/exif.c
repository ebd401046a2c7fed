/* What EXIF says of a picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "media/decode.h"

/* A few tags of three directories are wanted, of blocks that anybody wrote: a general EXIF library
 * would copy every entry first (5 000 entries may share 64 KiB) and cannot look into a TIFF. */

enum { TYPE_ASCII = 2, TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_RATIONAL = 5, ENTRY_BYTES = 12 };

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

/* Digits behind the point of a second: 1 + thousandths; 0: there are none. */
static uint16_t exif_fraction(const char *text)
{
    int thousandths = 0, digits = 0;
    for (; digits < 3 && text[digits] >= '0' && text[digits] <= '9'; digits++)
        thousandths = 10 * thousandths + text[digits] - '0';
    for (int i = digits; i < 3; i++)
        thousandths *= 10;
    return digits ? (uint16_t)(1 + thousandths) : 0;
}

/* Degrees, minutes and seconds as 10^-7 degrees. @return false: it is no angle up to `most` degrees
 */
static bool read_angle(const struct exif_block *block, size_t directory, enum tiff_tag tag,
                       double most, int32_t *out)
{
    size_t entry = find_entry(block, directory, tag);
    double degrees = 0, unit = 1;
    if (!entry || number_block(block, entry + 2, 2) != TYPE_RATIONAL ||
        number_block(block, entry + 4, 4) != 3)
        return false;
    size_t at = number_block(block, entry + 8, 4);
    for (int i = 0; i < 3; i++, at += 8, unit *= 60) {
        if (block->size < 8 || at > block->size - 8 || !number_block(block, at + 4, 4))
            return false;
        degrees += number_block(block, at, 4) / (double)number_block(block, at + 4, 4) / unit;
    }
    *out = degrees <= most ? (int32_t)lround(1e7 * degrees) : 0;
    return degrees <= most;
}

/* Devices that do not know where they are write 0, 0. */
static void read_place(const struct exif_block *block, size_t directory,
                       struct doppel_image_origin *out)
{
    char south[2], west[2];
    int32_t latitude, longitude;
    read_tag_text(block, directory, TIFF_LATITUDE_SIDE, south, sizeof south);
    read_tag_text(block, directory, TIFF_LONGITUDE_SIDE, west, sizeof west);
    if (!strchr("NS", *south) || !strchr("EW", *west) || !*south || !*west ||
        !read_angle(block, directory, TIFF_LATITUDE, 90, &latitude) ||
        !read_angle(block, directory, TIFF_LONGITUDE, 180, &longitude))
        return;
    out->latitude_e7 = *south == 'S' ? -latitude : latitude;
    out->longitude_e7 = *west == 'W' ? -longitude : longitude;
}

void exif_read_origin(const uint8_t *data, size_t size, struct doppel_image_origin *out)
{
    char date[24], fraction[4];
    size_t prefix = size >= 6 && !memcmp(data, "Exif\0", 6) ? 6 : 0;
    if (size < prefix + 8 ||
        (memcmp(data + prefix, "II*\0", 4) != 0 && memcmp(data + prefix, "MM\0*", 4) != 0))
        return;
    struct exif_block block = {data + prefix, size - prefix, data[prefix] == 'M'};
    size_t directory = number_block(&block, 4, 4), more = find_tag(&block, TIFF_EXIF_DIRECTORY);
    read_tag_text(&block, directory, TIFF_MODEL, out->camera, sizeof out->camera);
    read_tag_text(&block, more, TIFF_DATE_TAKEN, date, sizeof date);
    read_tag_text(&block, more, TIFF_DATE_FRACTION, fraction, sizeof fraction);
    out->taken_s = exif_seconds(date);
    out->taken_fraction = out->taken_s ? exif_fraction(fraction) : 0;
    read_place(&block, find_tag(&block, TIFF_PLACE_DIRECTORY), out);
}

void exif_read(const uint8_t *data, size_t size, struct image *out)
{
    out->orientation = orientation_read(data, size);
    exif_read_origin(data, size, &out->origin);
}

static bool begins_tiff(const uint8_t *data, size_t size)
{
    return size >= 8 && (memcmp(data, "II*\0", 4) == 0 || memcmp(data, "MM\0*", 4) == 0);
}

bool tiff_has(const uint8_t *data, size_t size, enum tiff_tag tag)
{
    struct exif_block block = {data, size, size && data[0] == 'M'};
    return begins_tiff(data, size) && find_entry(&block, number_block(&block, 4, 4), tag) != 0;
}

uint32_t tiff_number(const uint8_t *data, size_t size, enum tiff_tag tag)
{
    if (!begins_tiff(data, size))
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
