/* What blocks tell of how a picture came about, against the definitions and libjpeg's tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jpeglib.h>

#include "media/images/origin.h"

enum { BLOCKS = 200, MANY_BLOCKS = 100000 };

static uint32_t seed = 11;

static uint32_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

/* The table that libjpeg has for a quality, in natural order. */
static void table_of(int quality, uint16_t out[ORIGIN_CELLS])
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    cinfo.in_color_space = JCS_GRAYSCALE;
    cinfo.input_components = 1;
    jpeg_set_defaults(&cinfo);
    jpeg_set_quality(&cinfo, quality, FALSE);
    memcpy(out, cinfo.quant_tbl_ptrs[0]->quantval, ORIGIN_CELLS * sizeof *out);
    jpeg_destroy_compress(&cinfo);
}

static void quality_is_that_of_libjpeg(void **state)
{
    (void)state;
    uint16_t steps[ORIGIN_CELLS];
    for (int quality = 1; quality <= 100; quality++) {
        table_of(quality, steps);
        assert_in_range(origin_quality(steps), quality - 1, quality + 1);
    }
    memset(steps, 0, sizeof steps);
    assert_int_equal(origin_quality(steps), 100);
    memset(steps, 0xff, sizeof steps);
    assert_int_equal(origin_quality(steps), 1);
}

/* ---- the sample ---- */

static void a_sample_is_taken(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 100, 256, 1000, MANY_BLOCKS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct origin_meter meter;
        uint64_t wanted = 0, expected = counts[i] < 256 ? counts[i] : 256;
        origin_begin(&meter, counts[i], NULL);
        for (uint64_t block = 0; block < counts[i]; block++)
            wanted += origin_wants(&meter);
        assert_in_range(wanted, expected - expected / 20, expected + expected / 20);
    }
}

/* ---- the spectrum ---- */

/* T.81, A.3.3, in the order of its formula. */
static double coefficient(const uint8_t *block, size_t stride, int u, int v)
{
    double sum = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            sum += block[(size_t)y * stride + (size_t)x] * cos((2 * x + 1) * u * M_PI / 16) *
                   cos((2 * y + 1) * v * M_PI / 16);
    return sum / 4 * (u ? 1 : M_SQRT1_2) * (v ? 1 : M_SQRT1_2);
}

static uint8_t spectrum_of(const uint8_t *rows, uint32_t width, int k)
{
    double sum = 0;
    int count = 0;
    for (uint32_t x = 0; x + 8 <= width; x += 8)
        for (int u = 0; u <= k; u++)
            for (int v = 0; v <= k; v++)
                if (u == k || v == k) {
                    double magnitude = fabs(rint(coefficient(rows + x, width, u, v)));
                    sum += magnitude > 1 ? magnitude : 0;
                    count++;
                }
    return (uint8_t)fmin(255, round(16 * log2(1 + 16 * sum / count)));
}

static void the_spectrum_is_that_of_the_transform(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        uint32_t width = 8 + next_random() % 200;
        uint8_t *rows = malloc((size_t)width * 8);
        unsigned amount = 8U << round % 6;
        for (uint32_t i = 0; i < width * 8; i++)
            rows[i] = (uint8_t)(next_random() % amount);
        struct origin_meter meter;
        struct doppel_image_origin origin = {.jpeg_quality = 0};
        origin_begin(&meter, width / 8, NULL);
        origin_take_rows(&meter, rows, width);
        origin_finish(&meter, &origin);
        for (int k = 1; k < 8; k++)
            assert_in_range(origin.spectrum[k - 1] + 1, spectrum_of(rows, width, k),
                            spectrum_of(rows, width, k) + 2);
        assert_int_equal(origin.earlier_quality, 0);
        free(rows);
    }
}

static void nothing_is_told_of_nothing(void **state)
{
    (void)state;
    static const uint8_t narrow[7 * 8] = {9};
    const struct doppel_image_origin zero = {.jpeg_quality = 0};
    struct doppel_image_origin origin = {.jpeg_quality = 0};
    struct origin_meter meter;
    origin_begin(&meter, 0, NULL);
    origin_take_rows(&meter, narrow, 7);
    origin_finish(&meter, &origin);
    assert_memory_equal(&origin, &zero, sizeof origin);
}

