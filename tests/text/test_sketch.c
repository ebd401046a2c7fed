/* Blocks of words to sketches, by every set of kernels that runs here, against the slow way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "match/images.h"
#include "oracle.h"
#include "text/sketch.h"

enum {
    MOST_BYTES = 100000,
    EVERYTHING = DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH | DOPPEL_TEXT_SHINGLES
};

static const uint32_t cpu_masks[] = {0, CPU_AVX2, UINT32_MAX};

struct normalised {
    uint8_t bytes[BLOCK_SLACK + MOST_BYTES + BLOCK_SLACK];
    uint32_t ends[MOST_BYTES];
    size_t size, words; /* with the space after the last word */
};

static const uint8_t *bytes_of(const struct normalised *text)
{
    return text->bytes + BLOCK_SLACK;
}

static void put_code_point(struct normalised *text, uint32_t code_point)
{
    uint8_t *out = text->bytes + BLOCK_SLACK + text->size;
    unsigned more = code_point < 0x80 ? 0 : code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = more; i > 0; i--, code_point >>= 6)
        out[i] = (uint8_t)(0x80 | (code_point & 0x3f));
    out[0] = (uint8_t)(first[more] | code_point);
    text->size += more + 1;
}

/* Mostly letters; in one text of three also others, of two to four bytes, of seven scripts. */
static void put_word(struct normalised *text, uint64_t *seed, bool foreign)
{
    static const uint32_t from[] = {'a',    0xe0,  0x4e00, 0x1f600, 0x430,
                                    0xac00, 0xe20, 0x364,  0x1df0};
    size_t length = 1 + random_word(seed) % (random_word(seed) % 50 ? 9 : 60);
    for (size_t i = 0; i < length; i++) {
        unsigned kind = foreign ? (unsigned)(random_word(seed) % 9) : 0;
        put_code_point(text, from[kind] + (uint32_t)(random_word(seed) % 26));
    }
    text->ends[text->words++] = (uint32_t)text->size;
    put_code_point(text, ' ');
}

static void put_words(struct normalised *text, uint64_t *seed, size_t words)
{
    bool foreign = random_word(seed) % 3 == 0;
    text->size = text->words = 0;
    memset(text->bytes, 0xee, sizeof text->bytes);
    for (size_t i = 0; i < words && text->size < MOST_BYTES - 300; i++)
        put_word(text, seed, foreign);
}

/* Feed words `from` to `to` as a block, in memory of its own, with garbage around it. */
static void feed(struct sketcher *sketcher, const struct normalised *text, size_t from, size_t to)
{
    size_t start = from ? text->ends[from - 1] + 1 : 0, size = text->ends[to - 1] + 1 - start;
    uint8_t *memory = malloc(size + 2 * BLOCK_SLACK);
    uint32_t *ends = malloc((to - from) * sizeof *ends);
    memcpy(memory, text->bytes + start, size + 2 * BLOCK_SLACK);
    for (size_t i = from; i < to; i++)
        ends[i - from] = (uint32_t)(text->ends[i] - start);
    struct text_block block = {memory + BLOCK_SLACK, ends, size, to - from, to == text->words};
    assert_int_equal(sketcher_add(sketcher, &block, NULL), DOPPEL_OK);
    free(memory);
    free(ends);
}

static void expect(const struct doppel_text_result *got, const struct oracle *oracle)
{
    assert_int_equal(got->words, oracle->words);
    assert_int_equal(got->characters, oracle->characters);
    assert_memory_equal(got->lanes, oracle->lanes, sizeof got->lanes);
    assert_int_equal(got->simhash, oracle->simhash);
    assert_int_equal(got->shingle_count, oracle->set_count);
    if (got->shingle_count)
        assert_memory_equal(got->shingles, oracle->set, got->shingle_count * sizeof *oracle->set);
}

