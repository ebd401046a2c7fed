/* One code against many: sorted bits, the kernels against all ways of mirroring, and that none is
 * told to be far that the gate lets pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "core/cpu.h"
#include "match/images.h"

enum { WORDS = DOPPEL_IMAGE_NEAR_WORDS, PROBES = 5, ROUNDS = 400 };

static struct doppel_code random_code(uint64_t *seed)
{
    struct doppel_code code;
    for (unsigned word = 0; word < 4; word++)
        code.word[word] = random_word(seed);
    return code;
}

/* The code mirrored as may be, or turned, some bits changed; some lack a parity. */
static struct doppel_code near_code(const struct doppel_code *of, uint64_t *seed)
{
    const struct doppel_code all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    struct doppel_code code = *of;
    if (random_word(seed) % 4 == 0) {
        const struct doppel_code even = doppel_image_orient(&all, 1 + random_word(seed) % 2);
        for (unsigned word = 0; word < 4; word++)
            code.word[word] &= even.word[word];
    }
    code = doppel_image_orient(&code, (unsigned)(random_word(seed) % 8));
    for (uint64_t bits = random_word(seed) % 24; bits; bits--)
        code.word[0] ^= UINT64_C(1) << random_word(seed) % 64;
    for (uint64_t bits = random_word(seed) % 64; bits; bits--)
        code.word[1 + random_word(seed) % 3] ^= UINT64_C(1) << random_word(seed) % 64;
    return code;
}

static void test_bits_are_sorted(void **state)
{
    uint64_t seed = 5;
    const struct doppel_code all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t word = random_word(&seed);
        assert_int_equal(doppel_image_unsort_bits(doppel_image_sort_bits(word)), word);
    }
    assert_int_equal(~doppel_image_sort_bits(doppel_image_orient(&all, 1).word[0]),
                     UINT64_C(0x1fff0000ffff0000));
    assert_int_equal(~doppel_image_sort_bits(doppel_image_orient(&all, 2).word[0]),
                     UINT64_C(0x1fffffff00000000));
}

static bool near_somehow(const struct doppel_image_probe *probe, uint64_t word, uint32_t radius)
{
    const uint64_t parities[] = {UINT64_C(0xffff) << 16, UINT64_C(0xffff) << 32,
                                 UINT64_C(0x1fff) << 48};
    bool near = false, whole = probe->whole;
    for (unsigned parity = 0; parity < 3; parity++)
        whole = whole && word & parities[parity];
    for (unsigned way = 0; way < 8; way++) {
        if (whole && __builtin_popcount(way) % 2)
            continue;
        uint64_t differ = probe->code.word[0] ^ word;
        for (unsigned parity = 0; parity < 3; parity++)
            differ ^= way >> parity & 1 ? parities[parity] : 0;
        near |= (uint32_t)__builtin_popcountll(differ) <= radius;
    }
    return near;
}

/* Radii from none to all, words one after the other and in the places of whole codes. */
static void check_scan(uint64_t *seed, size_t step)
{
    static uint64_t words[WORDS * 4];
    static struct doppel_image_near found[PROBES * WORDS];
    struct doppel_code codes[PROBES];
    struct doppel_image_probe probes[PROBES];
    const size_t probe_count = 1 + random_word(seed) % PROBES;
    const struct doppel_image_words list = {words, step,
                                            WORDS - (uint32_t)(random_word(seed) % WORDS)};
    for (size_t i = 0; i < probe_count; i++) {
        codes[i] = random_code(seed);
        doppel_image_probe_make(&codes[i], random_word(seed) % 2, &probes[i]);
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        const struct doppel_code *of = &codes[random_word(seed) % probe_count];
        words[i / 8 * step + i % 8] = random_word(seed) % 3
                                          ? random_word(seed)
                                          : doppel_image_sort_bits(near_code(of, seed).word[0]);
    }
    for (uint32_t radius = 0; radius <= 300; radius += 1 + radius / 3) {
        size_t count = doppel_image_probes_scan(probes, probe_count, &list, radius, found), at = 0;
        for (size_t probe = 0; probe < probe_count; probe++)
            for (uint32_t i = 0; i < list.count; i++) {
                const uint64_t word = words[i / 8 * step + i % 8];
                const bool near = near_somehow(&probes[probe], word, radius);
                assert_int_equal(doppel_image_probe_is_near(&probes[probe], word, radius), near);
                if (!near)
                    continue;
                assert_true(at < count);
                assert_int_equal(found[at].probe, probe);
                assert_int_equal(found[at++].word, i);
            }
        assert_int_equal(at, count);
    }
}

static void test_scan(void **state)
{
    uint64_t seed = 7;
    (void)state;
    const uint32_t kernels[] = {0, CPU_AVX2, UINT32_MAX};
    for (size_t kernel = 0; kernel < sizeof kernels / sizeof *kernels; kernel++) {
        cpu_mask(kernels[kernel]);
        for (int round = 0; round < ROUNDS / 16; round++)
            check_scan(&seed, round % 2 ? 8 : 32);
    }
}

/* Whether some orientation of the one view brings word 0 within the radius of the other's. */
static bool may_be_looked_up(const struct doppel_code *a, const struct doppel_code *b)
{
    for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++) {
        const struct doppel_code turned = doppel_image_orient(a, o);
        if (__builtin_popcountll(turned.word[0] ^ b->word[0]) <= DOPPEL_IMAGE_CANDIDATE_RADIUS)
            return true;
    }
    return false;
}

static bool is_reached(const struct doppel_code *a, const struct doppel_code *b, bool full,
                       const struct doppel_image_gate *gate)
{
    struct doppel_code sorted = *b;
    bool reached = false;
    sorted.word[0] = doppel_image_sort_bits(b->word[0]);
    for (int transposed = 0; transposed < 2; transposed++) {
        struct doppel_image_probe probe;
        doppel_image_probe_make(a, transposed, &probe);
        reached |= doppel_image_probe_reaches(&probe, sorted.word, gate, full && !transposed);
    }
    return reached;
}

/* Pictures of one view each. A full frame may pass by its 256 bits alone: that is another search.
 */
static void test_none_is_lost(void **state)
{
    uint64_t seed = 9;
    size_t passed = 0, reached = 0;
    const struct doppel_image_verify_options options = doppel_image_verify_options_default();
    const double rates[] = {DOPPEL_IMAGE_MAX_FPR, DOPPEL_IMAGE_BORDERLINE_FPR, 1e-12};
    (void)state;
    for (int round = 0; round < 100 * ROUNDS; round++) {
        const struct doppel_image_gate gate = doppel_image_gate_make(&options, rates[round % 3], 2);
        const struct doppel_code a = random_code(&seed), b = near_code(&a, &seed);
        const uint32_t first = (uint32_t)(random_word(&seed) % DOPPEL_VIEW_COUNT);
        const uint32_t second = (uint32_t)(random_word(&seed) % DOPPEL_VIEW_COUNT);
        const struct doppel_image_codes left = {&a, 1u << first}, right = {&b, 1u << second};
        const bool is = is_reached(&a, &b, !first && !second, &gate);
        const bool passes = doppel_image_gate_passes(&gate, &left, &right);
        reached += is;
        passed += passes;
        if (passes && (may_be_looked_up(&a, &b) || may_be_looked_up(&b, &a)))
            assert_true(is);
    }
    assert_true(passed > ROUNDS && reached < 100 * ROUNDS * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits_are_sorted),
                                       cmocka_unit_test(test_scan),
                                       cmocka_unit_test(test_none_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
