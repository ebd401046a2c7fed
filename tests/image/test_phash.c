/* The hash against a slow transform in floating point, and the algebra of orientations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "core/cpu.h"
#include "planes.h"

enum { CELLS = 32 };

/* ---- the oracle: nothing shared with the room but the definition ---- */

static double cell_average(const struct doppel_plane *plane, unsigned column, unsigned row)
{
    double left = plane->width * (double)column / CELLS, top = plane->height * (double)row / CELLS;
    double right = plane->width * (column + 1.0) / CELLS;
    double bottom = plane->height * (row + 1.0) / CELLS;
    double sum = 0;
    for (uint32_t y = 0; y < plane->height; y++) {
        double tall = fmin(bottom, y + 1.0) - fmax(top, y);
        for (uint32_t x = 0; tall > 0 && x < plane->width; x++) {
            double wide = fmin(right, x + 1.0) - fmax(left, x);
            if (wide > 0)
                sum += wide * tall * get(plane, x, y);
        }
    }
    return sum / ((right - left) * (bottom - top));
}

static double coefficient(double cells[CELLS][CELLS], int u, int v)
{
    const double pi = acos(-1);
    double sum = 0;
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++)
            sum += cells[y][x] * cos(pi * (2 * x + 1) * u / (2 * CELLS)) *
                   cos(pi * (2 * y + 1) * v / (2 * CELLS));
    return sum;
}

/* The coefficients in the order of the bits: by radius, smaller index first, u < v first. */
static unsigned list_coefficients(int out[256][2])
{
    unsigned count = 0;
    for (int square = 1; count < 256; square++)
        for (int low = 0; low * low * 2 <= square; low++)
            for (int high = low; high * high + low * low <= square; high++) {
                if (high * high + low * low != square || count == 256)
                    continue;
                out[count][0] = low;
                out[count++][1] = high;
                if (high == low)
                    continue;
                out[count][0] = high;
                out[count++][1] = low;
            }
    return count;
}

static void assert_agrees_with_oracle(const struct doppel_plane *plane)
{
    double cells[CELLS][CELLS];
    for (unsigned y = 0; y < CELLS; y++)
        for (unsigned x = 0; x < CELLS; x++)
            cells[y][x] = cell_average(plane, x, y);
    int order[256][2];
    assert_int_equal(list_coefficients(order), 256);
    struct doppel_code code = doppel_image_phash(plane);
    unsigned decided = 0;
    for (unsigned i = 0; i < 256; i++) {
        double expected = coefficient(cells, order[i][0], order[i][1]);
        /* cells are rounded to 1/256 level, cosines to 2^-14 */
        if (fabs(expected) < 2)
            continue;
        decided++;
        assert_int_equal(code.word[i / 64] >> i % 64 & 1, expected > 0);
    }
    assert_true(decided > 128);
}

static const uint32_t sizes[][2] = {{32, 32},  {64, 64},   {1, 40},    {40, 1},  {2, 3},
                                    {33, 17},  {100, 75},  {127, 255}, {31, 32}, {500, 375},
                                    {3, 1000}, {640, 480}, {257, 192}, {7, 7}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_oracle(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SIZES; i++) {
        if (sizes[i][0] < 7 || sizes[i][1] < 7)
            continue;
        struct doppel_plane scene = draw_scene(sizes[i][0], sizes[i][1], i);
        struct doppel_plane noise = draw_noise(sizes[i][0], sizes[i][1], i);
        assert_agrees_with_oracle(&scene);
        assert_agrees_with_oracle(&noise);
        free_plane(&scene);
        free_plane(&noise);
    }
}

static void assert_same_code(struct doppel_code a, struct doppel_code b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

/* Every kernel that this machine runs gives the portable one's bits, also where all cells are at
 * their highest. */
static void test_kernels_agree(void **state)
{
    (void)state;
    uint16_t cells[CELLS * CELLS];
    uint64_t seed = 5;
    for (unsigned round = 0; round < 300; round++) {
        for (unsigned i = 0; i < CELLS * CELLS; i++)
            cells[i] =
                (uint16_t)(next_random(&seed) % (round % 3 ? 65281 : 2) + (round % 3 ? 0 : 65279));
        struct doppel_code code = doppel_image_phash_cells(cells);
        cpu_mask(0);
        struct doppel_code portable = doppel_image_phash_cells(cells);
        cpu_mask(UINT32_MAX);
        assert_same_code(code, portable);
    }
}

static void test_turned_plane_is_turned_code(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SIZES; i++) {
        if (sizes[i][0] < 7 || sizes[i][1] < 7)
            continue;
        struct doppel_plane plane = draw_noise(sizes[i][0], sizes[i][1], 77 + i);
        struct doppel_code code = doppel_image_phash(&plane);
        for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++) {
            struct doppel_plane turned = turn_plane(&plane, o);
            assert_same_code(doppel_image_phash(&turned), doppel_image_orient(&code, o));
            free_plane(&turned);
        }
        free_plane(&plane);
    }
}

/* Point-symmetric drawings, and such as are their own image in one mirror or in both, with the
 * noise that an encoder leaves: what is not there turns as it should. */