/* How many shingles there are, without them. */
static void expect_count(struct sketcher *sketcher, const struct normalised *text,
                         const struct doppel_text_options *options, size_t count)
{
    struct doppel_text_result got = {0};
    sketcher_begin(sketcher, options, DOPPEL_TEXT_COUNT);
    if (text->words)
        feed(sketcher, text, 0, text->words);
    sketcher_end(sketcher, &got);
    assert_int_equal(got.shingle_count, count);
    assert_null(got.shingles);
}

/* Cut the text before each word with probability 1 / `one_in`, and at `cut`. */
static void check(struct sketcher *sketcher, const struct normalised *text,
                  const struct doppel_text_options *options, uint64_t one_in, size_t cut)
{
    struct oracle oracle;
    oracle_make(&oracle, options, bytes_of(text), text->size ? text->size - 1 : 0);
    for (size_t mask = 0; mask < sizeof cpu_masks / sizeof *cpu_masks; mask++) {
        cpu_mask(cpu_masks[mask]);
        uint64_t seed = text->size + 1;
        size_t from = 0;
        sketcher_begin(sketcher, options, EVERYTHING);
        for (size_t i = 1; i <= text->words; i++)
            if (i == text->words || i == cut || random_word(&seed) % one_in == 0) {
                feed(sketcher, text, from, i);
                from = i;
            }
        struct doppel_text_result got = {0};
        sketcher_end(sketcher, &got);
        expect(&got, &oracle);
        expect_count(sketcher, text, options, oracle.set_count);
    }
    cpu_mask(UINT32_MAX);
    oracle_free(&oracle);
}

static struct doppel_text_options options_of(enum doppel_text_unit unit, uint32_t shingle,
                                             uint32_t lanes)
{
    struct doppel_text_options options = doppel_text_options_default();
    options.unit = unit;
    options.shingle = shingle;
    options.lanes = lanes;
    return options;
}

static void test_every_shingle_and_length(void **state)
{
    struct normalised *text = malloc(sizeof *text);
    uint64_t seed = 1;
    for (uint32_t shingle = 1; shingle <= DOPPEL_TEXT_MAX_SHINGLE; shingle++)
        for (size_t words = 0; words < 40; words++)
            for (unsigned unit = 0; unit < 3; unit++) {
                struct doppel_text_options options =
                    options_of((enum doppel_text_unit)unit, shingle, words % 2 ? 128 : 256);
                put_words(text, &seed, words);
                check(*state, text, &options, 10, 0);
            }
    free(text);
}

static void test_cut_anywhere(void **state)
{
    struct normalised *text = malloc(sizeof *text);
    uint64_t seed = 2;
    put_words(text, &seed, 150);
    for (size_t cut = 1; cut < text->words; cut++)
        for (unsigned unit = 0; unit < 3; unit++) {
            struct doppel_text_options options = options_of((enum doppel_text_unit)unit, 5, 128);
            check(*state, text, &options, 1000000, cut);
        }
    free(text);
}

static void test_long_texts(void **state)
{
    struct normalised *text = malloc(sizeof *text);
    uint64_t seed = 3;
    for (size_t round = 0; round < 60; round++) {
        struct doppel_text_options options =
            options_of((enum doppel_text_unit)(round % 3), 1 + (uint32_t)(random_word(&seed) % 16),
                       round / 2 % 2 ? 128 : 256);
        put_words(text, &seed, random_word(&seed) % 12000);
        check(*state, text, &options, 1 + random_word(&seed) % 3000, 0);
    }
    free(text);
}

/* The same few words over and over: whole blocks that change no bin. */
static void test_repeated_words(void **state)
{
    struct normalised *text = malloc(sizeof *text);
    uint64_t seed = 4;
    for (size_t period = 1; period < 8; period++) {
        text->size = text->words = 0;
        while (text->words < 9000) {
            uint64_t word = text->words % period;
            put_code_point(text, (uint32_t)('a' + word));
            text->ends[text->words++] = (uint32_t)text->size;
            put_code_point(text, ' ');
        }
        struct doppel_text_options options = options_of(DOPPEL_TEXT_WORDS, 5, 128);
        check(*state, text, &options, 1 + random_word(&seed) % 3000, 0);
    }
    free(text);
}

