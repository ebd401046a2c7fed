/* The loops that samples go through: every version that this machine runs gives the bits of the
 * portable one, which is what its definition says. (For decimating see test_decimate.c.) */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "media/audio/kernels.h"

enum { MOST = 331 };

static const struct sample_kernels *kernels_with(uint32_t mask)
{
    cpu_mask(mask);
    const struct sample_kernels *kernels = sample_kernels_choose();
    cpu_mask(UINT32_MAX);
    return kernels;
}

static void fill_at_random(void *out, size_t bytes, uint32_t seed)
{
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        ((uint8_t *)out)[i] = (uint8_t)(seed >> 24);
    }
}

static double value_of(const void *in, size_t format, size_t i)
{
    switch (format) {
    case 0:
        return (((const uint8_t *)in)[i] - 128) / 128.0;
    case 1:
        return ((const int16_t *)in)[i] / 32768.0;
    case 2:
        return (double)(float)((const int32_t *)in)[i] / 2147483648.0;
    case 3:
        return (double)(float)((const int64_t *)in)[i] * 0x1p-63;
    case 4:
        return (double)((const float *)in)[i];
    default:
        return ((const double *)in)[i];
    }
}

static void samples_of_any_format_become_floats(void **state)
{
    (void)state;
    static double in[3 * MOST];
    const uint32_t masks[] = {0, CPU_AVX2, UINT32_MAX};
    float out[MOST];
    for (uint32_t turn = 0; turn < 3 * 6 * 3; turn++) {
        const struct sample_kernels *k = kernels_with(masks[turn % 3]);
        sample_converter *const converters[] = {k->from_u8,  k->from_s16,   k->from_s32,
                                                k->from_s64, k->from_float, k->from_double};
        const size_t format = turn / 3 % 6, step = 1 + turn / 18, count = MOST - turn;
        fill_at_random(in, sizeof in, turn); /* floats without a meaning, and no numbers, too */
        converters[format](in, step, count, out);
        for (size_t i = 0; i < count; i++) {
            const double value = value_of(in, format, i * step);
            assert_true(out[i] == (fabs(value) <= 1e9 ? (float)value : 0));
        }
    }
}

static double energy_of(const float *samples, size_t count)
{
    double mean = 0, energy = 0;
    for (size_t k = 0; k < count; k++)
        mean += (double)samples[k] / (double)count;
    for (size_t k = 0; k < count; k++)
        energy += ((double)samples[k] - mean) * ((double)samples[k] - mean);
    return energy;
}

/* To a rounding of the sums; and the same on every processor. */
static void shares_of_sums_and_energies_about_the_mean(void **state)
{
    (void)state;
    static float planes[2][MOST];
    const uint32_t masks[] = {0, CPU_AVX2, UINT32_MAX};
    for (size_t i = 0; i < (size_t)2 * MOST; i++)
        planes[i / MOST][i % MOST] = (float)(i * i % 1009) / 1009 - .3F;
    for (size_t count = 1; count <= MOST; count += 11) {
        double first[3];
        for (size_t turn = 0; turn < 6; turn++) {
            float made[MOST], *out = turn < 3 ? made : memcpy(made, planes[0], sizeof made);
            double energies[3];
            kernels_with(masks[turn % 3])
                ->add(turn < 3 ? planes[0] : made, planes[1], count, .3F, out, energies);
            for (size_t k = 0; k < count; k++)
                assert_true(out[k] == (planes[0][k] + planes[1][k]) * .3F);
            const float *const of[] = {planes[0], planes[1], out};
            for (size_t i = turn < 3 ? 0 : 1; i < 3; i++)
                assert_true(fabs(energies[i] - energy_of(of[i], count)) < 1e-4);
            if (!turn)
                memcpy(first, energies, sizeof first);
            assert_memory_equal(energies, first, sizeof first);
        }
    }
}

/* Pairs give what their floats give. */
static void pairs_are_mixed_as_floats(void **state)
{
    (void)state;
    static int16_t pairs[2 * MOST];
    static float planes[2][MOST], expected[MOST], made[MOST];
    const uint32_t masks[] = {0, CPU_AVX2, UINT32_MAX};
    fill_at_random(pairs, sizeof pairs, 7);
    for (size_t i = 0; i < (size_t)2 * MOST; i++)
        planes[i % 2][i / 2] = (float)pairs[i] / 32768;
    for (size_t count = 1; count <= MOST; count += 11)
        for (size_t turn = 0; turn < 3; turn++) {
            const struct sample_kernels *kernels = kernels_with(masks[turn]);
            double energies[3], others[3];
            kernels_with(0)->add(planes[0], planes[1], count, .5F, expected, energies);
            kernels->mix_s16(pairs, count, made, others);
            assert_memory_equal(made, expected, count * sizeof *made);
            assert_memory_equal(others, energies, sizeof others);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_any_format_become_floats),
        cmocka_unit_test(shares_of_sums_and_energies_about_the_mean),
        cmocka_unit_test(pairs_are_mixed_as_floats),
    };
    return cmocka_run_group_tests_name("media_sample_kernels", tests, NULL, NULL);
}
