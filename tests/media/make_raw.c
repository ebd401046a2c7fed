/* Raw files as a camera writes them: DNG, with the sensor's data as they are, and a preview.
 * Source: Adobe, "Digital Negative (DNG) Specification" 1.4. */
#include "make.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

enum { TYPE_BYTE = 1, TYPE_ASCII, TYPE_SHORT, TYPE_LONG, TYPE_RATIONAL, TYPE_SRATIONAL = 10 };
enum { MOST_TAGS = 24, CFA = 32803, JPEG = 7, YCC = 6, DAYLIGHT = 21 };

struct dng_tag {
    uint16_t tag, type;
    uint32_t count;
    const void *values; /* little-endian */
};

struct directory {
    struct dng_tag tags[MOST_TAGS];
    size_t count;
};

static const uint32_t value_bytes[] = {0, 1, 1, 2, 4, 8, [TYPE_SRATIONAL] = 8};

static void add_tag(struct directory *directory, struct dng_tag tag)
{
    assert(directory->count < MOST_TAGS);
    directory->tags[directory->count++] = tag;
}

static void add_number(struct directory *directory, uint16_t tag, const uint32_t *value)
{
    add_tag(directory, (struct dng_tag){tag, TYPE_LONG, 1, value});
}

/* What is longer than four bytes lies before its directory. @return where that is */
static uint32_t append_directory(struct file *file, const struct directory *directory)
{
    uint8_t entries[2 + MOST_TAGS * 12 + 4] = {0};
    put_u16(entries, (uint16_t)directory->count);
    for (size_t i = 0; i < directory->count; i++) {
        const struct dng_tag *tag = &directory->tags[i];
        uint32_t bytes = tag->count * value_bytes[tag->type];
        uint8_t *entry = entries + 2 + i * 12;
        put_u16(entry, tag->tag);
        put_u16(entry + 2, tag->type);
        put_u32(entry + 4, tag->count);
        put_u32(entry + 8, (uint32_t)file->size);
        if (bytes <= 4)
            memcpy(entry + 8, tag->values, bytes);
        else
            file_append(file, tag->values, bytes);
        if (bytes > 4 && bytes % 2)
            file_append(file, "", 1);
    }
    uint32_t at = (uint32_t)file->size;
    file_append(file, entries, 2 + directory->count * 12 + 4);
    return at;
}

/* Red, green, green, blue: the sensor's light is linear, the scene's sRGB. */
static void append_sensor(struct file *file, const struct scene *scene)
{
    size_t bytes = (size_t)scene->width * scene->height * 2;
    uint8_t *samples = malloc(bytes), *out = samples;
    assert(samples);
    for (uint32_t y = 0; y < scene->height; y++) {
        for (uint32_t x = 0; x < scene->width; x++, out += 2) {
            const uint8_t *pixel = scene->rgba + ((size_t)y * scene->width + x) * 4;
            double value = pixel[y % 2 + x % 2] / 255.;
            put_u16(out, (uint16_t)(65535 * value * value));
        }
    }
    file_append(file, samples, bytes);
    free(samples);
}

/* Where the parts lie, as known when the first directory is written: it comes first, as cameras do
 * it. */
struct dng_places {
    uint32_t sensor, sensor_directory, exif_directory, preview;
};

static uint32_t append_sensor_directory(struct file *file, const struct scene *scene,
                                        const uint32_t *sensor_at)
{
    static const uint32_t zero, one = 1, bits = 16, cfa = CFA, white = 65535;
    static const uint8_t pattern[] = {0, 1, 1, 2};
    static const uint16_t repeat[] = {2, 2};
    uint32_t sensor_bytes = scene->width * scene->height * 2;
    struct directory sensor = {0};
    add_number(&sensor, 0x00fe, &zero);
    add_number(&sensor, 0x0100, &scene->width);
    add_number(&sensor, 0x0101, &scene->height);
    add_number(&sensor, 0x0102, &bits);
    add_number(&sensor, 0x0103, &one);
    add_number(&sensor, 0x0106, &cfa);
    add_number(&sensor, 0x0111, sensor_at);
    add_number(&sensor, 0x0115, &one);
    add_number(&sensor, 0x0116, &scene->height);
    add_number(&sensor, 0x0117, &sensor_bytes);
    add_tag(&sensor, (struct dng_tag){0x828d, TYPE_SHORT, 2, repeat});
    add_tag(&sensor, (struct dng_tag){0x828e, TYPE_BYTE, 4, pattern});
    add_number(&sensor, 0xc61d, &white);
    return append_directory(file, &sensor);
}

