/* The digest of a lossless picture's pixels: the same of all files that hold the same, and of no
 * other. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

#include "core/bytes.h"

static const struct doppel_digest none;

/* From the definition, of all pixels at once. */
static struct doppel_digest expected(const struct scene *scene, unsigned orientation)
{
    size_t pixels = (size_t)scene->width * scene->height;
    uint8_t *bytes = malloc(8 + 3 * pixels), *alpha = malloc(pixels), turned[17];
    bool seen_through = false;
    put_u32(bytes, scene->width);
    put_u32(bytes + 4, scene->height);
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *rgba = scene->rgba + 4 * i;
        for (unsigned c = 0; c < 3; c++)
            bytes[8 + 3 * i + c] = rgba[3] ? rgba[c] : 0;
        alpha[i] = rgba[3];
        seen_through |= rgba[3] != 255;
    }
    struct doppel_digest both[2] = {doppel_digest_bytes(bytes, 8 + 3 * pixels),
                                    doppel_digest_bytes(alpha, pixels)};
    struct doppel_digest digest = seen_through ? doppel_digest_bytes(both, sizeof both) : both[0];
    memcpy(turned, &digest, sizeof digest);
    turned[16] = (uint8_t)orientation;
    free(bytes);
    free(alpha);
    return orientation > 1 ? doppel_digest_bytes(turned, sizeof turned) : digest;
}

/* Frees the file. */
static struct doppel_digest digest_of(struct file file)
{
    struct doppel_luma luma = read_good(&file, NULL);
    struct doppel_digest digest = luma.digest;
    doppel_luma_free(&luma);
    file_free(&file);
    return digest;
}

static void assert_digest(struct file file, struct doppel_digest wanted)
{
    if (!file.data)
        return; /* no such encoder here */
    struct doppel_digest digest = digest_of(file);
    assert_memory_equal(&digest, &wanted, sizeof digest);
}

static struct file png_of(const struct scene *scene, int colour_type, int depth, bool interlaced)
{
    return make_png(
        scene,
        &(struct png_how){.colour_type = colour_type, .depth = depth, .interlaced = interlaced});
}

static void every_way_to_write_is_the_same(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 131, 97);
    struct doppel_digest wanted = expected(&scene, 1);
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        assert_digest(png_of(&scene, PNG_COLOR_TYPE_RGB, 8, interlaced), wanted);
        assert_digest(png_of(&scene, PNG_COLOR_TYPE_RGB_ALPHA, 8, interlaced), wanted);
    }
#ifdef HAVE_FFMPEG
    static const enum doppel_format formats[] = {DOPPEL_FORMAT_BMP, DOPPEL_FORMAT_TIFF,
                                                 DOPPEL_FORMAT_TGA};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        assert_digest(make_lavc(&scene, formats[i], NULL), wanted);
    assert_digest(make_lavc(&scene, DOPPEL_FORMAT_BMP, "bgra"), wanted);
    assert_digest(make_lavc(&scene, DOPPEL_FORMAT_TIFF, "rgba"), wanted);
#endif
#ifdef HAVE_WEBP
    assert_digest(make_webp(&scene, &(struct webp_how){.lossless = true}), wanted);
#endif
    scene_free(&scene);
}

/* Black and white can be written in all of them. */
static void few_colours_are_the_same(void **state)
{
    (void)state;
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_RGB};
    struct scene scene = scene_make(SCENE_TWO, 64, 48);
    struct doppel_digest wanted = expected(&scene, 1);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_digest(png_of(&scene, types[i], 8, false), wanted);
    for (int depth = 1; depth < 8; depth *= 2) {
        assert_digest(png_of(&scene, PNG_COLOR_TYPE_GRAY, depth, false), wanted);
        assert_digest(png_of(&scene, PNG_COLOR_TYPE_PALETTE, depth, true), wanted);
    }
#ifdef HAVE_FFMPEG
    assert_digest(make_lavc(&scene, DOPPEL_FORMAT_GIF, "gray"), wanted);
    assert_digest(make_lavc(&scene, DOPPEL_FORMAT_TIFF, "gray"), wanted);
#endif
    scene_free(&scene);
}

static void alpha_counts(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_ALPHA, 131, 97);
    for (uint32_t y = 0; y < scene.height; y++)
        scene.rgba[(y * scene.width + 7) * 4 + 3] = 0;
    struct doppel_digest wanted = expected(&scene, 1);
    assert_digest(png_of(&scene, PNG_COLOR_TYPE_RGB_ALPHA, 8, false), wanted);
