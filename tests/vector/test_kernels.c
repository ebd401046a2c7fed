/* Every kernel against the portable one, bit by bit; and what prefixes promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "vector/prefix.h"
#include "vectors.h"

#ifdef HAVE_EMULATED
extern const struct vector_kernels vector_kernels_emulated;
#endif

enum { BLOCKS = 7, PLACES = BLOCKS * PREFIX_BLOCK };

struct sample {
    uint8_t codes[PLACES * PREFIX_DIMENSIONS_MAX];
    int16_t head_rest[PLACES], rest[PLACES], error[PLACES];
    struct prefix_blocks blocks;
};

static void make_sample(struct sample *sample, uint32_t width, uint64_t *seed)
{
    sample->blocks = (struct prefix_blocks){sample->codes, sample->head_rest, sample->rest,
                                            sample->error, width};
    for (size_t i = 0; i < PLACES; i++) {
        struct prefix prefix;
        float components[PREFIX_DIMENSIONS_MAX];
        double square = 0;
        for (uint32_t j = 0; j < width; j++) {
            components[j] = random_normal(seed);
            square += (double)(components[j] * components[j]);
        }
        const double length = random_share(seed) / sqrt(square);
        for (uint32_t j = 0; j < width; j++)
            components[j] *= (float)length;
        prefix_make(components, width, &prefix);
        prefix_put(prefix.values, width, sample->codes, i);
        sample->head_rest[i] = prefix.head_rest;
        sample->rest[i] = prefix.rest;
        sample->error[i] = random_bits(seed) % 9 ? prefix.error : INT16_MIN;
    }
}

static void compare_scans(const struct vector_kernels *kernels, const struct sample *sample,
                          uint64_t *seed)
{
    const struct vector_kernels *portable = &vector_kernels_portable;
    struct prefix_spread queries[PREFIX_QUERIES];
    struct prefix_hit hits[BLOCKS], wanted[BLOCKS];
    int16_t scores[PREFIX_QUERIES * PLACES], wanted_scores[PREFIX_QUERIES * PLACES];
    const float least = (float)(random_share(seed) * 2 - 1);
    memset(queries, 0, sizeof queries);
    for (size_t k = 0; k < PREFIX_QUERIES; k++) {
        struct prefix_spread other = {0};
        const size_t at = random_bits(seed) % PLACES;
        kernels->spread(&sample->blocks, at, &queries[k]);
        portable->spread(&sample->blocks, at, &other);
        assert_memory_equal(&queries[k], &other, sizeof other);
        queries[k].below = prefix_below(least, 100);
    }
    const uint32_t from = (uint32_t)(random_bits(seed) % BLOCKS);
    size_t count = kernels->scan(queries, &sample->blocks, from, BLOCKS, hits);
    assert_int_equal(count, portable->scan(queries, &sample->blocks, from, BLOCKS, wanted));
    assert_memory_equal(hits, wanted, count * sizeof *hits);
    count = kernels->scan_heads(queries, &sample->blocks, from, BLOCKS, hits);
    assert_int_equal(count, portable->scan_heads(queries, &sample->blocks, from, BLOCKS, wanted));
    assert_memory_equal(hits, wanted, count * sizeof *hits);
    kernels->score(queries, &sample->blocks, BLOCKS, scores, PLACES);
    portable->score(queries, &sample->blocks, BLOCKS, wanted_scores, PLACES);
    assert_memory_equal(scores, wanted_scores, sizeof scores);
}

static void compare_sums(const struct vector_kernels *kernels, uint64_t *seed)
{
    enum { MOST = 200 };
    const struct vector_kernels *portable = &vector_kernels_portable;
    float a[MOST], b[MOST], basis[MOST * PREFIX_DIMENSIONS_MAX];
    float out[PREFIX_DIMENSIONS_MAX], wanted[PREFIX_DIMENSIONS_MAX];
    int8_t x[MOST], y[MOST];
    const size_t size = random_bits(seed) % (MOST + 1);
    const size_t width = PREFIX_HEAD * (1 + random_bits(seed) % 4);
    for (size_t i = 0; i < MOST; i++) {
        a[i] = random_normal(seed) * (float)pow(10, random_share(seed) * 8 - 4);
        b[i] = random_normal(seed);
        x[i] = (int8_t)(random_bits(seed) % 255 - 127);
        y[i] = random_bits(seed) % 3 ? (int8_t)(random_bits(seed) % 255 - 127) : 127;
    }
    for (size_t i = 0; i < MOST * width; i++)
        basis[i] = random_normal(seed);
    const float sum = kernels->dot_floats(a, b, size), other = portable->dot_floats(a, b, size);
    assert_memory_equal(&sum, &other, sizeof sum);
    assert_int_equal(kernels->dot_bytes(x, y, size / 32 * 32),
                     portable->dot_bytes(x, y, size / 32 * 32));
    kernels->project(a, size, basis, width, out);
    portable->project(a, size, basis, width, wanted);
    assert_memory_equal(out, wanted, width * sizeof *out);
}

static void test_kernels_agree(void **state)
{
    (void)state;
    static struct sample sample;
    uint64_t seed = 1;
#ifdef __x86_64__
    const struct vector_kernels *kernels[] = {
        cpu_flags() & CPU_AVX2 ? &vector_kernels_avx2 : NULL,
        cpu_flags() & CPU_AVX512_VNNI ? &vector_kernels_avx512 : NULL,
#ifdef HAVE_EMULATED
        cpu_flags() & CPU_AVX2 ? &vector_kernels_emulated : NULL,
#endif
    };
    if (!(cpu_flags() & CPU_AVX2))
        skip();
    for (int turn = 0; turn < 300; turn++) {
        make_sample(&sample, PREFIX_HEAD * (1 + (uint32_t)turn % 4), &seed);
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
            for (int again = 0; again < 5 && kernels[i]; again++)
                compare_scans(kernels[i], &sample, &seed);
            if (kernels[i])
                compare_sums(kernels[i], &seed);
        }
    }
#else
    (void)seed;
    (void)compare_scans;
    (void)compare_sums;
    (void)make_sample;
    skip();
#endif
}

/* No pair whose dot product is `least` or more is missed, however it is made. */
static void test_bounds_hold(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int turn = 0; turn < 20000; turn++) {
        enum { WIDTH = 32, ALL = 40 };
        float two[2][ALL];
        const double near = random_share(&seed) * 2;
        for (int i = 0; i < 2; i++) {
            double square = 0;
            for (int j = 0; j < ALL; j++) {
                two[i][j] = i ? two[0][j] + random_normal(&seed) * (float)near
                              : random_normal(&seed) * (j == turn % ALL ? 20 : 1);
                square += (double)(two[i][j] * two[i][j]);
            }
            for (int j = 0; j < ALL; j++)
                two[i][j] = (float)(two[i][j] / sqrt(square));
        }
        double dot = 0;
        for (int j = 0; j < ALL; j++)
            dot += (double)two[0][j] * (double)two[1][j];
        static struct sample sample;
        sample.blocks = (struct prefix_blocks){sample.codes, sample.head_rest, sample.rest,
                                               sample.error, WIDTH};
        struct prefix prefix;
        for (size_t i = 0; i < PREFIX_BLOCK; i++) {
            prefix_make(two[i % 2], WIDTH, &prefix);
            prefix_put(prefix.values, WIDTH, sample.codes, i);
            sample.head_rest[i] = prefix.head_rest;
            sample.rest[i] = prefix.rest;
            sample.error[i] = prefix.error;
        }
        struct prefix_spread queries[PREFIX_QUERIES];
        for (size_t k = 0; k < PREFIX_QUERIES; k++) {
            vector_kernels_get()->spread(&sample.blocks, 0, &queries[k]);
            queries[k].below = prefix_below((float)dot, sample.error[0]);
        }
        struct prefix_hit hit;
        assert_int_equal(vector_kernels_get()->scan(queries, &sample.blocks, 0, 1, &hit), 1);
        assert_int_equal(hit.marks[0], UINT16_MAX);
        assert_int_equal(vector_kernels_get()->scan_heads(queries, &sample.blocks, 0, 1, &hit), 1);
        assert_int_equal(hit.marks[0], UINT16_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_agree),
        cmocka_unit_test(test_bounds_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
