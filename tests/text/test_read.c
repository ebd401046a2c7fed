/* Reading texts from bytes to results and fingerprints, against the slow way on what the normaliser
 * gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"
#include "oracle.h"

enum {
    SKETCHES = DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH | DOPPEL_TEXT_SHINGLES,
    EVERYTHING = DOPPEL_TEXT_DIGEST | SKETCHES
};

static struct doppel_text *open_text(const struct doppel_text_options *options)
{
    struct doppel_text *text;
    assert_int_equal(doppel_text_new(options, &text, NULL), DOPPEL_OK);
    return text;
}

static void read_text(struct doppel_text *text, const char *bytes, size_t size, unsigned want,
                      struct doppel_text_result *out)
{
    assert_int_equal(doppel_text_read(text, bytes, size, want, out, NULL), DOPPEL_OK);
}

static void check(const struct doppel_text_options *options, const char *bytes, size_t size)
{
    struct doppel_text *text = open_text(options);
    const char *normalised;
    size_t normalised_size;
    struct doppel_text_result got;
    struct oracle oracle;
    assert_int_equal(doppel_text_normalise(text, bytes, size, &normalised, &normalised_size, NULL),
                     DOPPEL_OK);
    struct doppel_digest digest = doppel_digest_bytes(normalised, normalised_size);
    oracle_make(&oracle, options, (const uint8_t *)normalised, normalised_size);
    read_text(text, bytes, size, EVERYTHING, &got);
    assert_int_equal(got.words, oracle.words);
    assert_int_equal(got.characters, oracle.characters);
    assert_memory_equal(got.digest.bytes, digest.bytes, sizeof digest.bytes);
    assert_memory_equal(got.lanes, oracle.lanes, sizeof got.lanes);
    assert_int_equal(got.simhash, oracle.simhash);
    assert_int_equal(got.shingle_count, oracle.set_count);
    if (got.shingle_count)
        assert_memory_equal(got.shingles, oracle.set, got.shingle_count * sizeof *got.shingles);
    assert_int_equal(got.too_short, oracle.words < options->min_words || oracle.count == 0);
    oracle_free(&oracle);
    doppel_text_free(text);
}

/* Words, separators, characters of two to four bytes, broken ones, NULs; at the end anything. */
static size_t make_bytes(char *out, size_t size, uint64_t *seed)
{
    static const char *const pieces[] = {"the",
                                         "Quick",
                                         "brown-fox",
                                         "\n",
                                         " ",
                                         ". ",
                                         "stra\xc3\x9f"
                                         "e",
                                         "\xd0\xbf\xd1\x80\xd0\xb8",
                                         "\t\t",
                                         "\xe4\xb8\xad\xe6\x96\x87",
                                         "\xff",
                                         "a",
                                         "internationalisation",
                                         "\xf0\x9f\x98\x80",
                                         "\xef\xac\x81",
                                         "e\xcc\x81",
                                         "\xed\x95\x9c\xea\xb5\xad",
                                         "don't"};
    size_t at = 0;
    while (at + 32 < size) {
        uint64_t draw = random_word(seed);
        const char *piece = pieces[draw % (draw >> 60 ? 8 : sizeof pieces / sizeof *pieces)];
        size_t length = strlen(piece);
        memcpy(out + at, piece, length);
        at += length;
        out[at++] = draw >> 40 & 1 ? ' ' : (char)('a' + draw % 26);
    }
    return at;
}

static void test_random_texts(void **state)
{
    (void)state;
    static char bytes[80000];
    uint64_t seed = 1;
    for (size_t round = 0; round < 300; round++) {
        struct doppel_text_options options = doppel_text_options_default();
        options.unit = (enum doppel_text_unit)(round % 3);
        options.shingle = 1 + (uint32_t)(random_word(&seed) % DOPPEL_TEXT_MAX_SHINGLE);
        options.lanes = round / 2 % 2 ? 128 : 256;
        options.min_words = (uint32_t)(random_word(&seed) % 30);
        size_t limit = round % 5 ? 400 : sizeof bytes;
        check(&options, bytes, make_bytes(bytes, random_word(&seed) % limit, &seed));
    }
}

static void test_short_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        " ",
                                        "...",
                                        "one",
                                        "one two three four",
                                        "one two three four five",
                                        "a b c d e f g h i j"};
    struct doppel_text_options options = doppel_text_options_default();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (unsigned unit = 0; unit < 3; unit++) {
            options.unit = (enum doppel_text_unit)unit;
            check(&options, texts[i], strlen(texts[i]));
        }
}

static void test_too_short_is_by_words(void **state)
{
    (void)state;
    struct doppel_text *text = open_text(NULL);
    struct doppel_text_result got;
    const char *nine = "a b c d e f g h i", *ten = "a b c d e f g h i j";
    read_text(text, nine, strlen(nine), SKETCHES, &got);
    assert_true(got.too_short);
    assert_int_not_equal(got.simhash, 0);
    read_text(text, ten, strlen(ten), SKETCHES, &got);
    assert_false(got.too_short);
    doppel_text_free(text);
}

/* Without a shingle all is zero. */
static void test_no_shingle(void **state)
{
    (void)state;
    struct doppel_text *text = open_text(NULL);
    struct doppel_text_result got, empty = {.words = 4, .characters = 7, .too_short = true};
    read_text(text, "a b c d", 7, SKETCHES, &got);
    assert_memory_equal(got.lanes, empty.lanes, sizeof got.lanes);
    assert_int_equal(got.simhash, 0);
    assert_int_equal(got.shingle_count, 0);
    assert_int_equal(got.words, 4);
    assert_int_equal(got.characters, 7);
    assert_true(got.too_short);
    doppel_text_free(text);
}