#ifdef HAVE_WEBP
    assert_digest(make_webp(&scene, &(struct webp_how){.lossless = true}), wanted);
#endif
    /* the colour of what cannot be seen does not */
    scene.rgba[7 * 4 + 1] ^= 64;
    assert_digest(png_of(&scene, PNG_COLOR_TYPE_RGB_ALPHA, 8, false), wanted);
    struct doppel_digest opaque = digest_of(png_of(&scene, PNG_COLOR_TYPE_RGB, 8, false));
    assert_memory_not_equal(&opaque, &wanted, sizeof wanted);
    scene_free(&scene);
}

static void any_change_is_another(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 131, 97);
    struct doppel_digest wanted = expected(&scene, 1);
    for (unsigned channel = 0; channel < 4; channel++) {
        size_t at = ((size_t)(channel * 29) * scene.width + channel * 31) * 4 + channel;
        scene.rgba[at] ^= 1;
        struct doppel_digest other = digest_of(png_of(&scene, PNG_COLOR_TYPE_RGB_ALPHA, 8, false));
        assert_memory_not_equal(&other, &wanted, sizeof other);
        scene.rgba[at] ^= 1;
    }
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        struct png_how how = {.colour_type = PNG_COLOR_TYPE_RGB, .orientation = orientation};
        assert_digest(make_png(&scene, &how), expected(&scene, orientation));
    }
    struct scene wide = scene_make(SCENE_TWO, 40, 20), high = scene_make(SCENE_TWO, 20, 40);
    memset(wide.rgba, 255, 40 * 20 * 4);
    memset(high.rgba, 255, 40 * 20 * 4);
    struct doppel_digest a = digest_of(png_of(&wide, PNG_COLOR_TYPE_RGB, 8, false));
    struct doppel_digest b = digest_of(png_of(&high, PNG_COLOR_TYPE_RGB, 8, false));
    assert_memory_not_equal(&a, &b, sizeof a);
    scene_free(&scene);
    scene_free(&wide);
    scene_free(&high);
}

/* An animation's chunk after the header, which is 33 bytes with the signature. */
static void animate(struct file *file)
{
    uint8_t chunk[20] = {0, 0, 0, 8, 'a', 'c', 'T', 'L', 0, 0, 0, 2};
    uint32_t sum = (uint32_t)crc32(0, chunk + 4, 12);
    for (unsigned i = 0; i < 4; i++)
        chunk[16 + i] = (uint8_t)(sum >> (24 - 8 * i));
    file->data = realloc(file->data, file->size + sizeof chunk);
    memmove(file->data + 33 + sizeof chunk, file->data + 33, file->size - 33);
    memcpy(file->data + 33, chunk, sizeof chunk);
    file->size += sizeof chunk;
}

static void others_have_none(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 131, 97);
    struct file moving = png_of(&scene, PNG_COLOR_TYPE_RGB, 8, false);
    animate(&moving);
    assert_digest(moving, none);
    assert_digest(png_of(&scene, PNG_COLOR_TYPE_RGB, 16, false), none);
    assert_digest(make_jpeg(&scene, &(struct jpeg_how){.quality = 100}), none);
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        struct file cut = png_of(&scene, PNG_COLOR_TYPE_RGB, 8, interlaced);
        cut.size = cut.size * 9 / 10;
        assert_digest(cut, none);
    }
#ifdef HAVE_WEBP
    assert_digest(make_webp(&scene, &(struct webp_how){0}), none);
    assert_digest(make_webp(&scene, &(struct webp_how){.lossless = true, .animated = true}), none);
#endif
#ifdef HAVE_FFMPEG
    struct file raw = make_lavc(&scene, DOPPEL_FORMAT_BMP, NULL);
    raw.size = raw.size * 9 / 10;
    assert_digest(raw, none);
    struct file gif = make_lavc(&scene, DOPPEL_FORMAT_GIF, "rgb8");
    size_t size = gif.size; /* the blocks once more: a second image, then the trailer */
    uint8_t *blocks = malloc(size);
    memcpy(blocks, gif.data, size);
    size_t head = 13 + (gif.data[10] & 0x80 ? 3u << ((gif.data[10] & 7) + 1) : 0);
    gif.size -= gif.data[size - 1] == 0x3b;
    file_append(&gif, blocks + head, size - head);
    free(blocks);
    assert_digest(gif, none);
#endif
    scene_free(&scene);
}

