/* JPEG to luma: colours, scales, orientations, and the scans of progressive files. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h>

static void every_colour_space_reads(void **state)
{
    (void)state;
    struct scene colour = scene_make(SCENE_SMOOTH, 401, 299);
    struct doppel_luma_options full = reducing_to(0), rgb = full;
    rgb.from_rgb = true;
    for (int colours = JPEG_YCC; colours <= JPEG_YCCK; colours++) {
        struct jpeg_how how = {.colours = (enum jpeg_colours)colours, .quality = 95};
        /* Ink divides colour by black before it is coded, which coarsens the dark. */
        double most = colours >= JPEG_CMYK ? 14 : 6;
        assert_reads_as(make_jpeg(&colour, &how), &colour, &full, 1.2, most);
        assert_reads_as(make_jpeg(&colour, &how), &colour, &rgb, 1.2, most);
        how.progressive = true;
        assert_reads_as(make_jpeg(&colour, &how), &colour, &full, 1.2, most);
    }
    scene_free(&colour);
}

static void reduces_but_not_below_the_wanted_side(void **state)
{
    (void)state;
    /* Shorter side, and the cell that leaves at least 192 of it. */
    static const uint32_t cases[][2] = {{191, 1}, {192, 1},  {383, 2},  {384, 2}, {766, 4},
                                        {768, 4}, {1528, 4}, {1536, 8}, {2400, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t side = cases[i][0], cell = cases[i][1];
        struct scene scene = scene_make(SCENE_SMOOTH, side + 16, side);
        struct file file = make_jpeg(&scene, &(struct jpeg_how){0});
        struct doppel_luma luma = read_good(&file, NULL);
        assert_int_equal(luma.plane.height, (side + cell - 1) / cell);
        assert_int_equal(luma.plane.width, (side + 16 + cell - 1) / cell);
        struct difference difference = compare(&luma, &scene, cell, 1);
        assert_true(difference.mean < 1 && difference.most < 8);
        doppel_luma_free(&luma);
        file_free(&file);
        scene_free(&scene);
    }
}

static void progressive_equals_baseline_at_every_scale(void **state)
{
    (void)state;
    for (uint32_t min_side = 50; min_side <= 400; min_side *= 2) {
        for (int quality = 30; quality <= 95; quality += 65) {
            struct scene scene = scene_make(SCENE_SMOOTH, 640, 400);
            struct jpeg_how how = {.quality = quality, .progressive = true};
            struct doppel_luma_options options = reducing_to(min_side);
            struct file progressive = make_jpeg(&scene, &how);
            how.progressive = false;
            struct file baseline = make_jpeg(&scene, &how);
            struct doppel_luma a = read_good(&progressive, &options);
            struct doppel_luma b = read_good(&baseline, &options);
            assert_int_equal(a.plane.width, b.plane.width);
            for (size_t i = 0; i < (size_t)a.plane.width * a.plane.height; i++)
                assert_true(abs(a.pixels[i] - b.pixels[i]) <= (min_side == 50));
            doppel_luma_free(&a);
            doppel_luma_free(&b);
            file_free(&progressive);
            file_free(&baseline);
            scene_free(&scene);
        }
    }
}

/* Offset of the n-th start of scan, from 1. */
static size_t scan_offset(const struct file *file, int n)
{
    for (size_t i = 2; i + 1 < file->size; i++)
        if (file->data[i] == 0xff && file->data[i + 1] == 0xda && !--n)
            return i;
    fail_msg("no such scan");
    return 0;
}

/* After the scans that are needed the file goes on with one that libjpeg refuses to begin: only a
 * reader that stops before it can succeed. */
static void assert_stops_after(const struct jpeg_how *how, int scans, uint32_t min_side)
{
    static const uint8_t bad_scan[] = {0xff, 0xda, 0, 8, 1, 99, 0, 0, 63, 0};
    struct scene scene = scene_make(SCENE_SMOOTH, 800, 800);
    struct file file = make_jpeg(&scene, how);
    struct doppel_luma_options options = reducing_to(min_side);
    struct doppel_luma whole = read_good(&file, &options);
    memcpy(file.data + scan_offset(&file, scans + 1), bad_scan, sizeof bad_scan);
    struct doppel_luma cut = read_good(&file, &options);
    assert_int_equal(cut.plane.height, whole.plane.height);
    assert_memory_equal(cut.pixels, whole.pixels, (size_t)cut.plane.width * cut.plane.height);
    if (scans > 1) {
        memcpy(file.data + scan_offset(&file, scans), bad_scan, sizeof bad_scan);
        assert_refused(file.data, file.size, &options, DOPPEL_E_CORRUPT, "damaged");
    }
    doppel_luma_free(&whole);
    doppel_luma_free(&cut);
    file_free(&file);
    scene_free(&scene);
}

static void reads_only_the_scans_that_are_needed(void **state)
{
    (void)state;
    /* libjpeg's script: the means come first but for a bit, which the 7th scan brings. At quality
     * 90 that bit is under a grey level, at 30 it is three. */
    assert_stops_after(&(struct jpeg_how){.progressive = true, .quality = 90}, 1, 100);
    assert_stops_after(&(struct jpeg_how){.progressive = true, .quality = 30}, 7, 100);
    /* Luma alone is in the first of three scans. */
    assert_stops_after(&(struct jpeg_how){.separate_scans = true}, 1, 400);
    assert_stops_after(&(struct jpeg_how){.separate_scans = true}, 1, 0);
}

static void every_orientation_is_applied(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 480, 320);
    for (unsigned orientation = 0; orientation <= 9; orientation++) {
        struct file file = make_jpeg(&scene, &(struct jpeg_how){.orientation = orientation});
        for (uint32_t cell = 1; cell <= 4; cell *= 4) {
            struct doppel_luma_options options = reducing_to(320 / cell);
            struct doppel_luma luma = read_good(&file, &options);
            bool turned = orientation >= 5 && orientation <= 8;
            assert_int_equal(luma.width, turned ? 320 : 480);
            assert_int_equal(luma.height, turned ? 480 : 320);
            struct difference difference =
                compare(&luma, &scene, cell, orientation > 8 ? 1 : orientation);
            assert_true(difference.mean < 1 && difference.most < 6);
            doppel_luma_free(&luma);
        }
        file_free(&file);
    }
    scene_free(&scene);
}

