/* What signatures say of two sets, against what is so: the mean, and the spread that is stated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

#include <doppel/text.h>

#include "match/images.h"

enum { PAIRS = 400, WORDS = 600, WORD_BYTES = 12 };

struct text {
    char bytes[WORDS * WORD_BYTES];
    size_t size;
};

static void put_word(struct text *text, uint64_t word)
{
    text->size += (size_t)sprintf(text->bytes + text->size, "w%06x ", (unsigned)(word >> 40));
}

/* Two texts of the same number of single words, of which `shared` are the same. */
static void make_sets(struct text *a, struct text *b, size_t words, size_t shared, uint64_t *seed)
{
    a->size = b->size = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t word = random_word(seed);
        put_word(a, word);
        put_word(b, i < shared ? word : random_word(seed));
    }
}

/* Errors of estimates, and the standard errors that were stated. */
struct errors {
    double sum, squares, stated;
    size_t count;
};

static void count_error(struct errors *errors, struct doppel_estimate estimate, double truth)
{
    double error = estimate.value - truth;
    errors->sum += error;
    errors->squares += error * error;
    errors->stated += estimate.standard_error;
    errors->count++;
}

/* The mean error is within four of its own standard errors of 0, and the spread is as stated. */
static void expect_as_stated(const struct errors *errors)
{
    double count = (double)errors->count, spread = sqrt(errors->squares / count);
    double stated = errors->stated / count;
    assert_true(fabs(errors->sum / count) < 4 * spread / sqrt(count));
    assert_true(spread < 1.2 * stated);
    assert_true(spread > 0.75 * stated);
}

static void read_pair(struct doppel_text *reader, const struct text *a, const struct text *b,
                      struct doppel_text_result results[2])
{
    unsigned want = DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH;
    assert_int_equal(doppel_text_read(reader, a->bytes, a->size, want, &results[0], NULL), 0);
    assert_int_equal(doppel_text_read(reader, b->bytes, b->size, want, &results[1], NULL), 0);
}

static struct doppel_text *open_reader(uint32_t lanes)
{
    struct doppel_text_options options = doppel_text_options_default();
    options.shingle = 1;
    options.lanes = lanes;
    struct doppel_text *reader;
    assert_int_equal(doppel_text_new(&options, &reader, NULL), DOPPEL_OK);
    return reader;
}

static void check(uint32_t lanes, size_t words, size_t shared, uint64_t seed)
{
    struct doppel_text *reader = open_reader(lanes);
    struct errors jaccard = {0}, cosine = {0};
    static struct text a, b;
    for (size_t pair = 0; pair < PAIRS; pair++) {
        struct doppel_text_result results[2];
        make_sets(&a, &b, words, shared, &seed);
        read_pair(reader, &a, &b, results);
        count_error(&jaccard, doppel_minhash_similarity(results[0].lanes, results[1].lanes, lanes),
                    (double)shared / (double)(2 * words - shared));
        count_error(&cosine, doppel_simhash_similarity(results[0].simhash, results[1].simhash),
                    (double)shared / (double)words);
    }
    doppel_text_free(reader);
    expect_as_stated(&jaccard);
    if (lanes == 128)
        expect_as_stated(&cosine);
}

static void test_long_texts(void **state)
{
    (void)state;
    check(128, WORDS, WORDS / 3, 1);
    check(128, WORDS, WORDS * 2 / 3, 2);
    check(128, WORDS, WORDS * 9 / 10, 3);
    check(256, WORDS, WORDS * 2 / 3, 4);
}

/* Fewer shingles than bins: most lanes are filled from others. */
static void test_densified(void **state)
{
    (void)state;
    struct doppel_text *reader = open_reader(128);
    static struct text a, b;
    uint64_t seed = 5;
    double sum = 0;
    for (size_t pair = 0; pair < PAIRS; pair++) {
        struct doppel_text_result results[2];
        make_sets(&a, &b, 40, 30, &seed);
        read_pair(reader, &a, &b, results);
        sum += doppel_minhash_similarity(results[0].lanes, results[1].lanes, 128).value;
    }
    doppel_text_free(reader);
    assert_true(fabs(sum / PAIRS - 30. / 50) < 4 * 0.09 / sqrt(PAIRS));
}

static void test_the_same_and_strangers(void **state)
{
    (void)state;
    struct doppel_text *reader = open_reader(128);
    struct doppel_text_result results[2];
    static struct text a, b;
    uint64_t seed = 6;
    make_sets(&a, &b, WORDS, WORDS, &seed);
    read_pair(reader, &a, &b, results);
    struct doppel_estimate same =
        doppel_minhash_similarity(results[0].lanes, results[1].lanes, 128);
    assert_true(same.value == 1 && same.standard_error > 0 && same.standard_error < 0.01);
    same = doppel_simhash_similarity(results[0].simhash, results[1].simhash);
    assert_true(same.value == 1 && same.standard_error > 0 && same.standard_error < 0.01);
    make_sets(&a, &b, WORDS, 0, &seed);
    read_pair(reader, &a, &b, results);
    assert_true(doppel_minhash_similarity(results[0].lanes, results[1].lanes, 128).value < 0.03);
    doppel_text_free(reader);
}

/* ---- SimHash of a caller's own hashes ---- */

static void test_own_hashes_and_weights(void **state)
{
    (void)state;
    struct doppel_simhash simhash = {{0}};
    assert_int_equal(doppel_simhash_get(&simhash), 0);
    static const uint64_t hashes[] = {0xff, 0xf0, 0x0f0};
    static const int32_t weights[] = {3, 1, -5};
    doppel_simhash_add(&simhash, hashes, NULL, 1);
    assert_int_equal(doppel_simhash_get(&simhash), 0xff);
    doppel_simhash_add(&simhash, hashes + 1, NULL, 1);
    assert_int_equal(doppel_simhash_get(&simhash), 0xf0);
    simhash = (struct doppel_simhash){{0}};
    doppel_simhash_add(&simhash, hashes, weights, 3);
    assert_int_equal(simhash.sums[0], 3 - 1 + 5);
    assert_int_equal(simhash.sums[4], 3 + 1 - 5);
    assert_int_equal(simhash.sums[8], -3 - 1 + 5);
    assert_int_equal(doppel_simhash_get(&simhash), 0xffffffffffffff0f);
}

/* What is added in parts is what is added at once. */
static void test_incrementally(void **state)
{
    (void)state;
    uint64_t hashes[100], seed = 7;
    struct doppel_simhash whole = {{0}}, parts = {{0}};
    for (size_t i = 0; i < 100; i++)
        hashes[i] = random_word(&seed);
    doppel_simhash_add(&whole, hashes, NULL, 100);
    for (size_t i = 0; i < 100; i++)
        doppel_simhash_add(&parts, hashes + 99 - i, NULL, 1);
    assert_memory_equal(&whole, &parts, sizeof whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_densified),
        cmocka_unit_test(test_the_same_and_strangers),
        cmocka_unit_test(test_own_hashes_and_weights),
        cmocka_unit_test(test_incrementally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
