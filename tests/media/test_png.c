/* PNG to luma: every colour type, and pictures far larger than the memory allowed. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

static double tolerance(const struct png_how *how)
{
    if (how->depth && how->depth < 8)
        return 255. / ((1 << how->depth) - 1) / 2 + 1;
    return how->colour_type == PNG_COLOR_TYPE_PALETTE ? 27 : 1.1;
}

static void every_colour_type_reads(void **state)
{
    (void)state;
    static const struct png_how hows[] = {
        {PNG_COLOR_TYPE_GRAY, 1, false, false, 0},    {PNG_COLOR_TYPE_GRAY, 2, false, false, 0},
        {PNG_COLOR_TYPE_GRAY, 4, false, false, 0},    {PNG_COLOR_TYPE_GRAY, 8, false, false, 0},
        {PNG_COLOR_TYPE_GRAY, 16, false, false, 0},   {PNG_COLOR_TYPE_PALETTE, 1, false, false, 0},
        {PNG_COLOR_TYPE_PALETTE, 4, false, false, 0}, {PNG_COLOR_TYPE_PALETTE, 8, false, false, 0},
        {PNG_COLOR_TYPE_RGB, 8, false, false, 0},     {PNG_COLOR_TYPE_RGB, 16, false, false, 0},
    };
    struct scene scene = scene_make(SCENE_SMOOTH, 131, 97);
    struct doppel_luma_options full = reducing_to(0);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        struct png_how how = hows[i];
        double most = tolerance(&how);
        assert_reads_as(make_png(&scene, &how), &scene, &full, most, most);
        how.interlaced = true;
        assert_reads_as(make_png(&scene, &how), &scene, &full, most, most);
    }
    scene_free(&scene);
}

static void alpha_is_laid_over_white(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_ALPHA, 131, 97);
    struct doppel_luma_options full = reducing_to(0);
    for (int depth = 8; depth <= 16; depth += 8) {
        struct png_how how = {.colour_type = PNG_COLOR_TYPE_RGB_ALPHA, .depth = depth};
        assert_reads_as(make_png(&scene, &how), &scene, &full, 1.1, 1.6);
        how.colour_type = PNG_COLOR_TYPE_GRAY_ALPHA;
        assert_reads_as(make_png(&scene, &how), &scene, &full, 1.1, 1.6);
        how.interlaced = true;
        assert_reads_as(make_png(&scene, &how), &scene, &full, 1.1, 1.6);
    }
    scene_free(&scene);
}

/* Where alpha is 0 the scene is white, whatever its colour: a scene of two values tells. */
static void a_transparent_colour_is_white(void **state)
{
    (void)state;
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE};
    struct scene scene = scene_make(SCENE_TWO, 64, 48);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct png_how how = {.colour_type = types[i], .transparent_colour = true};
        struct file file = make_png(&scene, &how);
        struct doppel_luma luma = read_good(&file, NULL);
        for (size_t at = 0; at < 64 * 48; at++)
            assert_int_equal(luma.pixels[at], 255);
        doppel_luma_free(&luma);
        file_free(&file);
    }
    scene_free(&scene);
}

static void from_rgb_ignores_alpha(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_ALPHA, 131, 97);
    struct doppel_luma_options options = reducing_to(0);
    options.from_rgb = true;
    struct file file = make_png(&scene, &(struct png_how){.colour_type = PNG_COLOR_TYPE_RGB_ALPHA});
    for (size_t i = 0; i < 131 * 97; i++)
        scene.rgba[4 * i + 3] = 255;
    assert_reads_as(file, &scene, &options, .51, .51);
    scene_free(&scene);
}

static void large_images_are_averaged_on_the_way(void **state)
{
    (void)state;
    static const struct png_how hows[] = {{.colour_type = PNG_COLOR_TYPE_RGB},
                                          {.colour_type = PNG_COLOR_TYPE_RGB_ALPHA},
                                          {.colour_type = PNG_COLOR_TYPE_GRAY, .interlaced = true}};
    struct scene scene = scene_make(SCENE_SMOOTH, 701, 409);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        for (uint32_t min_side = 20; min_side <= 200; min_side += 45) {
            struct doppel_luma_options options = reducing_to(min_side);
            assert_reads_as(make_png(&scene, &hows[i]), &scene, &options, 1, 1.1);
        }
    }
    scene_free(&scene);
}

