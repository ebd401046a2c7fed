/* Distances of one code to several: those of the codes one by one, with every kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "image/distances.h"

#include "planes.h"

static void test_distances(void **state)
{
    enum { CODES = 12 };
    static const uint32_t flags[] = {0, CPU_AVX2};
    uint64_t random = 3;
    (void)state;
    for (unsigned trial = 0; trial < 400; trial++) {
        struct doppel_code codes[CODES + 1];
        struct code_distances distances[CODES];
        for (unsigned i = 0; i < (CODES + 1) * 4; i++)
            codes[i / 4].word[i % 4] = (uint64_t)next_random(&random) << 32 | next_random(&random);
        cpu_mask(flags[trial % 2]);
        measure_distances(&codes[CODES], codes, trial % (CODES + 1), distances);
        cpu_mask(UINT32_MAX);
        for (unsigned i = 0; i < trial % (CODES + 1); i++) {
            assert_int_equal(distances[i].distance64,
                             doppel_code_distance(&codes[CODES], &codes[i], 64));
            assert_int_equal(distances[i].distance256,
                             doppel_code_distance(&codes[CODES], &codes[i], 256));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
