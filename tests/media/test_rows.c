/* Rows to planes, EXIF blocks, turning: the parts that all decoders share. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "media/decode.h"

static uint32_t seed = 7;

static uint32_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static uint8_t *random_samples(size_t count)
{
    uint8_t *samples = malloc(count);
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint8_t)(next_random() >> 11);
    return samples;
}

/* The mean of a cell, rounded half up, over the samples that are there. */
static uint8_t cell_of(const uint8_t *samples, uint32_t width, uint32_t rows, uint32_t factor,
                       uint32_t cell_x, uint32_t cell_y)
{
    uint64_t sum = 0, count = 0;
    for (uint32_t y = cell_y * factor; y < (cell_y + 1) * factor && y < rows; y++)
        for (uint32_t x = cell_x * factor; x < (cell_x + 1) * factor && x < width; x++, count++)
            sum += samples[(size_t)y * width + x];
    return (uint8_t)((2 * sum + count) / (2 * count));
}

static void check_rows_of(uint32_t width, uint32_t height, uint32_t min_side, uint32_t taken)
{
    uint8_t *samples = random_samples((size_t)width * height);
    struct doppel_luma_options options = reducing_to(min_side);
    struct rows rows;
    struct image image = {0};
    assert_int_equal(rows_begin(&rows, &options, width, height, NULL), DOPPEL_OK);
    uint32_t factor = rows.factor;
    for (uint32_t y = 0; y < taken; y++)
        rows_take(&rows, samples + (size_t)y * width);
    assert_int_equal(rows_finish(&rows, "test", &image, NULL), DOPPEL_OK);
    assert_int_equal(image.width, (width + factor - 1) / factor);
    assert_int_equal(image.height, (taken + factor - 1) / factor);
    assert_int_equal(image.full_height, height);
    for (uint32_t y = 0; y < image.height; y++)
        for (uint32_t x = 0; x < image.width; x++)
            assert_int_equal(image.pixels[y * image.width + x],
                             cell_of(samples, width, taken, factor, x, y));
    free(image.pixels);
    free(samples);
}

static void rows_are_averaged_over_cells(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        uint32_t width = 1 + next_random() % 150, height = 1 + next_random() % 150;
        uint32_t taken = height - next_random() % (height / 2 + 1);
        check_rows_of(width, height, next_random() % 20, taken);
    }
}

static void twice_the_wanted_side_is_kept(void **state)
{
    (void)state;
    for (int round = 0; round < 10000; round++) {
        uint32_t width = 1 + next_random() % 100000, height = 1 + next_random() % 100000;
        struct doppel_luma_options options = reducing_to(1 + next_random() % 500);
        uint32_t side = width < height ? width : height;
        uint32_t factor = rows_factor(&options, width, height);
        assert_true(factor >= 1);
        assert_true(factor == 1 || side / factor >= 2 * options.min_side);
        assert_true(side / (factor + 1) < 2 * options.min_side || factor == 4096);
    }
}

static void a_tenth_of_the_rows_is_enough(void **state)
{
    (void)state;
    struct doppel_error error;
    assert_int_equal(check_rows("PNG", 10, 100, &error), DOPPEL_OK);
    assert_int_equal(check_rows("PNG", 9, 100, &error), DOPPEL_E_CORRUPT);
    assert_string_equal(error.message, "the PNG is cut short after 9 of 100 rows");
    assert_int_equal(check_rows("PNG", 0, 0, &error), DOPPEL_E_CORRUPT);
}

static void turning_is_what_exif_says(void **state)
{
    (void)state;
    for (unsigned orientation = 0; orientation <= 8; orientation++) {
        struct scene scene = scene_make(SCENE_GREY, 37, 23);
        struct image image = {.pixels = malloc(37 * 23),
                              .width = 37,
                              .height = 23,
                              .full_width = 370,
                              .full_height = 230,
                              .orientation = orientation};
        for (uint32_t i = 0; i < 37 * 23; i++)
            image.pixels[i] = scene.rgba[4 * i];
        struct doppel_media_limits limits = doppel_media_limits_default();
        assert_int_equal(orientation_apply(&image, &limits, NULL), DOPPEL_OK);
        assert_int_equal(image.full_width, orientation >= 5 ? 230 : 370);
        struct doppel_luma luma = {.plane = {image.pixels, image.width, image.height, image.width}};
        assert_true(compare(&luma, &scene, 1, orientation).most < .01);
        free(image.pixels);
        scene_free(&scene);
    }
}

static void exif_tells_the_orientation(void **state)
{
    (void)state;
    uint8_t block[6 + EXIF_BYTES] = "Exif";
    for (unsigned i = 0; i < 22; i++) {
        unsigned orientation = i / 2,
                 wanted = orientation >= 1 && orientation <= 8 ? orientation : 0;
        exif_make(orientation, i % 2, block + 6);
        assert_int_equal(orientation_read(block, sizeof block), wanted);
        assert_int_equal(orientation_read(block + 6, EXIF_BYTES), wanted);
    }
}

/* Broken blocks tell nothing or an orientation, and nothing outside of them is read. */
static void broken_exif_is_ignored(void **state)
{
    (void)state;
    uint8_t block[EXIF_BYTES];
    exif_make(6, false, block);
    for (size_t size = 0; size < 22; size++) {
        uint8_t *cut = malloc(size ? size : 1);
        memcpy(cut, block, size);
        assert_int_equal(orientation_read(cut, size), 0);
        free(cut);
    }
    for (int round = 0; round < 100000; round++) {
        uint8_t *broken = malloc(EXIF_BYTES);
        memcpy(broken, block, EXIF_BYTES);
        for (int i = 0; i < 3; i++)
            broken[4 + next_random() % (EXIF_BYTES - 4)] = (uint8_t)next_random();
        assert_in_range(orientation_read(broken, EXIF_BYTES), 0, 8);
        free(broken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_averaged_over_cells),
        cmocka_unit_test(twice_the_wanted_side_is_kept),
        cmocka_unit_test(a_tenth_of_the_rows_is_enough),
        cmocka_unit_test(turning_is_what_exif_says),
        cmocka_unit_test(exif_tells_the_orientation),
        cmocka_unit_test(broken_exif_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