static uint32_t append_exif_directory(struct file *file)
{
    static const char date[] = "2024:02:03 04:05:06";
    struct directory exif = {0};
    add_tag(&exif, (struct dng_tag){0x9003, TYPE_ASCII, sizeof date, date});
    add_tag(&exif, (struct dng_tag){0x9291, TYPE_ASCII, 3, "25"});
    return append_directory(file, &exif);
}

static uint32_t append_first_directory(struct file *file, const struct raw_how *how,
                                       const struct dng_places *places)
{
    static const uint32_t one = 1, jpeg = JPEG, ycc = YCC;
    /* XYZ to the camera's colours, which are those of sRGB. */
    static const int32_t colours[] = {32406, 10000, -15372, 10000, -4986, 10000,
                                      -9689, 10000, 18758,  10000, 415,   10000,
                                      557,   10000, -2040,  10000, 10570, 10000};
    static const uint32_t neutral[] = {1, 1, 1, 1, 1, 1};
    static const uint8_t version[] = {1, 4, 0, 0};
    static const uint16_t daylight = DAYLIGHT;
    static const char make[] = "Test", model[] = "Camera 1";
    uint32_t orientation = how->orientation ? how->orientation : 1;
    uint32_t preview_bytes = (uint32_t)how->preview.size;
    struct directory first = {0};
    add_number(&first, 0x00fe, &one);
    if (preview_bytes) {
        add_number(&first, 0x0100, &how->preview_width);
        add_number(&first, 0x0101, &how->preview_height);
        add_number(&first, 0x0103, &jpeg);
        add_number(&first, 0x0106, &ycc);
    }
    add_tag(&first, (struct dng_tag){0x010f, TYPE_ASCII, sizeof make, make});
    add_tag(&first, (struct dng_tag){0x0110, TYPE_ASCII, sizeof model, model});
    if (preview_bytes)
        add_number(&first, 0x0111, &places->preview);
    add_number(&first, 0x0112, &orientation);
    if (preview_bytes)
        add_number(&first, 0x0117, &preview_bytes);
    add_number(&first, 0x014a, &places->sensor_directory);
    add_number(&first, 0x8769, &places->exif_directory);
    add_tag(&first, (struct dng_tag){0xc612, TYPE_BYTE, 4, version});
    add_tag(&first, (struct dng_tag){0xc621, TYPE_SRATIONAL, 9, colours});
    add_tag(&first, (struct dng_tag){0xc628, TYPE_RATIONAL, 3, neutral});
    add_tag(&first, (struct dng_tag){0xc65a, TYPE_SHORT, 1, &daylight});
    return append_directory(file, &first);
}

/* @param places as another call found them; zeros give a file of the same lengths */
static struct file write_dng(const struct scene *scene, const struct raw_how *how,
                             struct dng_places *places)
{
    struct file file = {0};
    struct dng_places found = {0};
    file_append(&file, "II*\0\0\0\0\0", 8);
    uint32_t first = append_first_directory(&file, how, places);
    put_u32(file.data + 4, first);
    found.exif_directory = append_exif_directory(&file);
    found.sensor_directory = append_sensor_directory(&file, scene, &places->sensor);
    found.preview = (uint32_t)file.size;
    if (how->preview.size)
        file_append(&file, how->preview.data, how->preview.size);
    found.sensor = (uint32_t)file.size;
    append_sensor(&file, scene);
    *places = found;
    return file;
}

struct file make_raw(const struct scene *scene, const struct raw_how *how)
{
    struct dng_places places = {0};
    struct file lengths = write_dng(scene, how, &places);
    file_free(&lengths);
    return write_dng(scene, how, &places);
}
