/* The sieve: what it turns away cannot match, whatever the sizes of the sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "corpus/dedup/sieve.h"
#include "tests/corpus/files.h"

enum { MAX_WORDS = 3000 };

struct pair_of_texts {
    struct bytes a, b;
};

static void add_word(struct bytes *text, uint64_t *state)
{
    char word[32];
    snprintf(word, sizeof word, "%llx ", (unsigned long long)random_next(state));
    bytes_add_text(text, word);
}

/* `common` words in both, and some of its own in each: sets of one-word shingles. */
static void write_pair(struct pair_of_texts *texts, size_t common, size_t of_a, size_t of_b,
                       uint64_t *state)
{
    texts->a.size = texts->b.size = 0;
    for (size_t i = 0; i < common; i++)
        add_word(&texts->a, state);
    if (common)
        bytes_add(&texts->b, texts->a.data, texts->a.size);
    for (size_t i = 0; i < of_a; i++)
        add_word(&texts->a, state);
    for (size_t i = 0; i < of_b; i++)
        add_word(&texts->b, state);
}

static uint32_t sign(struct doppel_text *text, const struct bytes *bytes, uint16_t *lanes)
{
    struct doppel_text_result result;
    assert_int_equal(doppel_text_read(text, bytes->data, bytes->size,
                                      DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SHINGLES, &result, NULL),
                     DOPPEL_OK);
    memcpy(lanes, result.lanes, sizeof result.lanes);
    return (uint32_t)result.shingle_count;
}

/* How many of `pairs` with these sizes are turned away. */
static size_t turned_away(uint32_t lanes, size_t common, size_t of_a, size_t of_b, size_t pairs)
{
    struct doppel_text_options options = doppel_text_options_default();
    struct doppel_text_limits limits = doppel_text_limits_default();
    struct pair_of_texts texts = {0};
    struct doppel_text *text;
    struct sieve sieve;
    uint16_t a[DOPPEL_TEXT_MAX_LANES], b[DOPPEL_TEXT_MAX_LANES];
    uint64_t state = common * 31 + of_a * 17 + of_b * 7 + 1;
    size_t away = 0;
    options.shingle = 1;
    options.lanes = lanes;
    assert_int_equal(doppel_text_new(&options, &text, NULL), DOPPEL_OK);
    sieve_init(&sieve, lanes, &limits);
    for (size_t i = 0; i < pairs; i++) {
        write_pair(&texts, common, of_a, of_b, &state);
        uint32_t size_a = sign(text, &texts.a, a), size_b = sign(text, &texts.b, b);
        away += !sieve_passes(&sieve, a, b, size_a, size_b);
    }
    bytes_free(&texts.a);
    bytes_free(&texts.b);
    doppel_text_free(text);
    return away;
}

static void lets_pairs_at_the_limit_pass(void **state)
{
    (void)state;
    static const size_t sizes[] = {20, 50, 64, 100, 127, 128, 200, 256, 400, 512, 800};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i], rest = (3 * size + 13) / 14; /* 7 of 10 */
        assert_int_equal(turned_away(128, size, rest, rest, 1500), 0);
        assert_int_equal(turned_away(256, size, rest, rest, 500), 0);
        /* nine tenths of the smaller one, in one three times as large */
        assert_int_equal(turned_away(128, size * 9 / 10 + 1, size / 10, 2 * size, 500), 0);
    }
}

static void turns_strangers_away(void **state)
{
    (void)state;
    assert_int_equal(turned_away(128, 0, 600, 600, 200), 200);
    assert_int_equal(turned_away(128, 200, 500, 500, 200), 200); /* 1 of 6 */
    assert_int_equal(turned_away(128, 0, 30, 30, 50), 0);        /* too small to tell */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_pairs_at_the_limit_pass),
        cmocka_unit_test(turns_strangers_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
