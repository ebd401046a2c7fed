/* Every scan kernel that this machine can run, against distances counted bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "index/codes.h"
#include "index/scan.h"
#include "index/slots.h"

enum { MAX_GROUPS = 131, MAX_WORDS = 4 };

static uint32_t slow_distance(const uint64_t *groups, size_t i, const uint64_t *query, size_t words)
{
    uint32_t distance = 0;
    for (size_t word = 0; word < words; word++)
        for (unsigned bit = 0; bit < 64; bit++) {
            uint64_t code = groups[(i / 8 * words + word) * 8 + i % 8];
            distance += (code >> bit & 1) != (query[word] >> bit & 1);
        }
    return distance;
}

static void check(scan_kernel *kernel, const uint64_t *groups, size_t group_count,
                  const uint64_t *query, uint32_t radius, size_t words)
{
    struct scan_hit hits[MAX_GROUPS * SCAN_GROUP];
    size_t n = kernel(groups, group_count, query, radius, hits), at = 0;
    for (size_t i = 0; i < group_count * SCAN_GROUP; i++) {
        uint32_t distance = slow_distance(groups, i, query, words);
        if (distance > radius)
            continue;
        assert_true(at < n);
        assert_int_equal(hits[at].position, i);
        assert_int_equal(hits[at].distance, distance);
        at++;
    }
    assert_int_equal(at, n);
}

/* Radii around the distance of each shape, and both ends. */
static void check_kernel(scan_kernel *kernel, size_t words)
{
    static const uint32_t radii[] = {0, 1, 2, 16, 17, 31, 40, 64, 100, 128, 255, 256, UINT32_MAX};
    static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 64, MAX_GROUPS};
    static uint64_t groups[MAX_GROUPS * SCAN_GROUP * MAX_WORDS];
    uint64_t queries[3 * MAX_WORDS];
    for (enum shape shape = 0; shape < SHAPES; shape++) {
        shaped_codes(shape, MAX_GROUPS * SCAN_GROUP, words, 7, groups);
        shaped_codes(shape, 3, words, 8, queries);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
                for (size_t q = 0; q < 3; q++)
                    check(kernel, groups, sizes[s], queries + q * words, radii[r], words);
    }
}

static void test_portable(void **state)
{
    (void)state;
    check_kernel(scan64_portable, 1);
    check_kernel(scan128_portable, 2);
    check_kernel(scan256_portable, 4);
}

#if defined(__x86_64__)
static void test_avx2(void **state)
{
    (void)state;
    if (!(cpu_flags() & CPU_AVX2))
        skip();
    check_kernel(scan64_avx2, 1);
    check_kernel(scan128_avx2, 2);
    check_kernel(scan256_avx2, 4);
}

static void test_avx512(void **state)
{
    (void)state;
    if (!(cpu_flags() & CPU_AVX512_POPCNT))
        skip();
    check_kernel(scan64_avx512, 1);
    check_kernel(scan128_avx512, 2);
    check_kernel(scan256_avx512, 4);
}
#endif

/* ---- slots ---- */

enum { SLOTS = 50 };

static void check_slots(slot_kernel *kernel)
{
    static _Alignas(64) struct slot slots[SLOTS];
    uint32_t numbers[SLOTS], found[SLOTS * SLOT_LANES], next[SLOTS];
    struct slot_matches matches = {.found = found, .next = next};
    uint64_t seed = 4;
    for (uint32_t limit = 0; limit <= 40; limit++) {
        uint32_t query = (uint32_t)random_word(&seed);
        for (uint32_t i = 0; i < SLOTS; i++) {
            numbers[i] = i * 7 % SLOTS;
            slots[i].count = (uint32_t)(random_word(&seed) % (SLOT_LANES + 1));
            slots[i].next = i % 3 ? 0 : i + 1;
            for (unsigned lane = 0; lane < SLOT_LANES; lane++)
                slots[i].remainders[lane] =
                    lane % 3 ? (uint32_t)random_word(&seed) : query ^ (lane % 2 ? 1u << lane : 0);
        }
        kernel(slots, numbers, SLOTS, query, limit, &matches);
        size_t at = 0, at_next = 0;
        for (size_t i = 0; i < SLOTS; i++) {
            const struct slot *slot = &slots[numbers[i]];
            for (uint32_t lane = 0; lane < slot->count; lane++) {
                uint32_t differ = 0;
                for (unsigned bit = 0; bit < 32; bit++)
                    differ += (slot->remainders[lane] ^ query) >> bit & 1;
                if (differ <= limit) {
                    assert_true(at < matches.count);
                    assert_int_equal(found[at++], numbers[i] * 16 + lane);
                }
            }
            if (slot->next) {
                assert_true(at_next < matches.next_count);
                assert_int_equal(next[at_next++], slot->next);
            }
        }
        assert_int_equal(at, matches.count);
        assert_int_equal(at_next, matches.next_count);
    }
}

static void test_slots(void **state)
{
    (void)state;
    check_slots(slot_kernel_portable);
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX2)
        check_slots(slot_kernel_avx2);
    if (cpu_flags() & CPU_AVX512_POPCNT)
        check_slots(slot_kernel_avx512);
#endif
    cpu_mask(0);
    assert_ptr_equal(slot_kernel_choose(), slot_kernel_portable);
    cpu_mask(UINT32_MAX);
}

static void test_choice_follows_the_processor(void **state)
{
    (void)state;
    cpu_mask(0);
    assert_ptr_equal(scan_choose(64), scan64_portable);
    assert_ptr_equal(scan_choose(32), scan64_portable);
    assert_ptr_equal(scan_choose(128), scan128_portable);
    assert_ptr_equal(scan_choose(256), scan256_portable);
    cpu_mask(UINT32_MAX);
    bool plain = !(cpu_flags() & (CPU_AVX2 | CPU_AVX512_POPCNT));
    assert_int_equal(scan_choose(64) == scan64_portable, plain);
    assert_int_equal(scan_choose(256) == scan256_portable, plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_portable),
#if defined(__x86_64__)
        cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_avx512),
#endif
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_choice_follows_the_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
