/* The test vectors of docs/methods.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/text.h>

#include "text/text_internal.h"

enum {
    EVERYTHING =
        DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH | DOPPEL_TEXT_SHINGLES
};

static const char pangram[] = "The quick brown fox jumps over the lazy dog, and the dog sleeps on.";
static const char pangram_normalised[] =
    "the quick brown fox jumps over the lazy dog and the dog sleeps on";
static const char numbers[] = "one two three four five";
static const char foreign[] = "Straße ﬁnden: 数据, naïve CAFÉ e\xcc\x81té";

static const struct {
    const char *text, *normalised, *digest;
    enum doppel_text_unit unit;
    size_t shingles;
    uint64_t simhash;
    uint16_t lanes128[4], lanes256[4];
} vectors[] = {
    {pangram,
     pangram_normalised,
     "40d66fb422d5ba4083579b04865ac0b8",
     DOPPEL_TEXT_WORDS,
     10,
     0x05021c45d9500525,
     {0x1f38, 0x2fe7, 0x32bd, 0xe82f},
     {0x1f38, 0xb360, 0x5c66, 0x2fe7}},
    {pangram,
     pangram_normalised,
     "40d66fb422d5ba4083579b04865ac0b8",
     DOPPEL_TEXT_CHARACTERS,
     59,
     0x64b5208c733f39a8,
     {0xfae9, 0x24c9, 0x435c, 0xd59b},
     {0xf57f, 0xeb22, 0xfafe, 0xd59b}},
    {numbers,
     numbers,
     "5081c910778315fd2c6022d2a3a3bf11",
     DOPPEL_TEXT_WORDS,
     1,
     0x753225142162fdb5,
     {0xfdb5, 0xfdb5, 0xfdb5, 0xfdb5},
     {0xfdb5, 0xfdb5, 0xfdb5, 0xfdb5}},
    {numbers,
     numbers,
     "5081c910778315fd2c6022d2a3a3bf11",
     DOPPEL_TEXT_CHARACTERS,
     19,
     0x89fbc992232c590a,
     {0x25a0, 0xdf19, 0x73bd, 0x151e},
     {0x698b, 0x67c6, 0x314c, 0xdf19}},
    {foreign,
     "strasse finden 数 据 naïve café été",
     "5b4ddfa1f5ac1adedc4e1558a487f4e5",
     DOPPEL_TEXT_WORDS,
     3,
     0xe920c71239fc84ce,
     {0x8586, 0x56db, 0x8586, 0xa8ce},
     {0x56db, 0x56db, 0xa8ce, 0x56db}},
    {foreign,
     "strasse finden 数据 naïve café été",
     "e7f3e1de7fce2de6cd0e1204df8cd0d0",
     DOPPEL_TEXT_CHARACTERS,
     28,
     0x28932c8194021832,
     {0x3b3c, 0x6108, 0xd863, 0x0820},
     {0x0971, 0x0883, 0x6108, 0xdadf}},
};

static void read_vector(size_t i, uint32_t lanes, struct doppel_text_result *out)
{
    struct doppel_text_options options = doppel_text_options_default();
    options.unit = vectors[i].unit;
    options.lanes = lanes;
    struct doppel_text *text;
    const char *normalised;
    size_t size, given = strlen(vectors[i].text);
    assert_int_equal(doppel_text_new(&options, &text, NULL), DOPPEL_OK);
    assert_int_equal(doppel_text_normalise(text, vectors[i].text, given, &normalised, &size, NULL),
                     DOPPEL_OK);
    assert_int_equal(size, strlen(vectors[i].normalised));
    assert_memory_equal(normalised, vectors[i].normalised, size);
    assert_int_equal(doppel_text_read(text, vectors[i].text, given, EVERYTHING, out, NULL),
                     DOPPEL_OK);
    doppel_text_free(text);
}

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct doppel_text_result got;
        char digest[33];
        read_vector(i, 256, &got);
        assert_memory_equal(got.lanes, vectors[i].lanes256, sizeof vectors[i].lanes256);
        read_vector(i, 128, &got);
        assert_memory_equal(got.lanes, vectors[i].lanes128, sizeof vectors[i].lanes128);
        assert_int_equal(got.simhash, vectors[i].simhash);
        assert_int_equal(got.shingle_count, vectors[i].shingles);
        doppel_hex_encode(got.digest.bytes, sizeof got.digest.bytes, digest);
        assert_string_equal(digest, vectors[i].digest);
    }
}

static void test_words(void **state)
{
    (void)state;
    static const uint8_t fox[32] = "fox", longer[48] = "internationalisation";
    assert_int_equal(word_hash(fox, 3), 0x57dbf70b764e59c9);
    assert_int_equal(word_hash(longer, 20), 0xe202253c636ab860);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