static void from_rgb_is_not_turned(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 480, 320);
    struct file file = make_jpeg(&scene, &(struct jpeg_how){.orientation = 6});
    struct doppel_luma_options options = reducing_to(0);
    options.from_rgb = true;
    struct doppel_luma luma = read_good(&file, &options);
    assert_int_equal(luma.width, 480);
    assert_int_equal(luma.height, 320);
    struct difference difference = compare(&luma, &scene, 1, 1);
    assert_true(difference.mean < 1 && difference.most < 6);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&scene);
}

/* The definition of from_rgb: libjpeg's own RGB, then the formula. */
static void from_rgb_is_the_formula_on_libjpegs_rgb(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 333, 222);
    struct file file = make_jpeg(&scene, &(struct jpeg_how){.quality = 40});
    struct doppel_luma_options options = reducing_to(0);
    options.from_rgb = true;
    struct doppel_luma luma = read_good(&file, &options);
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, file.data, file.size);
    jpeg_read_header(&cinfo, TRUE);
    jpeg_start_decompress(&cinfo);
    uint8_t row[333 * 3], *rows = row;
    for (uint32_t y = 0; y < 222; y++) {
        jpeg_read_scanlines(&cinfo, &rows, 1);
        for (uint32_t x = 0; x < 333; x++) {
            const uint8_t *p = row + 3 * x;
            unsigned wanted = (19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16;
            assert_int_equal(luma.pixels[y * 333 + x], wanted);
        }
    }
    jpeg_destroy_decompress(&cinfo);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&scene);
}

static void a_cut_file_keeps_the_rows_it_has(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 600, 600);
    struct file file = make_jpeg(&scene, &(struct jpeg_how){0});
    struct doppel_luma_options options = reducing_to(0);
    size_t image = scan_offset(&file, 1);
    struct doppel_luma luma;
    struct doppel_error error;
    size_t half = image + (file.size - image) / 2;
    assert_int_equal(read_bytes(file.data, half, &options, &luma, &error), DOPPEL_OK);
    assert_in_range(luma.plane.height, 200, 400);
    assert_int_equal(luma.height, 600);
    assert_int_equal(luma.there_height, luma.plane.height);
    assert_int_equal(luma.there_width, 600);
    assert_false(luma.coarse);
    struct difference difference = compare(&luma, &scene, 1, 1);
    assert_true(difference.mean < 1 && difference.most < 8);
    doppel_luma_free(&luma);
    assert_refused(file.data, image + (file.size - image) / 20, &options, DOPPEL_E_CORRUPT,
                   "of 600 rows");
    file_free(&file);
    scene_free(&scene);
}

