/* The loops over a row: every version that this machine runs gives the bits of the portable one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/audio.h>

#include "audio/rows.h"
#include "audio/synth.h"
#include "core/cpu.h"

static const uint32_t MASKS[] = {CPU_AVX2, UINT32_MAX};

static const struct row_kernels *kernels_of(uint32_t mask)
{
    cpu_mask(mask);
    const struct row_kernels *kernels = row_kernels_choose();
    cpu_mask(UINT32_MAX);
    return kernels;
}

/* Everything that the kernels make of a few spectra. */
struct made {
    float taken[2 * 513], windowed[DOPPEL_AUDIO_WINDOW];
    int16_t raw[7][ROW], rows[7][ROW], spread[7][ROW], near[7][ROW];
    struct row_facts facts[7];
    uint64_t bits[ROW / 64], near_bits[ROW / 64];
    int rank;
};

/* Powers all over the range of float, with equal ones, zeros, infinities. */
static void draw_spectrum(uint64_t *seed, float out[2 * 513])
{
    int wide = (int)(next_random(seed) % 3);
    for (int i = 0; i < 2 * 513; i++) {
        double value = uniform(seed) - .5;
        if (wide)
            value = ldexp(value, (int)(next_random(seed) % (wide == 1 ? 20 : 140)) - 70);
        out[i] = (float)(next_random(seed) % 9 ? value : value < 0);
    }
    if (next_random(seed) % 4 == 0)
        memset(out, 0, 700 * sizeof *out);
    out[40] = next_random(seed) % 8 ? out[40] : 3e38f;
}

static void make(const struct row_kernels *kernels, uint64_t seed, struct made *out)
{
    memset(out, 0, sizeof *out);
    float spectrum[2 * 513];
    for (int i = 0; i < 7; i++) {
        draw_spectrum(&seed, spectrum);
        kernels->levels(spectrum, out->raw[i]);
        memcpy(out->rows[i], out->raw[i], sizeof out->raw[i]);
        kernels->facts(out->rows[i], &out->facts[i]);
        kernels->spread(out->rows[i], out->spread[i]);
        kernels->spread_near(out->rows[i], out->near[i]);
    }
    kernels->take(spectrum, 2 * 513 - seed % 20, out->taken);
    out->rank = kernels->rank((const int32_t *)out->taken, 999 - (int)(seed % 20), (int32_t)seed);
    kernels->window(spectrum + 1, spectrum + 2, out->windowed);
    kernels->maxima(out->rows[3], out->spread[0], out->facts[3].floor, out->bits);
    kernels->maxima_near(out->rows[3], out->near[1], out->facts[3].floor, out->near_bits);
}

static void test_versions_are_equal(void **state)
{
    (void)state;
    static struct made expected, made;
    for (uint64_t seed = 0; seed < 2000; seed++)
        for (size_t i = 0; i < sizeof MASKS / sizeof *MASKS; i++) {
            make(kernels_of(0), seed, &expected);
            make(kernels_of(MASKS[i]), seed, &made);
            assert_memory_equal(&made, &expected, sizeof made);
        }
}

static int16_t highest_about(const int16_t row[ROW], int place, int reach)
{
    int16_t top = 0;
    for (int at = place - reach; at <= place + reach; at++)
        if (at >= 0 && at < ROW && place >= ROW_PAD && place < ROW - ROW_PAD)
            top = row[at] > top ? row[at] : top;
    return top;
}

static int16_t highest_of(int16_t rows[7][ROW], int first, int end, int place)
{
    int16_t top = 0;
    for (int row = first; row < end; row++)
        top = rows[row][place] > top ? rows[row][place] : top;
    return top;
}

/* The portable version itself against the definitions, one level at a time. */
static void test_portable_is_as_defined(void **state)
{
    (void)state;
    static struct made made;
    for (uint64_t seed = 0; seed < 300; seed++) {
        make(kernels_of(0), seed, &made);
        for (int i = 0; i < ROW; i++) {
            int16_t level = made.rows[3][i];
            bool heard = level > made.facts[3].floor;
            assert_int_equal(made.spread[0][i], highest_about(made.rows[0], i, 8));
            assert_int_equal(made.near[0][i], highest_about(made.rows[0], i, 3));
            assert_int_equal(made.bits[i / 64] >> i % 64 & 1,
                             heard && level >= highest_of(made.spread, 0, 7, i));
            assert_int_equal(made.near_bits[i / 64] >> i % 64 & 1,
                             heard && level >= highest_of(made.near, 1, 6, i));
        }
    }
}

/* log2 of powers, in steps of 1/128, rounded: half a step off where it is between two. */
static void test_levels_are_logarithms(void **state)
{
    (void)state;
    uint64_t seed = 3;
    float spectrum[2 * 513] = {0};
    int16_t row[ROW];
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < BINS; i++)
            spectrum[2 * i] =
                ldexpf((float)(1 + uniform(&seed)), (int)(next_random(&seed) % 110) - 55);
        kernels_of(UINT32_MAX)->levels(spectrum, row);
        for (int i = 0; i < BINS; i++) {
            double power = (double)spectrum[2 * i] * spectrum[2 * i];
            assert_true(fabs(row[ROW_PAD + i] - (127 + log2(power)) * 128) < .52);
        }
    }
}

/* Doubling every sample moves every level by two octaves, exactly. */
static void test_levels_of_powers_of_two(void **state)
{
    (void)state;
    uint64_t seed = 4;
    float spectrum[2 * 513], doubled[2 * 513];
    int16_t row[ROW], higher[ROW];
    for (int i = 0; i < 2 * 513; i++) {
        spectrum[i] = (float)(uniform(&seed) - .5);
        doubled[i] = 2 * spectrum[i];
    }
    kernels_of(UINT32_MAX)->levels(spectrum, row);
    kernels_of(UINT32_MAX)->levels(doubled, higher);
    for (int i = 0; i < BINS; i++)
        assert_int_equal(higher[ROW_PAD + i], row[ROW_PAD + i] + 2 * LEVEL_OCTAVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_are_equal),
        cmocka_unit_test(test_portable_is_as_defined),
        cmocka_unit_test(test_levels_are_logarithms),
        cmocka_unit_test(test_levels_of_powers_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