static void every_orientation_is_applied(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 90, 60);
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        struct png_how how = {.colour_type = PNG_COLOR_TYPE_RGB, .orientation = orientation};
        struct file file = make_png(&scene, &how);
        assert_turned(file, &scene, orientation);
    }
    scene_free(&scene);
}

static void cut_files_keep_the_rows_they_have(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 300, 300);
    struct doppel_luma_options full = reducing_to(0);
    struct file file = make_png(&scene, &(struct png_how){.colour_type = PNG_COLOR_TYPE_RGB});
    assert_in_range(rows_of_cut(&file, file.size / 2, &scene), 60, 240);
    assert_refused(file.data, file.size / 20, &full, DOPPEL_E_CORRUPT, "PNG");
    file_free(&file);
    scene_free(&scene);
}

/* All rows are there after the first of seven passes, in blocks of 8 x 8. */
static void cut_interlaced_files_are_coarse(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 300, 300);
    struct doppel_luma_options full = reducing_to(0);
    struct png_how how = {.colour_type = PNG_COLOR_TYPE_RGB, .interlaced = true};
    struct file file = make_png(&scene, &how);
    struct doppel_luma luma = read_good(&file, &full);
    assert_false(luma.coarse);
    doppel_luma_free(&luma);
    for (size_t part = 3; part < 10; part++) {
        assert_int_equal(read_bytes(file.data, file.size * part / 10, &full, &luma, NULL),
                         DOPPEL_OK);
        assert_true(luma.coarse);
        assert_int_equal(luma.there_height, 300);
        assert_true(compare(&luma, &scene, 1, 1).mean < 12);
        doppel_luma_free(&luma);
    }
    file_free(&file);
    scene_free(&scene);
}

/* Some programs save their own document in a chunk of many megabytes. */
static void large_foreign_chunks_are_skipped(void **state)
{
    (void)state;
    enum { HEADER = 33, LENGTH = 12 << 20 };
    struct scene scene = scene_make(SCENE_SMOOTH, 60, 40);
    struct file file = make_png(&scene, &(struct png_how){.colour_type = PNG_COLOR_TYPE_RGB});
    struct file whole = {0};
    uint8_t *chunk = calloc(1, LENGTH + 12);
    memcpy(chunk, "\0\xc0\0\0mkBT", 8);
    uint32_t sum = (uint32_t)crc32(0, chunk + 4, LENGTH + 4);
    for (int i = 0; i < 4; i++)
        chunk[LENGTH + 8 + i] = (uint8_t)(sum >> (24 - 8 * i));
    file_append(&whole, file.data, HEADER);
    file_append(&whole, chunk, LENGTH + 12);
    file_append(&whole, file.data + HEADER, file.size - HEADER);
    struct doppel_luma_options options = reducing_to(0);
    assert_reads_as(whole, &scene, &options, .51, .6);
    free(chunk);
    file_free(&file);
    scene_free(&scene);
}

/* 400 million pixels: read within 8 MiB when rows come in order, refused when they do not. */
static void memory_is_bounded_by_what_is_kept(void **state)
{
    (void)state;
    struct scene row = scene_make(SCENE_TWO, 20000, 1);
    struct png_how how = {.colour_type = PNG_COLOR_TYPE_GRAY, .depth = 1};
    struct file file = make_png_of_rows(&row, 20000, &how);
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_memory = 8 << 20;
    struct doppel_luma luma = read_good(&file, &options);
    assert_int_equal(luma.width, 20000);
    assert_in_range(luma.plane.width, 384, 400);
    assert_int_equal(luma.plane.data[0], luma.plane.data[luma.plane.stride * 5]);
    doppel_luma_free(&luma);
    options.limits.max_pixels = 399999999;
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "20000 x 20000");
    file_free(&file);
    how.interlaced = true;
    struct scene small = scene_make(SCENE_TWO, 3000, 3000);
    file = make_png(&small, &how);
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "--max-memory");
    file_free(&file);
    scene_free(&small);
    scene_free(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_type_reads),
        cmocka_unit_test(alpha_is_laid_over_white),
        cmocka_unit_test(a_transparent_colour_is_white),
        cmocka_unit_test(from_rgb_ignores_alpha),
        cmocka_unit_test(large_images_are_averaged_on_the_way),
        cmocka_unit_test(every_orientation_is_applied),
        cmocka_unit_test(cut_files_keep_the_rows_they_have),
        cmocka_unit_test(cut_interlaced_files_are_coarse),
        cmocka_unit_test(large_foreign_chunks_are_skipped),
        cmocka_unit_test(memory_is_bounded_by_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