static void test_only_what_is_wanted(void **state)
{
    (void)state;
    struct doppel_text *text = open_text(NULL);
    const char *bytes = "one two three four five six seven eight nine ten eleven";
    struct doppel_text_result all, got;
    static const struct doppel_text_result none;
    read_text(text, bytes, strlen(bytes), EVERYTHING, &all);
    for (unsigned want = 0; want <= EVERYTHING; want++) {
        read_text(text, bytes, strlen(bytes), want, &got);
        assert_memory_equal(&got.digest, want & DOPPEL_TEXT_DIGEST ? &all.digest : &none.digest,
                            sizeof got.digest);
        assert_memory_equal(got.lanes, want & DOPPEL_TEXT_MINHASH ? all.lanes : none.lanes,
                            sizeof got.lanes);
        assert_int_equal(got.simhash, want & DOPPEL_TEXT_SIMHASH ? all.simhash : 0);
        assert_int_equal(got.shingle_count, want & DOPPEL_TEXT_SHINGLES ? 7 : 0);
        assert_int_equal(got.words, 11);
    }
    doppel_text_free(text);
}

static void test_options_that_cannot_be(void **state)
{
    (void)state;
    struct doppel_text_options options[5];
    for (size_t i = 0; i < 5; i++)
        options[i] = doppel_text_options_default();
    options[0].shingle = 0;
    options[1].shingle = DOPPEL_TEXT_MAX_SHINGLE + 1;
    options[2].lanes = 64;
    options[3].unit = (enum doppel_text_unit)3;
    options[4].format = (enum doppel_text_format)4;
    for (size_t i = 0; i < 5; i++) {
        struct doppel_text *text = NULL;
        assert_int_equal(doppel_text_new(&options[i], &text, NULL), DOPPEL_E_ARGUMENT);
        assert_null(text);
    }
    doppel_text_free(NULL);
}

/* ---- fingerprints ---- */

static void test_lanes_lie_where_the_header_says(void **state)
{
    (void)state;
    struct doppel_text_result result = {0};
    for (uint32_t i = 0; i < DOPPEL_TEXT_MAX_LANES; i++)
        result.lanes[i] = (uint16_t)(i * 257 + 3);
    for (uint32_t lanes = 128; lanes <= 256; lanes *= 2) {
        struct doppel_text_options options = doppel_text_options_default();
        options.lanes = lanes;
        enum doppel_scheme_id scheme =
            lanes == 128 ? DOPPEL_SCHEME_MINHASH128 : DOPPEL_SCHEME_MINHASH256;
        struct doppel_fingerprint made;
        assert_int_equal(doppel_text_fingerprint(scheme, &options, &result, &made, NULL),
                         DOPPEL_OK);
        assert_int_equal(made.scheme, scheme);
        assert_int_equal(made.code_bits, 256);
        assert_int_equal(made.count, lanes / 16);
        for (uint32_t i = 0; i < lanes; i++) {
            uint64_t word = made.codes[i / 16].word[i / 4 % 4];
            assert_int_equal(word >> 16 * (i % 4) & 0xffff, result.lanes[i]);
            assert_int_equal(made.positions[i / 16], i / 16);
        }
        doppel_fingerprint_free(&made);
    }
}

static void test_simhash_is_one_code(void **state)
{
    (void)state;
    struct doppel_text_result result = {.simhash = 0x123456789abcdef0};
    struct doppel_fingerprint made;
    assert_int_equal(doppel_text_fingerprint(DOPPEL_SCHEME_SIMHASH64, NULL, &result, &made, NULL),
                     DOPPEL_OK);
    assert_int_equal(made.count, 1);
    assert_int_equal(made.code_bits, 64);
    assert_int_equal(made.codes[0].word[0], 0x123456789abcdef0);
    doppel_fingerprint_free(&made);
}

static void test_other_options_are_another_version(void **state)
{
    (void)state;
    struct doppel_text_result result = {0};
    struct doppel_text_options options = doppel_text_options_default();
    struct doppel_fingerprint usual, other;
    options.shingle = 4;
    assert_int_equal(doppel_text_fingerprint(DOPPEL_SCHEME_SIMHASH64, NULL, &result, &usual, NULL),
                     DOPPEL_OK);
    assert_int_equal(
        doppel_text_fingerprint(DOPPEL_SCHEME_SIMHASH64, &options, &result, &other, NULL),
        DOPPEL_OK);
    assert_int_not_equal(usual.version, other.version);
    doppel_fingerprint_free(&usual);
    doppel_fingerprint_free(&other);
}

static void test_schemes_that_do_not_fit(void **state)
{
    (void)state;
    static const enum doppel_scheme_id schemes[] = {
        DOPPEL_SCHEME_NONE, DOPPEL_SCHEME_PHASH64, DOPPEL_SCHEME_MINHASH256, DOPPEL_SCHEME_WINNOW32,
        DOPPEL_SCHEME_DATASKETCH};
    struct doppel_text_result result = {0};
    struct doppel_fingerprint made = {0};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        assert_int_equal(doppel_text_fingerprint(schemes[i], NULL, &result, &made, NULL),
                         DOPPEL_E_ARGUMENT);
    assert_null(made.codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_short_texts),
        cmocka_unit_test(test_too_short_is_by_words),
        cmocka_unit_test(test_no_shingle),
        cmocka_unit_test(test_only_what_is_wanted),
        cmocka_unit_test(test_options_that_cannot_be),
        cmocka_unit_test(test_lanes_lie_where_the_header_says),
        cmocka_unit_test(test_simhash_is_one_code),
        cmocka_unit_test(test_other_options_are_another_version),
        cmocka_unit_test(test_schemes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