#ifdef HAVE_FFMPEG
/* Of a TIFF as FFmpeg writes it, low bytes first: a tag of one short. */
static void set_short(struct file *file, unsigned tag, unsigned value)
{
    const uint8_t entry[8] = {(uint8_t)tag, (uint8_t)(tag >> 8), 3, 0, 1};
    for (size_t at = 0; at + 12 <= file->size; at++)
        if (!memcmp(file->data + at, entry, sizeof entry))
            put_u16(file->data + at + 8, (uint16_t)value);
}

static void what_is_converted_has_none(void **state)
{
    (void)state;
    enum { PHOTOMETRIC = 262, INKS = 5, EXTRA_SAMPLES = 338, MULTIPLIED = 1 };
    struct scene scene = scene_make(SCENE_ALPHA, 131, 97);
    struct doppel_digest wanted = expected(&scene, 1);
    struct file plain = make_lavc(&scene, DOPPEL_FORMAT_TIFF, "rgba");
    if (!plain.data)
        skip();
    assert_digest(plain, wanted);
    struct file multiplied = make_lavc(&scene, DOPPEL_FORMAT_TIFF, "rgba");
    set_short(&multiplied, EXTRA_SAMPLES, MULTIPLIED);
    assert_digest(multiplied, none);
    struct file inks = make_lavc(&scene, DOPPEL_FORMAT_TIFF, "rgba");
    set_short(&inks, PHOTOMETRIC, INKS);
    assert_digest(inks, none);
    scene_free(&scene);
}

/* FFmpeg makes do with all of these. */
static void what_is_damaged_has_none(void **state)
{
    (void)state;
    enum { TGA_FOOTER = 26 };
    struct scene scene = scene_make(SCENE_TWO, 64, 48);
    struct file runs = make_lavc(&scene, DOPPEL_FORMAT_TGA, NULL);
    struct file small = make_lavc(&scene, DOPPEL_FORMAT_GIF, "gray");
    struct file wrong = make_lavc(&scene, DOPPEL_FORMAT_GIF, "gray");
    if (!runs.data || !small.data)
        skip();
    assert_int_equal(runs.data[2], 10);
    runs.size -= TGA_FOOTER + 1;
    assert_digest(runs, none);
    put_u16(small.data + 8, 49); /* a canvas of a row more */
    assert_digest(small, none);
    for (size_t at = wrong.size - 40; at < wrong.size - 8; at++)
        wrong.data[at] |= 0xf0;
    assert_digest(wrong, none);
    scene_free(&scene);
}

/* Of eight rows of ten pixels, `rows`. */
static struct file bmp_of_runs(unsigned rows)
{
    struct file file = {0};
    uint8_t head[62] = "BM";
    put_u32(head + 2, (uint32_t)sizeof head + 6 * rows + 2);
    put_u32(head + 10, sizeof head);
    put_u32(head + 14, 40);
    put_u32(head + 18, 10);
    put_u32(head + 22, 8);
    put_u16(head + 26, 1);
    put_u16(head + 28, 8);
    put_u32(head + 30, 1); /* RLE8 */
    put_u32(head + 46, 2);
    memset(head + 58, 255, 3);
    file_append(&file, head, sizeof head);
    for (unsigned y = 0; y < rows; y++)
        file_append(&file, (uint8_t[]){(uint8_t)(y + 1), 0, (uint8_t)(9 - y), 1, 0, 0}, 6);
    file_append(&file, "\0\1", 2);
    return file;
}

static void runs_of_a_bmp_have_none(void **state)
{
    (void)state;
    assert_digest(bmp_of_runs(8), none);
    assert_digest(bmp_of_runs(2), none);
}

static void grey_and_alpha_of_a_tga_are_refused(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 64, 48);
    struct file file = make_lavc(&scene, DOPPEL_FORMAT_TGA, "rgb555le");
    if (!file.data)
        skip();
    file.data[2] = file.data[2] == 10 ? 11 : 3;
    assert_refused(file.data, file.size, NULL, DOPPEL_E_UNSUPPORTED, "variant of TGA");
    file_free(&file);
    scene_free(&scene);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_write_is_the_same),
        cmocka_unit_test(few_colours_are_the_same),
        cmocka_unit_test(alpha_counts),
        cmocka_unit_test(any_change_is_another),
        cmocka_unit_test(others_have_none),
#ifdef HAVE_FFMPEG
        cmocka_unit_test(what_is_converted_has_none),
        cmocka_unit_test(what_is_damaged_has_none),
        cmocka_unit_test(runs_of_a_bmp_have_none),
        cmocka_unit_test(grey_and_alpha_of_a_tga_are_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
