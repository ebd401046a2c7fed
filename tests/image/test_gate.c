/* The gate against the judge: what the judge finds passes, and few strangers do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "core/cpu.h"
#include "match/images.h"

enum { IMAGES = 160 };

static struct doppel_fingerprint images[IMAGES];

static struct doppel_image_codes codes_of(const struct doppel_fingerprint *image)
{
    struct doppel_image_codes codes = {.codes = image->codes};
    for (uint32_t i = 0; i < image->count; i++)
        codes.views |= 1u << image->positions[i];
    return codes;
}

/* Codes whose bits of the same parity are all 0, as of pictures that are their own mirror image. */
static void symmetrise(struct doppel_fingerprint *image)
{
    struct doppel_code all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    struct doppel_code even = doppel_image_orient(&all, 1);
    for (uint32_t i = 0; i < image->count; i++)
        for (unsigned word = 0; word < 4; word++)
            image->codes[i].word[word] &= even.word[word];
}

/* Strangers, copies more or less changed, turned, and with another view in front. */
static void draw_images(void)
{
    uint64_t seed = 41;
    for (unsigned i = 0; i < IMAGES; i++) {
        unsigned views = (unsigned)random_word(&seed) & 0xfff,
                 fate = (unsigned)random_word(&seed) % 5;
        images[i] = make_fingerprint(DOPPEL_SCHEME_PHASH64, views, &seed);
        const struct doppel_fingerprint *model = &images[i ? random_word(&seed) % i : 0];
        if (i == 0 || fate == 0)
            continue;
        if (fate == 1) {
            images[i].codes[0] = model->codes[random_word(&seed) % model->count];
        } else {
            doppel_fingerprint_free(&images[i]);
            images[i] = copy_fingerprint(model);
        }
        if (random_word(&seed) % 8 == 0)
            symmetrise(&images[i]);
        disturb(&images[i], 3 + (unsigned)(random_word(&seed) % 20), &seed);
        if (random_word(&seed) % 2)
            turn(&images[i], (unsigned)(random_word(&seed) % 8));
    }
}

static bool is_wanted(const struct doppel_image_verdict *verdict, double max_rate,
                      double min_similarity)
{
    return verdict->false_positive_rate <= max_rate || verdict->similarity >= min_similarity;
}

/* How many pairs the judge wants, and how many pass that it does not. */
struct tally {
    unsigned wanted, passed;
};

static struct tally check_pairs(const struct doppel_image_verify_options *options, double max_rate,
                                double min_similarity)
{
    struct tally tally = {0};
    struct doppel_image_gate gate = doppel_image_gate_make(options, max_rate, min_similarity);
    for (unsigned i = 0; i < IMAGES; i++)
        for (unsigned j = 0; j < i; j++) {
            struct doppel_image_verdict forth =
                doppel_image_verify(&images[i], &images[j], options);
            struct doppel_image_verdict back = doppel_image_verify(&images[j], &images[i], options);
            struct doppel_image_codes a = codes_of(&images[i]), b = codes_of(&images[j]);
            bool wanted = is_wanted(&forth, max_rate, min_similarity) ||
                          is_wanted(&back, max_rate, min_similarity);
            bool passes = doppel_image_gate_passes(&gate, &a, &b);
            assert_true(passes || !wanted);
            assert_int_equal(doppel_image_gate_passes(&gate, &b, &a), passes);
            tally.wanted += wanted;
            tally.passed += passes;
        }
    return tally;
}

static void check_kernel(uint32_t flags)
{
    cpu_mask(flags);
    for (unsigned trial = 0; trial < 6; trial++) {
        struct doppel_image_verify_options options = {(enum doppel_image_views)(trial % 3),
                                                      trial / 3 == 1};
        struct tally strict = check_pairs(&options, DOPPEL_IMAGE_MAX_FPR, 2);
        struct tally loose = check_pairs(&options, 1e-2, 2);
        (void)check_pairs(&options, DOPPEL_IMAGE_BORDERLINE_FPR, 2); /* most pass */
        struct tally alike = check_pairs(&options, 0, 0.7);
        assert_true(strict.wanted > 20 && loose.wanted >= strict.wanted);
        assert_true(alike.wanted > 20);
        assert_true(strict.passed <= strict.wanted + strict.wanted / 4);
        assert_true(loose.passed <= loose.wanted + loose.wanted / 4);
        assert_true(alike.passed <= alike.wanted + alike.wanted / 4);
    }
    cpu_mask(UINT32_MAX);
}

static void test_what_is_judged_near_passes(void **state)
{
    (void)state;
    check_kernel(0);
}

static void test_avx2(void **state)
{
    (void)state;
    if (!(cpu_flags() & CPU_AVX2))
        skip();
    check_kernel(CPU_AVX2);
}

static void test_avx512(void **state)
{
    (void)state;
    if (!(cpu_flags() & CPU_AVX512_POPCNT))
        skip();
    check_kernel(UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_judged_near_passes),
        cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_avx512),
    };
    draw_images();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (unsigned i = 0; i < IMAGES; i++)
        doppel_fingerprint_free(&images[i]);
    return failed;
}
