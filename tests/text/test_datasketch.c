/* datasketch's numbers, made once with its formula in Python:
 *
 *     import numpy as np, hashlib, struct
 *     p, m = np.uint64((1 << 61) - 1), np.uint64((1 << 32) - 1)
 *     g = np.random.RandomState(seed)
 *     a, b = np.array([(g.randint(1, p, dtype=np.uint64), g.randint(0, p, dtype=np.uint64))
 *                      for _ in range(k)], dtype=np.uint64).T
 *     values = np.ones(k, dtype=np.uint64) * m
 *     for token in tokens:
 *         h = struct.unpack("<I", hashlib.sha1(token).digest()[:4])[0]
 *         values = np.minimum(np.bitwise_and((a * np.uint64(h) + b) % p, m), values)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/text.h>

static void sign(uint32_t permutations, uint32_t seed, const char *const *tokens, size_t count,
                 uint64_t *values)
{
    struct doppel_datasketch *sketch;
    assert_int_equal(doppel_datasketch_new(permutations, seed, &sketch, NULL), DOPPEL_OK);
    doppel_datasketch_clear(sketch, values);
    for (size_t i = 0; i < count; i++)
        doppel_datasketch_update(sketch, tokens[i], strlen(tokens[i]), values);
    doppel_datasketch_free(sketch);
}

static void test_a_sentence(void **state)
{
    (void)state;
    static const char *const words[] = {"minhash", "is", "a", "probabilistic", "data", "structure"};
    static const uint64_t expected[8] = {297616339, 339931219, 113505080, 311917730,
                                         1735256,   278730948, 249258812, 306660385};
    uint64_t values[8];
    sign(8, 1, words, 6, values);
    assert_memory_equal(values, expected, sizeof expected);
}

static void test_no_token_and_the_empty_one(void **state)
{
    (void)state;
    static const char *const empty[] = {""};
    static const uint64_t none[2] = {UINT32_MAX, UINT32_MAX};
    static const uint64_t one[4] = {90035898, 4274405103, 2504264315, 255937237};
    uint64_t values[4];
    sign(2, 1, NULL, 0, values);
    assert_memory_equal(values, none, sizeof none);
    sign(4, 7, empty, 1, values);
    assert_memory_equal(values, one, sizeof one);
}

/* Shingles are updated with as they stand in the normalised text: words with a space between, or
 * code points. Beside: each given by hand. */
static void check_text(enum doppel_text_unit unit, uint32_t shingle, const char *const *tokens,
                       size_t count)
{
    static const char source[] = "Caf\xc3\xa9,  two";
    struct doppel_text_options options = doppel_text_options_default();
    options.unit = unit;
    options.shingle = shingle;
    struct doppel_text *text;
    struct doppel_datasketch *sketch;
    uint64_t values[16], expected[16];
    assert_int_equal(doppel_text_new(&options, &text, NULL), DOPPEL_OK);
    assert_int_equal(doppel_datasketch_new(16, 1, &sketch, NULL), DOPPEL_OK);
    assert_int_equal(doppel_datasketch_text(sketch, text, source, strlen(source), values, NULL),
                     DOPPEL_OK);
    sign(16, 1, tokens, count, expected);
    assert_memory_equal(values, expected, sizeof expected);
    doppel_datasketch_free(sketch);
    doppel_text_free(text);
}

static void test_texts(void **state)
{
    (void)state;
    check_text(DOPPEL_TEXT_WORDS, 1, (const char *const[]){"caf\xc3\xa9", "two"}, 2);
    check_text(DOPPEL_TEXT_WORDS, 2, (const char *const[]){"caf\xc3\xa9 two"}, 1);
    check_text(DOPPEL_TEXT_WORDS, 3, NULL, 0);
    check_text(
        DOPPEL_TEXT_CHARACTERS, 5,
        (const char *const[]){"caf\xc3\xa9 ", "af\xc3\xa9 t", "f\xc3\xa9 tw", "\xc3\xa9 two"}, 4);
}

/* All permutations there can be, with the greatest seed: their sum, and the last. */
static void test_many_permutations(void **state)
{
    (void)state;
    char names[50][16];
    const char *tokens[50];
    static uint64_t values[4096];
    for (int i = 0; i < 50; i++) {
        snprintf(names[i], sizeof names[i], "token%d", i);
        tokens[i] = names[i];
    }
    sign(4096, UINT32_MAX, tokens, 50, values);
    uint64_t sum = 0;
    for (size_t i = 0; i < 4096; i++)
        sum += values[i];
    assert_int_equal(sum, 341657932376);
    assert_int_equal(values[4092], 17032655);
    assert_int_equal(values[4095], 77436389);
}

static void test_counts_that_cannot_be(void **state)
{
    (void)state;
    struct doppel_datasketch *sketch = NULL;
    assert_int_equal(doppel_datasketch_new(0, 1, &sketch, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_datasketch_new(4097, 1, &sketch, NULL), DOPPEL_E_ARGUMENT);
    assert_null(sketch);
    doppel_datasketch_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_a_sentence),
        cmocka_unit_test(test_no_token_and_the_empty_one),
        cmocka_unit_test(test_many_permutations),
        cmocka_unit_test(test_counts_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
