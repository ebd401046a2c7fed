/* Winnowing against the obvious way: look for the smallest hash in each window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"
#include "text/winnow.h"

enum { MOST_WORDS = 400, TEXTS = 3000, GUARANTEE = WINNOW_WORDS + WINNOW_WINDOW - 1 };

/* Words of a vocabulary; of a small one, so that grams repeat. */
static size_t make_words(uint64_t *seed, struct doppel_text_word *out)
{
    size_t count = random_word(seed) % MOST_WORDS;
    uint64_t vocabulary = 1 + random_word(seed) % (random_word(seed) % 2 ? 3 : 1000);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct doppel_text_word){
            .hash = (uint32_t)(random_word(seed) % vocabulary * 2654435761u)};
    return count;
}

static bool smallest_of_a_window(const struct doppel_text_word *words, size_t count, size_t gram)
{
    size_t grams = count - WINNOW_WORDS + 1;
    for (size_t first = 0; first + WINNOW_WINDOW <= grams; first++) {
        if (gram < first || gram >= first + WINNOW_WINDOW)
            continue;
        bool smallest = true;
        for (size_t other = first; other < first + WINNOW_WINDOW; other++) {
            uint64_t mine = winnow_hash(words + gram), its = winnow_hash(words + other);
            smallest &= other <= gram ? mine <= its : mine < its;
        }
        if (smallest)
            return true;
    }
    return false;
}

static void test_chooses_the_rightmost_smallest(void **state)
{
    (void)state;
    static struct doppel_text_word words[MOST_WORDS];
    static struct doppel_text_key keys[MOST_WORDS];
    uint64_t seed = 1;
    for (int text = 0; text < TEXTS; text++) {
        size_t count = make_words(&seed, words);
        size_t kept = winnow(words, count, keys), expected = 0;
        for (size_t gram = 0; gram + WINNOW_WORDS <= count; gram++) {
            if (!smallest_of_a_window(words, count, gram))
                continue;
            assert_true(expected < kept);
            assert_int_equal(keys[expected].word, gram);
            assert_int_equal(keys[expected].key, (uint32_t)winnow_hash(words + gram));
            expected++;
        }
        assert_int_equal(kept, expected);
    }
}

static bool share_a_key(const struct doppel_text_key *a, size_t a_count,
                        const struct doppel_text_key *b, size_t b_count, size_t a_first,
                        size_t b_first)
{
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++)
            if (a[i].key == b[j].key && a[i].word >= a_first && b[j].word >= b_first &&
                a[i].word - a_first == b[j].word - b_first &&
                a[i].word + WINNOW_WORDS <= a_first + GUARANTEE)
                return true;
    return false;
}

/* Whatever stands around it, a run of eleven words that two texts share gives them a common key, at
 * the same place of the run. */
static void test_every_shared_run_shares_a_key(void **state)
{
    (void)state;
    static struct doppel_text_word a[MOST_WORDS], b[MOST_WORDS];
    static struct doppel_text_key a_keys[MOST_WORDS], b_keys[MOST_WORDS];
    uint64_t seed = 2;
    for (int text = 0; text < TEXTS; text++) {
        size_t a_count = make_words(&seed, a), b_count = make_words(&seed, b);
        if (a_count < GUARANTEE || b_count < GUARANTEE)
            continue;
        size_t a_first = random_word(&seed) % (a_count - GUARANTEE + 1);
        size_t b_first = random_word(&seed) % (b_count - GUARANTEE + 1);
        memcpy(b + b_first, a + a_first, GUARANTEE * sizeof *a);
        assert_true(share_a_key(a_keys, winnow(a, a_count, a_keys), b_keys,
                                winnow(b, b_count, b_keys), a_first, b_first));
    }
}

static void test_too_few_words_have_no_keys(void **state)
{
    (void)state;
    struct doppel_text_word words[GUARANTEE] = {0};
    struct doppel_text_key keys[GUARANTEE];
    for (size_t count = 0; count < GUARANTEE; count++)
        assert_int_equal(winnow(words, count, keys), 0);
    assert_int_equal(winnow(words, GUARANTEE, keys), 1);
}

/* Keys are kept in libraries: they never change. */
static void test_vectors(void **state)
{
    (void)state;
    const struct doppel_text_word words[] = {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}};
    const struct doppel_text_word zeros[4] = {0};
    assert_int_equal(winnow_hash(words), UINT64_C(0xecd90831d52a527c));
    assert_int_equal(winnow_hash(zeros), UINT64_C(0xed9929d1fc31fa06));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chooses_the_rightmost_smallest),
        cmocka_unit_test(test_every_shared_run_shares_a_key),
        cmocka_unit_test(test_too_few_words_have_no_keys),
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
