/* GIF, BMP, TIFF, TGA and JPEG XL to luma, in their pixel formats. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

struct sample {
    enum doppel_format format;
    const char *pixels;
    enum scene_kind scene;
    double mean, most; /* of what the pixel format keeps */
};

static const struct sample samples[] = {
    {DOPPEL_FORMAT_GIF, "gray", SCENE_GREY, .6, 1.1},
    {DOPPEL_FORMAT_GIF, "rgb8", SCENE_SMOOTH, 20, 40},
    {DOPPEL_FORMAT_BMP, "bgr24", SCENE_SMOOTH, .5, .6},
    {DOPPEL_FORMAT_BMP, "bgra", SCENE_ALPHA, .6, 1.1},
    {DOPPEL_FORMAT_BMP, "gray", SCENE_GREY, .6, 1.1},
    {DOPPEL_FORMAT_BMP, "monob", SCENE_TWO, .1, 1},
    {DOPPEL_FORMAT_BMP, "rgb565le", SCENE_SMOOTH, 3, 8},
    {DOPPEL_FORMAT_BMP, "rgb555le", SCENE_SMOOTH, 4, 9},
    {DOPPEL_FORMAT_TIFF, "rgb24", SCENE_SMOOTH, .5, .6},
    {DOPPEL_FORMAT_TIFF, "rgba", SCENE_ALPHA, .6, 1.1},
    {DOPPEL_FORMAT_TIFF, "gray", SCENE_GREY, .6, 1.1},
    {DOPPEL_FORMAT_TIFF, "ya8", SCENE_ALPHA, .9, 2.1},
    {DOPPEL_FORMAT_TIFF, "gray16le", SCENE_GREY, 1, 1.6},
    {DOPPEL_FORMAT_TIFF, "rgb48le", SCENE_SMOOTH, 1, 1.6},
    {DOPPEL_FORMAT_TIFF, "rgba64le", SCENE_ALPHA, .6, 1.6},
    {DOPPEL_FORMAT_TIFF, "monob", SCENE_TWO, .1, 1},
    {DOPPEL_FORMAT_TIFF, "monow", SCENE_TWO, .1, 1},
    {DOPPEL_FORMAT_TIFF, "yuv420p", SCENE_GREY, 1, 2.1},
    {DOPPEL_FORMAT_TGA, "bgr24", SCENE_SMOOTH, .5, .6},
    {DOPPEL_FORMAT_TGA, "bgra", SCENE_ALPHA, .6, 1.1},
    {DOPPEL_FORMAT_TGA, "gray", SCENE_GREY, .6, 1.1},
    {DOPPEL_FORMAT_TGA, "rgb555le", SCENE_SMOOTH, 4, 9},
    {DOPPEL_FORMAT_JXL, "rgb24", SCENE_SMOOTH, 1, 8},
    {DOPPEL_FORMAT_JXL, "rgba", SCENE_ALPHA, 1, 8},
    {DOPPEL_FORMAT_JXL, "gray", SCENE_GREY, 1, 8},
};

static void every_pixel_format_reads(void **state)
{
    (void)state;
    struct doppel_luma_options full = reducing_to(0), small = reducing_to(40);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        struct scene scene = scene_make(s->scene, 203, 121);
        struct file file = make_lavc(&scene, s->format, s->pixels);
        if (!file.data && s->format == DOPPEL_FORMAT_JXL)
            continue; /* FFmpeg without libjxl */
        print_message("%s %s\n", doppel_format_name(s->format), s->pixels);
        struct doppel_luma luma = read_good(&file, NULL);
        assert_int_equal(luma.format, s->format);
        doppel_luma_free(&luma);
        assert_reads_as(file, &scene, &full, s->mean, s->most);
        assert_reads_as(make_lavc(&scene, s->format, s->pixels), &scene, &small, s->mean, s->most);
        scene_free(&scene);
    }
}

/* FFmpeg's encoder leaves the tag out: a copy of the directory, with it, goes to the end of the
 * file. Tags ascend. */
static void add_tiff_orientation(struct file *file, unsigned orientation)
{
    enum { ENTRY = 12 };
    uint8_t old[2 + 30 * ENTRY], tag[ENTRY], offset[4], count[2];
    size_t directory = get_u32(file->data + 4), entries = get_u16(file->data + directory);
    assert_in_range(entries, 1, 30);
    memcpy(old, file->data + directory, 2 + entries * ENTRY);
    size_t before = 0;
    while (get_u16(old + 2 + before * ENTRY) < 0x0112)
        before++;
    put_u16(tag, 0x0112);
    put_u16(tag + 2, 3);
    put_u32(tag + 4, 1);
    put_u32(tag + 8, orientation);
    put_u16(count, (uint16_t)(entries + 1));
    put_u32(offset, (uint32_t)file->size);
    memcpy(file->data + 4, offset, 4);
    file_append(file, count, 2);
    file_append(file, old + 2, before * ENTRY);
    file_append(file, tag, ENTRY);
    file_append(file, old + 2 + before * ENTRY, (entries - before) * ENTRY);
    file_append(file, "\0\0\0", 4);
}

static void every_tiff_orientation_is_applied(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 90, 60);
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        struct file file = make_lavc(&scene, DOPPEL_FORMAT_TIFF, NULL);
        add_tiff_orientation(&file, orientation);
        assert_turned(file, &scene, orientation);
    }
    scene_free(&scene);
}