static void test_symmetric_planes_turn_too(void **state)
{
    (void)state;
    enum { SIDE = 96 };
    for (unsigned symmetry = 1; symmetry < 8; symmetry++)
        for (unsigned noise = 0; noise < 3; noise++) {
            struct doppel_plane plane = draw_scene(SIDE, SIDE, 5 * symmetry);
            struct doppel_plane grain = draw_noise(SIDE, SIDE, symmetry);
            for (size_t y = 0; y < SIDE; y++)
                for (size_t x = 0; x < SIDE; x++) {
                    bool across = symmetry & 1 && x >= SIDE / 2;
                    bool down = symmetry & 2 && y >= SIDE / 2;
                    if (symmetry & 4) /* both at once: a half turn */
                        across = down = y >= SIDE / 2;
                    int level =
                        plane.data[(down ? SIDE - 1 - y : y) * SIDE + (across ? SIDE - 1 - x : x)];
                    level += noise ? grain.data[y * SIDE + x] % 3 - 1 : 0;
                    set(&plane, x, y, level < 0 ? 0 : level > 255 ? 255 : level);
                }
            struct doppel_code code = doppel_image_phash(&plane);
            for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++) {
                struct doppel_plane turned = turn_plane(&plane, o);
                assert_same_code(doppel_image_phash(&turned), doppel_image_orient(&code, o));
                free_plane(&turned);
            }
            free_plane(&plane);
            free_plane(&grain);
        }
}

/* Orientations are the eight symmetries of the square: each undoes one, and two make one. */
static void test_orientations_are_a_group(void **state)
{
    (void)state;
    uint64_t random = 99;
    struct doppel_code code;
    for (unsigned i = 0; i < 4; i++)
        code.word[i] = (uint64_t)next_random(&random) << 32 | next_random(&random);
    for (unsigned a = 0; a < 8; a++)
        for (unsigned b = 0; b < 8; b++) {
            struct doppel_code once = doppel_image_orient(&code, a);
            struct doppel_code twice = doppel_image_orient(&once, b);
            unsigned found = 0;
            for (unsigned c = 0; c < 8; c++) {
                struct doppel_code direct = doppel_image_orient(&code, c);
                found += memcmp(&direct, &twice, sizeof direct) == 0;
            }
            assert_int_equal(found, 1);
        }
}

static void test_stride_is_honoured(void **state)
{
    (void)state;
    struct doppel_plane wide = draw_scene(300, 200, 5);
    struct doppel_plane part = {wide.data + 10, 120, 200, wide.stride};
    struct doppel_plane copy = make_plane(120, 200);
    for (size_t y = 0; y < 200; y++)
        for (size_t x = 0; x < 120; x++)
            set(&copy, x, y, get(&part, x, y));
    assert_same_code(doppel_image_phash(&part), doppel_image_phash(&copy));
    free_plane(&wide);
    free_plane(&copy);
}

static void test_flat_planes_have_a_code_of_zeros(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SIZES; i++) {
        struct doppel_plane plane = make_plane(sizes[i][0], sizes[i][1]);
        memset(samples_of(&plane), (int)(i * 19), (size_t)plane.width * plane.height);
        assert_same_code(doppel_image_phash(&plane), (struct doppel_code){0});
        free_plane(&plane);
    }
}

/* Applies level·gain/256 + lift and returns how far the code moves. */
static uint32_t moved_by_tone(const struct doppel_plane *plane, int gain, int lift)
{
    struct doppel_plane other = make_plane(plane->width, plane->height);
    for (size_t y = 0; y < plane->height; y++)
        for (size_t x = 0; x < plane->width; x++)
            set(&other, x, y, get(plane, x, y) * gain / 256 + lift);
    struct doppel_code a = doppel_image_phash(plane), b = doppel_image_phash(&other);
    free_plane(&other);
    return doppel_code_distance(&a, &b, 64);
}

static void test_tone_hardly_moves_the_code(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        struct doppel_plane plane = draw_scene(320, 240, seed);
        assert_true(moved_by_tone(&plane, 128, 0) <= 2);
        assert_true(moved_by_tone(&plane, 200, 40) <= 2);
        free_plane(&plane);
    }
}

static void test_doubling_does_not_move_the_code(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        struct doppel_plane plane = draw_scene(211, 140, seed);
        struct doppel_plane twice = make_plane(422, 280);
        for (size_t y = 0; y < 280; y++)
            for (size_t x = 0; x < 422; x++)
                set(&twice, x, y, get(&plane, x / 2, y / 2));
        assert_same_code(doppel_image_phash(&plane), doppel_image_phash(&twice));
        free_plane(&plane);
        free_plane(&twice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_kernels_agree),
        cmocka_unit_test(test_turned_plane_is_turned_code),
        cmocka_unit_test(test_symmetric_planes_turn_too),
        cmocka_unit_test(test_orientations_are_a_group),
        cmocka_unit_test(test_stride_is_honoured),
        cmocka_unit_test(test_flat_planes_have_a_code_of_zeros),
        cmocka_unit_test(test_tone_hardly_moves_the_code),
        cmocka_unit_test(test_doubling_does_not_move_the_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