/* ---- an earlier compression ---- */

/* A coefficient as photographs have them: many small ones, and fewer of high frequencies. */
static double photographed(int cell)
{
    double spread = 60. / (1 + cell % 8 + cell / 8);
    double magnitude = -log((next_random() + 1.) / 4294967297.) * spread;
    return next_random() & 1 ? magnitude : -magnitude;
}

/* Of blocks compressed by the table `first`, decoded to whole pixels, and compressed by `steps`.
 * Rounding 64 pixels moves each coefficient by a normal deviate of .29. */
static struct doppel_image_origin measure_twice(const uint16_t *first, const uint16_t *steps)
{
    struct origin_meter meter;
    struct doppel_image_origin origin = {.jpeg_quality = 0};
    origin_begin(&meter, BLOCKS, steps);
    for (int block = 0; block < BLOCKS; block++) {
        int16_t coefficients[ORIGIN_CELLS];
        for (int i = 0; i < ORIGIN_CELLS; i++) {
            double value = photographed(i), off = -6;
            if (first)
                value = round(value / first[i]) * first[i];
            for (int dice = 0; dice < 12; dice++)
                off += next_random() / 4294967296.;
            coefficients[i] = (int16_t)round((value + .29 * off) / (steps ? steps[i] : 1));
        }
        origin_take(&meter, coefficients);
    }
    origin_finish(&meter, &origin);
    return origin;
}

static void an_earlier_quality_is_seen(void **state)
{
    (void)state;
    static const int pairs[][2] = {{50, 90}, {60, 95}, {70, 95}, {75, 98}, {60, 0}, {80, 0}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint16_t first[ORIGIN_CELLS], steps[ORIGIN_CELLS];
        table_of(pairs[i][0], first);
        table_of(pairs[i][1] ? pairs[i][1] : 100, steps);
        struct doppel_image_origin origin = measure_twice(first, pairs[i][1] ? steps : NULL);
        assert_in_range(origin.earlier_quality, pairs[i][0] - 4, pairs[i][0] + 4);
    }
}

static void one_compression_is_no_earlier_one(void **state)
{
    (void)state;
    for (int quality = 30; quality <= 100; quality += 5) {
        uint16_t steps[ORIGIN_CELLS];
        table_of(quality, steps);
        assert_int_equal(measure_twice(NULL, steps).earlier_quality, 0);
        assert_int_equal(measure_twice(steps, steps).earlier_quality, 0);
    }
    assert_int_equal(measure_twice(NULL, NULL).earlier_quality, 0);
}

/* Files may hold any coefficient, and any table: also steps of 0. */
static void any_coefficients_are_measured(void **state)
{
    (void)state;
    static const uint16_t odd_steps[] = {0, 1, 2, 255, 0x7fff, 0x8000, 0xffff};
    static const int16_t odd[] = {INT16_MIN, INT16_MAX, -1, 0, 1, 63, 64, -64};
    for (int round = 0; round < 500; round++) {
        struct origin_meter meter;
        struct doppel_image_origin origin = {.jpeg_quality = 0};
        uint16_t steps[ORIGIN_CELLS];
        int16_t coefficients[ORIGIN_CELLS];
        for (int i = 0; i < ORIGIN_CELLS; i++)
            steps[i] = odd_steps[next_random() % 7];
        origin_begin(&meter, 1, steps);
        for (int block = 0; block < 70; block++) {
            for (int i = 0; i < ORIGIN_CELLS; i++)
                coefficients[i] =
                    round % 2 ? odd[next_random() % 8] : (int16_t)(next_random() >> 16);
            origin_take(&meter, coefficients);
        }
        origin_finish(&meter, &origin);
        assert_in_range(origin.earlier_quality, 0, 100);
        assert_in_range(origin_quality(steps), 1, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quality_is_that_of_libjpeg),
        cmocka_unit_test(a_sample_is_taken),
        cmocka_unit_test(the_spectrum_is_that_of_the_transform),
        cmocka_unit_test(nothing_is_told_of_nothing),
        cmocka_unit_test(an_earlier_quality_is_seen),
        cmocka_unit_test(one_compression_is_no_earlier_one),
        cmocka_unit_test(any_coefficients_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