/* Of 32 bits, none of them declared to be alpha: opaque, whatever the fourth byte says. */
static void undeclared_alpha_of_a_tga_is_ignored(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_ALPHA, 64, 64);
    struct file file = make_lavc(&scene, DOPPEL_FORMAT_TGA, "bgra");
    file.data[17] &= 0xf0;
    for (size_t i = 0; i < 64 * 64; i++)
        scene.rgba[4 * i + 3] = 255;
    assert_reads_as(file, &scene, NULL, .51, .6);
    scene_free(&scene);
}

static void of_a_gif_only_the_first_frame_is_loaded(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_GREY, 60, 40);
    struct file file = make_lavc(&scene, DOPPEL_FORMAT_GIF, "gray");
    uint8_t *rest = calloc(1, 8 << 20);
    file_append(&file, rest, 8 << 20);
    free(rest);
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_memory = 2 << 20;
    assert_reads_as(file, &scene, &options, .6, 1.1);
    scene_free(&scene);
}

static void declared_sizes_are_judged_first(void **state)
{
    (void)state;
    static const struct {
        enum doppel_format format;
        int width_at, bytes;
    } cases[] = {{DOPPEL_FORMAT_GIF, 6, 2}, {DOPPEL_FORMAT_TGA, 12, 2}, {DOPPEL_FORMAT_BMP, 18, 4}};
    struct scene scene = scene_make(SCENE_TWO, 64, 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file file = make_lavc(&scene, cases[i].format, NULL);
        uint8_t *at = file.data + cases[i].width_at;
        put_u16(at, 65535);
        put_u16(at + cases[i].bytes, 65535);
        assert_refused(file.data, file.size, NULL, DOPPEL_E_LIMIT, "declares 65535 x 65535 pixels");
        put_u16(at, 20000);
        put_u16(at + cases[i].bytes, 20000);
        assert_refused(file.data, file.size, NULL, DOPPEL_E_LIMIT, "more than FFmpeg decodes");
        file_free(&file);
    }
    scene_free(&scene);
}

/* Rows `first` and on of a scene. */
static void assert_is_part(const struct doppel_luma *luma, const struct scene *scene,
                           uint32_t first)
{
    for (uint32_t y = 0; y < luma->plane.height; y++) {
        for (uint32_t x = 0; x < luma->plane.width; x++) {
            double off = luma->pixels[y * luma->plane.width + x] - scene_luma(scene, x, first + y);
            assert_true(off < .6 && off > -.6);
        }
    }
}

static struct file make_raw_tga(const struct scene *scene)
{
    struct file file = {0};
    uint8_t header[18] = {[2] = 2, [16] = 24, [17] = 0x20}; /* RGB, top row first */
    put_u16(header + 12, (uint16_t)scene->width);
    put_u16(header + 14, (uint16_t)scene->height);
    file_append(&file, header, sizeof header);
    for (size_t i = 0; i < (size_t)scene->width * scene->height; i++) {
        const uint8_t *p = scene->rgba + 4 * i;
        file_append(&file, (uint8_t[]){p[2], p[1], p[0]}, 3);
    }
    return file;
}

/* A BMP begins with its lowest row. */
static void raw_files_keep_the_rows_they_have(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 60, 100);
    struct file bmp = make_lavc(&scene, DOPPEL_FORMAT_BMP, NULL), tga = make_raw_tga(&scene);
    struct doppel_luma luma;
    assert_int_equal(read_bytes(bmp.data, bmp.size * 2 / 3, NULL, &luma, NULL), DOPPEL_OK);
    assert_in_range(luma.plane.height, 65, 67);
    assert_int_equal(luma.height, 100);
    assert_is_part(&luma, &scene, 100 - luma.plane.height);
    doppel_luma_free(&luma);
    assert_int_equal(read_bytes(tga.data, tga.size * 2 / 3, NULL, &luma, NULL), DOPPEL_OK);
    assert_in_range(luma.plane.height, 65, 67);
    assert_int_equal(luma.height, 100);
    assert_is_part(&luma, &scene, 0);
    doppel_luma_free(&luma);
    assert_refused(bmp.data, bmp.size / 20, NULL, DOPPEL_E_CORRUPT, "of 100 rows");
    assert_refused(tga.data, tga.size / 20, NULL, DOPPEL_E_CORRUPT, "of 100 rows");
    file_free(&bmp);
    file_free(&tga);
    scene_free(&scene);
}

static void frames_count_as_memory(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_TWO, 64, 64);
    struct file file = make_lavc(&scene, DOPPEL_FORMAT_GIF, NULL);
    put_u16(file.data + 6, 12000);
    put_u16(file.data + 8, 12000);
    assert_refused(file.data, file.size, NULL, DOPPEL_E_LIMIT, "--max-memory");
    file_free(&file);
    scene_free(&scene);
}

static void a_tiff_bomb_is_refused(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_TWO, 64, 64);
    struct file file = make_lavc(&scene, DOPPEL_FORMAT_TIFF, NULL);
    uint8_t *entry = file.data + get_u32(file.data + 4) + 2;
    for (int i = 0; i < 3; i++, entry += 12) {
        if (get_u16(entry) == 0x0100 || get_u16(entry) == 0x0101)
            put_u32(entry + 8, 60000);
    }
    assert_refused(file.data, file.size, NULL, DOPPEL_E_LIMIT, "declares 60000 x 60000 pixels");
    file_free(&file);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pixel_format_reads),
        cmocka_unit_test(every_tiff_orientation_is_applied),
        cmocka_unit_test(undeclared_alpha_of_a_tga_is_ignored),
        cmocka_unit_test(of_a_gif_only_the_first_frame_is_loaded),
        cmocka_unit_test(declared_sizes_are_judged_first),
        cmocka_unit_test(raw_files_keep_the_rows_they_have),
        cmocka_unit_test(frames_count_as_memory),
        cmocka_unit_test(a_tiff_bomb_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
