/* The fit of one plane onto another: it finds where a scene was moved to, gives unrelated ones up,
 * and is the same, bit by bit, with every kernel. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "image/align.h"

#include "planes.h"

enum { SAMPLES = ALIGN_SIDE * ALIGN_SIDE, WAVES = 12 };

static double next_share(uint64_t *state)
{
    return next_random(state) / 4294967296.;
}

/** A scene of waves, as it shows at any place: x = map[0] + map[1]·column + map[2]·row, ... */
static void draw_waves(uint64_t seed, const double map[6], uint8_t out[SAMPLES])
{
    double waves[WAVES][4];
    for (int i = 0; i < WAVES; i++) {
        waves[i][0] = (next_share(&seed) - .5) * .6;
        waves[i][1] = (next_share(&seed) - .5) * .6;
        waves[i][2] = next_share(&seed) * 6.28;
        waves[i][3] = 60 * next_share(&seed) / sqrt(WAVES);
    }
    for (int i = 0; i < SAMPLES; i++) {
        const int column = i % ALIGN_SIDE, row = i / ALIGN_SIDE;
        const double x = map[0] + map[1] * column + map[2] * row;
        const double y = map[3] + map[4] * column + map[5] * row;
        double sum = 128;
        for (int k = 0; k < WAVES; k++)
            sum += waves[k][3] * sin(waves[k][0] * x + waves[k][1] * y + waves[k][2]);
        out[i] = (uint8_t)fmin(255, fmax(0, sum + .5));
    }
}

static const double as_it_is[6] = {0, 1, 0, 0, 0, 1};

/** Half of the plane, in its middle. */
static const struct align_map middle = {{31.5, 16, 0, 31.5, 0, 16}};

static void test_moves_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t random = seed * 977;
        uint8_t samples[2][SAMPLES];
        struct align_plane query, item;
        struct align_map found = middle;
        double move[6];
        for (int i = 0; i < 6; i++)
            move[i] = as_it_is[i] + (next_share(&random) - .5) * (i % 3 ? .06 : 4);
        draw_waves(seed, move, samples[0]);
        draw_waves(seed, as_it_is, samples[1]);
        align_plane_make(samples[0], &query);
        align_plane_make(samples[1], &item);
        assert_true(align_fit(&query, &middle, &item, &found));
        for (int corner = 0; corner < 4; corner++) {
            const double u = corner & 1 ? .8 : -.8, v = corner & 2 ? .8 : -.8;
            const double column = 31.5 + 16 * u, row = 31.5 + 16 * v;
            const double x = found.map[0] + found.map[1] * u + found.map[2] * v;
            const double y = found.map[3] + found.map[4] * u + found.map[5] * v;
            assert_true(fabs(x - move[0] - move[1] * column - move[2] * row) < .25);
            assert_true(fabs(y - move[3] - move[4] * column - move[5] * row) < .25);
        }
    }
}

static void test_unrelated_scenes_are_given_up(void **state)
{
    unsigned fits = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint8_t samples[2][SAMPLES];
        struct align_plane query, item;
        struct align_map found = middle;
        draw_waves(seed, as_it_is, samples[0]);
        draw_waves(seed + 1000, as_it_is, samples[1]);
        align_plane_make(samples[0], &query);
        align_plane_make(samples[1], &item);
        fits += align_fit(&query, &middle, &item, &found);
    }
    assert_true(fits <= 2);
}

/* ---- kernels ---- */

/** The same scene moved, another one, noise, or one that is half covered. */
static void fill_planes(uint64_t *state, uint8_t samples[2][SAMPLES])
{
    const uint64_t scene = 1 + next_random(state);
    double move[6];
    for (int i = 0; i < 6; i++)
        move[i] = as_it_is[i] + (next_share(state) - .5) * (i % 3 ? .2 : 8);
    draw_waves(scene, as_it_is, samples[0]);
    draw_waves(next_random(state) % 4 ? scene : scene + 1, move, samples[1]);
    const uint32_t levels = 1 + next_random(state) % 64, covered = next_random(state) % 4;
    for (int i = 0; i < SAMPLES; i++)
        samples[0][i] = (uint8_t)(samples[0][i] / 2 + next_random(state) % levels);
    for (uint32_t i = 0; i < covered * SAMPLES / 8; i++)
        samples[1][i] = (uint8_t)(next_random(state) % levels);
}

/** Also from a start that lies off the plane, or nowhere. */
static struct align_map random_start(uint64_t *state)
{
    struct align_map start = middle;
    for (int i = 0; i < 6; i++)
        start.map[i] += (next_share(state) - .5) * (next_random(state) % 16 ? 4 : 64);
    if (next_random(state) % 64 == 0)
        start.map[next_random(state) % 6] = NAN;
    return start;
}

static void test_kernels_agree(void **state)
{
    uint64_t random = 7;
    unsigned fits = 0;
    (void)state;
    if (!(cpu_flags() & CPU_AVX2))
        skip();
    for (int trial = 0; trial < 800; trial++) {
        uint8_t samples[2][SAMPLES];
        fill_planes(&random, samples);
        const struct align_map start = random_start(&random);
        struct align_map found[2] = {start, start};
        bool fit[2];
        for (int kernel = 0; kernel < 2; kernel++) {
            struct align_plane query, item;
            align_plane_make(samples[0], &query);
            align_plane_make(samples[1], &item);
            cpu_mask(kernel ? CPU_AVX2 : 0);
            fit[kernel] = align_fit(&query, &middle, &item, &found[kernel]);
        }
        cpu_mask(UINT32_MAX);
        assert_true(fit[0] == fit[1]);
        assert_memory_equal(&found[0], &found[1], sizeof *found);
        fits += fit[0];
    }
    assert_in_range(fits, 100, 680);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves_are_found),
        cmocka_unit_test(test_unrelated_scenes_are_given_up),
        cmocka_unit_test(test_kernels_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