static void test_word_hash_is_as_documented(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint8_t memory[16 + DOPPEL_TEXT_MAX_WORD_BYTES + 16];
    for (size_t size = 0; size <= DOPPEL_TEXT_MAX_WORD_BYTES; size++) {
        for (size_t i = 0; i < sizeof memory; i++)
            memory[i] = (uint8_t)random_word(&seed);
        assert_int_equal(word_hash(memory + 16, size), oracle_word_hash(memory + 16, size));
    }
}

static void fill_all_from(uint32_t only, uint32_t lanes)
{
    struct minhash minhash;
    uint16_t out[DOPPEL_TEXT_MAX_LANES];
    minhash_begin(&minhash, lanes);
    minhash.bins[only] = 0x12345678;
    minhash_end(&minhash, sketch_kernels_choose(), out);
    for (uint32_t i = 0; i < lanes; i++)
        assert_int_equal(out[i], 0x5678);
}

/* Each bin finds each other bin, should that be the only one with a value. */
static void test_densification_ends(void **state)
{
    (void)state;
    for (size_t mask = 0; mask < sizeof cpu_masks / sizeof *cpu_masks; mask++) {
        cpu_mask(cpu_masks[mask]);
        for (uint32_t lanes = 128; lanes <= 256; lanes *= 2)
            for (uint32_t only = 0; only < lanes; only++)
                fill_all_from(only, lanes);
    }
    cpu_mask(UINT32_MAX);
}

/* Hashes that all fall into one bucket, descending, many twice. */
static void test_sets_of_near_values(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct shingle_set set = {0};
    static uint64_t hashes[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        hashes[i] = (COUNT - i) / 2;
    assert_int_equal(shingle_set_add(&set, hashes, COUNT, NULL), DOPPEL_OK);
    shingle_set_end(&set);
    assert_int_equal(set.count, COUNT / 2 + 1);
    for (size_t i = 0; i < set.count; i++)
        assert_int_equal(set.values[i], i);
    shingle_set_free(&set);
}

static int compare_values(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Sets of all sizes against qsort: of hashes, of values that agree in their upper bits, and of a
 * few values again and again. */
static void test_sets_are_sorted(void **state)
{
    (void)state;
    enum { MOST = 9000 };
    static const size_t sizes[] = {0, 1, 2, 47, 48, 49, 300, 1024, 1025, 4095, 4096, MOST};
    static const uint64_t masks[] = {UINT64_MAX, 0xffff, 0x3ff, 0xff00000f, 0x80000001};
    static uint64_t hashes[MOST];
    static uint32_t expected[MOST];
    uint64_t seed = 5;
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
        for (size_t mask = 0; mask < sizeof masks / sizeof *masks; mask++) {
            struct shingle_set set = {0};
            size_t count = sizes[size], kept = 0;
            for (size_t i = 0; i < count; i++) {
                hashes[i] = random_word(&seed) & masks[mask];
                expected[i] = (uint32_t)hashes[i];
            }
            qsort(expected, count, sizeof *expected, compare_values);
            for (size_t i = 0; i < count; i++)
                if (!kept || expected[i] != expected[kept - 1])
                    expected[kept++] = expected[i];
            assert_int_equal(shingle_set_add(&set, hashes, count, NULL), DOPPEL_OK);
            assert_int_equal(shingle_set_distinct(&set), kept);
            shingle_set_end(&set);
            assert_int_equal(set.count, kept);
            for (size_t i = 0; i < kept; i++)
                assert_int_equal(set.values[i], expected[i]);
            shingle_set_free(&set);
        }
}

static int make(void **state)
{
    return !(*state = sketcher_new());
}

static int drop(void **state)
{
    sketcher_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shingle_and_length),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_repeated_words),
        cmocka_unit_test(test_sets_of_near_values),
        cmocka_unit_test(test_sets_are_sorted),
        cmocka_unit_test(test_word_hash_is_as_documented),
        cmocka_unit_test(test_densification_ends),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