static void progressive_files_may_break_off_in_later_scans(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 600, 600);
    struct file file = make_jpeg(&scene, &(struct jpeg_how){.progressive = true});
    struct doppel_luma_options options = reducing_to(0);
    struct doppel_luma luma;
    assert_int_equal(read_bytes(file.data, scan_offset(&file, 3), &options, &luma, NULL),
                     DOPPEL_OK);
    assert_int_equal(luma.plane.height, 600);
    assert_int_equal(luma.there_height, 600);
    assert_true(luma.coarse);
    assert_true(compare(&luma, &scene, 1, 1).mean < 3);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&scene);
}

/* Also where the missing scans are not needed; what follows the end of a picture is not missed. */
static void coarse_files_are_told(void **state)
{
    (void)state;
    static const struct jpeg_how hows[] = {{.progressive = true}, {.separate_scans = true}};
    static const uint32_t sides[] = {0, 75, 300};
    struct scene scene = scene_make(SCENE_SMOOTH, 600, 600);
    for (size_t i = 0; i < 6; i++) {
        struct doppel_luma_options options = reducing_to(sides[i / 2]);
        struct file file = make_jpeg(&scene, &hows[i % 2]);
        struct doppel_luma luma = read_good(&file, &options);
        assert_false(luma.coarse);
        doppel_luma_free(&luma);
        size_t size = file.size;
        file_append(&file, "a trailer\xff", 10);
        luma = read_good(&file, &options);
        assert_false(luma.coarse);
        doppel_luma_free(&luma);
        assert_int_equal(read_bytes(file.data, size - 20, &options, &luma, NULL), DOPPEL_OK);
        assert_true(luma.coarse);
        assert_int_equal(luma.there_height, 600);
        doppel_luma_free(&luma);
        file_free(&file);
    }
    scene_free(&scene);
}

/* What is missing is told as the picture is shown. */
static void rows_of_a_turned_file_are_columns(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 400, 600);
    struct doppel_luma_options options = reducing_to(0);
    struct file file = make_jpeg(&scene, &(struct jpeg_how){.orientation = 6});
    struct doppel_luma luma;
    assert_int_equal(read_bytes(file.data, file.size * 2 / 3, &options, &luma, NULL), DOPPEL_OK);
    assert_int_equal(luma.width, 600);
    assert_int_equal(luma.height, 400);
    assert_int_equal(luma.there_width, luma.plane.width);
    assert_in_range(luma.there_width, 200, 500);
    assert_int_equal(luma.there_height, 400);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&scene);
}

static void coefficients_count_as_memory(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 1000, 1000);
    struct doppel_luma_options options = reducing_to(100);
    options.limits.max_memory = 2 << 20;
    struct file file = make_jpeg(&scene, &(struct jpeg_how){.progressive = true});
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "--max-memory");
    file_free(&file);
    file = make_jpeg(&scene, &(struct jpeg_how){0});
    struct doppel_luma luma = read_good(&file, &options);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_space_reads),
        cmocka_unit_test(reduces_but_not_below_the_wanted_side),
        cmocka_unit_test(progressive_equals_baseline_at_every_scale),
        cmocka_unit_test(reads_only_the_scans_that_are_needed),
        cmocka_unit_test(every_orientation_is_applied),
        cmocka_unit_test(from_rgb_is_not_turned),
        cmocka_unit_test(from_rgb_is_the_formula_on_libjpegs_rgb),
        cmocka_unit_test(a_cut_file_keeps_the_rows_it_has),
        cmocka_unit_test(coarse_files_are_told),
        cmocka_unit_test(rows_of_a_turned_file_are_columns),
        cmocka_unit_test(progressive_files_may_break_off_in_later_scans),
        cmocka_unit_test(coefficients_count_as_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
